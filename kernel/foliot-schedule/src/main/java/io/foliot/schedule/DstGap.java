package io.foliot.schedule;

import java.util.Locale;

/** The rule for a local time that a clock change skips. */
public enum DstGap {
  /**
   * The time fires at the end of the gap. All times in one gap and a time at the end of this gap fire together, as one
   * time.
   */
  SHIFT,
  /** The time does not fire. */
  SKIP;

  /** Returns the name as it is written in settings. */
  public String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
