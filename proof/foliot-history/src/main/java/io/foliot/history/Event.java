package io.foliot.history;

/**
 * One event of a history. {@link Answered}, {@link Replied} and {@link FaultEnded} have the number of the operation,
 * delivery or fault that they end.
 */
public sealed interface Event {
  long atMillis();

  /** The answer of a receiver. */
  enum Reception {
    /** The work is done. */
    SUCCESS,
    /** The work is done and the receiver requests another call. This makes a generation that no client requested. */
    AGAIN,
    /** The attempt failed and is to be retried. */
    RETRY,
    /** The task has failed permanently, as after status 410. */
    REFUSED,
    /** The work is done, but the system had certainly stopped waiting before it could read the answer. */
    GONE
  }

  /** The kind of an injected fault. The window of a fault is the time from {@link FaultBegan} to {@link FaultEnded}. */
  enum Fault {
    /** A process was killed; the window ends when it is up again. */
    KILL,
    /** A process or the store was suspended. */
    PAUSE,
    /** Parts of the system could not reach each other. Messages that were sent may arrive after the window. */
    PARTITION,
    /** The receiver was suspended. Messages that were sent may arrive after the window. */
    RECEIVER,
    /** Any other fault, such as a full disk, or a clock that was changed. */
    OTHER;

    boolean delaysArrivals() {
      return this == PARTITION || this == RECEIVER;
    }
  }

  /** A client is about to send a request. The event must be recorded before the request is sent. */
  record Invoked(long op, long atMillis, Request request) implements Event {}

  record Answered(long op, long atMillis, Reply reply) implements Event {}

  /** An attempt arrived at the receiver. */
  record Began(long delivery, long atMillis, Attempt attempt) implements Event {}

  /**
   * The receiver is about to answer a delivery. The event must be recorded before the answer is sent. A delivery
   * without this event was not answered.
   */
  record Replied(long delivery, long atMillis, Reception reception) implements Event {}

  /**
   * A fault is about to be injected.
   *
   * @param window the number of the fault
   * @param what a description of the fault
   */
  record FaultBegan(long window, long atMillis, Fault fault, String what) implements Event {}

  /** A fault ended. From now on the system must recover by itself, even if one of its parts stays broken. */
  record FaultEnded(long window, long atMillis) implements Event {}

  /**
   * The store was made to lose writes, as its durability class permits. Each acknowledged write and each result of an
   * attempt since an instant may be lost. Older writes must have survived.
   *
   * @param fromMillis the instant, inclusive
   */
  record Forgot(long atMillis, long fromMillis) implements Event {}

  /** The end of the run: everything that had to happen by then must be in the history. */
  record RunEnded(long atMillis) implements Event {}
}
