package io.foliot.client;

import io.foliot.api.Job;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method the handler of a job, for {@link JobWorker.Builder#handlers}. The method takes no parameter or a
 * {@link JobContext}. It returns nothing, a {@code String} as a human-readable result, or a {@link JobResult}.
 *
 * <p>If {@link #cron}, {@link #every} or {@link #after} is set, the worker also declares the job. If the job needs
 * settings that this annotation lacks, declare the job with {@link JobWorker.Builder#declare}. Then set only
 * {@link #name} and {@link #runAtStart} here.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface FoliotJob {
  /** Returns the name of the job. */
  String name();

  /** Returns the cron expression, such as {@code 0 2 * * *}; empty for none. */
  String cron() default "";

  /** Returns the period of a fixed rate, such as {@code 10m}; empty for none. */
  String every() default "";

  /** Returns the delay from the end of a run to the start of the next run, such as {@code 10m}; empty for none. */
  String after() default "";

  /** Returns the time zone of the schedule, such as {@code Europe/Berlin}; empty for UTC. */
  String timeZone() default "";

  /** Returns the rule that selects the workers of a run. */
  Scope scope() default Scope.ONE;

  /** Returns the zones in which a {@code PER_ZONE} job runs; empty for all zones that have a worker. */
  String[] zones() default {};

  /** Returns the number of shards of a run. */
  int shards() default 1;

  /** Returns the text parameters of the shards, from shard 0 on. Shards beyond the last text have no parameter. */
  String[] shardParameters() default {};

  /** Returns the rule for a scheduled time that comes while a run is active. */
  Overlap overlap() default Overlap.SKIP;

  /** Returns how long a run may take, such as {@code 2h}; empty for no limit. */
  String timeout() default "";

  /**
   * Returns the phases of a run in which a worker calls its listeners: before the first shard, after the last shard, or
   * both. See {@link Job.Builder#runListeners}.
   */
  RunPhase[] runListeners() default {};

  /** Returns whether each worker also runs the method once at its start. See {@link JobWorker.Builder#runAtStart}. */
  boolean runAtStart() default false;
}
