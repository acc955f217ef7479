package io.foliot.sim;

import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The events of a run, as a hash that is the same for the same run, and as lines of text. */
final class Trace {
  private final Schedule schedule;
  private final @Nullable Consumer<String> reader;
  private long hash = 1;

  Trace(Schedule schedule, @Nullable Consumer<String> reader) {
    this.schedule = schedule;
    this.reader = reader;
  }

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
