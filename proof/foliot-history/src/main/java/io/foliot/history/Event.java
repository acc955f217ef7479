package io.foliot.history;

/** One entry of a history. Numbers tie an answer to its operation, and so on; each kind counts its own. */
public sealed interface Event {
  long atMillis();

  /** The answer of a receiver. */
  enum Reception {
    /** Done. */
    SUCCESS,
    /** Done, and to be called again, which makes a generation that no client was told of. */
    AGAIN,
    /** To be tried again, as by an error. */
    RETRY,
    /** Failed for good, as by 410. */
    REFUSED,
    /** Done, but the caller had certainly gone before it could read that. */
    GONE
  }

  /** The kind of an injected fault. */
  enum Fault {
    /** A process was killed, until it was up again. */
    KILL,
    /** A process or the store stood still. */
    PAUSE,
    /** Parts could not reach each other; what was sent may arrive after the window. */
    PARTITION,
    /** The receiver stood still; what was sent may arrive after the window. */
    RECEIVER,
    /** A clock was set, a disk was full, and the like. */
    OTHER;

    boolean delaysArrivals() {
      return this == PARTITION || this == RECEIVER;
    }
  }

  /** To be recorded before the request is sent. */
  record Invoked(long op, long atMillis, Request request) implements Event {}

  record Answered(long op, long atMillis, Reply reply) implements Event {}

  /** An attempt arrived at the receiver. */
  record Began(long delivery, long atMillis, Attempt attempt) implements Event {}

  /** To be recorded before the answer is sent; a delivery without it was not answered. */
  record Replied(long delivery, long atMillis, Reception reception) implements Event {}

  record FaultBegan(long window, long atMillis, Fault fault, String what) implements Event {}

  /** From now on the system must recover by itself, even if a part stays broken for ever. */
  record FaultEnded(long window, long atMillis) implements Event {}

  /**
   * The store was made to lose what its durability class says that it may: what was acked, and what it was told of
   * attempts, since an instant. It may be undone or not, each by itself; what is older must be there.
   *
   * @param fromMillis the instant
   */
  record Forgot(long atMillis, long fromMillis) implements Event {}

  /** The end of the run: all that had to happen must be in the history. */
  record RunEnded(long atMillis) implements Event {}
}
