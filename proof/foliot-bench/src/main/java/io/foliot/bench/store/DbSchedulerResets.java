package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.task.TaskInstanceId;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;

/** Calls of db-scheduler's {@code reschedule} for waiting tasks. */
final class DbSchedulerResets implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);
  private static final Duration RESET = Duration.ofDays(2);
  private static final int BATCH = 1_000;

  private final DbScheduler scheduler;
  private final LiveKeys keys;
  private final TaskInstanceId[] ids;
  private final boolean isPostgres;

  DbSchedulerResets(SqlSite site, int callers, int live) throws SQLException {
    isPostgres = site instanceof PostgresSite;
    scheduler = new DbScheduler(site, callers, builder -> builder, null, number -> {
      throw new IllegalStateException("no task may run before it is due: task=" + number);
    });
    keys = new LiveKeys(live, callers, 1);
    ids = new TaskInstanceId[keys.count()];
    Instant due = Instant.now().plus(LATER);
    for (int first = 0; first < ids.length; first += BATCH) {
      scheduler.scheduleAll(first, Math.min(BATCH, ids.length - first), due);
    }
    for (int number = 0; number < ids.length; number++) {
      ids[number] = scheduler.at(number, due).getTaskInstance();
    }
  }

  @Override
  public int call(int caller, int turn) {
    int key = keys.first(caller, turn);
    if (!scheduler.scheduler().reschedule(ids[key], Instant.now().plus(RESET))) {
      throw new IllegalStateException("the reset of a live task must succeed: key=" + key);
    }
    return 1;
  }

  @Override
  public void ensureDone(long items) throws SQLException {
    long touched = keys.touched().cardinality();
    long moved = scheduler
        .rows("execution_time > " + (isPostgres ? "now()" : "utc_timestamp(6)") + " + INTERVAL '36' HOUR");
    if (moved != touched || scheduler.rows("true") != ids.length) {
      throw new IllegalStateException(
          "every key that was reset must be due later: reset=" + touched + ", moved=" + moved);
    }
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
