package io.foliot.history;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An attempt that arrived, with the receiver's answer if there is one. */
final class Delivery {
  final Event.Began began;
  private Event.@Nullable Replied replied;

  Delivery(Event.Began began) {
    this.began = began;
  }

  void reply(Event.Replied reply) {
    if (replied != null) {
      throw new IllegalArgumentException("a delivery has two answers: " + replied + ", " + reply);
    }
    replied = reply;
  }

  Attempt attempt() {
    return began.attempt();
  }

  long arrivedMillis() {
    return began.atMillis();
  }

  /** Returns the time of the answer, or of the arrival if there is no answer. */
  long lastMillis() {
    return replied == null ? began.atMillis() : replied.atMillis();
  }

  boolean isReplied() {
    return replied != null;
  }

  boolean was(Event.Reception reception) {
    return replied != null && replied.reception() == reception;
  }

  /** Returns whether this attempt has a higher (generation, attempt) than another attempt of the same key. */
  boolean isBeyond(Delivery other) {
    Attempt mine = attempt();
    Attempt others = other.attempt();
    return mine.generation() > others.generation()
        || (mine.generation() == others.generation() && mine.attempt() > others.attempt());
  }

  List<Event> events() {
    return replied == null ? List.of(began) : List.of(began, replied);
  }
}
