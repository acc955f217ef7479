package io.foliot.history;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** An attempt that arrived, with the receiver's answer. */
final class Delivery {
  final Event.Began began;
  private Event.@Nullable Replied replied;

  Delivery(Event.Began began) {
    this.began = began;
  }

  void reply(Event.Replied reply) {
    if (replied != null) {
      throw new IllegalArgumentException("a delivery is answered once: " + replied + ", " + reply);
    }
    replied = reply;
  }

  Attempt attempt() {
    return began.attempt();
  }

  long arrivedMillis() {
    return began.atMillis();
  }

  /** When it was last heard of. */
  long lastMillis() {
    return replied == null ? began.atMillis() : replied.atMillis();
  }

  boolean isReplied() {
    return replied != null;
  }

  boolean was(Event.Reception reception) {
    return replied != null && replied.reception() == reception;
  }

  /** Returns whether this one should have begun before the other of the same key. */
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
