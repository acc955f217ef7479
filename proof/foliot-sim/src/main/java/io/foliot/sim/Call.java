package io.foliot.sim;

/** The kinds of store calls. */
enum Call {
  SUBMIT, TOUCH, CANCEL, CLAIM, EXTEND, SETTLE, PARK, REDRIVE, WRITE_DOCUMENT,
  // Calls that only read.
  DUE, READ_PARKED, PROBE, FIND, READ_DOCUMENT, TIME;

  /** Returns whether the call changes the store. */
  boolean writes() {
    return switch (this) {
      case SUBMIT, TOUCH, CANCEL, CLAIM, EXTEND, SETTLE, PARK, REDRIVE, WRITE_DOCUMENT -> true;
      case DUE, READ_PARKED, PROBE, FIND, READ_DOCUMENT, TIME -> false;
    };
  }

  /** Returns whether the call reads records of tasks, and changes them in a later step. */
  boolean isDecided() {
    return writes() && this != WRITE_DOCUMENT;
  }

  /** Returns whether the engine makes the call on behalf of a client. */
  boolean isOfClient() {
    return this == SUBMIT || this == TOUCH || this == CANCEL || this == REDRIVE;
  }
}
