package io.foliot.bench.store;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskStore;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Measures the size of the tables under churn. Tasks are submitted, claimed and finished, live keys are reset, and
 * finished tasks are removed a minute after their end. For half of the time another transaction holds a snapshot.
 * Until the snapshot ends, PostgreSQL cannot remove the rows that become dead.
 *
 * <p>A minute of this program is a fixed amount of work, and takes longer than a minute of the clock. It has three
 * parts: 50 s of steady load, a wait until each task has begun, and the drain of a backlog at full speed. Then the
 * program prints a line. After the last minute it checks that there were as many attempts as tasks.
 *
 * <p>From the root of the project, for 60 such minutes:
 *
 * <pre>{@code
 * mvn -q -pl :foliot-bench -am -Pcompare-stores process-test-classes -Dbench.main=io.foliot.bench.store.TableChurn -Dbench.args="60"
 * }</pre>
 *
 * <p>The snapshot begins after one sixth of the minutes, and ends after two thirds.
 */
public final class TableChurn {
  private static final int TASKS_PER_SECOND = 300;
  private static final int RESETS_PER_SECOND = 2_000;
  private static final int LIVE_KEYS = 20_000;
  private static final int BURST = 20_000;
  /** Number of batches of tasks per second; as many batches of resets are made. */
  private static final int PARTS_PER_SECOND = 10;
  private static final Duration SPREAD = Duration.ofSeconds(20);
  private static final Duration PUSHED = Duration.ofMinutes(2);
  private static final Duration RETENTION = Duration.ofMinutes(1);
  private static final Duration LAST_BOUND = Duration.ofMinutes(2);
  private static final String TABLES = "SELECT relname, n_live_tup, n_dead_tup, pg_total_relation_size(relid),"
      + " n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname IN ('foliot_task', 'foliot_final')"
      + " ORDER BY relname DESC";

  private final Database database;
  private final Scheduler scheduler;
  private final AtomicLong delivered;
  private final SplittableRandom random = new SplittableRandom(1);
  private long submitted;
  private long resets;

  private TableChurn(Database database, Scheduler scheduler, AtomicLong delivered) {
    this.database = database;
    this.scheduler = scheduler;
    this.delivered = delivered;
  }

  /** Runs for the number of minutes in the first argument, or 60 without arguments. */
  public static void main(String[] args) throws SQLException {
    int minutes = args.length == 0 ? 60 : Integer.parseInt(args[0]);
    AtomicLong delivered = new AtomicLong();
    QueueConfig queue = QueueConfig.builder(FoliotNode.QUEUE, Target.local()).retainFinished(RETENTION)
        .retainFailed(RETENTION)
        .build();
    System.out.println(Conditions.machine());
    try (PostgresServer server = PostgresServer.start()) {
      Database database = server.createDatabase();
      try (TaskStore store = JdbcStore.open(JdbcOptions.of(database.jdbcUrl(), database.user(), database.password()));
          FoliotNode node = new FoliotNode(store, queue, attempt -> {
            delivered.incrementAndGet();
            return new Answer.Done("");
          }, Meter.NONE)) {
        new TableChurn(database, node.scheduler(), delivered).run(minutes);
      }
    }
  }

  private void run(int minutes) throws SQLException {
    System.out.printf(
        "%,d tasks and %,d resets of %,d live keys a second, a backlog of %,d each minute; the snapshot is"
            + " held from minute %d to %d%n",
        TASKS_PER_SECOND, RESETS_PER_SECOND, LIVE_KEYS, BURST, minutes / 6,
        minutes * 2 / 3);
    System.out.println("| minute | snapshot | backlog, tasks/s | resets, p99 of a batch | live | dead | task table |"
        + " dead, history | history | resets in place |");
    System.out.println("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    makeKeys();
    Connection held = null;
    try {
      for (int minute = 1; minute <= minutes; minute++) {
        if (minute == minutes / 6 + 1) {
          held = holdSnapshot();
        } else if (minute == minutes * 2 / 3 + 1 && held != null) {
          held.close();
          held = null;
        }
        double p99Millis = steadily();
        double rate = burst();
        printLine(minute, held != null, rate, p99Millis);
      }
    } finally {
      if (held != null) {
        held.close();
      }
    }
    awaitAll();
    System.out.printf("%,d tasks, and as many attempts; %,d resets%n", submitted, resets);
  }

  private void makeKeys() {
    List<Submission> keys = new ArrayList<>();
    for (int i = 0; i < LIVE_KEYS; i++) {
      keys.add(Submission.builder(FoliotNode.QUEUE).delay(Duration.ofDays(1)).body(Body.EMPTY).key("key-" + i).build());
      if (keys.size() == 1_000) {
        FoliotNode.await(scheduler.submitAll(keys));
        keys.clear();
      }
    }
  }

  private Connection holdSnapshot() throws SQLException {
    Connection connection = database.connect();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
    try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery("SELECT 1")) {
      row.next();
    }
    return connection;
  }

