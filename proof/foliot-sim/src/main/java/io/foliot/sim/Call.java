package io.foliot.sim;

/** The kinds of calls of a store. */
enum Call {
  SUBMIT(true), TOUCH(true), CANCEL(true), CLAIM(true), SETTLE(true), PARK(true), REDRIVE(true), DUE(
      false), READ_PARKED(false), PROBE(false), FIND(false), READ_DOCUMENT(false), WRITE_DOCUMENT(true), TIME(false);

  private final boolean writes;

  Call(boolean writes) {
    this.writes = writes;
  }

  /** Returns whether it changes anything, so that a store's log has it. */
  boolean writes() {
    return writes;
  }

  /** Returns whether a client asks for it. */
  boolean isOfClients() {
    return this == SUBMIT || this == TOUCH || this == CANCEL || this == REDRIVE;
  }
}
