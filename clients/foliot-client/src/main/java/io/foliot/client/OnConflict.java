package io.foliot.client;

import java.util.Locale;

/** The effect of a submit whose key has a live task. */
public enum OnConflict {
  /**
   * Resets the live task: it gets a new generation and the due time of the new task. It also gets the payload of the
   * new task, unless the new task has none.
   */
  RESET,
  /** Does not change the live task, and returns it. */
  KEEP,
  /** Refuses the submit. */
  REJECT;

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