  /** Runs the steady load. Returns the 99th percentile of the time of a batch of resets, in ms. */
  private double steadily() {
    Histogram nanos = new Histogram(Figures.DIGITS);
    long begun = System.nanoTime();
    for (int part = 0; part < 50 * PARTS_PER_SECOND; part++) {
      List<Submission> tasks = new ArrayList<>();
      for (int i = 0; i < TASKS_PER_SECOND / PARTS_PER_SECOND; i++) {
        tasks
            .add(Submission.after(FoliotNode.QUEUE, Duration.ofMillis(random.nextLong(SPREAD.toMillis())), Body.EMPTY));
      }
      submitted += tasks.size();
      FoliotNode.await(scheduler.submitAll(tasks));
      List<String> keys = random.ints(RESETS_PER_SECOND / PARTS_PER_SECOND, 0, LIVE_KEYS).distinct()
          .mapToObj(i -> "key-" + i).toList();
      long sent = System.nanoTime();
      FoliotNode.await(scheduler.touch(FoliotNode.QUEUE, keys, PUSHED.plusDays(1)));
      nanos.recordValue(System.nanoTime() - sent);
      resets += keys.size();
      LockSupport.parkNanos(begun + TimeUnit.SECONDS.toNanos(1) / PARTS_PER_SECOND * (part + 1) - System.nanoTime());
    }
    return nanos.getValueAtPercentile(99) / 1e6;
  }

  /** Submits a backlog that is due at once, and drains it. Returns the tasks per second. */
  private double burst() {
    awaitAll();
    long before = delivered.get();
    long begun = System.nanoTime();
    for (int i = 0; i < BURST; i += 1_000) {
      List<Submission> tasks = new ArrayList<>();
      for (int j = 0; j < 1_000; j++) {
        tasks.add(Submission.after(FoliotNode.QUEUE, Duration.ZERO, Body.EMPTY));
      }
      submitted += tasks.size();
      FoliotNode.await(scheduler.submitAll(tasks));
    }
    while (delivered.get() - before < BURST) {
      ensureNotLate(begun);
      LockSupport.parkNanos(1_000_000);
    }
    return BURST / ((System.nanoTime() - begun) / 1e9);
  }

  private void awaitAll() {
    long begun = System.nanoTime();
    while (delivered.get() < submitted) {
      ensureNotLate(begun);
      LockSupport.parkNanos(1_000_000);
    }
    if (delivered.get() > submitted) {
      throw new IllegalStateException("a task has run twice: submitted=" + submitted + ", delivered=" + delivered);
    }
  }

  private void ensureNotLate(long begunNanos) {
    if (System.nanoTime() - begunNanos > LAST_BOUND.toNanos()) {
      throw new IllegalStateException("tasks are missing: submitted=" + submitted + ", delivered=" + delivered);
    }
  }

  private void printLine(int minute, boolean held, double rate, double p99Millis) throws SQLException {
    try (Connection connection = database.connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(TABLES)) {
      row.next();
      long live = row.getLong(2);
      long dead = row.getLong(3);
      String size = mebibytes(row.getLong(4));
      double hot = 100.0 * row.getLong(6) / Math.max(1, row.getLong(5));
      @Nullable
      String history = null;
      long deadHistory = 0;
      if (row.next()) {
        deadHistory = row.getLong(3);
        history = mebibytes(row.getLong(4));
      }
      System.out.printf(Locale.ROOT, "| %d | %s | %,.0f | %.1f ms | %,d | %,d | %s | %,d | %s | %.0f %% |%n", minute,
          held ? "held" : "", rate, p99Millis, live, dead, size, deadHistory, history, hot);
      System.out.flush();
    }
  }

  private static String mebibytes(long bytes) {
    return bytes / (1 << 20) + " MiB";
  }
}
