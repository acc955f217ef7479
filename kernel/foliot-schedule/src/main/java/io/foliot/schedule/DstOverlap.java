package io.foliot.schedule;

import java.util.Locale;

/** The rule for a local time that a clock change repeats: it comes in a first pass, and again in a second pass. */
public enum DstOverlap {
  /** A schedule that allows every hour fires in both passes, any other schedule in the first. */
  AUTO,
  /** The time fires in the first pass only. */
  FIRST,
  /** The time fires in both passes. */
  BOTH;

  /** Returns the name as it is written in settings. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
