package io.foliot.engine;

import io.foliot.core.Meter;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.TaskStore;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The ends of leases of tasks that this node cannot claim now: no worker waits, the queue is paused or has no permit,
 * or the destination fails. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: if the end of its lease finishes a task or passes it to its successor, this is recorded within seconds
 * after the entry of the task has come to a lane or to the overflow. No permit and no attempt is needed for it.
 *
 * <ol>
 * <li>An entry does not show whether its task has been claimed. So once a second, the new entries of the lanes that do
 * not flow are examined, by claims that begin nothing ({@link Claim#end}). A task that waits costs one read. If there
 * are more than one call takes, further calls follow at once.
 * <li>Every {@value #AGAIN_TURNS} seconds, other entries of these lanes are examined again, as many as one call takes,
 * in turn: another node may have claimed the task of an entry that waits here. If most of them have ended, the next
 * ones are examined at once, because the leases of a node that has died end at the same time.
 * <li>Entries of paused, unserved and full lanes are parked. The store parks no task that the end of its lease
 * finishes; {@link #add} takes the entries that the store did not park.
 * </ol>
 *
 * <p>A task with attempts left is only claimable again. Its state changes with the next claim, because the worker may
 * still report until then. Rejected: to end the lease in the park itself. The call returns no state, so the end would
 * not be counted.
 */
final class LeaseEnds {
  private static final long EVERY_NANOS = 1_000_000_000;
  private static final int AGAIN_TURNS = 10;

  private final TaskStore store;
  private final Lanes lanes;
  private final LookAhead lookAhead;
  private final Meter meter;
  private final RoomGate gate;
  private final CallPipe pipe;
  private final int batch;
  private final Deque<DueEntry> notParked = new ArrayDeque<>();
  private long nextNanos;
  private int turns;
  /** Whether the latest call was full, so that more new entries may wait. */
  private boolean isRest;
  /** Whether most entries of the latest call that examined entries again have ended. */
  private boolean manyEnded;

  /** @param batch maximum number of entries that one call examines */
  LeaseEnds(TaskStore store, Lanes lanes, LookAhead lookAhead, Inbox inbox, StoreHealth health, Meter meter, int batch,
      RoomGate gate, long nowNanos) {
    this.store = store;
    this.lanes = lanes;
    this.lookAhead = lookAhead;
    this.meter = meter;
    this.gate = gate;
    this.batch = batch;
    pipe = new CallPipe("end", 1, CallPipe.Effect.WRITE, new Backoff(), inbox, health);
    nextNanos = nowNanos + EVERY_NANOS;
  }

  /** Takes an entry of the overflow that the store did not park. */
  void add(DueEntry entry) {
    notParked.add(entry);
  }

  /** Sends a batch, if there is anything to examine. */
  void turn(long nowNanos) {
    boolean isTime = nowNanos - nextNanos >= 0;
    if ((!isTime && notParked.isEmpty()) || !gate.isOpen() || !pipe.hasRoom(nowNanos)) {
      return;
    }
    List<DueEntry> leaving = new ArrayList<>();
    while (!notParked.isEmpty() && leaving.size() < batch) {
      leaving.add(notParked.remove());
    }
    List<DueEntry> staying = List.of();
    boolean isAgain = false;
    if (isTime && leaving.size() < batch) {
      turns = isRest ? turns : (turns + 1) % AGAIN_TURNS;
      isAgain = manyEnded || (turns == 0 && !isRest);
      manyEnded = false;
      staying = lanes.stalled(isAgain, batch - leaving.size());
      isRest = leaving.size() + staying.size() == batch;
      nextNanos = isRest ? nextNanos : nowNanos + EVERY_NANOS;
    }
    boolean again = isAgain;
    List<DueEntry> entries = Stream.concat(leaving.stream(), staying.stream()).toList();
    if (!entries.isEmpty()) {
      List<Claim> claims = entries.stream().map(entry -> Claim.end(entry.id())).toList();
      pipe.send(entries.size(), nowNanos, () -> store.claim(claims).thenApply(ClaimBatch::results),
          lanes.orForget(leaving,
              (results, answeredNanos) -> answered(entries, leaving.size(), again, results, answeredNanos)));
    }
  }

  private void answered(List<DueEntry> entries, int leaving, boolean isAgain, List<@Nullable ClaimResult> results,
      long nowNanos) {
    Set<DueEntry> over = new HashSet<>();
    for (int i = 0; i < entries.size(); i++) {
      DueEntry entry = entries.get(i);
      ClaimResult result = results.get(i);
      if (i < leaving && result == null) {
        lanes.forget(entry);
      } else if (i < leaving) {
        lanes.leave(entry);
      } else if (result instanceof ClaimResult.Gone || result instanceof ClaimResult.Later) {
        over.add(entry);
      }
      if (result instanceof ClaimResult.Later later) {
        lookAhead.scheduleAgain(entry.id(), entry.queue(), later.wakeAt(), nowNanos);
      } else if (result instanceof ClaimResult.Gone gone) {
        Claims.ended(gone, entry, meter);
      }
    }
    lanes.remove(over);
    if (isAgain && 2 * over.size() > entries.size()) {
      manyEnded = true;
      nextNanos = nowNanos;
    }
  }
}
