package io.foliot.history;

/** The answer to an operation. The reply of an unanswered operation is {@link Unknown}. */
public sealed interface Reply {
  /** Stands for the generation if an answer names none. */
  long NO_GENERATION = -1;

  /** The effect of an operation on a task. */
  enum Result {
    /** There was no live task, and the operation made one. */
    CREATED,
    /** A live task without an outstanding attempt got a new generation. */
    RESET,
    /** A live task got a new generation, but an earlier claim may still deliver an older generation. */
    RESET_PENDING,
    /** The live task stays as it is. */
    KEPT,
    /** The idempotency key was used before. The answer repeats the earlier result. */
    REPEATED
  }

  enum CancelResult {
    CANCELLED, CANCEL_PENDING, ALREADY_FINISHED
  }

  enum State {
    /** Waiting or running. */
    LIVE, FINISHED, FAILED, CANCELLED;

    boolean isFinal() {
      return this != LIVE;
    }
  }

  /**
   * Answers a submit, reset, touch, run-now, or the redrive of one task. The result of a redrive is
   * {@link Result#CREATED}.
   *
   * @param dueAtMillis the due time that the answer names
   */
  record Placed(Result result, String taskId, long generation, long dueAtMillis) implements Reply {}

  /**
   * Answers a cancel.
   *
   * @param generation the generation that was cancelled or found, or {@link #NO_GENERATION}
   */
  record Cancelled(CancelResult result, long generation) implements Reply {}

  /** Answers a read. */
  record Found(String taskId, long generation, State state) implements Reply {}

  /** There was no task, or no live task for an operation that needs one. Nothing has changed. */
  record NotFound() implements Reply {}

  /** The operation was done, but the answer has no details. Answers a redrive of a queue, or a run-now. */
  record Done() implements Reply {}

  /** The operation was refused, and certainly nothing has changed. */
  record Failed(String reason) implements Reply {}

  /** The operation may have taken effect, may still do so, or never will, as after a timeout or a status 5xx. */
  record Unknown(String reason) implements Reply {}
}
