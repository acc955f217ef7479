package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import io.foliot.wheel.ObjectTimerWheel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The near future of the index, in memory. It consists of a wheel, and of a cursor for each watched slot. The cursor
 * shows how far the slot's index has been read. Passive; confined to the loop's thread.
 *
 * <p>Guarantee: the wheel holds no more entries than its limit. An entry is put into the wheel by a read of the index,
 * or by the call that has written the entry. The wheel is a cache: an entry may be in it several times, or not at all.
 * The claim decides whether a task runs, and the {@link HeadPolls} find the entries that the cache has missed.
 *
 * <ol>
 * <li>{@link #prefetch} reads each slot from its cursor to the end of the window, which is {@code windowMillis} from
 * now. It does so once a second, a page of each slot at a time.
 * <li>Once a read is sent, the read may miss entries that are written in its range. So the writer of such an entry puts
 * it into the wheel ({@link #written}, {@link #scheduleAgain}).
 * <li>If a slot had more entries than one page, the slot's cursor is the last entry of the page, and the next read
 * follows 50 ms later.
 * <li>{@link #advance} fires due entries. A step back of the store's clock by more than a second empties the wheel and
 * sets all cursors to the new time.
 * </ol>
 *
 * <p>The wheel's ticks are milliseconds of the {@link StoreClock}. Rejected: firing from the wheel alone, without head
 * polls. If a write became visible after the cursor had passed its entry, the task would never fire.
 */
final class LookAhead {
  private static final System.Logger LOG = System.getLogger(LookAhead.class.getName());
  private static final long NANOS_PER_MILLI = 1_000_000;
  /** Maximum number of index entries read of one slot at a time. */
  static final int PAGE = 512;
  private static final long EVERY_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long MORE_NANOS = 50 * NANOS_PER_MILLI;
  /** Largest step back of the store's clock that is ignored. */
  private static final long STEP_BACK_MILLIS = 1_000;
  private static final int MAX_INITIAL_WHEEL = 1 << 12;

  private final IndexReads reads;
  private final StoreHealth health;
  private final StoreClock clock;
  private final WatchedSlots slots;
  private final long windowMillis;
  private final int maxEntries;
  private final Runnable clockSetBack;

  private ObjectTimerWheel<DueEntry> wheel;
  /** Cursor of each slot, as a time: the index before this time has been read, or is being read. */
  private long[] cursorMillis;
  /** For each slot, the last entry of a full page: the next read begins after it. Null if the page was not full. */
  private @Nullable DueEntry[] cursorEntry;
  private boolean reading;
  private boolean hasMore;
  private long nextNanos;

  /**
   * @param maxEntries how many entries the wheel holds at most
   * @param clockSetBack called after a step back of the store's clock
   */
  LookAhead(IndexReads reads, StoreHealth health, StoreClock clock, WatchedSlots slots, long windowMillis,
      int maxEntries, long wallMillis, long nowNanos, Runnable clockSetBack) {
    this.clockSetBack = clockSetBack;
    this.reads = reads;
    this.health = health;
    this.clock = clock;
    this.slots = slots;
    this.windowMillis = windowMillis;
    this.maxEntries = maxEntries;
    wheel = new ObjectTimerWheel<>(wallMillis, Math.min(maxEntries, MAX_INITIAL_WHEEL));
    int slotCount = slots.watched().slotCount();
    cursorMillis = new long[slotCount];
    cursorEntry = new DueEntry[slotCount];
    Arrays.fill(cursorMillis, wallMillis);
    nextNanos = nowNanos;
  }

  int size() {
    return wheel.size();
  }

  // Slots.

  /** Starts to read additional slots, from the present on. */
  void added(SlotSet added, long nowNanos) {
    long nowMillis = clock.millis(nowNanos);
    for (int slot = added.next(0); slot >= 0; slot = added.next(slot + 1)) {
      cursorMillis[slot] = nowMillis;
      cursorEntry[slot] = null;
    }
    nextNanos = nowNanos;
  }

  /**
   * Follows a store that had {@code before} slots and has doubled them: both halves of a slot get the slot's cursor.
   */
  void doubled(int before) {
    cursorMillis = Arrays.copyOf(cursorMillis, 2 * before);
    System.arraycopy(cursorMillis, 0, cursorMillis, before, before);
    cursorEntry = Arrays.copyOf(cursorEntry, 2 * before);
    System.arraycopy(cursorEntry, 0, cursorEntry, before, before);
  }

  // Entries.

  /** Takes the entries that a write has made. Puts those into the wheel that no read will find in time. */
  void written(List<DueEntry> entries, long nowNanos) {
    for (DueEntry entry : entries) {
      if (isMissedByReads(entry.id(), entry.wakeAt(), nowNanos)) {
        schedule(entry);
      }
    }
  }

  /** Schedules another claim of a task. If the task is due beyond the window, the prefetch will read its entry. */
  void scheduleAgain(TaskId id, String queue, long wakeAt, long nowNanos) {
    long notBefore = Math.max(wakeAt, wheel.currentTick() + 1);
    if (isMissedByReads(id, notBefore, nowNanos)) {
      schedule(new DueEntry(notBefore, id, queue));
    }
  }

  /**
   * Returns whether no read will put the entry into this wheel in time. A range is read only once, and this node does
   * not know how far another node has read that node's slots.
   */
  private boolean isMissedByReads(TaskId id, long wakeAt, long nowNanos) {
    SlotSet watched = slots.watched();
    return watched.contains(id)
        ? wakeAt <= cursorMillis[id.slot(watched.slotCount())]
        : wakeAt <= clock.millis(nowNanos) + windowMillis;
  }

  private void schedule(DueEntry entry) {
    if (wheel.size() < maxEntries) {
      wheel.schedule(entry.wakeAt(), entry);
    }
  }

  // Time.

  /** Fires due entries, up to a limit. */
  void advance(long nowMillis, int limit, long nowNanos, Consumer<DueEntry> due) {
    if (nowMillis < wheel.currentTick() - STEP_BACK_MILLIS) {
      startAnew(nowMillis, nowNanos);
    }
    wheel.advance(Math.max(nowMillis, wheel.currentTick()), limit, (handle, tick, entry) -> due.accept(entry));
  }

  /**
   * Handles a step back of the store's clock: the wheel is emptied, and the index is read again from the new time on.
   */
  private void startAnew(long nowMillis, long nowNanos) {
    LOG.log(System.Logger.Level.WARNING,
        "the store''s clock went back; reading the index again from the new time: byMillis={0}",
        wheel.currentTick() - nowMillis);
    wheel = new ObjectTimerWheel<>(nowMillis, MAX_INITIAL_WHEEL);
    Arrays.fill(cursorMillis, nowMillis);
    Arrays.fill(cursorEntry, null);
    nextNanos = nowNanos;
    clockSetBack.run();
  }

  /** Returns the nanoseconds until the wheel has to be advanced, or {@link Long#MAX_VALUE} if the wheel is empty. */
  long waitNanos(long nowNanos) {
    if (wheel.size() == 0) {
      return Long.MAX_VALUE;
    }
    long wakeMicros = Math.multiplyExact(Math.min(wheel.nextWake(), Long.MAX_VALUE / 1_000), 1_000L);
    // This is a difference of two times of the store's clock. A step of that clock makes at most one sleep wrong.
    long waitMicros = Math.max(0, wakeMicros - clock.micros(nowNanos));
    return waitMicros > Long.MAX_VALUE / 1_000 ? Long.MAX_VALUE : waitMicros * 1_000;
  }

  /** Reads the index ahead, once a second, or sooner while a slot has more than a page. */
  void prefetch(long nowMillis, long nowNanos) {
    if (reading || nowNanos - nextNanos < 0) {
      return;
    }
    SlotSet watched = slots.watched();
    int room = maxEntries - wheel.size();
    int page = Math.min(PAGE, room / Math.max(1, watched.size()));
    if (page < 1) {
      nextNanos = nowNanos + EVERY_NANOS;
      return;
    }
    long target = nowMillis + windowMillis;
    List<DueScan> scans = new ArrayList<>();
    for (int slot = watched.next(0); slot >= 0; slot = watched.next(slot + 1)) {
      DueEntry last = cursorEntry[slot];
      if (last != null) {
        scans.add(new DueScan(slot, last.wakeAt(), last.id(), target, page));
      } else if (cursorMillis[slot] < target) {
        scans.add(new DueScan(slot, cursorMillis[slot], null, target, page));
      }
      // The read may miss an entry that is written from now on. If its wakeAt is not after the target, its writer puts
      // it into the wheel.
      cursorMillis[slot] = Math.max(cursorMillis[slot], target);
    }
    reading = true;
    ObjectTimerWheel<DueEntry> wheelAtStart = wheel;
    reads.read(scans, (slices, failure, answeredNanos) -> {
      reading = false;
      nextNanos = answeredNanos + EVERY_NANOS;
      boolean isDone = health.called("prefetch", scans.size(), nowNanos, failure, answeredNanos);
      if (wheel != wheelAtStart) {
        // The clock has stepped back since: the cursors begin at the new time.
        nextNanos = answeredNanos;
      } else if (isDone && slices != null) {
        hasMore = false;
        slices.forEach(slice -> prefetched(slice, target));
        if (hasMore) {
          nextNanos = answeredNanos + MORE_NANOS;
        }
      } else {
        scans.forEach(scan -> cursorMillis[scan.slot()] = scan.fromWakeAt());
      }
    });
  }

  private void prefetched(DueSlice slice, long target) {
    for (DueEntry entry : slice.entries()) {
      schedule(entry);
    }
    DueEntry last = slice.more() ? slice.entries().get(slice.entries().size() - 1) : null;
    cursorEntry[slice.slot()] = last;
    cursorMillis[slice.slot()] = last == null ? target + 1 : last.wakeAt();
    hasMore |= last != null;
  }
}
