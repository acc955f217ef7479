package io.foliot.wheel;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A model of {@link TimerQueue}, simple enough to be checked by reading it. It is driven in step with the queue: every
 * call goes to both, and each timer that the queue hands out is compared with {@link #next}.
 */
public abstract class TimerQueueModel {
  /** A timer of the model. */
  public static final class Entry {
    final long handle;
    final long payload;
    long deadlineTick;

    /** The tick under which the model keeps the entry. */
    long key;

    /** The number of its placement; orders entries of the same key. */
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

  /** Entries that were due when placed; they wait for the next advance. */
  final Set<Entry> late = new LinkedHashSet<>();

  long hand;
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

  /** Returns the next timer that this advance hands out, or null if it hands out no more. */
  public abstract @Nullable Entry next();

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

  /** Moves the hand to the tick at which the queue stopped at its limit; no timer may be due before that tick. */
  public final void stoppedAt(long tick) {
    if (tick < hand || tick > nowTick || nextKeptWake() < tick) {
      throw new AssertionError("stopped at " + tick + ", but the model is at " + hand + " of " + nowTick
          + " with a timer at " + nextKeptWake());
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
