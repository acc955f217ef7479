package io.foliot.jobs;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.jobs.PastRun.Result;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The listeners and the phase of a run. The listener before the shards goes through the steps TO_INSERT, INSERTED and
 * ENDED; then the shards run; then the listener after them goes through the same steps. The listeners are chosen when
 * the run begins. Immutable.
 *
 * @param phase the phase of the run
 * @param step the step of the phase's listener; without meaning in the phase of the shards
 * @param hasAfter whether the run has a listener after the shards
 * @param queue the queue in which the run began; empty for {@link #NONE}
 * @param failed the phases whose listener failed or was cancelled. BEFORE is not among them if the run was stopped in
 *     that phase
 * @param result the result of the run, once its shards have ended; before that null
 */
record RunListeners(RunPhase phase, Step step, boolean hasAfter, String queue, Set<RunPhase> failed,
    @Nullable Result result) {
  /** A run without listeners. */
  static final RunListeners NONE = new RunListeners(RunPhase.SHARDS, Step.ENDED, false, "", Set.of(), null);

  /** The steps of a listener. */
  enum Step {
    TO_INSERT(0), INSERTED(1), ENDED(2);

    private final int code;

    Step(int code) {
      this.code = code;
    }

    /** Returns the code of this step in stored records. */
    int code() {
      return code;
    }
  }

  RunListeners {
    failed = JobCodes.copy(failed);
  }

  /** Returns the listeners of a run that begins now, according to its job. */
  static RunListeners of(Job job) {
    boolean hasBefore = job.runListeners().contains(RunPhase.BEFORE);
    return job.runListeners().isEmpty()
        ? NONE
        : new RunListeners(hasBefore ? RunPhase.BEFORE : RunPhase.SHARDS, hasBefore ? Step.TO_INSERT : Step.ENDED,
            job.runListeners().contains(RunPhase.AFTER), job.queue(), Set.of(), null);
  }

  boolean isNone() {
    return queue.isEmpty();
  }

  /** Returns whether the listener of the phase is to be inserted. */
  boolean isToInsert() {
    return step == Step.TO_INSERT;
  }

  /** Returns whether the listener of the phase is inserted and its end is not known. */
  boolean isOpen() {
    return step == Step.INSERTED;
  }

  /** Returns whether the run has a listener after the shards that is not inserted yet. */
  boolean hasAfterToCome() {
    return hasAfter && (phase != RunPhase.AFTER || isToInsert());
  }

  RunListeners inserted() {
    return new RunListeners(phase, Step.INSERTED, hasAfter, queue, failed, result);
  }

  /** Returns the next state once the listener of the phase has ended. */
  RunListeners ended(boolean hasFailed) {
    EnumSet<RunPhase> all = EnumSet.noneOf(RunPhase.class);
    all.addAll(failed);
    if (hasFailed) {
      all.add(phase);
    }
    return new RunListeners(phase == RunPhase.BEFORE ? RunPhase.SHARDS : phase, Step.ENDED, hasAfter, queue, all,
        result);
  }

  /** Returns the next state once the shards have ended with a result. */
  RunListeners after(Result runResult) {
    return new RunListeners(RunPhase.AFTER, Step.TO_INSERT, hasAfter, queue, failed, runResult);
  }
}
