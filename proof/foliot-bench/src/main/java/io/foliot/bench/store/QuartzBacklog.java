package io.foliot.bench.store;

import static org.quartz.JobBuilder.newJob;
import static org.quartz.SimpleScheduleBuilder.repeatHourlyForever;
import static org.quartz.SimpleScheduleBuilder.repeatMinutelyForever;
import static org.quartz.TriggerBuilder.newTrigger;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Date;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.quartz.Job;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.impl.DefaultThreadExecutor;
import org.quartz.impl.DirectSchedulerFactory;
import org.quartz.impl.jdbcjobstore.JobStoreTX;
import org.quartz.impl.jdbcjobstore.PostgreSQLDelegate;
import org.quartz.simpl.SimpleThreadPool;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/**
 * Quartz with its JDBC store, clustered, on PostgreSQL. All tasks are triggers of one durable job. This is cheapest for
 * Quartz. If each trigger had a job of its own, the jobs would have to be inserted and deleted as well.
 */
final class QuartzBacklog implements Backlog {
  /** Connections in addition to those of the worker threads: for triggers, misfires and the cluster. */
  private static final int CONNECTIONS_BESIDE_THREADS = 3;
  /** Quartz's threshold for misfires. It is longer than a round, so no trigger misfires. */
  private static final long MISFIRE_MILLIS = TimeUnit.HOURS.toMillis(1);
  private static final int IDLE_MILLIS = 1_000;
  private static final String TABLES = "/org/quartz/impl/jdbcjobstore/tables_postgres.sql";

  private final SqlSite site;
  private final boolean repeats;
  private final HikariDataSource connections;
  private final Scheduler scheduler;

  /**
   * The settings of Quartz.
   *
   * @param threads the number of threads. Each runs one task at a time and ends it in a transaction of its own
   * @param acquiredAtOnce how many triggers one transaction acquires at most
   */
  record Size(int threads, int acquiredAtOnce) {
    static final Size DEFAULT = new Size(10, 1);

    /**
     * The fastest settings on two processors. The candidates were 1 to 50 threads, and batches of 1 to 200. From five
     * threads on, the rates differ little, because every step of Quartz locks the same row.
     */
    static final Size TUNED = new Size(20, 20);
  }

  QuartzBacklog(SqlSite site, Size size) throws Exception {
    this(site, size, false);
  }

  /**
   * Creates the scheduler without starting it.
   *
   * @param repeats whether each trigger of {@link #fill} fires again after an hour
   */
  QuartzBacklog(SqlSite site, Size size, boolean repeats) throws Exception {
    this.site = site;
    this.repeats = repeats;
    site.fresh();
    site.execute(tables());
    connections = site.pool(size.threads() + CONNECTIONS_BESIDE_THREADS);
    // The factories of Quartz are shared by the JVM and find schedulers and connections by name.
    String name = "quartz-" + UUID.randomUUID();
    DBConnectionManager.getInstance().addConnectionProvider(name, new Connections(connections));
    JobStoreTX store = new JobStoreTX();
    store.setInstanceName(name);
    store.setInstanceId(name);
    store.setDataSource(name);
    store.setDriverDelegateClass(PostgreSQLDelegate.class.getName());
    store.setIsClustered(true);
    store.setAcquireTriggersWithinLock(true);
    store.setMisfireThreshold(MISFIRE_MILLIS);
    SimpleThreadPool threads = new SimpleThreadPool(size.threads(), Thread.NORM_PRIORITY);
    threads.initialize();
    DirectSchedulerFactory.getInstance().createScheduler(name, name, threads, new DefaultThreadExecutor(), store, null,
        null, 0, IDLE_MILLIS, -1, false, null, size.acquiredAtOnce(), 0);
    scheduler = DirectSchedulerFactory.getInstance().getScheduler(name);
  }

  /** The pool from which Quartz borrows connections. */
  private record Connections(HikariDataSource source) implements ConnectionProvider {
    @Override
    public Connection getConnection() throws SQLException {
      return source.getConnection();
    }

    @Override
    public void initialize() {}

    @Override
    public void shutdown() {}
  }

  private static String tables() throws IOException {
    try (InputStream in = Scheduler.class.getResourceAsStream(TABLES)) {
      if (in == null) {
        throw new IOException("the jar of Quartz must contain its tables: resource=" + TABLES);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().filter(line -> !line.startsWith("--"))
          .collect(Collectors.joining("\n"));
    }
  }

  @Override
  public void fill(int tasks) throws SchedulerException {
    JobDetail job = newJob(Job.class).withIdentity("bench").storeDurably().build();
    Date due = Date.from(Instant.now().minusSeconds(1));
    Set<Trigger> triggers = new HashSet<>();
    for (int number = 0; number < tasks; number++) {
      TriggerBuilder<Trigger> trigger = newTrigger().withIdentity(Integer.toString(number)).startAt(due);
      triggers.add(repeats ? trigger.withSchedule(repeatHourlyForever()).build() : trigger.build());
    }
    scheduler.scheduleJobs(Map.of(job, triggers), false);
  }

  /** Schedules triggers that each fire once a minute from an instant on, evenly spread over the minute. */
  void fillMinute(int triggers, long fromMillis) throws SchedulerException {
    JobDetail job = newJob(Job.class).withIdentity("bench").storeDurably().build();
    long period = TimeUnit.MINUTES.toMillis(1);
    Set<Trigger> all = new HashSet<>();
    for (int number = 0; number < triggers; number++) {
      all.add(newTrigger().withIdentity(Integer.toString(number)).withSchedule(repeatMinutelyForever())
          .startAt(Date.from(Instant.ofEpochMilli(fromMillis + number * period / triggers))).build());
    }
    scheduler.scheduleJobs(Map.of(job, all), false);
  }

  /** Called for each trigger that fires, on the thread that runs its job. */
  @FunctionalInterface
  interface Fired {
    void accept(int number, long scheduledMillis);
  }

  @Override
  public void start(Ledger ledger) throws SchedulerException {
    start((number, scheduled) -> ledger.begun(number));
  }

  void start(Fired fired) throws SchedulerException {
    scheduler.setJobFactory((bundle, unused) -> new Noop(fired));
    scheduler.start();
  }

  /** A job that only reports its firing. */
  private record Noop(Fired fired) implements Job {
    @Override
    public void execute(JobExecutionContext context) {
      fired.accept(Integer.parseInt(context.getTrigger().getKey().getName()),
          context.getScheduledFireTime().toInstant().toEpochMilli());
    }
  }

  @Override
  public boolean isDone() throws SQLException {
    String due = repeats ? " WHERE next_fire_time <= " + System.currentTimeMillis() : "";
    return site.number("SELECT (SELECT count(*) FROM qrtz_triggers" + due
        + ") + (SELECT count(*) FROM qrtz_fired_triggers)") == 0;
  }

  @Override
  public void close() {
    try {
      scheduler.shutdown(true);
    } catch (SchedulerException e) {
      throw new IllegalStateException("cannot stop Quartz", e);
    } finally {
      connections.close();
    }
  }
}
