package io.foliot.api;

import java.util.Locale;
import java.util.Set;

/**
 * The headers that a recurring job sets on the tasks of its runs. Most of them describe the task to its receiver. A
 * receiver trusts these headers, so no submission may set them.
 */
public final class JobHeaders {
  /** The name of the job. */
  public static final String JOB = "foliot-job";
  /** The scheduled time, in RFC 3339. */
  public static final String SCHEDULED_AT = "foliot-scheduled-at";
  /** The number of the shard, from 0. */
  public static final String SHARD = "foliot-shard";
  /** The number of shards of the run. */
  public static final String SHARDS = "foliot-shards";
  /** The text that the job defines for the shard. */
  public static final String SHARD_PARAMETER = "foliot-shard-parameter";
  /** The number of scheduled times that were missed before this one. */
  public static final String MISSED = "foliot-missed";
  /** The kind of a listener of the run: {@code before} the first shard of the run, or {@code after} the last one. */
  public static final String PHASE = "foliot-phase";
  /** The result of the run. Only the listener after the last shard has this header. */
  public static final String RUN_RESULT = "foliot-run-result";
  /** The number of shards of the run that failed. Only the listener after the last shard has this header. */
  public static final String RUN_FAILED = "foliot-run-failed";
  /** The zone in which the shard runs, if the job runs in each zone. */
  public static final String ZONE = "foliot-zone";
  /**
   * The checkpoint from which the shard continues: the last checkpoint of the same shard in the previous run. The
   * note of the task contains this checkpoint until a handler reports
   * another one.
   */
  public static final String CHECKPOINT = "foliot-checkpoint";
  /**
   * Present if the job waits for the end of the shard. The engine then makes the job's task due when the shard ends.
   */
  public static final String AWAITED = "foliot-awaited";
  /**
   * The first part of the firing id of a shard whose task id has an address. An address depends on the workers when the
   * run began; this text depends only on the job, the scheduled time and the shard.
   */
  public static final String FIRING = "foliot-firing";

  private static final Set<String> DELIVERED = Set.of(JOB, SCHEDULED_AT, SHARD, SHARDS, SHARD_PARAMETER, MISSED, ZONE,
      PHASE,
      RUN_RESULT, RUN_FAILED);
  private static final Set<String> KEPT = Set.of(AWAITED, CHECKPOINT, FIRING);

  private JobHeaders() {}

  /** Returns whether callbacks contain the header with this name, which is given in lower case. */
  public static boolean isDelivered(String lowerName) {
    return DELIVERED.contains(lowerName);
  }

  /**
   * Ensures that a caller may set a header.
   *
   * @throws IllegalArgumentException if only jobs may set it
   */
  public static void ensureFree(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (DELIVERED.contains(lower) || KEPT.contains(lower)) {
      throw new IllegalArgumentException(
          "this header is set by jobs alone, to describe the run of a task; choose another name: header=" + name);
    }
  }
}
