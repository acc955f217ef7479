package io.foliot.engine;

import io.foliot.core.Meter;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the index from its head to find due entries that no look-ahead has found. Passive; confined to the loop's
 * thread.
 *
 * <p>Guarantees: a task is found even if every look-ahead has missed it. A due entry of a watched slot is found within
 * 100 ms if it became due in the last two seconds. It is found within 2 s if it became due in the last minute, and
 * within ten seconds if it became due earlier. These times are longer while a poll holds back, and if the store is
 * slow.
 *
 * <ol>
 * <li>The <em>full</em> poll reads all due entries. Two <em>recent</em> polls read only the entries that became due
 * within their <em>look-back</em>: one looks back a minute, the other two seconds.
 * <li>A poll reads all watched slots, a page of each slot at a time, until no entry is left, or until it has found
 * enough.
 * <li>While a poll is under way, polls with a shorter look-back wait: they would read the same entries again.
 * <li>While the lanes flow, a poll <em>holds back</em> until the entries in all lanes together are at most half of the
 * capacity of one lane. Otherwise, entries that find no room in their lanes would be <em>let go</em>: they would stay
 * in the index, and be read again a moment later.
 * <li>Once the overflow has been full, the full poll holds back until the overflow is at most half full.
 * <li>While entries wait in a stalled lane, the full poll holds back after each run, for as long as the run took and at
 * least for 20 ms. Otherwise, if another lane flows and is full, its entries would be read again and again.
 * <li>In each case, a poll holds back for at most a second after its latest run ended.
 * <li>The full poll stops once an entry is let go, or the overflow is full. The recent polls read on past such entries,
 * and find the entries of other queues.
 * <li>The full poll is due at once when a full lane or a full overflow has caused entries to be let go, and when slots
 * were added. The full poll is also due when the store is back after an outage, but not within a second after the
 * previous full poll began.
 * </ol>
 *
 * <p>Rejected: a full poll every 100 ms. Behind a backlog it would read the same thousands of entries again each time.
 */
final class HeadPolls {
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long SECOND_NANOS = 1_000 * NANOS_PER_MILLI;
  private static final long FIRST_NANOS = 100 * NANOS_PER_MILLI;
  /**
   * A run of a poll stops once it has taken this many ids. A run of a recent poll also stops once it has let go this
   * many entries. The last read of the run may exceed these numbers.
   */
  private static final int LIMIT = 20_000;
  /**
   * Shortest pause after a run of a poll, in multiples of the run's duration. A requested run begins without
   * this pause, and so does the run after one that reached its limit or filled the overflow.
   */
  private static final int REST = 20;
  /** Fewest entries that a poll reads of one slot at a time: fewer are not worth a round trip. */
  private static final int MIN_PAGE = 16;
  /** The interval at which a poll that holds back checks for room. */
  private static final long HOLD_BACK_NANOS = 20 * NANOS_PER_MILLI;
  /** An entry found this late was missed by the prefetch, and by the node that wrote the task. */
  private static final long LATE_MILLIS = 1_000;

  /** A poll, with its look-back, its interval, and the state of its latest run. */
  private static final class Poll {
    private final long lookBackMillis;
    private final long everyNanos;
    private long nextNanos;
    private boolean underWay;
    private long begunNanos;
    private long endedNanos;
    private int taken;
    private int limit;
    private long letGoBefore;
    private boolean endedEarly;
    /** Whether a run at {@link #nextNanos} was requested while another run was under way. */
    private boolean isRequested;
    /** Whether the poll reads entries that earlier polls left behind. Such entries are not reported as found late. */
    private boolean refills;

    Poll(long lookBackMillis, long everyMillis, long firstNanos) {
      this.lookBackMillis = lookBackMillis;
      everyNanos = everyMillis * NANOS_PER_MILLI;
      nextNanos = firstNanos;
      endedNanos = firstNanos;
    }

    /**
     * Requests a run that begins at the given monotonic time. A run that is already under way does not meet the
     * request.
     */
    void request(long atNanos) {
      isRequested = underWay;
      nextNanos = atNanos;
    }
  }

  private final IndexReads reads;
  private final StoreHealth health;
  private final Lanes lanes;
  private final WatchedSlots slots;
  private final Drain drain;
  private final Meter meter;
  private final int laneEntries;
  private final Poll full;
  /** All polls, the longest look-back first. */
  private final List<Poll> polls;

  /** @param laneEntries how many entries a lane holds at most */
  HeadPolls(IndexReads reads, StoreHealth health, Lanes lanes, WatchedSlots slots, Drain drain, Meter meter,
      int laneEntries,
      long nowNanos) {
    this.reads = reads;
    this.health = health;
    this.lanes = lanes;
    this.slots = slots;
    this.drain = drain;
    this.meter = meter;
    this.laneEntries = laneEntries;
    full = new Poll(Long.MAX_VALUE, 10_000, nowNanos);
    polls = List.of(full, new Poll(60_000, 2_000, nowNanos + FIRST_NANOS),
        new Poll(2_000, 100, nowNanos + FIRST_NANOS));
  }

  /** Requests a full poll for the entries that came due during an outage; at most one a second. */
  void storeIsBack(long nowNanos) {
    full.request(Math.max(nowNanos, full.begunNanos + SECOND_NANOS));
  }

  /** Requests a full poll at once: slots were added, and their overdue entries have not been read. */
  void pollAll(long nowNanos) {
    full.request(nowNanos);
  }

