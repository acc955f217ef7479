package io.foliot.client;

import java.util.Locale;

/** The effect of a submit whose key has a live task. */
public enum OnConflict {
  /** Resets the live task, which gets the due time and payload of the new task, and a larger generation. */
  RESET,
  /** Does not change the live task, and returns it. */
  KEEP,
  /** Refuses the submit. */
  REJECT;

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
