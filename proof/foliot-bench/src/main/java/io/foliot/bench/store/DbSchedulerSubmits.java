package io.foliot.bench.store;

import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/** db-scheduler's {@code scheduleBatch}, one transaction a call; or {@code schedule}, where a batch has one task. */
final class DbSchedulerSubmits implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);

  private final DbScheduler scheduler;
  private final int batch;
  private final AtomicInteger next = new AtomicInteger();

  DbSchedulerSubmits(SqlSite site, int callers, int batch) throws SQLException {
    scheduler = new DbScheduler(site, callers, builder -> builder, null, number -> {
      throw new IllegalStateException("nothing is due: task=" + number);
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
      throw new IllegalStateException("every task must be there: told=" + items + ", rows=" + rows);
    }
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
