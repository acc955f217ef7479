package io.foliot.server.api;

import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.TimeSource;
import io.foliot.core.store.RecordPage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A scan of the tasks of one queue, part by part, in bounded time. An instance serves one thread and one scan.
 *
 * <p>A store has no index for this scan, because such an index would cost a write with each claim and settle. Instead,
 * each part examines a bounded number of tasks of all queues. A part may therefore be short or empty although more
 * tasks follow. The caller reads further parts as long as {@link #hasTime} returns true. Other calls to the store run
 * between two parts.
 */
final class QueueScan {
  /**
   * Time after which no further part is read. In this time, a scan of an embedded store passes about a hundred thousand
   * tasks of other queues.
   */
  private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(1);
  /**
   * Time limit as long as no task has been found. It is longer than {@link #MAX_NANOS}, because programs may mistake an
   * empty page for the last page. It is shorter than the time for which clients wait for an answer.
   */
  private static final long MAX_EMPTY_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** The time of a scan, which runs from the creation of the instance. */
  static final class Time {
    private final TimeSource clock;
    private final long beginNanos;

    Time(TimeSource clock) {
      this.clock = clock;
      beginNanos = clock.monotonicNanos();
    }

    /**
     * Returns whether there is time to read another part.
     *
     * @param isEmpty whether nothing has been found so far
     */
    boolean isLeft(boolean isEmpty) {
      return clock.monotonicNanos() - beginNanos < (isEmpty ? MAX_EMPTY_NANOS : MAX_NANOS);
    }
  }

  private final Scheduler scheduler;
  private final SchedulerBridge calls;
  private final String queue;
  private final Time time;

  /** Begins a scan. The time limits run from now. */
  QueueScan(Scheduler scheduler, SchedulerBridge calls, TimeSource clock, String queue) {
    this.scheduler = scheduler;
    this.calls = calls;
    this.queue = queue;
    time = new Time(clock);
  }

  /**
   * Returns whether there is time to read another part.
   *
   * @param isEmpty whether nothing has been found so far
   */
  boolean hasTime(boolean isEmpty) {
    return time.isLeft(isEmpty);
  }

  /**
   * Reads a page of at most {@code limit} tasks of a state, or of all states if {@code state} is null.
   *
   * @param cursor the cursor of the previous part; null for the first part
   */
  RecordPage part(@Nullable TaskState state, int limit, @Nullable String cursor) {
    try {
      return calls.read(scheduler.tasks(queue, state, limit, cursor));
    } catch (Problem problem) {
      if (cursor != null && problem.kind() == ProblemKind.INVALID_REQUEST) {
        throw badCursor(cursor);
      }
      throw problem;
    }
  }

  /** Returns the problem of a cursor that no page has returned. */
  static Problem badCursor(String cursor) {
    return new Problem(ProblemKind.INVALID_PARAMETER, "cursor: expected the nextCursor of the page before, but got \""
        + JsonIn.shown(cursor) + '"').with("parameter", "cursor").with("field", "cursor");
  }
}
