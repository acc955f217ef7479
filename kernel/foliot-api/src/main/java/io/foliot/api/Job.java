package io.foliot.api;

import static io.foliot.api.InvalidSettingException.ensure;

import io.foliot.schedule.ScheduleSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The definition of a recurring job. {@link JobFields} has the settings with their bounds and defaults; this class
 * checks the rules between them. Immutable; two jobs are equal if their names and all settings are equal.
 */
public final class Job {
  /** Maximum number of shards of one run: each takes two bits of the job's record. */
  public static final int MAX_SHARDS = 10_000;
  /** The largest parameter, in bytes: it is copied into each shard. */
  public static final int MAX_PARAMETER_BYTES = 16 << 10;
  /**
   * Maximum size of the parameter, in bytes, multiplied by the number of shards of a run in all zones or on all
   * workers. If zones or workers have joined and a run would be larger, the run does not begin.
   */
  public static final int MAX_RUN_BYTES = 16 << 20;
  /** The largest size of all shard parameters together, in bytes of UTF-8: they are part of the job's record. */
  public static final int MAX_SHARD_PARAMETER_BYTES = 24 << 10;
  /** The longest shard parameter, in characters: each attempt has it in a header. */
  public static final int MAX_SHARD_PARAMETER = 4 << 10;
  /**
   * Maximum number of headers of the parameter: a task has at most {@value Limits#MAX_HEADERS}, and the job sets up to
   * nine.
   */
  public static final int MAX_HEADERS = Limits.MAX_HEADERS - 9;
  /** Maximum total length of the parameter's headers, names and values, in characters: the job adds its own headers. */
  public static final int MAX_HEADER_BYTES = 3 << 10;
  /** Longest timeout of a run. */
  public static final Duration MAX_TIMEOUT = Duration.ofHours(24);
  /** Maximum number of ended runs and ranges that can be kept. */
  public static final int MAX_HISTORY = 200;
  /** Maximum number of zones of a job. Each zone has shards of its own. */
  public static final int MAX_ZONES = 64;

  private final String name;
  private final Values values;

  private Job(String name, Values values) {
    this.name = name;
    this.values = values;
  }

  /**
   * Returns a job with these settings.
   *
   * @param name the name of the job, unique in the store; it follows the rules of a key
   * @throws InvalidSettingException if a setting is missing or out of its bounds; the message names it and the bounds
   */
  public static Job of(String name, Values values) {
    try {
      Limits.ensureKey(name);
    } catch (IllegalArgumentException e) {
      throw new InvalidSettingException("job", "1 to 256 bytes of UTF-8 without control characters",
          InvalidSettingException.quoted(name));
    }
    for (Field<?> field : values.fields().all()) {
      ensure(!field.isRequired() || values.isSet(field), field.name(), field.help(), "none");
    }
    Job job = new Job(name, values.checked(""));
    job.ensureShards();
    job.ensureParameter();
    job.ensureScope();
    ensureRun(Math.max(1, job.zones().size()), job.shards(), job.parameter());
    for (String label : job.values.require(JobFields.LABELS)) {
      ensure(JobFields.isWord(label), "labels", "words of 1 to 64 of A-Z a-z 0-9 . _ -",
          InvalidSettingException.quoted(label));
    }
    job.ensureAllocator();
    return job;
  }

