package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Probed;
import io.foliot.core.store.TaskStore;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Entries whose tasks were postponed after the index was written: probes find them, and moves put them at the new
 * deadlines. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: if most of a lane's entries have been postponed, the lane's due tasks do not wait for the postponed
 * ones. Postponed tasks are then not claimed, so they take no permits. Their entries are moved after the claims of the
 * same turn were sent.
 *
 * <ol>
 * <li>{@link #probe} takes entries of the lanes that are {@linkplain Lane#isMostlyLater mostly postponed}, and reads
 * their deadlines.
 * <li>A due entry goes back to its lane, before the entries that still need a probe. If it still waits there a second
 * later, while most entries turn out to be postponed, it is probed again. A postponed entry leaves the
 * lanes, and its new deadline, if it is within the window, goes into the wheel. The entry joins the {@link Moves} if
 * the index does not have it at the new deadline.
 * <li>{@link #move} sends batches of moves. The batches are small: a claim that follows a batch waits for only about
 * ten milliseconds.
 * </ol>
 *
 * <p>Rejected: see {@link Moves}.
 */
final class Postponed {
  /** Maximum number of probes under way: the store can begin the second while the first answer is handled. */
  private static final int PROBES_UNDER_WAY = 2;
  /** Maximum number of calls under way that only move index entries. */
  private static final int MOVES_UNDER_WAY = 2;
  /** Maximum number of entries that one call moves. */
  private static final int MOVE_BATCH = 1_000;
  /** Maximum number of entries of one probe: the store reads some bytes of each, so the probe ends soon. */
  private static final int PROBE_BATCH = 2_000;

  private final TaskStore store;
  private final StoreClock clock;
  private final Lanes lanes;
  private final LookAhead lookAhead;
  private final IndexReads reads;
  private final Moves moves;
  private final CallPipe probePipe;
  private final CallPipe movePipe;

  /** Creates the part with nothing under way. */
  Postponed(TaskStore store, StoreClock clock, Lanes lanes, LookAhead lookAhead, IndexReads reads, Moves moves,
      Inbox inbox, StoreHealth health) {
    this.store = store;
    this.clock = clock;
    this.lanes = lanes;
    this.lookAhead = lookAhead;
    this.reads = reads;
    this.moves = moves;
    Backoff backoff = new Backoff();
    probePipe = new CallPipe("probe", PROBES_UNDER_WAY, CallPipe.Effect.READ, backoff, inbox, health);
    movePipe = new CallPipe("move", MOVES_UNDER_WAY, CallPipe.Effect.WRITE, backoff, inbox, health);
  }

  /** Probes entries of those lanes that have mostly postponed entries, in the order of the rotation. */
  void probe(long nowNanos) {
    while (lanes.waiting() > 0 && probePipe.hasRoom(nowNanos)) {
      List<DueEntry> entries = lanes.takeUnprobed(PROBE_BATCH, nowNanos);
      if (entries.isEmpty()) {
        return;
      }
      List<TaskId> ids = entries.stream().map(DueEntry::id).toList();
      probePipe.send(ids.size(), nowNanos, () -> store.probe(ids),
          lanes.orForget(entries, (found, answeredNanos) -> probed(entries, found, answeredNanos)));
    }
  }

  private void probed(List<DueEntry> entries, List<@Nullable Probed> results, long nowNanos) {
    long nowMillis = clock.millis(nowNanos);
    for (int i = 0; i < entries.size(); i++) {
      DueEntry entry = entries.get(i);
      Probed probed = results.get(i);
      if (probed == null) {
        lanes.forget(entry);
      } else if (probed.claimableAt() <= nowMillis) {
        lanes.lane(entry.queue(), nowNanos).judged(false);
        moves.forget(entry.id());
        lanes.probed(entry, nowNanos);
      } else {
        foundLater(entry, probed, nowNanos);
      }
    }
  }

  private void foundLater(DueEntry entry, Probed probed, long nowNanos) {
    lanes.lane(entry.queue(), nowNanos).judged(true);
    lanes.leave(entry);
    if (probed.hasToMove()) {
      moves.add(entry, probed.claimableAt(), nowNanos);
    }
    lookAhead.scheduleAgain(entry.id(), entry.queue(), probed.claimableAt(), nowNanos);
  }

  /** Sends a batch of moves, if any entry waits to be moved. */
  void move(long nowNanos) {
    if (moves.isEmpty() || !movePipe.hasRoom(nowNanos)) {
      return;
    }
    List<Moves.Move> batch = moves.next(MOVE_BATCH);
    List<Claim> claims = batch.stream().map(one -> Claim.move(one.entry().id())).toList();
    movePipe.send(claims.size(), nowNanos, () -> store.claim(claims).thenApply(ClaimBatch::results),
        (results, answeredNanos) -> moved(batch, results, answeredNanos));
  }

  private void moved(List<Moves.Move> batch, List<@Nullable ClaimResult> results, long nowNanos) {
    moves.answered(batch);
    for (int i = 0; i < batch.size(); i++) {
      ClaimResult result = results.get(i);
      if (result != null) {
        moved(batch.get(i), result, nowNanos);
      }
    }
  }

  private void moved(Moves.Move move, ClaimResult result, long nowNanos) {
    DueEntry entry = move.entry();
    if (result instanceof ClaimResult.Ready) {
      // The task is due by now, and its entry is still at the old place: it is handled as if a poll had found it.
      lanes.ready(entry, nowNanos);
      return;
    }
    reads.overtakes(entry);
    if (result instanceof ClaimResult.Later later && later.wakeAt() != move.dueAt()) {
      lookAhead.scheduleAgain(entry.id(), entry.queue(), later.wakeAt(), nowNanos);
    }
  }
}
