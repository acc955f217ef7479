package io.foliot.history;

import java.util.List;

/**
 * A promise that was broken.
 *
 * @param evidence the operations and deliveries that prove it, in order of time
 */
public record Violation(Kind kind, String message, List<Event> evidence) {
  public enum Kind {
    /** An acked firing, neither cancelled nor superseded, was neither delivered nor failed. */
    LOST,
    /** An attempt began before its due time, or the due time is before the one asked for. */
    EARLY,
    /** An attempt began that an answered cancel excludes. */
    CANCEL,
    /** A generation began that an answered reset excludes. */
    STALE,
    /** A firing with two ids, an id with two firings, or generations that do not increase. */
    FIRING,
    /** A firing was delivered again although its success was answered in time. */
    DUP,
    /** A firing was delivered long after its success, or after it was final; or a final state changed. */
    ZOMBIE,
    /** A task was delivered that no client had submitted. */
    GHOST,
    /** (generation, attempt) was repeated or went back, so that it is no fence. */
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
