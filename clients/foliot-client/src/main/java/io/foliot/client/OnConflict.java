package io.foliot.client;

import java.util.Locale;

/** The effect of a submit whose key has a live task. */
public enum OnConflict {
  /** Resets the live task: it gets the due time and payload of the new one, and a larger generation. */
  RESET,
  /** Leaves the live task as it is, and returns it. */
  KEEP,
  /** Refuses the submit. */
  REJECT;

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
