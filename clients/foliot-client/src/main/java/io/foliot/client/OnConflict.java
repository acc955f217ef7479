package io.foliot.client;

import java.util.Locale;

/** The effect of a submit whose key has a live task. */
public enum OnConflict {
  /** Resets it: the new task takes its place, under a larger generation. */
  RESET,
  /** Keeps it, and returns it. */
  KEEP,
  /** Refuses the new one. */
  REJECT;

  String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