  private void ensureShards() {
    List<String> texts = shardParameters();
    ensure(texts.size() <= shards(), "shardParameters", "at most as many texts as shards=" + shards(), texts.size());
    int bytes = texts.stream().mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length).sum();
    ensure(bytes <= MAX_SHARD_PARAMETER_BYTES, "shardParameters",
        "at most " + MAX_SHARD_PARAMETER_BYTES + " bytes in all", bytes);
    for (String text : texts) {
      ensure(text.length() <= MAX_SHARD_PARAMETER, "shardParameters",
          "texts of at most " + MAX_SHARD_PARAMETER + " characters", text.length());
      ensure(text.chars().noneMatch(Character::isISOControl), "shardParameters",
          "texts without line breaks and other control characters", "one with such a character");
    }
  }

  private void ensureParameter() {
    Body parameter = parameter();
    ensure(parameter.headers().size() <= MAX_HEADERS, "parameter", "at most " + MAX_HEADERS + " headers",
        parameter.headers().size());
    int headers = parameter.headers().entrySet().stream()
        .mapToInt(header -> header.getKey().length() + header.getValue().length()).sum();
    ensure(headers <= MAX_HEADER_BYTES, "parameter", "headers of at most " + MAX_HEADER_BYTES + " characters",
        headers);
    ensure(parameter.payload().length <= MAX_PARAMETER_BYTES, "parameter",
        "at most " + MAX_PARAMETER_BYTES + " bytes", parameter.payload().length);
  }

  private void ensureScope() {
    Scope scope = scope();
    ensure(scope != Scope.ALL || shards() == 1, "shards", "1 with scope all, which has one shard for each worker",
        shards());
    ensure(scope != Scope.ALL || shardParameters().isEmpty(), "shardParameters",
        "none with scope all, because the number of a worker may change from run to run", shardParameters().size());
    List<String> zones = zones();
    ensure(scope == Scope.PER_ZONE || zones.isEmpty(), "zones", "none, unless the scope is per-zone", zones);
    ensure(zones.stream().distinct().count() == zones.size(), "zones", "each name once", zones);
    for (String zone : zones) {
      // No worker may have another zone, so shards of such a zone would wait for ever.
      ensure(JobFields.isWord(zone), "zones", "names of 1 to 64 of A-Z a-z 0-9 . _ -", zone);
    }
  }

  private void ensureAllocator() {
    boolean isOwn = allocation() == Allocation.OWN;
    String allocator = allocator();
    ensure(isOwn || allocator.isEmpty(), "allocator", "none, unless the allocation is own",
        InvalidSettingException.quoted(allocator));
    ensure(!isOwn || JobFields.isWord(allocator), "allocator", "the name of an allocator of the application,"
        + " because the allocation is own: 1 to 64 of A-Z a-z 0-9 . _ -", InvalidSettingException.quoted(allocator));
    ensure(!isOwn || scope() != Scope.ALL, "allocation",
        "a rule other than own with scope all, which has one shard for each worker", "own");
  }

  /**
   * Ensures that the shards in all zones together, and their payloads, are no more than a run may have.
   *
   * @throws InvalidSettingException otherwise
   */
  public static void ensureRun(int zones, int shards, Body parameter) {
    ensure((long) zones * shards <= MAX_SHARDS, "shards",
        "at most " + MAX_SHARDS + " in all zones together, with zones=" + zones, shards);
    long bytes = (long) zones * shards * parameter.payload().length;
    ensure(bytes <= MAX_RUN_BYTES, "parameter",
        "at most " + MAX_RUN_BYTES + " bytes for all shards of a run together", bytes);
  }

  /** Returns a builder of a job with that name. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Returns the name, which is unique in the store. */
  public String name() {
    return name;
  }

  /** Returns the settings. */
  public Values values() {
    return values;
  }

  /** Returns the queue in which the shards run. */
  public String queue() {
    return values.require(JobFields.QUEUE);
  }

  /** Returns the schedule of the runs. */
  public ScheduleSettings schedule() {
    return values.require(JobFields.SCHEDULE);
  }

  /** Returns the number of shards of a run; with {@link Scope#PER_ZONE}, the number in each zone. */
  public int shards() {
    return values.require(JobFields.SHARDS);
  }

  /** Returns the texts of the first shards, in the order of the shards; the remaining shards have none. */
  public List<String> shardParameters() {
    return values.require(JobFields.SHARD_PARAMETERS);
  }

  /** Returns the text for a shard, or null if it has none. */
  public @Nullable String shardParameter(int shard) {
    return shard < shardParameters().size() ? shardParameters().get(shard) : null;
  }

  /** Returns the rule for a scheduled time that comes while a run is active. */
  public Overlap overlap() {
    return values.require(JobFields.OVERLAP);
  }

  /** Returns the rule for scheduled times that are found late. */
  public Misfire misfire() {
    return values.require(JobFields.MISFIRE);
  }

  /** Returns how long a run may take before its shards are cancelled, or null for no limit. */
  public @Nullable Duration timeout() {
    return values.get(JobFields.TIMEOUT);
  }

  /** Returns the payload of each shard. */
  public Body parameter() {
    return values.require(JobFields.PARAMETER);
  }

  /** Returns the maximum number of attempts of a shard, or 0 for the limit of the queue. */
  public int maxAttempts() {
    Integer attempts = values.get(JobFields.MAX_ATTEMPTS);
    return attempts == null ? 0 : attempts;
  }

  /** Returns after how many failed runs in a row the job is paused; 0 for never. */
  public int pauseAfterFailures() {
    return values.require(JobFields.PAUSE_AFTER_FAILURES);
  }

  /** Returns how many entries are kept: ended runs, and ranges of times that did not run. */
  public int history() {
    return values.require(JobFields.HISTORY);
  }

  /** Returns the choice of workers that run the shards of a run. */
  public Scope scope() {
    return values.require(JobFields.SCOPE);
  }

  /** Returns how shards are divided among workers. */
  public Allocation allocation() {
    return values.require(JobFields.ALLOCATION);
  }

  /** Returns the name of the allocator of {@link Allocation#OWN}; empty with other rules. */
  public String allocator() {
    return values.require(JobFields.ALLOCATOR);
  }

  /**
   * Returns, with {@link Scope#PER_ZONE}, the zones in which a run has shards; empty for all zones that have a worker
   * when a run begins.
   */
  public List<String> zones() {
    return values.require(JobFields.ZONES);
  }

  /** Returns the phases of a run, before or after its shards, that have a listener. */
  public Set<RunPhase> runListeners() {
    return values.require(JobFields.RUN_LISTENERS);
  }

  /** Returns the words for people and tools. */
  public List<String> labels() {
    return values.require(JobFields.LABELS);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Job that && name.equals(that.name) && values.equals(that.values);
  }

  @Override
  public int hashCode() {
    return 31 * name.hashCode() + values.hashCode();
  }

  @Override
  public String toString() {
    return name + ": " + values;
  }

  /**
   * Builds a {@link Job}; {@link #build} checks the settings. A job needs a queue and a schedule; each other setting
   * has a default. Not safe for use by several threads.
   */
  public static final class Builder {
    private final String name;
    private final ScheduleSettings.Builder schedule = ScheduleSettings.builder();
    private Values values = Values.of(JobFields.TABLE);

    private Builder(String name) {
      this.name = name;
    }

    /** Returns the name of the job. */
    public String name() {
      return name;
    }

    /** Sets any setting; null is its default. */
    public <T> Builder set(Field<T> field, @Nullable T value) {
      values = values.with(field, value);
      return this;
    }

    /** Sets the queue in which the shards run. */
    public Builder queue(String queue) {
      return set(JobFields.QUEUE, queue);
    }

    /** Sets a cron expression as the schedule. */
    public Builder cron(String expression) {
      schedule.cron(expression);
      return this;
    }

    /** Sets a fixed rate as the schedule. */
    public Builder every(Duration period) {
      schedule.every(period);
      return this;
    }

    /** Sets a fixed delay from the end of a run to the start of the next run as the schedule. */
    public Builder after(Duration delay) {
      schedule.after(delay);
      return this;
    }

    /** Sets a single time as the schedule. */
    public Builder at(Instant time) {
      schedule.at(time);
      return this;
    }

    /** Sets the time zone of the schedule, such as {@code Europe/Berlin}; by default UTC. */
    public Builder timeZone(String timeZone) {
      schedule.timeZone(timeZone);
      return this;
    }

    /** Sets the names of the calendars whose days are excluded from the schedule. */
    public Builder exclude(String... calendars) {
      schedule.exclude(List.of(calendars));
      return this;
    }

    /** Changes further settings of the schedule: bounds, jitter, rules for clock changes. */
    public Builder schedule(Consumer<ScheduleSettings.Builder> change) {
      change.accept(schedule);
      return this;
    }

    /** Sets the whole schedule; schedule settings from other calls of this builder are ignored. */
    public Builder schedule(ScheduleSettings settings) {
      return set(JobFields.SCHEDULE, settings);
    }

    /** Sets the number of shards, with a text for each of the first ones. */
    public Builder shards(int count, String... parameters) {
      return set(JobFields.SHARDS, count).set(JobFields.SHARD_PARAMETERS, List.of(parameters));
    }

    /** Sets the rule for a scheduled time that comes while a run is active. */
    public Builder overlap(Overlap overlap) {
      return set(JobFields.OVERLAP, overlap);
    }

    /** Sets the rule for scheduled times that are found late. */
    public Builder misfire(Misfire misfire) {
      return set(JobFields.MISFIRE, misfire);
    }

    /** Sets how long a run may take; null for no limit. */
    public Builder timeout(@Nullable Duration timeout) {
      return set(JobFields.TIMEOUT, timeout);
    }

    /** Sets the payload of each shard. */
    public Builder parameter(Body parameter) {
      return set(JobFields.PARAMETER, parameter);
    }

    /** Sets the payload of each shard to JSON text. */
    public Builder parameter(String json) {
      return parameter(Body.json(json));
    }

    /** Sets the maximum number of attempts of a shard; 0 for the limit of the queue. */
    public Builder maxAttempts(int attempts) {
      return set(JobFields.MAX_ATTEMPTS, attempts == 0 ? null : Integer.valueOf(attempts));
    }

    /** Sets after how many failed runs in a row the job is paused; 0 for never. */
    public Builder pauseAfterFailures(int failures) {
      return set(JobFields.PAUSE_AFTER_FAILURES, failures);
    }

    /** Sets how many ended runs and ranges are kept. */
    public Builder history(int entries) {
      return set(JobFields.HISTORY, entries);
    }

    /** Sets which workers run the shards of a run. */
    public Builder scope(Scope scope) {
      return set(JobFields.SCOPE, scope);
    }

    /**
     * Sets how shards are divided among workers. A run of one shard is not divided. For {@link Allocation#OWN}, use
     * {@link #allocator}.
     */
    public Builder allocation(Allocation allocation) {
      return set(JobFields.ALLOCATION, allocation);
    }

    /**
     * Sets {@link Allocation#OWN} and the name of the allocator, which is called for a run of one shard, too. The
     * application that runs the engine registers the allocator under this name. A server has no allocators: if a server
     * plans a run of this job, the run waits.
     */
    public Builder allocator(String registered) {
      return set(JobFields.ALLOCATION, Allocation.OWN).set(JobFields.ALLOCATOR, registered);
    }

    /** Sets the zones of {@link Scope#PER_ZONE}; none for all zones that have a worker when a run begins. */
    public Builder zones(String... zones) {
      return set(JobFields.ZONES, List.of(zones));
    }

    /**
     * Sets the phases of a run that have a listener: before the first shard, after the last shard, or both. In each
     * phase, one task of the queue makes the calls of the listeners.
     */
    public Builder runListeners(RunPhase... phases) {
      return set(JobFields.RUN_LISTENERS, new TreeSet<>(List.of(phases)));
    }

    /** Sets words for people and tools, such as {@code team-billing}. */
    public Builder labels(String... labels) {
      return set(JobFields.LABELS, List.of(labels));
    }

    /**
     * Returns the job.
     *
     * @throws InvalidSettingException if a setting is missing or out of its bounds
     * @throws io.foliot.schedule.ScheduleException if the schedule is missing or wrong
     */
    public Job build() {
      return Job.of(name,
          values.isSet(JobFields.SCHEDULE) ? values : values.with(JobFields.SCHEDULE, schedule.build()));
    }

    /** Returns the job in the given queue, unless a queue is set. {@link #build} has the errors. */
    public Job buildIn(String queue) {
      return values.isSet(JobFields.QUEUE) ? build() : queue(queue).build();
    }
  }
}
