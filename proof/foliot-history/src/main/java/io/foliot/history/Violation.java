package io.foliot.history;

import java.util.List;

/**
 * A promise that was broken.
 *
 * @param evidence the events that prove the violation, in order of time
 */
public record Violation(Kind kind, String message, List<Event> evidence) {
  public enum Kind {
    /** An acked firing was neither delivered nor failed, although no cancel and no later generation explains this. */
    LOST,
    /** An attempt began before its due time, or the due time is before the requested one. */
    EARLY,
    /** An attempt began although an answered cancel excludes it. */
    CANCEL,
    /** A generation began although an answered reset excludes it. */
    STALE,
    /** Identities contradict each other: for example, a firing has two ids, or generations do not increase. */
    FIRING,
    /** In a run without faults, a firing had a second success although the first was answered in time. */
    DUP,
    /** A firing was delivered long after its success, or after it had been read as final; or a final state changed. */
    ZOMBIE,
    /** A task was delivered although no client had submitted it. */
    GHOST,
    /** An attempt had the same (generation, attempt) as an earlier attempt, or a lower one. */
    FENCE
  }

  public Violation {
    evidence = List.copyOf(evidence);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder().append(kind).append(": ").append(message);
    for (Event event : evidence) {
      text.append(System.lineSeparator()).append("    ").append(event);
    }
    return text.toString();
  }
}
