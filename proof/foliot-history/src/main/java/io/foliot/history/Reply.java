package io.foliot.history;

/** The answer to an operation. One without an answer is {@link Unknown}. */
public sealed interface Reply {
  /** The generation of an answer that does not name it. */
  long NO_GENERATION = -1;

  /** The effect on the task of a key. */
  enum Result {
    /** There was no live task; now there is. */
    CREATED,
    /** A live task without outstanding attempt got a new generation. */
    RESET,
    /** As {@link #RESET}, but an earlier claim may still deliver the generation before. */
    RESET_PENDING,
    /** The live task stays as it is. */
    KEPT,
    /** The idempotency key was seen before; this is what came of it then. */
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
   * Answers a submit, reset, touch, run-now, or the redrive of one task, which is {@link Result#CREATED}.
   *
   * @param dueAtMillis the due time as answered
   */
  record Placed(Result result, String taskId, long generation, long dueAtMillis) implements Reply {}

  /**
   * Answers a cancel.
   *
   * @param generation what the cancel met, or {@link #NO_GENERATION}
   */
  record Cancelled(CancelResult result, long generation) implements Reply {}

  /** Answers a read. */
  record Found(String taskId, long generation, State state) implements Reply {}

  /** Nothing was there, or nothing live where only that counts, and nothing has changed. */
  record NotFound() implements Reply {}

  /** It was done, and more was not said: answers a redrive of a queue, or a run-now. */
  record Done() implements Reply {}

  /** It was refused, and certainly nothing has changed. */
  record Failed(String reason) implements Reply {}

  /** It may have happened, or happen yet, or not: a timeout, a broken connection, a 5xx. */
  record Unknown(String reason) implements Reply {}
}
