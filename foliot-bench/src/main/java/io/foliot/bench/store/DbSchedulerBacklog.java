package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler, which claims a batch in one statement (lock and fetch) where its dialect of the database can do that, and
 * deletes each task in a transaction of its own.
 */
final class DbSchedulerBacklog implements Backlog {
  /*
   * Tried on two processors: 16 to 100 threads, lower limits from 0.5 to 2 times the threads, upper ones from 1 to 8. Each
   * thread commits by itself, so that many of them share a sync.
   */
  private static final int THREADS = 50;
  private static final double LOWER = 1;
  private static final double UPPER = 4;
  /** One for each thread, one to claim by, some for its housekeeping. */
  private static final int POOL = THREADS + 4;
  /** It claims anew by itself while there is more; a poll is only needed to begin. */
  private static final Duration POLLING = Duration.ofMillis(100);
  private static final int BATCH = 1_000;

  private final DbScheduler scheduler;
  private volatile @Nullable Ledger ledger;

  DbSchedulerBacklog(SqlSite site) throws SQLException {
    boolean locks = site instanceof PostgresSite;
    scheduler = new DbScheduler(site, POOL, builder -> polling(builder, locks), this::begun);
  }

  private static SchedulerBuilder polling(SchedulerBuilder builder, boolean locks) {
    SchedulerBuilder tuned = builder.threads(THREADS).pollingInterval(POLLING);
    return locks ? tuned.pollUsingLockAndFetch(LOWER, UPPER) : tuned.pollUsingFetch(LOWER, UPPER);
  }

  private void begun(int number) {
    Ledger told = ledger;
    if (told == null) {
      throw new IllegalStateException("no task runs before the start: task=" + number);
    }
    told.begun(number);
  }

  @Override
  public void fill(int tasks) {
    Instant due = Instant.now().minusSeconds(1);
    for (int first = 0; first < tasks; first += BATCH) {
      scheduler.scheduleAll(first, Math.min(BATCH, tasks - first), due);
    }
  }

  @Override
  public void start(Ledger newLedger) {
    ledger = newLedger;
    scheduler.scheduler().start();
  }

  @Override
  public boolean isDone() throws SQLException {
    return scheduler.rows("true") == 0;
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
