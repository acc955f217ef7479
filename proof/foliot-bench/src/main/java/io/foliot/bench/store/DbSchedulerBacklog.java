package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler, which claims a batch in one statement (lock and fetch) where its dialect of the database can do that,
 * and deletes each task in a transaction of its own.
 */
final class DbSchedulerBacklog implements Backlog {
  /** Below the 100 that PostgreSQL permits unless told otherwise; threads share them. */
  private static final int MOST_CONNECTIONS = 90;
  /** To claim by, and for its housekeeping. */
  private static final int CONNECTIONS_BESIDE_THREADS = 4;
  /** It claims anew by itself while there is more; a poll is only needed to begin. */
  private static final Duration POLLING = Duration.ofMillis(100);
  private static final int BATCH = 1_000;

  private final DbScheduler scheduler;
  private final boolean repeats;
  private volatile @Nullable Ledger ledger;

  /**
   * Its way to claim.
   *
   * @param threads the number of threads; each runs a task and commits its end, and many commits share a sync
   * @param lower the multiple of the threads below which it claims anew
   * @param upper the multiple of the threads up to which it claims
   */
  record Claims(int threads, double lower, double upper) {
    /** The settings of its author's benchmark within its project. */
    static final Claims OF_ITS_BENCHMARK = new Claims(100, 2, 4);

    /**
     * The best of 16 to 100 threads, lower limits from 0.5 to 8 and upper ones from 1 to 32, on two processors. It
     * holds 2,560 tasks for one node then, which wait for its heartbeat to be missed where the node dies.
     */
    static final Claims TUNED = new Claims(80, 8, 32);
  }

  DbSchedulerBacklog(SqlSite site, Claims claims) throws SQLException {
    this(site, claims, null);
  }

  /** Tasks that run again after a period, which is longer than the drain. */
  DbSchedulerBacklog(SqlSite site, Claims claims, @Nullable Duration period) throws SQLException {
    repeats = period != null;
    boolean locks = site instanceof PostgresSite;
    int pool = Math.min(MOST_CONNECTIONS, claims.threads() + CONNECTIONS_BESIDE_THREADS);
    scheduler = new DbScheduler(site, pool, builder -> {
      SchedulerBuilder tuned = builder.threads(claims.threads()).pollingInterval(POLLING);
      return locks
          ? tuned.pollUsingLockAndFetch(claims.lower(), claims.upper())
          : tuned.pollUsingFetch(claims.lower(), claims.upper());
    }, period, this::begun);
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
    return scheduler.rows(repeats ? "picked OR execution_time < now()" : "true") == 0;
  }

  @Override
  public void close() {
    scheduler.close();
  }
}
