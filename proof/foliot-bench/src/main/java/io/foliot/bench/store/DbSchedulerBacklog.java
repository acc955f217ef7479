package io.foliot.bench.store;

import com.github.kagkarlsson.scheduler.SchedulerBuilder;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler. It claims a batch in one statement (lock and fetch) in PostgreSQL, and task by task (fetch) in MariaDB.
 * It ends each task in a transaction of its own.
 */
final class DbSchedulerBacklog implements Backlog {
  /** Maximum number of connections, which the threads share. PostgreSQL permits 100 by default. */
  private static final int MOST_CONNECTIONS = 90;
  /** Connections for claims and housekeeping, besides those of the threads. */
  private static final int CONNECTIONS_BESIDE_THREADS = 4;
  /**
   * Interval of polls. Only the first poll matters: while tasks are left, the scheduler claims again without a poll.
   */
  private static final Duration POLLING = Duration.ofMillis(100);
  private static final int BATCH = 1_000;

  private final DbScheduler scheduler;
  private final boolean repeats;
  private volatile @Nullable Ledger ledger;

  /**
   * The settings of claims.
   *
   * @param threads the number of threads. Each runs one task at a time and commits its end
   * @param lower the scheduler claims again when it holds fewer tasks than this multiple of the number of threads
   * @param upper a claim fills the scheduler up to this multiple of the number of threads
   */
  record Claims(int threads, double lower, double upper) {
    /** The settings of the benchmark in db-scheduler's own repository. */
    static final Claims OF_ITS_BENCHMARK = new Claims(100, 2, 4);

    /**
     * The fastest settings on two processors. The candidates were 16 to 100 threads, lower limits from 0.5 to 8, and
     * upper limits from 1 to 32. One node then holds up to 2,560 tasks. If the node dies, these tasks wait until the
     * other nodes consider its heartbeat missed.
     */
    static final Claims TUNED = new Claims(80, 8, 32);
  }

  DbSchedulerBacklog(SqlSite site, Claims claims) throws SQLException {
    this(site, claims, null);
  }

  /**
   * Creates a backlog whose tasks may run again.
   *
   * @param period the time after which a task runs again, longer than the drain; null for tasks that run once
   */
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
    Ledger current = ledger;
    if (current == null) {
      throw new IllegalStateException("no task may run before the start: task=" + number);
    }
    current.begun(number);
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
