package io.foliot.client;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Makes a method the handler of a job, for {@link JobWorker.Builder#handlers}. The method takes no parameter or a
 * {@link JobContext}. It returns nothing, a {@code String} as a human-readable result, or a {@link JobResult}.
 *
 * <p>If {@link #cron}, {@link #every} or {@link #after} is set, the worker also declares the job. A job that needs
 * settings that this annotation does not have is declared with {@link JobWorker.Builder#declare}; the annotation then
 * has no schedule and no other settings of the job. An empty text means the server's default.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface FoliotJob {
  /** Returns the name of the job. */
  String name();

  /** Returns a cron expression. */
  String cron() default "";

  /** Returns the period of a fixed rate, such as {@code 10m}. */
  String every() default "";

  /** Returns the delay from the end of a run to the next one, such as {@code 10m}. */
  String after() default "";

  /** Returns the time zone of local times, such as {@code Europe/Berlin}. */
  String zone() default "";

  /** Returns where the runs take place. */
  JobScope scope() default JobScope.ONE;

  /** Returns the zones of workers in which a job of the scope {@code PER_ZONE} runs. */
  String[] zones() default {};

  /** Returns the number of shards of a run. */
  int shards() default 1;

  /** Returns the texts of the shards, from shard 0 on. There may be fewer texts than shards. */
  String[] shardParameters() default {};

  /** Returns the rule for a scheduled time that comes while a run is active: skip, queue, replace or allow. */
  String overlap() default "";

  /** Returns how long a run may take, such as {@code 2h}. */
  String timeout() default "";

  /**
   * Returns the phases in which a run has a task of its own, for listeners: before its first shard, or after its last
   * one. As {@link Job.Builder#runListeners}.
   */
  RunPhase[] runListeners() default {};

  /** Returns whether each worker also runs the method once when it starts, as {@link JobWorker.Builder#runAtStart}. */
  boolean runAtStart() default false;
}
