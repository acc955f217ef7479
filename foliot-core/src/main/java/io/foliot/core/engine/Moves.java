package io.foliot.core.engine;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Index entries that came due although the deadlines of their tasks were pushed back. A probe has read the new deadlines; the
 * entries still have to be moved there. Loop thread only, passive.
 *
 * <ol>
 * <li>A probe finds a later deadline: the entry is {@linkplain #add added}, and the wheel takes the new deadline at once.
 * <li>Entries are moved in the order in which they were added, a batch at a time, behind all claims: a task that is due never
 * waits for an entry that only moves.
 * <li>Meanwhile head polls find the entry again at its old place; {@link #covers} tells them to pass over it. A probe is
 * believed for {@link #BELIEVED_NANOS}, because a deadline that is pulled nearer again may change nothing but the record.
 * <li>The store answers with the deadline to which the entry went. Only then is it {@linkplain #remove removed}.
 * </ol>
 *
 * <p>All of this is a cache. An entry that is forgotten here is found by a head poll, and probed again. Rejected: moving each
 * entry with the claim that finds the later deadline. A thousand moves are a commit of tens of milliseconds, and with a
 * million heartbeats the true alarm waited for seconds behind them.
 */
final class Moves {
  /** Age up to which the deadline that a probe has read is believed. */
  static final long BELIEVED_NANOS = 500_000_000;

  /**
   * An entry and where it belongs.
   *
   * @param entry as it was read in the index
   * @param dueAt the deadline of its task when it was probed
   * @param probedNanos when that was, by the monotonic clock
   */
  record Move(DueEntry entry, long dueAt, long probedNanos) {}

  private final int limit;
  private final Map<TaskId, Move> moves = new LinkedHashMap<>();

  /** @param limit how many entries may wait; others are found and probed again instead */
  Moves(int limit) {
    this.limit = limit;
  }

  boolean isEmpty() {
    return moves.isEmpty();
  }

  int size() {
    return moves.size();
  }

  void add(DueEntry entry, long dueAt, long nowNanos) {
    if (moves.size() < limit || moves.containsKey(entry.id())) {
      moves.put(entry.id(), new Move(entry, dueAt, nowNanos));
    }
  }

  /** Returns whether this entry of the index is one that waits to be moved, and of whose task nothing is due. */
  boolean covers(DueEntry entry, long nowMillis, long nowNanos) {
    Move move = moves.isEmpty() ? null : moves.get(entry.id());
    return move != null && move.entry().wakeAt() == entry.wakeAt() && move.dueAt() > nowMillis
        && nowNanos - move.probedNanos() < BELIEVED_NANOS;
  }

  /** Returns the entries to move next. They stay here until they are removed. */
  List<Move> next(int most) {
    List<Move> batch = new ArrayList<>(Math.min(most, moves.size()));
    for (Move move : moves.values()) {
      if (batch.size() == most) {
        break;
      }
      batch.add(move);
    }
    return batch;
  }

  /** Removes an entry that was moved, unless it was probed anew since. */
  void remove(Move moved) {
    moves.remove(moved.entry().id(), moved);
  }

  /** Forgets an entry: its task is about to be claimed, and the claim moves it where it belongs. */
  void forget(TaskId id) {
    if (!moves.isEmpty()) {
      moves.remove(id);
    }
  }
}
