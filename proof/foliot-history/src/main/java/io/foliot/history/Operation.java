package io.foliot.history;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's operation with its answer. */
final class Operation {
  private static final Reply NO_ANSWER = new Reply.Unknown("never answered");

  final Event.Invoked invoked;
  private Event.@Nullable Answered answered;
  private long latestMillis = Long.MAX_VALUE;

  Operation(Event.Invoked invoked) {
    this.invoked = invoked;
  }

  void answer(Event.Answered answer) {
    if (answered != null) {
      throw new IllegalArgumentException("an operation is answered once: " + answered + ", " + answer);
    }
    answered = answer;
  }

  /** To be called once all is read: an unknown operation takes effect within the grace time, or not at all. */
  void bound(FaultWindows faults, long graceMillis) {
    if (!isUnknown()) {
      latestMillis = answeredMillis();
    } else {
      latestMillis = faults.overMillis(answered == null ? invokedMillis() : answered.atMillis(), graceMillis);
    }
  }

  Request request() {
    return invoked.request();
  }

  Reply reply() {
    return answered == null ? NO_ANSWER : answered.reply();
  }

  boolean isUnknown() {
    return reply() instanceof Reply.Unknown;
  }

  long invokedMillis() {
    return invoked.atMillis();
  }

  /** When the answer was there, or {@link Long#MAX_VALUE}. */
  long answeredMillis() {
    return answered == null ? Long.MAX_VALUE : answered.atMillis();
  }

  /** Returns the last instant at which it may have taken effect. */
  long latestMillis() {
    return latestMillis;
  }

  /** The earliest due time that it may lead to. */
  long notBeforeMillis() {
    return switch (request()) {
      case Request.Submit submit -> submit.notBeforeMillis();
      case Request.Reset reset -> reset.notBeforeMillis();
      case Request.Touch touch -> touch.notBeforeMillis();
      default -> invokedMillis();
    };
  }

  List<Event> events() {
    return answered == null ? List.of(invoked) : List.of(invoked, answered);
  }
}