  /** Begins a poll that is due. */
  void turn(long nowMillis, long nowNanos) {
    if (!full.underWay && lanes.letGo() > full.letGoBefore) {
      // Entries were let go: a full poll is requested, and begins when there is room.
      full.request(nowNanos);
    }
    for (Poll poll : polls) {
      if (poll.underWay) {
        return;
      }
      if (nowNanos - poll.nextNanos >= 0 && !holdsBack(poll, nowNanos)) {
        begin(poll, nowMillis, nowNanos);
        return;
      }
    }
  }

  /** Returns how long until a poll is due, or {@link Long#MAX_VALUE} while the full poll is under way. */
  long waitNanos(long nowNanos) {
    long waitNanos = Long.MAX_VALUE;
    for (Poll poll : polls) {
      if (poll.underWay) {
        // The answer of this poll wakes the loop. Until then the polls with a shorter look-back wait.
        break;
      }
      waitNanos = Math.min(waitNanos, poll.nextNanos - nowNanos);
    }
    return waitNanos;
  }

  private boolean holdsBack(Poll poll, long nowNanos) {
    long sinceNanos = nowNanos - poll.endedNanos;
    if (sinceNanos >= SECOND_NANOS || !(lacksRoom(poll) || isTooSoon(poll, sinceNanos))) {
      return false;
    }
    poll.nextNanos = nowNanos + HOLD_BACK_NANOS;
    return true;
  }

  private boolean lacksRoom(Poll poll) {
    return (lanes.isFlowing() && lanes.waiting() > laneEntries / 2) || (poll == full && lanes.isOverflowing());
  }

  /**
   * Returns whether it is too soon for the full poll: a lane is stalled, and the pause after the latest run is not
   * over.
   */
  private boolean isTooSoon(Poll poll, long sinceNanos) {
    return poll == full && lanes.waiting() > 0 && !lanes.isFlowing()
        && sinceNanos < Math.max(HOLD_BACK_NANOS, poll.endedNanos - poll.begunNanos);
  }

  private int page() {
    return Math.clamp(laneEntries / Math.max(1, slots.watched().size()), MIN_PAGE, LookAhead.PAGE);
  }

  private void begin(Poll poll, long nowMillis, long nowNanos) {
    poll.begunNanos = nowNanos;
    poll.taken = 0;
    poll.refills = lanes.letGo() > poll.letGoBefore || poll.endedEarly;
    poll.letGoBefore = lanes.letGo();
    poll.limit = lanes.isFlowing() ? Math.clamp(laneEntries - lanes.waiting(), 1, LIMIT) : LIMIT;
    SlotSet watched = slots.watched();
    if (watched.size() == 0) {
      poll.nextNanos = nowNanos + poll.everyNanos;
      return;
    }
    poll.underWay = true;
    int page = page();
    long from = poll.lookBackMillis == Long.MAX_VALUE ? Long.MIN_VALUE : nowMillis - poll.lookBackMillis;
    List<DueScan> scans = new ArrayList<>(watched.size());
    for (int slot = watched.next(0); slot >= 0; slot = watched.next(slot + 1)) {
      scans.add(new DueScan(slot, from, null, nowMillis, page));
    }
    read(poll, scans, nowMillis, nowNanos);
  }

  private void read(Poll poll, List<DueScan> scans, long nowMillis, long sentNanos) {
    reads.read(scans, (slices, failure, nowNanos) -> {
      List<DueScan> more = new ArrayList<>();
      if (health.called("due", scans.size(), sentNanos, failure, nowNanos) && slices != null) {
        for (DueSlice slice : slices) {
          slice.entries().forEach(entry -> found(poll, entry, nowMillis, nowNanos));
          if (slice.more()) {
            DueEntry last = slice.entries().get(slice.entries().size() - 1);
            more.add(new DueScan(slice.slot(), last.wakeAt(), last.id(), nowMillis, page()));
          }
        }
      }
      if (more.isEmpty() || hasEnough(poll)) {
        ended(poll, !more.isEmpty(), nowNanos);
      } else {
        read(poll, more, nowMillis, nowNanos);
      }
    });
  }

  /**
   * Returns whether a poll stops, because it has taken its limit, or claiming has stopped, or too many entries were let
   * go. The full poll stops after the first such entry, or as soon as the overflow is full. A recent poll stops after
   * {@link #LIMIT} such entries.
   */
  private boolean hasEnough(Poll poll) {
    long letGo = lanes.letGo() - poll.letGoBefore;
    boolean isFull = poll == full ? letGo > 0 || lanes.isOverflowFull() : letGo >= LIMIT;
    return poll.taken >= poll.limit || isFull || !drain.isClaiming();
  }

  private void found(Poll poll, DueEntry entry, long nowMillis, long nowNanos) {
    boolean taken = lanes.found(entry, nowNanos);
    poll.taken += taken ? 1 : 0;
    if (taken && !poll.refills && entry.wakeAt() <= nowMillis - LATE_MILLIS) {
      meter.foundLate(entry.queue());
    }
  }

  private void ended(Poll poll, boolean hasMore, long nowNanos) {
    poll.underWay = false;
    poll.endedNanos = nowNanos;
    poll.endedEarly = hasMore;
    if (poll.isRequested) {
      poll.isRequested = false;
    } else if (hasMore && (poll.taken >= poll.limit || (poll == full && lanes.isOverflowFull()))) {
      poll.nextNanos = nowNanos;
    } else {
      poll.nextNanos = Math.max(poll.begunNanos + poll.everyNanos, nowNanos + REST * (nowNanos - poll.begunNanos));
    }
  }
}
