package io.foliot.history;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A client's operation, with its answer if there is one. */
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
      throw new IllegalArgumentException("an operation has two answers: " + answered + ", " + answer);
    }
    answered = answer;
  }

  /**
   * Computes {@link #latestMillis}. Must be called once, after all events have been read. An unknown operation takes
   * effect within the grace time, or never. The grace time begins with the answer, or with the request if there is no
   * answer. If a fault ends within the grace time, the grace time begins again.
   */
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

  /** Returns when the answer arrived, or {@link Long#MAX_VALUE} if there is none. */
  long answeredMillis() {
    return answered == null ? Long.MAX_VALUE : answered.atMillis();
  }

  /** Returns the last instant at which this operation may have taken effect, as {@link #bound} has computed it. */
  long latestMillis() {
    return latestMillis;
  }

  /** Returns the earliest due time that this operation may cause. */
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
