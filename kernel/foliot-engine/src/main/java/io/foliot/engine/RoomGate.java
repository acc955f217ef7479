package io.foliot.engine;

import io.foliot.api.DurationText;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreFullException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Closes the claims of a node while the store has no room for the ends of attempts. Shared by all loops of an engine
 * and by the reports of workers. Thread-safe.
 *
 * <p>Guarantees: while a loop holds an end that found no room, no task is claimed. So no attempt begins whose end
 * cannot be stored, and attempts are not used up. The gate opens again without help.
 *
 * <ol>
 * <li>An end that finds no room {@linkplain #refused closes} the gate. {@link Settles} holds such an end and sends it
 * again; the gate opens when the last of them is recorded.
 * <li>Nobody here holds the end of a report; the worker repeats it. Without a held end, one task may be claimed every
 * {@link #PROBE_NANOS}. Each end that is recorded opens the gate.
 * </ol>
 *
 * <p>Rejected: to ask the store for its free space. A database does not know it, and a full database still has room for
 * the changes of some rows.
 */
final class RoomGate {
  /** Pause between two claims of one task while the gate is closed. */
  static final long PROBE_NANOS = 2_000_000_000;

  private final System.Logger log = System.getLogger(RoomGate.class.getName());

  private volatile boolean isClosed;
  // guarded by this
  private int held;
  private long probedNanos;
  private long closedNanos;

  /** Returns whether a call failed, for all items or for some, because the store has no room. */
  static boolean isFull(@Nullable Throwable failure) {
    if (failure == null) {
      return false;
    }
    Throwable reason = GroupCommit.unwrapped(failure);
    return reason instanceof StoreFullException
        || (reason instanceof ItemsFailedException partly && partly.failure() instanceof StoreFullException);
  }

  /** Records that an end found no room. */
  synchronized void refused(long nowNanos) {
    if (!isClosed) {
      isClosed = true;
      closedNanos = nowNanos;
      log.log(System.Logger.Level.WARNING, "the store has no room for the ends of attempts; no task is claimed until it"
          + " has, and the ends that this node holds are stored then");
    }
    probedNanos = nowNanos;
  }

  /** Records that a loop holds an end more. */
  synchronized void hold() {
    held++;
  }

  /** Records that a loop holds an end less. */
  synchronized void letGo() {
    held--;
  }

  /** Records that an end was stored. */
  void recorded(long nowNanos) {
    if (isClosed) {
      open(nowNanos);
    }
  }

  private synchronized void open(long nowNanos) {
    if (isClosed && held == 0) {
      isClosed = false;
      log.log(System.Logger.Level.INFO, "the store has room for the ends of attempts again: afterwards="
          + DurationText.rough(Duration.ofNanos(nowNanos - closedNanos)));
    }
  }

  boolean isOpen() {
    return !isClosed;
  }

  /** Returns how many tasks may be claimed now. */
  int limit(long nowNanos) {
    return isClosed ? probes(nowNanos) : Integer.MAX_VALUE;
  }

  private synchronized int probes(long nowNanos) {
    return held == 0 && nowNanos - probedNanos >= PROBE_NANOS ? 1 : 0;
  }

  /** Records that a claim was sent. */
  void claimed(long nowNanos) {
    if (isClosed) {
      synchronized (this) {
        probedNanos = nowNanos;
      }
    }
  }
}
