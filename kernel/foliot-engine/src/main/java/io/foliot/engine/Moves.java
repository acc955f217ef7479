package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Index entries that came due although the deadlines of their tasks were pushed back. A probe has read the new
 * deadlines, and the entries still have to be moved to these deadlines. Passive; confined to the loop's thread.
 *
 * <ol>
 * <li>A probe finds a later deadline: the entry is {@linkplain #add added}, and the wheel takes the new deadline at
 * once if it is within the window.
 * <li>Entries are moved in the order in which they were added, a batch at a time, after all claims: a due task never
 * waits for a mere move.
 * <li>Meanwhile head polls find the entry again at its old place; {@link #covers} makes the polls skip the entry. The
 * result of a probe is trusted for {@link #TRUSTED_NANOS} only. A later touch may bring the deadline nearer again, and
 * may change only the record and not the index entry.
 * <li>The entry is covered also while the call that moves it is under way.
 * </ol>
 *
 * <p>All of this is a cache. An entry that is forgotten here is found by a head poll, and probed or claimed. Rejected:
 * moving each entry with the claim that finds the later deadline. The synced commit of a thousand moves takes tens of
 * milliseconds. With a million heartbeats, a task that was really due waited for seconds behind such commits.
 */
final class Moves {
  /** Maximum age of the result of a probe: an older deadline is not trusted. */
  static final long TRUSTED_NANOS = 500_000_000;

  /**
   * An entry, and the deadline to which it moves.
   *
   * @param entry the entry as it was read in the index
   * @param dueAt the deadline of its task when it was probed
   * @param probedNanos the time of the probe, by the monotonic clock
   */
  record Move(DueEntry entry, long dueAt, long probedNanos) {}

  private final int limit;
  private final Map<TaskId, Move> waiting = new LinkedHashMap<>();
  private final Map<TaskId, Move> underWay = new HashMap<>();

  /**
   * @param limit how many entries may wait; further entries are not kept, so polls find them and they are probed or
   *     claimed
   */
  Moves(int limit) {
    this.limit = limit;
  }

  /** Returns whether no entry waits for a call that moves it. */
  boolean isEmpty() {
    return waiting.isEmpty();
  }

  void add(DueEntry entry, long dueAt, long nowNanos) {
    if (waiting.size() < limit) {
      waiting.put(entry.id(), new Move(entry, dueAt, nowNanos));
    }
  }

  /**
   * Returns whether polls skip this entry of the index. They skip an entry that waits to be moved or is being moved, if
   * its task was found not due by a probe within the last {@link #TRUSTED_NANOS}.
   */
  boolean covers(DueEntry entry, StoreClock clock, long nowNanos) {
    return covers(waiting, entry, clock, nowNanos) || covers(underWay, entry, clock, nowNanos);
  }

  private static boolean covers(Map<TaskId, Move> moves, DueEntry entry, StoreClock clock, long nowNanos) {
    Move move = moves.isEmpty() ? null : moves.get(entry.id());
    return move != null && move.entry().wakeAt() == entry.wakeAt() && move.dueAt() > clock.millis(nowNanos)
        && nowNanos - move.probedNanos() < TRUSTED_NANOS;
  }

  /**
   * Takes the oldest entries, at most {@code most}, to move them next. The caller passes them to {@link #answered} when
   * the call that moves them has ended.
   */
  List<Move> next(int most) {
    List<Move> batch = new ArrayList<>(Math.min(most, waiting.size()));
    Iterator<Move> oldest = waiting.values().iterator();
    while (batch.size() < most && oldest.hasNext()) {
      Move move = oldest.next();
      oldest.remove();
      batch.add(move);
      underWay.put(move.entry().id(), move);
    }
    return batch;
  }

  /** Handles the end of the call that moves these entries, also after a failure. */
  void answered(List<Move> batch) {
    batch.forEach(move -> underWay.remove(move.entry().id(), move));
  }

  /**
   * Forgets an entry, because its task is about to be claimed. If the task is not due, the claim itself moves the
   * entry.
   */
  void forget(TaskId id) {
    waiting.remove(id);
  }
}
