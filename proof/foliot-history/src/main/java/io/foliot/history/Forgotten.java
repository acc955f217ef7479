package io.foliot.history;

import java.util.ArrayList;
import java.util.List;

/**
 * The writes that a store may have lost by its durability class. An answer within that time proves nothing: the
 * operation took effect or not, as one without an answer. So a task that it replaced or cancelled may still run, and a
 * task that it created may be missing. An earlier answer remains valid.
 */
final class Forgotten {
  private record Span(long fromMillis, long toMillis) {}

  private final List<Span> spans = new ArrayList<>();
  private long excused;

  /** The time that an answer from just before the loss may be under way: as long as an attempt to the receiver. */
  Forgotten(List<Event> events, Allowances allowances) {
    long slackMillis = allowances.clockErrorMillis() + allowances.transitMillis();
    for (Event event : events) {
      if (event instanceof Event.Forgot(long atMillis, long fromMillis)) {
        spans.add(new Span(fromMillis - allowances.clockErrorMillis(), atMillis + slackMillis));
      }
    }
  }

  /** Returns whether an answer of an instant may be lost. */
  boolean mayBe(long millis) {
    return spans.stream().anyMatch(span -> millis >= span.fromMillis && millis <= span.toMillis);
  }

  /** Returns whether a write of an instant may have been lost later. */
  boolean mayFollow(long millis) {
    return spans.stream().anyMatch(span -> millis <= span.toMillis);
  }

  /** Returns whether something may have been lost before an instant. */
  boolean mayPrecede(long millis) {
    return spans.stream().anyMatch(span -> span.fromMillis <= millis);
  }

  /** The value of an answer. An answer that nothing was done need not be remembered. */
  Event.Answered judged(Event.Answered answered) {
    Reply reply = answered.reply();
    if (reply instanceof Reply.Failed || reply instanceof Reply.NotFound || reply instanceof Reply.Unknown
        || !mayBe(answered.atMillis())) {
      return answered;
    }
    excused++;
    return new Event.Answered(answered.op(), answered.atMillis(), new Reply.Unknown("forgotten perhaps: " + reply));
  }

  /** Returns how many answers say nothing any more. */
  long excused() {
    return excused;
  }
}
