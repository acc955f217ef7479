package io.foliot;

import java.time.Instant;

/**
 * The result of a submit, and the task that the submit created or found.
 *
 * @param result the effect of the submit
 * @param id the task's id, for the API, the command line and logs
 * @param generation the number of the task's generation, which grows with each reset; see {@link Attempt#generation}
 * @param dueAt when the task is due, by the store's clock
 */
public record Submitted(Result result, String id, long generation, Instant dueAt) {
  /** The effect of a submit. */
  public enum Result {
    /** A new task was created. */
    CREATED,
    /** The live task of the key has the new due time and payload; its earlier generation can no longer begin. */
    RESET,
    /**
     * As {@link #RESET}, but an attempt of an earlier generation may still be running. The new generation begins after
     * that attempt or its lease has ended.
     */
    RESET_PENDING,
    /** The live task of the key was not changed, because the submit set {@code KEEP}. */
    KEPT,
    /** The key has a live task, which this record describes, and the submit set {@code REJECT}; nothing changed. */
    REJECTED,
    /** The request was made before with this idempotency key. The record describes the result of the first request. */
    REPEATED,
    /** A different request used the idempotency key before. The id is that of its task; nothing was submitted. */
    MISMATCHED
  }
}
