package io.foliot.history;

/**
 * One entry of a history. A number ties an answer to its operation, an end to its beginning; each kind has its own
 * numbers.
 */
public sealed interface Event {
  long atMillis();

  /** The answer of a receiver. */
  enum Reception {
    /** The work is done. */
    SUCCESS,
    /** The work is done and the receiver asks for another call, which creates a generation that no client knows of. */
    AGAIN,
    /** The attempt is to be retried, as after an error. */
    RETRY,
    /** The task has failed permanently, as after status 410. */
    REFUSED,
    /** The work is done, but the caller had certainly ended before it could read the answer. */
    GONE
  }

  /** The kind of an injected fault. */
  enum Fault {
    /** A process was killed; the window ends when it is up again. */
    KILL,
    /** A process or the store was suspended. */
    PAUSE,
    /** Parts could not reach each other; messages that were sent may arrive after the window. */
    PARTITION,
    /** The receiver was suspended; messages that were sent may arrive after the window. */
    RECEIVER,
    /** A clock was set, a disk was full, and the like. */
    OTHER;

    boolean delaysArrivals() {
      return this == PARTITION || this == RECEIVER;
    }
  }

  /** An operation. It must be recorded before the request is sent. */
  record Invoked(long op, long atMillis, Request request) implements Event {}

  record Answered(long op, long atMillis, Reply reply) implements Event {}

  /** An attempt arrived at the receiver. */
  record Began(long delivery, long atMillis, Attempt attempt) implements Event {}

  /**
   * The answer of a delivery. It must be recorded before the answer is sent; a delivery without it was not answered.
   */
  record Replied(long delivery, long atMillis, Reception reception) implements Event {}

  record FaultBegan(long window, long atMillis, Fault fault, String what) implements Event {}

  /** From now on the system must recover by itself, even if a part stays broken for ever. */
  record FaultEnded(long window, long atMillis) implements Event {}

  /**
   * The store was made to lose the writes that its durability class permits: acknowledged writes and results of
   * attempts since an instant. Each of these may or may not be undone; older ones must have survived.
   *
   * @param fromMillis the instant
   */
  record Forgot(long atMillis, long fromMillis) implements Event {}

  /** The end of the run: everything that had to happen by then must be in the history. */
  record RunEnded(long atMillis) implements Event {}
}
