package io.foliot.engine;

import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.TaskStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads of the store's index, and the changes that overtake them. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: an entry may leave the lanes during a read, because its task was claimed, parked or moved. If the read
 * still returns this entry, the entry is recognized. Without this, each such entry would be claimed a second time for
 * nothing.
 *
 * <ol>
 * <li>{@link #read} counts the reads under way.
 * <li>While there are any, entries that leave the lanes are {@linkplain #overtakes remembered}, up to a limit.
 * <li>{@link #isOvertaken} compares an entry that was read with the remembered entry of the same task.
 * <li>When the last read under way has been handled, all remembered entries are forgotten.
 * </ol>
 *
 * <p>This is only an optimization: the claim decides whether a task runs. Rejected: remembering for a fixed time, which
 * is too short for a slow read and costs memory after a fast one.
 */
final class IndexReads {
  private final TaskStore store;
  private final Inbox inbox;
  private final int limit;
  private final Map<TaskId, DueEntry> overtaken = new HashMap<>();
  private int underWay;

  /** @param limit how many entries are remembered at most */
  IndexReads(TaskStore store, Inbox inbox, int limit) {
    this.store = store;
    this.inbox = inbox;
    this.limit = limit;
  }

  /** Reads slices of the index. */
  void read(List<DueScan> scans, Inbox.Handler<List<DueSlice>> handler) {
    underWay++;
    inbox.after(Stages.call(() -> store.due(scans)), (slices, failure, nowNanos) -> {
      underWay--;
      boolean isLast = underWay == 0;
      handler.answered(slices, failure, nowNanos);
      if (isLast) {
        overtaken.clear();
      }
    });
  }

  /** Remembers that the index does not have this entry any more. */
  void overtakes(DueEntry entry) {
    if (underWay > 0 && overtaken.size() < limit) {
      overtaken.put(entry.id(), entry);
    }
  }

  /** Returns whether an entry that was read is known to have left the index since the read began. */
  boolean isOvertaken(DueEntry entry) {
    DueEntry last = overtaken.isEmpty() ? null : overtaken.get(entry.id());
    return last != null && last.wakeAt() == entry.wakeAt();
  }
}
