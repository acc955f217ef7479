package io.foliot.wheel;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A model of {@link TimerQueue} that is simple enough to be checked by reading it. A test makes every call both to the
 * queue and to the model. It compares each timer that the queue hands out with the result of {@link #next}.
 */
public abstract class TimerQueueModel {
  /** A timer of the model. */
  public static final class Entry {
    final long handle;
    final long payload;
    long deadlineTick;

    /** Tick by which the model sorts the entry. */
    long key;

    /** Number of the entry's placement, which orders entries with the same key. */
    long order;

    Entry(long handle, long payload, long deadlineTick) {
      this.handle = handle;
      this.payload = payload;
      this.deadlineTick = deadlineTick;
    }

    @Override
    public String toString() {
      return "timer " + handle + " at " + deadlineTick + " with " + payload;
    }
  }

  final Map<Long, Entry> live = new HashMap<>();

  /** Entries that were due when they were placed. They wait for the next advance. */
  final Set<Entry> late = new LinkedHashSet<>();

  /** The current tick. */
  long hand;

  /** The tick to which the advance in progress moves time. */
  long nowTick;

  int limit;
  int touched;

  TimerQueueModel(long startTick) {
    hand = startTick;
  }

  /** Places an entry whose deadline is after the hand. */
  abstract void keep(Entry entry);

  abstract void remove(Entry entry);

  /** Places the late entries behind all others that are due. */
  abstract void takeLate();

  /** Returns the next timer that the current advance hands out, or null if the advance hands out no more. */
  public abstract @Nullable Entry next();

  /** Returns the next wake of the entries that are not late, or {@link TimerQueue#NEVER} if there are none. */
  abstract long nextKeptWake();

  public final void schedule(long handle, long deadlineTick, long payload) {
    Entry entry = new Entry(handle, payload, deadlineTick);
    if (live.put(handle, entry) != null) {
      throw new AssertionError("a handle was given out twice: " + entry);
    }
    place(entry);
  }

  final void place(Entry entry) {
    if (entry.deadlineTick <= hand) {
      late.add(entry);
    } else {
      keep(entry);
    }
  }

  public final boolean cancel(long handle) {
    Entry entry = live.remove(handle);
    if (entry != null && !late.remove(entry)) {
      remove(entry);
    }
    return entry != null;
  }

  public boolean reschedule(long handle, long deadlineTick) {
    Entry entry = live.get(handle);
    if (entry != null && entry.deadlineTick != deadlineTick) {
      if (!late.remove(entry)) {
        remove(entry);
      }
      entry.deadlineTick = deadlineTick;
      place(entry);
    }
    return entry != null;
  }

  public final void begin(long nowTick, int limit) {
    this.nowTick = nowTick;
    this.limit = limit;
    touched = 0;
    takeLate();
    late.clear();
  }

  /** Moves the hand to the tick at which the queue reached its limit. No timer may be due before that tick. */
  public final void stoppedAt(long tick) {
    if (tick < hand || tick > nowTick || nextKeptWake() < tick) {
      throw new AssertionError("the queue has stopped at a wrong tick: tick=" + tick + ", hand=" + hand + ", nowTick="
          + nowTick + ", nextKeptWake=" + nextKeptWake());
    }
    hand = tick;
  }

  public final int touched() {
    return touched;
  }

  public final long nextWake() {
    return late.isEmpty() ? nextKeptWake() : hand;
  }

  public final Map<Long, Entry> live() {
    return live;
  }

  public final long currentTick() {
    return hand;
  }
}
