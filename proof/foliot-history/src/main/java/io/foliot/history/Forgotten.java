package io.foliot.history;

import java.util.ArrayList;
import java.util.List;

/**
 * The spans of time whose writes the store may have lost, as its durability class permits. An answer from such a span
 * proves nothing, so its operation is treated as unanswered. A task that this operation replaced or cancelled may still
 * run, and a task that it created may be missing. Answers from outside the spans remain valid.
 */
final class Forgotten {
  private record Span(long fromMillis, long toMillis) {}

  private final List<Span> spans = new ArrayList<>();
  private long excused;

  Forgotten(List<Event> events, Allowances allowances) {
    // An answer that the system sent just before the loss may be recorded this much later.
    long slackMillis = allowances.clockErrorMillis() + allowances.transitMillis();
    for (Event event : events) {
      if (event instanceof Event.Forgot(long atMillis, long fromMillis)) {
        spans.add(new Span(fromMillis - allowances.clockErrorMillis(), atMillis + slackMillis));
      }
    }
  }

  /** Returns whether a write that was acknowledged at an instant may be lost. */
  boolean mayBe(long millis) {
    return spans.stream().anyMatch(span -> millis >= span.fromMillis && millis <= span.toMillis);
  }

  /** Returns whether a loss may have happened at or after an instant. */
  boolean mayFollow(long millis) {
    return spans.stream().anyMatch(span -> millis <= span.toMillis);
  }

  /** Returns whether writes at or before an instant may have been lost. */
  boolean mayPrecede(long millis) {
    return spans.stream().anyMatch(span -> span.fromMillis <= millis);
  }

  /**
   * Returns an answer unchanged, or replaced by {@link Reply.Unknown} if the store may have lost its write. The answers
   * Failed and NotFound are never replaced, because they acknowledge no write.
   */
  Event.Answered judged(Event.Answered answered) {
    Reply reply = answered.reply();
    if (reply instanceof Reply.Failed || reply instanceof Reply.NotFound || reply instanceof Reply.Unknown
        || !mayBe(answered.atMillis())) {
      return answered;
    }
    excused++;
    return new Event.Answered(answered.op(), answered.atMillis(), new Reply.Unknown("perhaps forgotten: " + reply));
  }

  /** Returns how many answers were replaced because the store may have lost their writes. */
  long excused() {
    return excused;
  }
}
