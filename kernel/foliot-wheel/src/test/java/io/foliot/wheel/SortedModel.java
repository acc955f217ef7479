package io.foliot.wheel;

import java.util.Comparator;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The simplest model. Timers are sorted by deadline, and by the order in which equal deadlines were set. */
public final class SortedModel extends TimerQueueModel {
  private final TreeSet<Entry> sorted = new TreeSet<>(
      Comparator.<Entry>comparingLong(e -> e.key).thenComparingLong(e -> e.order));
  private long orders;

  public SortedModel(long startTick) {
    super(startTick);
  }

  @Override
  void keep(Entry entry) {
    entry.key = Math.max(entry.deadlineTick, hand);
    entry.order = orders++;
    sorted.add(entry);
  }

  @Override
  void remove(Entry entry) {
    sorted.remove(entry);
  }

  @Override
  void takeLate() {
    late.forEach(this::keep);
  }

  @Override
  public @Nullable Entry next() {
    if (touched == limit) {
      return null;
    }
    if (sorted.isEmpty() || sorted.first().key > nowTick) {
      hand = nowTick;
      return null;
    }
    touched++;
    Entry entry = sorted.removeFirst();
    hand = entry.key;
    live.remove(entry.handle);
    return entry;
  }

  @Override
  long nextKeptWake() {
    return sorted.isEmpty() ? TimerQueue.NEVER : sorted.first().key;
  }
}
