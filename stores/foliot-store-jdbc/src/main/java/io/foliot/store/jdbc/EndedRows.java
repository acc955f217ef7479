package io.foliot.store.jdbc;

import io.foliot.core.TaskId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The tasks that this process has ended in place, because the database had no room for their kept records. Their rows
 * move once there is room. Thread-safe.
 *
 * <p>The set is only a hint: a read or a claim that meets such a row moves it as well, and a claim meets the row of
 * every task at the time of its index entry. So the set may be bounded, and is not stored.
 */
final class EndedRows {
  /** Maximum number of tasks: some megabytes. */
  private static final int MAX_TASKS = 100_000;
  /** Time without a try after a try that found no room. Otherwise each read of such a row would try again. */
  private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final LongSupplier nanoClock;

  // guarded by this
  private final Set<TaskId> ids = new LinkedHashSet<>();
  private boolean foundNoRoom;
  private long foundNoRoomNanos;

  EndedRows(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  synchronized void add(TaskId id) {
    if (ids.size() < MAX_TASKS) {
      ids.add(id);
    }
    noRoom();
  }

  /** Records that the database had no room. */
  synchronized void noRoom() {
    foundNoRoom = true;
    foundNoRoomNanos = nanoClock.getAsLong();
  }

  /** Returns whether a try may find room. */
  synchronized boolean mayMove() {
    return !foundNoRoom || nanoClock.getAsLong() - foundNoRoomNanos >= PAUSE_NANOS;
  }

  /** Records that these tasks have moved. */
  synchronized void moved(List<TaskId> moved) {
    foundNoRoom = false;
    moved.forEach(ids::remove);
  }

  /** Returns at most {@code limit} of the tasks, those first that ended first. */
  synchronized List<TaskId> first(int limit) {
    List<TaskId> first = new ArrayList<>();
    for (Iterator<TaskId> each = ids.iterator(); each.hasNext() && first.size() < limit;) {
      first.add(each.next());
    }
    return first;
  }
}
