package io.foliot.jobs;

import static io.foliot.jobs.InvalidJobException.ensure;

import io.foliot.core.Body;
import io.foliot.core.DurationText;
import io.foliot.core.Limits;
import io.foliot.core.Retry;
import io.foliot.jobs.schedule.ScheduleSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The definition of a recurring job, as a caller writes it. Immutable.
 *
 * @param name the name of the job, unique in the store; it follows the rules of a key
 * @param queue the queue in which the shards run
 * @param schedule the schedule of the runs
 * @param shards the number of shards of a run, from 1 to {@value #MAX_SHARDS}; with {@link Scope#PER_ZONE}, the number
 *     in each zone. It is 1 with {@link Scope#ALL}, where each worker has one shard
 * @param shardParameters the texts of the first shards, in the order of the shards; the remaining shards have none
 * @param overlap the rule for a scheduled time that comes while a run is active
 * @param misfire the rule for scheduled times that are found late
 * @param timeout how long a run may take before its shards are cancelled, or null for no limit
 * @param parameter the payload of each shard; its headers must leave room for the headers that the job adds
 * @param maxAttempts the maximum number of attempts of a shard, or 0 for the limit of the queue
 * @param pauseAfterFailures the job is paused after this number of failed runs in a row; 0 for never
 * @param history how many entries are kept: ended runs, and ranges of times that did not run
 * @param scope the choice of workers that run the shards of a run
 * @param allocation how shards are divided among workers
 * @param allocator the name of the {@link ShardAllocator} of {@link Allocation#OWN}; empty with other rules
 * @param zones with {@link Scope#PER_ZONE}, the zones in which a run has shards; empty for all zones that have a worker
 *     when a run begins
 * @param runListeners the phases of a run, before or after its shards, that have a listener
 */
public record Job(String name, String queue, ScheduleSettings schedule, int shards, List<String> shardParameters,
    Overlap overlap, Misfire misfire, @Nullable Duration timeout, Body parameter, int maxAttempts,
    int pauseAfterFailures, int history, Scope scope, Allocation allocation, String allocator,
    List<String> zones, Set<RunPhase> runListeners) {
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
  /** The default number of ended runs and ranges that are kept. */
  public static final int DEFAULT_HISTORY = 50;
  /** Maximum number of ended runs and ranges that can be kept. */
  public static final int MAX_HISTORY = 200;
  /** Maximum number of zones of a job. Each zone has shards of its own. */
  public static final int MAX_ZONES = 64;
  /** The longest name of a zone, in characters. */
  public static final int MAX_ZONE = 64;
  private static final Pattern ZONE = Pattern.compile("[A-Za-z0-9._-]{1," + MAX_ZONE + "}");

  private static final int MAX_FAILURES = 1_000;
  /** Longest part of a name in a message, in characters. */
  private static final int SHOWN_LENGTH = 64;

  /**
   * @throws InvalidJobException if a value is out of its range; the message names it and the range
   */
  public Job {
    ensureName("job", name, Limits::ensureKey, "1 to 256 bytes of UTF-8 without control characters");
    ensureName("queue", queue, Limits::ensureQueueName,
        "1 to 128 of A-Z a-z 0-9 . _ - with a letter or digit first");
    shardParameters = List.copyOf(shardParameters);
    ensure(shards >= 1 && shards <= MAX_SHARDS, "shards", "a whole number from 1 to " + MAX_SHARDS, shards);
    ensure(shardParameters.size() <= shards, "shardParameters", "at most as many texts as shards=" + shards,
        shardParameters.size());
    int bytes = shardParameters.stream().mapToInt(text -> text.getBytes(StandardCharsets.UTF_8).length).sum();
    ensure(bytes <= MAX_SHARD_PARAMETER_BYTES, "shardParameters",
        "at most " + MAX_SHARD_PARAMETER_BYTES + " bytes in all", bytes);
    for (String text : shardParameters) {
      ensure(text.length() <= MAX_SHARD_PARAMETER, "shardParameters",
          "texts of at most " + MAX_SHARD_PARAMETER + " characters", text.length());
      ensure(text.chars().noneMatch(Character::isISOControl), "shardParameters",
          "texts without line breaks and other control characters", "one with such a character");
    }
    ensure(parameter.headers().size() <= MAX_HEADERS, "parameter", "at most " + MAX_HEADERS + " headers",
        parameter.headers().size());
    int headers = parameter.headers().entrySet().stream()
        .mapToInt(header -> header.getKey().length() + header.getValue().length()).sum();
    ensure(headers <= MAX_HEADER_BYTES, "parameter", "headers of at most " + MAX_HEADER_BYTES + " characters",
        headers);
    ensure(parameter.payload().length <= MAX_PARAMETER_BYTES, "parameter",
        "at most " + MAX_PARAMETER_BYTES + " bytes", parameter.payload().length);
    ensure(timeout == null || (timeout.isPositive() && timeout.compareTo(MAX_TIMEOUT) <= 0), "timeout",
        "a duration above 0 and at most 24 h", timeout == null ? "" : DurationText.format(timeout));
    ensure(maxAttempts >= 0 && maxAttempts <= Retry.MAX_ATTEMPTS, "maxAttempts",
        "a whole number from 1 to " + Retry.MAX_ATTEMPTS, maxAttempts);
    ensure(pauseAfterFailures >= 0 && pauseAfterFailures <= MAX_FAILURES, "pauseAfterFailures",
        "a whole number from 0 to " + MAX_FAILURES, pauseAfterFailures);
    ensure(history >= 1 && history <= MAX_HISTORY, "history", "a whole number from 1 to " + MAX_HISTORY, history);
    zones = List.copyOf(zones);
    ensureScope(scope, shards, shardParameters, zones);
    ensureRun(Math.max(1, zones.size()), shards, parameter);
    ensureAllocator(allocation, allocator, scope);
    runListeners = RunPhase.copy(runListeners);
    ensure(!runListeners.contains(RunPhase.SHARDS), "runListeners", "before, after, or both", runListeners);
  }

  private static void ensureScope(Scope scope, int shards, List<String> shardParameters, List<String> zones) {
    ensure(scope != Scope.ALL || shards == 1, "shards", "1 with scope all, which has one shard for each worker",
        shards);
    ensure(scope != Scope.ALL || shardParameters.isEmpty(), "shardParameters",
        "none with scope all, because the number of a worker may change from run to run", shardParameters.size());
    ensure(scope == Scope.PER_ZONE || zones.isEmpty(), "zones", "none, unless the scope is per-zone", zones);
    ensure(zones.size() <= MAX_ZONES, "zones", "at most " + MAX_ZONES + " names", zones.size());
    ensure(zones.stream().distinct().count() == zones.size(), "zones", "each name once", zones);
    for (String zone : zones) {
      // No worker may have another zone, so shards of such a zone would wait for ever.
      ensure(ZONE.matcher(zone).matches(), "zones", "names of 1 to " + MAX_ZONE + " of A-Z a-z 0-9 . _ -", zone);
    }
  }

  private static void ensureAllocator(Allocation allocation, String allocator, Scope scope) {
    boolean isOwn = allocation == Allocation.OWN;
    ensure(isOwn || allocator.isEmpty(), "allocator", "none, unless the allocation is own", shown(allocator));
    ensure(!isOwn || ShardAllocator.isName(allocator), "allocator", "the name of an allocator of the application,"
        + " because the allocation is own: 1 to " + ShardAllocator.MAX_NAME + " of A-Z a-z 0-9 . _ -",
        shown(allocator));
    ensure(!isOwn || scope != Scope.ALL, "allocation",
        "a rule other than own with scope all, which has one shard for each worker",
        "own");
  }

  /** Ensures that the shards in all zones together, and their payloads, are no more than a run may have. */
  static void ensureRun(int zones, int shards, Body parameter) {
    ensure((long) zones * shards <= MAX_SHARDS, "shards",
        "at most " + MAX_SHARDS + " in all zones together, with zones=" + zones, shards);
    long bytes = (long) zones * shards * parameter.payload().length;
    ensure(bytes <= MAX_RUN_BYTES, "parameter",
        "at most " + MAX_RUN_BYTES + " bytes for all shards of a run together", bytes);
  }

  private static void ensureName(String setting, String name, Consumer<String> check, String expected) {
    try {
      check.accept(name);
    } catch (IllegalArgumentException e) {
      throw new InvalidJobException(setting, expected, shown(name));
    }
  }

  private static String shown(String name) {
    return '"' + (name.length() > SHOWN_LENGTH ? name.substring(0, SHOWN_LENGTH) + "..." : name) + '"';
  }

  /** Returns a builder of a job with that name. */
  public static Builder named(String name) {
    return new Builder(name);
  }

  /** Returns the text for a shard, or null if it has none. */
  public @Nullable String shardParameter(int shard) {
    return shard < shardParameters.size() ? shardParameters.get(shard) : null;
  }

  /** Builds a {@link Job}; {@link #build} checks the settings. Not thread-safe. */
  public static final class Builder {
    private final String name;
    private final ScheduleSettings.Builder schedule = ScheduleSettings.builder();
    private @Nullable ScheduleSettings settings;
    private @Nullable String queue;
    private int shards = 1;
    private List<String> shardParameters = List.of();
    private Overlap overlap = Overlap.SKIP;
    private Misfire misfire = Misfire.DEFAULT;
    private @Nullable Duration timeout;
    private Body parameter = Body.EMPTY;
    private int maxAttempts;
    private int pauseAfterFailures;
    private int history = DEFAULT_HISTORY;
    private Scope scope = Scope.ONE;
    private Allocation allocation = Allocation.AVERAGE;
    private String allocator = "";
    private List<String> zones = List.of();
    private Set<RunPhase> runListeners = Set.of();

    private Builder(String name) {
      this.name = name;
    }

    /** Sets the queue in which the shards run. */
    public Builder queue(String newQueue) {
      queue = newQueue;
      return this;
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

    /** Sets the time zone of the schedule, such as {@code Europe/Berlin}. */
    public Builder zone(String zone) {
      schedule.zone(zone);
      return this;
    }

    /** Changes further settings of the schedule: bounds, calendars, jitter, rules for clock changes. */
    public Builder schedule(Consumer<ScheduleSettings.Builder> change) {
      change.accept(schedule);
      return this;
    }

    /** Sets the whole schedule; schedule settings from other calls of this builder are ignored. */
    public Builder schedule(ScheduleSettings newSchedule) {
      settings = newSchedule;
      return this;
    }

    /** Sets the number of shards, with a text for each of the first ones. */
    public Builder shards(int count, String... parameters) {
      shards = count;
      shardParameters = List.of(parameters);
      return this;
    }

    /** Sets the rule for a scheduled time that comes while a run is active. */
    public Builder overlap(Overlap newOverlap) {
      overlap = newOverlap;
      return this;
    }

    /** Sets the rule for scheduled times that are found late. */
    public Builder misfire(Misfire newMisfire) {
      misfire = newMisfire;
      return this;
    }

    /** Sets how long a run may take; null for no limit. */
    public Builder timeout(@Nullable Duration newTimeout) {
      timeout = newTimeout;
      return this;
    }

    /** Sets the payload of each shard. */
    public Builder parameter(Body newParameter) {
      parameter = newParameter;
      return this;
    }

    /** Sets the maximum number of attempts of a shard; 0 for the limit of the queue. */
    public Builder maxAttempts(int attempts) {
      maxAttempts = attempts;
      return this;
    }

    /** Sets after how many failed runs in a row the job is paused; 0 for never. */
    public Builder pauseAfterFailures(int failures) {
      pauseAfterFailures = failures;
      return this;
    }

    /** Sets how many ended runs and ranges are kept. */
    public Builder history(int entries) {
      history = entries;
      return this;
    }

    /** Sets which workers run the shards of a run. */
    public Builder scope(Scope newScope) {
      scope = newScope;
      return this;
    }

    /**
     * Sets how shards are divided among workers. A run of one shard is not divided. For {@link Allocation#OWN}, use
     * {@link #allocator}.
     */
    public Builder allocation(Allocation newAllocation) {
      allocation = newAllocation;
      return this;
    }

    /** Sets {@link Allocation#OWN} and the name of the allocator, which is called for a run of one shard, too. */
    public Builder allocator(String registered) {
      allocation = Allocation.OWN;
      allocator = registered;
      return this;
    }

    /** Sets the zones of {@link Scope#PER_ZONE}; none for all zones that have a worker when a run begins. */
    public Builder zones(String... names) {
      zones = List.of(names);
      return this;
    }

    /** Sets the phases in which a run has a listener: before its first shard, after its last one. */
    public Builder runListeners(RunPhase... phases) {
      runListeners = Set.copyOf(List.of(phases));
      return this;
    }

    /**
     * Returns the job.
     *
     * @throws IllegalArgumentException if a value is out of its range or missing
     */
    public Job build() {
      if (queue == null) {
        throw new IllegalArgumentException("a job names the queue in which its shards run: job=" + name);
      }
      return new Job(name, queue, settings == null ? schedule.build() : settings, shards, shardParameters, overlap,
          misfire, timeout, parameter, maxAttempts, pauseAfterFailures, history, scope,
          allocation, allocator, zones, runListeners);
    }
  }
}
