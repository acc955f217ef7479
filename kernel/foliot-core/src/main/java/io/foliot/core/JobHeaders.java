package io.foliot.core;

import java.util.Locale;
import java.util.Set;

/**
 * The headers by which a recurring job describes a task of a run to its receiver. A receiver trusts them, so no
 * submission may set them.
 */
public final class JobHeaders {
  /** The name of the job. */
  public static final String JOB = "foliot-job";
  /** The scheduled time, in RFC 3339. */
  public static final String SCHEDULED_AT = "foliot-scheduled-at";
  /** The number of the shard, from 0. */
  public static final String SHARD = "foliot-shard";
  /** The number of shards. */
  public static final String SHARDS = "foliot-shards";
  /** The text that the job defines for the shard. */
  public static final String SHARD_PARAMETER = "foliot-shard-parameter";
  /** The number of scheduled times that were missed before this one. */
  public static final String MISSED = "foliot-missed";
  /** Set on the task before the shards of a run, and on the one after them: {@code before} or {@code after}. */
  public static final String PHASE = "foliot-phase";
  /** The result of the run, on the task after its shards. */
  public static final String RUN_RESULT = "foliot-run-result";
  /** The number of shards of the run that failed, on the task after them. */
  public static final String RUN_FAILED = "foliot-run-failed";
  /** The zone in which the shard runs, if the job runs in each zone. */
  public static final String ZONE = "foliot-zone";
  /**
   * The checkpoint with which the shard begins: the last one of the same shard in the previous run. It is part of the
   * {@link io.foliot.core.store.TaskRecord#note note} of a task that has no other checkpoint.
   */
  public static final String CHECKPOINT = "foliot-checkpoint";
  /** Set if the job waits for the end of the shard; the engine wakes the job then. */
  public static final String AWAITED = "foliot-awaited";

  private static final Set<String> DELIVERED = Set.of(JOB, SCHEDULED_AT, SHARD, SHARDS, SHARD_PARAMETER, MISSED, ZONE,
      PHASE,
      RUN_RESULT, RUN_FAILED);
  private static final Set<String> KEPT = Set.of(AWAITED, CHECKPOINT);

  private JobHeaders() {}

  /** Returns whether a callback carries this header, whose name is in lower case. */
  public static boolean isDelivered(String lowerName) {
    return DELIVERED.contains(lowerName);
  }

  /**
   * Ensures that a caller may set a header.
   *
   * @throws IllegalArgumentException if only jobs may set it
   */
  static void ensureFree(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (DELIVERED.contains(lower) || KEPT.contains(lower)) {
      throw new IllegalArgumentException(
          "this header says which run of a job a task belongs to, and is set by jobs alone; choose another name: header="
              + name);
    }
  }
}
