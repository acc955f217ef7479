package io.foliot.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Hashes the events of a simulation, and passes them to a reader. Simulations of one seed have the same hash. */
final class Trace {
  private final Schedule schedule;
  private final @Nullable Consumer<String> reader;
  private long hash = 1;

  Trace(Schedule schedule, @Nullable Consumer<String> reader) {
    this.schedule = schedule;
    this.reader = reader;
  }

  /** Adds an event. {@code who} is the component from which the event comes. */
  void add(String who, String what, long number) {
    hash = 31 * hash + schedule.nowNanos();
    hash = 31 * hash + who.hashCode();
    hash = 31 * hash + what.hashCode();
    hash = 31 * hash + number;
    if (reader != null) {
      reader.accept("%,15d us  %-8s %s %d".formatted(schedule.nowNanos() / 1_000, who, what, number));
    }
  }

  long hash() {
    return hash;
  }
}
