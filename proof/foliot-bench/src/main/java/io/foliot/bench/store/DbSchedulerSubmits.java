package io.foliot.bench.store;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls of db-scheduler's {@code scheduleBatch}, or of {@code schedule} if a batch has one task. */
final class DbSchedulerSubmits implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);

  private final DbScheduler scheduler;
  private final int batch;
  private final AtomicInteger next = new AtomicInteger();

  DbSchedulerSubmits(SqlSite site, int callers, int batch) throws SQLException {
    scheduler = new DbScheduler(site, callers, builder -> builder, null, number -> {
      throw new IllegalStateException("no task may run before it is due: task=" + number);
    });
    this.batch = batch;
  }

  @Override
  public int call(int caller, int turn) {
    int first = next.getAndAdd(batch);
    Instant due = Instant.now().plus(LATER);
    if (batch == 1) {
      scheduler.scheduler().schedule(scheduler.at(first, due));
    } else {
      scheduler.scheduleAll(first, batch, due);
    }
    return batch;
  }

  @Override
  public void ensureDone(long items) throws SQLException {
    long rows = scheduler.rows("true");
    if (rows != items) {
      throw new IllegalStateException("the table must hold every task: submitted=" + items + ", rows=" + rows);
    }
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
