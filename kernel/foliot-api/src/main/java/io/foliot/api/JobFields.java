package io.foliot.api;

import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** The fields of a job, with the rules of each one. {@link Job} has the rules between them. */
public final class JobFields {
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  /** The queue of the shards. */
  public static final Field<String> QUEUE = Field.required("queue", new FieldType.Text(Limits::isQueueName,
      "1 to 128 of A-Z a-z 0-9 . _ - with a letter or digit first", Limits.QUEUE_NAME),
      "the queue of the job's shards").option(null);
  /** The schedule of the runs. */
  public static final Field<ScheduleSettings> SCHEDULE = Field.required("schedule",
      new FieldType.Nested<>(ScheduleFields.TABLE, ScheduleFields::settings, ScheduleFields::values),
      "the schedule of the runs");
  /** The number of shards of a run; in each zone, if the job runs in zones. */
  public static final Field<Integer> SHARDS = Field.of("shards", new FieldType.Whole(1, Job.MAX_SHARDS), 1,
      "number of shards of a run");
  /** The texts of the first shards. */
  public static final Field<List<String>> SHARD_PARAMETERS = Field.of("shardParameters",
      new FieldType.Texts(Job.MAX_SHARDS), List.of(), "a text for each shard").secret();
  /** The rule for a scheduled time that comes while a run is active. */
  public static final Field<Overlap> OVERLAP = Field.of("overlap", FieldType.Choice.of(Overlap.class), Overlap.SKIP,
      "rule for a time that comes while a run is active");
  /** The rule for scheduled times that are found late. */
  public static final Field<Misfire> MISFIRE = Field.of("misfire",
      new FieldType.Nested<>(MisfireFields.TABLE, MisfireFields::misfire, MisfireFields::values), Misfire.DEFAULT,
      "rule for scheduled times that are found late");
  /** The longest time that a run may take. */
  public static final Field<Duration> TIMEOUT = Field.optional("timeout", new FieldType.Span(
      timeout -> timeout.isPositive() && timeout.compareTo(Job.MAX_TIMEOUT) <= 0,
      "a duration above 0 and at most 24 h", false), "how long a run may take");
  /** The payload of each shard. */
  public static final Field<Body> PARAMETER = Field.of("parameter", new FieldType.Json(), Body.EMPTY,
      "the payload of each shard").secret();
  /** The number of attempts of a shard. */
  public static final Field<Integer> MAX_ATTEMPTS = Field.optional("maxAttempts",
      Retry.ATTEMPTS, "attempts of a shard, instead of the queue's");
  /** The number of failed runs in a row after which the job is paused. */
  public static final Field<Integer> PAUSE_AFTER_FAILURES = Field.of("pauseAfterFailures",
      new FieldType.Whole(0, 1_000), 0, "pauses the job after this many failed runs in a row; 0 for never");
  /** The number of entries of the history. */
  public static final Field<Integer> HISTORY = Field.of("history", new FieldType.Whole(1, Job.MAX_HISTORY), 50,
      "how many entries of the history are kept; an entry is an ended run, or a range of times that did not run");
  /** The choice of the workers of a run. */
  public static final Field<Scope> SCOPE = Field.of("scope", FieldType.Choice.of(Scope.class), Scope.ONE,
      "on how many workers a run runs");
  /** The rule that divides shards among workers. */
  public static final Field<Allocation> ALLOCATION = Field.of("allocation", FieldType.Choice.of(Allocation.class),
      Allocation.AVERAGE, "how shards are divided among workers");
  /** The name of the application's allocator. */
  public static final Field<String> ALLOCATOR = Field.of("allocator", FieldType.Text.ANY, "",
      "with the allocation own: the function of the application that divides the shards, by its registered name")
      .of(ALLOCATION);
  /** The zones of a run. */
  public static final Field<List<String>> ZONES = Field.of("zones", new FieldType.Texts(Job.MAX_ZONES), List.of(),
      "with the scope per-zone: the zones of a run, instead of all zones that have a worker").of(SCOPE);
  /** The phases of a run that have a listener. */
  public static final Field<Set<RunPhase>> RUN_LISTENERS = Field.of("runListeners",
      new FieldType.Choices<>(new FieldType.Choice<>(List.of(RunPhase.BEFORE, RunPhase.AFTER))), Set.of(),
      "listeners of a run, each an extra task: before (the first shard), after (the last shard)");

  /** Words for people and tools that describe the job. */
  public static final Field<List<String>> LABELS = Field.of("labels", new FieldType.Texts(16), List.of(),
      "words for people and tools, such as team-billing, at most 16");

  /** The table. */
  public static final Fields TABLE = Fields.of("the job", QUEUE, SCHEDULE, SHARDS, SHARD_PARAMETERS, OVERLAP, MISFIRE,
      TIMEOUT, PARAMETER, MAX_ATTEMPTS, PAUSE_AFTER_FAILURES, HISTORY, SCOPE, ALLOCATION, ALLOCATOR, ZONES,
      RUN_LISTENERS, LABELS);

  private JobFields() {}

  /** Returns whether a text can be the name of a zone or of an allocator. */
  static boolean isWord(String text) {
    return WORD.matcher(text).matches();
  }
}
