package io.foliot.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * The definition of a recurring job, for {@link FoliotClient#putJob} and {@link JobWorker.Builder#declare}. The server
 * checks the definition. A schedule is required. {@code putJob} and {@code declareJob} also require a queue. Each other
 * setting has a default.
 */
public final class Job {
  private final Builder from;

  private Job(Builder from) {
    this.from = from.copy();
  }

  /** Returns a builder of a job. A job needs exactly one of cron, every, after and at. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Returns the name, which is unique in the store. */
  public String name() {
    return from.name;
  }

  /** Returns the queue of the shards; null for the queue of the worker that declares the job. */
  public @Nullable String queue() {
    return from.queue;
  }

  /** Returns the cron expression, or null. */
  public @Nullable String cron() {
    return from.cron;
  }

  /** Returns the period of a fixed rate, or null. */
  public @Nullable Duration every() {
    return from.every;
  }

  /** Returns the delay from the end of a run to the start of the next run, or null. */
  public @Nullable Duration after() {
    return from.after;
  }

  /** Returns the only scheduled time of the job, or null. */
  public @Nullable Instant at() {
    return from.at;
  }

  /** Returns the time zone of the schedule, or null for UTC. */
  public @Nullable String zone() {
    return from.zone;
  }

  /** Returns the names of the calendars whose days are excluded from the schedule. */
  public List<String> exclude() {
    return from.exclude;
  }

  /** Returns the number of shards of a run, or null for the default. */
  public @Nullable Integer shards() {
    return from.shards;
  }

  /** Returns the text parameters of the shards, from shard 0 on. Shards beyond the last text have no parameter. */
  public List<String> shardParameters() {
    return from.shardParameters;
  }

  /** Returns the rule that selects the workers of a run, or null for {@link JobScope#ONE}. */
  public @Nullable JobScope scope() {
    return from.scope;
  }

  /** Returns how shards are divided among workers, or null for the default. */
  public @Nullable ShardAllocation allocation() {
    return from.allocation;
  }

  /** Returns the name of the allocator that divides the shards; null unless the allocation is {@code OWN}. */
  public @Nullable String allocator() {
    return from.allocator;
  }

  /** Returns the zones in which a {@code PER_ZONE} job runs; empty for all zones that have a worker. */
  public List<String> zones() {
    return from.zones;
  }

  /** Returns the rule for a scheduled time that comes while a run is active, or null for the default. */
  public @Nullable String overlap() {
    return from.overlap;
  }

  /** Returns the rule for misfires, or null for the default. */
  public @Nullable String misfire() {
    return from.misfire;
  }

  /** Returns how long after its scheduled time a misfire may still run, or null for the default of the rule. */
  public @Nullable Duration misfireWindow() {
    return from.window;
  }

  /** Returns how long a run may take, or null for no limit. */
  public @Nullable Duration timeout() {
    return from.timeout;
  }

  /** Returns the JSON of the payload of each shard, or null if there is none. */
  public @Nullable String parameter() {
    return from.parameter;
  }

  /** Returns the largest number of attempts of a shard, or null for the number of the queue. */
  public @Nullable Integer maxAttempts() {
    return from.maxAttempts;
  }

  /** Returns how many failed runs in a row pause the job, or null if failures do not pause it. */
  public @Nullable Integer pauseAfterFailures() {
    return from.pauseAfterFailures;
  }

  /** Returns the phases of a run in which a worker calls its {@link JobListener}s. */
  public List<RunPhase> runListeners() {
    return from.runListeners;
  }

  /** Returns this job if it names a queue, else the same job with the given queue. */
  Job orInQueue(String queue) {
    return from.queue == null ? new Job(from.copy().queue(queue)) : this;
  }

  /**
   * Returns this job, which must name a queue.
   *
   * @throws IllegalArgumentException if the job names no queue
   */
  Job requireQueue() {
    if (from.queue == null) {
      throw new IllegalArgumentException("queue: expected the name of a queue, but got none: job=" + from.name);
    }
    return this;
  }

  void write(JsonGenerator json) {
    Json.write(json, "queue", from.queue);
    json.writeObjectPropertyStart("schedule");
    Json.write(json, "cron", from.cron);
    Json.write(json, "every", from.every);
    Json.write(json, "after", from.after);
    Json.write(json, "at", from.at);
    Json.write(json, "zone", from.zone);
    if (!from.exclude.isEmpty()) {
      Json.writeTexts(json, "exclude", from.exclude);
    }
    json.writeEndObject();
    Json.write(json, "shards", from.shards);
    if (!from.shardParameters.isEmpty()) {
      Json.writeTexts(json, "shardParameters", from.shardParameters);
    }
    Json.write(json, "scope", from.scope == null ? null : from.scope.json());
    Json.write(json, "allocation", from.allocation == null ? null : from.allocation.json());
    Json.write(json, "allocator", from.allocator);
    if (!from.zones.isEmpty()) {
      Json.writeTexts(json, "zones", from.zones);
    }
    if (!from.runListeners.isEmpty()) {
      Json.writeTexts(json, "runListeners", from.runListeners.stream().map(RunPhase::json).toList());
    }
    Json.write(json, "overlap", from.overlap);
    if (from.misfire != null) {
      json.writeObjectPropertyStart("misfire");
      json.writeStringProperty("policy", from.misfire);
      Json.write(json, "window", from.window);
      json.writeEndObject();
    }
    Json.write(json, "timeout", from.timeout);
    if (from.parameter != null) {
      Json.writeJson(json, "parameter", from.parameter);
    }
    Json.write(json, "maxAttempts", from.maxAttempts);
    Json.write(json, "pauseAfterFailures", from.pauseAfterFailures);
  }

  /** Builds a {@link Job}. Not safe for use by several threads. */
  public static final class Builder {
    private final String name;
    private @Nullable String queue;
    private @Nullable String cron;
    private @Nullable Duration every;
    private @Nullable Duration after;
    private @Nullable Instant at;
    private @Nullable String zone;
    private List<String> exclude = List.of();
    private @Nullable Integer shards;
    private List<String> shardParameters = List.of();
    private @Nullable JobScope scope;
    private @Nullable ShardAllocation allocation;
    private @Nullable String allocator;
    private List<String> zones = List.of();
    private List<RunPhase> runListeners = List.of();
    private @Nullable String overlap;
    private @Nullable String misfire;
    private @Nullable Duration window;
    private @Nullable Duration timeout;
    private @Nullable String parameter;
    private @Nullable Integer maxAttempts;
    private @Nullable Integer pauseAfterFailures;

    private Builder(String name) {
      this.name = Names.requireName("name", name);
    }

    private Builder copy() {
      Builder copy = new Builder(name);
      copy.queue = queue;
      copy.cron = cron;
      copy.every = every;
      copy.after = after;
      copy.at = at;
      copy.zone = zone;
      copy.exclude = exclude;
      copy.shards = shards;
      copy.shardParameters = shardParameters;
      copy.scope = scope;
      copy.allocation = allocation;
      copy.allocator = allocator;
      copy.zones = zones;
      copy.runListeners = runListeners;
      copy.overlap = overlap;
      copy.misfire = misfire;
      copy.window = window;
      copy.timeout = timeout;
      copy.parameter = parameter;
      copy.maxAttempts = maxAttempts;
      copy.pauseAfterFailures = pauseAfterFailures;
      return copy;
    }

    /**
     * Sets the queue of the shards, which must exist. If no queue is set, a {@link JobWorker} declares the job with the
     * queue of the worker.
     */
    public Builder queue(String queueName) {
      queue = Names.requireName("queue", queueName);
      return this;
    }

    /** Sets a cron expression as the schedule. */
    public Builder cron(String expression) {
      cron = Names.requireWellFormed("cron", expression);
      return this;
    }

    /** Sets a fixed rate with this period as the schedule. */
    public Builder every(Duration period) {
      every = period;
      return this;
    }

    /** Sets a fixed delay from the end of a run to the start of the next run as the schedule. */
    public Builder after(Duration delay) {
      after = delay;
      return this;
    }

    /** Sets a single time as the schedule. */
    public Builder at(Instant time) {
      at = time;
      return this;
    }

    /** Sets the time zone of the schedule, such as {@code Europe/Berlin}; by default UTC. */
    public Builder zone(String timeZone) {
      zone = Names.requireWellFormed("zone", timeZone);
      return this;
    }

    /** Sets the names of the calendars whose days are excluded from the schedule. */
    public Builder exclude(String... calendars) {
      exclude = List.of(calendars);
      return this;
    }

    /** Sets the number of shards of a run, and the text parameters of the shards, from shard 0 on. */
    public Builder shards(int count, String... parameters) {
      shards = count;
      shardParameters = List.of(parameters);
      return this;
    }

    /** Sets the rule that selects the workers of a run; {@link JobScope#ONE} by default. */
    public Builder scope(JobScope where) {
      scope = where;
      return this;
    }

    /** Sets how shards are divided among workers. {@link #allocator} sets {@link ShardAllocation#OWN}. */
    public Builder allocation(ShardAllocation rule) {
      allocation = rule;
      return this;
    }

    /**
     * Sets the allocation {@link ShardAllocation#OWN} and the name of the allocator. The application that runs the
     * engine registers the allocator under this name when it builds its {@code Foliot}. A server has no allocators: if
     * a server plans a run of this job, the run waits.
     */
    public Builder allocator(String registered) {
      allocation = ShardAllocation.OWN;
      allocator = Names.requireWellFormed("allocator", registered);
      return this;
    }

    /**
     * Sets the zones, such as {@code fra1}, in which a {@code PER_ZONE} job runs; by default all that have a worker.
     */
    public Builder zones(String... workerZones) {
      zones = List.of(workerZones);
      return this;
    }

    /**
     * Sets the phases of a run in which a worker calls its {@link JobListener}s: before the first shard, after the last
     * shard, or both. In each phase, one worker of the queue runs a task that makes these calls.
     */
    public Builder runListeners(RunPhase... phases) {
      runListeners = List.copyOf(new TreeSet<>(List.of(phases)));
      return this;
    }

    /** Sets the rule for a scheduled time that comes while a run is active: skip, queue, replace or allow. */
    public Builder overlap(String rule) {
      overlap = Names.requireWellFormed("overlap", rule);
      return this;
    }

    /**
     * Sets the rule for misfires: once, all or skip.
     *
     * @param latest how long after its scheduled time a misfire may still run; null for the default of the rule
     */
    public Builder misfire(String policy, @Nullable Duration latest) {
      misfire = Names.requireWellFormed("misfire", policy);
      window = latest;
      return this;
    }

    /** Sets how long a run may take; by default there is no limit. */
    public Builder timeout(Duration longest) {
      timeout = longest;
      return this;
    }

    /**
     * Sets the payload of each shard.
     *
     * @throws IllegalArgumentException if the text is not exactly one JSON value
     */
    public Builder parameter(String json) {
      parameter = Json.requireOneValue("parameter", json);
      return this;
    }

    /** Sets the largest number of attempts of a shard; by default the number of the queue. */
    public Builder maxAttempts(int attempts) {
      maxAttempts = attempts;
      return this;
    }

    /** Sets how many failed runs in a row pause the job; by default failures do not pause it. */
    public Builder pauseAfterFailures(int failures) {
      pauseAfterFailures = failures;
      return this;
    }

    /** Returns the job. */
    public Job build() {
      return new Job(this);
    }
  }
}
