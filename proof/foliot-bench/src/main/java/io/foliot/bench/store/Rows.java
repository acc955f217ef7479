package io.foliot.bench.store;

import io.foliot.bench.store.DbSchedulerBacklog.Claims;
import io.foliot.bench.store.Nodes.Share;
import io.foliot.bench.store.NodesRow.Wanted;
import io.foliot.bench.store.RateRow.Entry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** All rows of the comparison, with their goals. */
final class Rows {
  /** Number of tasks, or keys, in each call of a batch. */
  private static final int BATCH = 1_000;
  /** Number of callers that send batches. On two processors, more callers would only wait for each other. */
  private static final int BATCH_CALLERS = 4;
  private static final int CALLERS = 32;
  private static final int LIVE_KEYS = 20_000;
  /** Number of commands in a pipeline. With more, commands would wait for each other longer than for a round trip. */
  private static final int PIPELINED = 200;
  /** The default time for which a queue keeps finished tasks. */
  static final Duration KEPT = Duration.ofHours(1);
  private static final Duration HOUR = Duration.ofHours(1);

  // Factors for the number of tasks of a drain, so that the drain of each contender takes some seconds.
  private static final double JOBS_SHARE = 0.2;
  private static final double DB_SCHEDULER_SHARE = 0.4;
  private static final double JOBRUNR_SHARE = 0.04;
  private static final double TUNED_JOBRUNR_SHARE = 0.15;
  private static final double QUARTZ_SHARE = 0.008;
  private static final double REDISSON_SHARE = 0.25;

  /** The duration of an attempt in the rows of clusters: a typical response time of a receiver. */
  private static final Duration ATTEMPT = Duration.ofMillis(100);
  /**
   * Maximum number of attempts that a node has under way. With {@link #ATTEMPT}, a node makes at most 2,000 attempts a
   * second. At this rate, the nodes use only a small part of the processors.
   */
  private static final int BOUND = 200;
  private static final double BOUND_SHARE = 0.1;
  /**
   * Maximum number of attempts that a node has under way in the lines that use all processors. With {@link #ATTEMPT},
   * this permits 10,000 attempts a second, which is more than the processors can execute.
   */
  private static final int WIDE = 1_000;
  private static final double WIDE_SHARE = 0.5;
  /**
   * The window of {@link Nodes.Kind} for lines whose tasks are read ahead. A node reads its slots once a second, so the
   * window is longer than a second. The window is shorter than the default, so that a round is short.
   */
  private static final Duration SHORT_WINDOW = Duration.ofSeconds(2);

  static final List<Row> ALL = List.of(
      new RateRow("postgres-drain", "PostgreSQL: due tasks drained by one node", (sites, options) -> {
        PostgresSite site = sites.postgres();
        return List.of(foliotDrain("Foliot", site, KEPT),
            foliotDrain("Foliot, keeping no finished task", site, Duration.ZERO).asVariant(),
            dbSchedulerDrain("db-scheduler, as in its own benchmark", site, Claims.OF_ITS_BENCHMARK, 4).asVariant(),
            dbSchedulerDrain("db-scheduler, tuned", site, Claims.TUNED, 4),
            new Entry(new Drain("JobRunr, its defaults", JOBRUNR_SHARE, site, () -> new JobRunrBacklog(site, 0)), 10,
                true),
            new Entry(new Drain("JobRunr, tuned", TUNED_JOBRUNR_SHARE, site,
                () -> new JobRunrBacklog(site, JobRunrBacklog.TUNED_WORKERS)), 10),
            new Entry(new Drain("Quartz JDBC, clustered, its defaults", QUARTZ_SHARE, site,
                () -> new QuartzBacklog(site, QuartzBacklog.Size.DEFAULT)), 20, true),
            new Entry(new Drain("Quartz JDBC, clustered, tuned", QUARTZ_SHARE, site,
                () -> new QuartzBacklog(site, QuartzBacklog.Size.TUNED)), 20));
      }),
      new RateRow("postgres-jobs", "PostgreSQL: recurring jobs of one instant, each fired once by one node",
          (sites, options) -> {
            PostgresSite site = sites.postgres();
            return List.of(
                new Entry(new Drain("Foliot, jobs with one shard", JOBS_SHARE, site,
                    () -> new JobBacklog(site.openStore(), KEPT)), 0),
                foliotDrain("Foliot, plain tasks", site, KEPT),
                new Entry(new Drain("db-scheduler, tuned, tasks that run again", DB_SCHEDULER_SHARE, site,
                    () -> new DbSchedulerBacklog(site, Claims.TUNED, HOUR)), 1.2),
                new Entry(new Drain("Quartz JDBC, clustered, tuned, triggers that repeat", QUARTZ_SHARE, site,
                    () -> new QuartzBacklog(site, QuartzBacklog.Size.TUNED, true)), 20));
          }),
      new JobLoadRow("postgres-jobs-minute", "PostgreSQL: 50,000 jobs, each once a minute", Sites::postgres, true, 50),
      new JobLoadRow("postgres-jobs-instant", "PostgreSQL: 50,000 jobs at one instant of each minute",
          Sites::postgres, false, 100),
      new JobLoadRow("rocksdb-jobs-minute", "RocksDB: 50,000 jobs, each once a minute", Sites::rocks, true, 20),
      new JobLoadRow("rocksdb-jobs-instant", "RocksDB: 50,000 jobs at one instant of each minute", Sites::rocks, false,
          100),
      new QuartzMinuteRow(),
      new JobCallsRow(),
      new NodesPullRow(),
      new FleetBeginRow(),
      new FleetRunRow(),
      new FleetGoneRow(),
      new RateRow("postgres-batch", "PostgreSQL: submitted in batches of 1,000 by 4 callers",
          (sites, options) -> batches(sites.postgres(), 2)),
      new RateRow("postgres-submit", "PostgreSQL: submitted one by one by 32 callers",
          (sites, options) -> singles(sites.postgres(), 3)),
      new RateRow("postgres-reset", "PostgreSQL: resets of live keys",
          (sites, options) -> resets(sites.postgres(), options, 5)),
      new LatenessRow("postgres-lateness", "PostgreSQL", Sites::postgres),
      new PendingRow(),
      new RateRow("mariadb-drain", "MariaDB: due tasks drained by one node", (sites, options) -> {
        MariaDbSite site = sites.mariaDb();
        return List.of(foliotDrain("Foliot", site, KEPT),
            dbSchedulerDrain("db-scheduler, tuned", site, Claims.TUNED, 0));
      }),
      new RateRow("mariadb-batch", "MariaDB: submitted in batches of 1,000 by 4 callers",
          (sites, options) -> batches(sites.mariaDb(), 0)),
      new RateRow("mariadb-submit", "MariaDB: submitted one by one by 32 callers",
          (sites, options) -> singles(sites.mariaDb(), 0)),
      new RateRow("mariadb-reset", "MariaDB: resets of live keys",
          (sites, options) -> resets(sites.mariaDb(), options, 0)),
      new LatenessRow("mariadb-lateness", "MariaDB", Sites::mariaDb),
      new RateRow("redis-reset", "Redis: resets of live keys", (sites, options) -> {
        RedisSite site = sites.redis();
        int live = Math.min(LIVE_KEYS, options.work().tasks());
        return List.of(
            new Entry(foliotResets("Foliot, 1,000 a call by 4 callers", BATCH_CALLERS, site, live, BATCH), 0),
            new Entry(foliotResets("Foliot, one by one by 32 callers", CALLERS, site, live, 1), 0),
            new Entry(new Callers("ZADD, 200 pipelined on each of 4 connections", BATCH_CALLERS, site,
                () -> new BareScores(site, BATCH_CALLERS, live, PIPELINED)), 1 / 3.0));
      }),
      new RateRow("redis-submit", "Redis: submitted", (sites, options) -> {
        RedisSite site = sites.redis();
        return List.of(
            new Entry(new Callers("Foliot, batches of 1,000 by 4 callers", BATCH_CALLERS, site,
                () -> new FoliotSubmits(site.openStore(), BATCH, false)), 0),
            new Entry(new Callers("Foliot, one by one by 32 callers", CALLERS, site,
                () -> new FoliotSubmits(site.openStore(), 1, false)), 0),
            new Entry(new Callers("Redisson, one by one by 32 callers", CALLERS, site,
                () -> new RedissonSubmits(site, 1)), 10),
            new Entry(new Callers("Redisson, 200 offers under way for each of 4 callers", BATCH_CALLERS, site,
                () -> new RedissonSubmits(site, PIPELINED)), 10));
      }),
      new RateRow("redis-drain", "Redis: due tasks drained by one node", (sites, options) -> {
        RedisSite site = sites.redis();
        return List.of(foliotDrain("Foliot", site, KEPT),
            new Entry(new Drain("Redisson, 32 consumers that take one at a time", REDISSON_SHARE, site,
                () -> new RedissonBacklog(site, CALLERS, 1)), 10),
            new Entry(new Drain("Redisson, 2 consumers that take up to 500", REDISSON_SHARE, site,
                () -> new RedissonBacklog(site, 2, 500)), 10));
      }),
      new LatenessRow("redis-lateness", "Redis", Sites::redis),
      new NodesRow("cluster-nodes",
          "PostgreSQL: due tasks of 100 ms drained by nodes that have 200 under way each",
          List.of(attempts("one node", 1, BOUND_SHARE, BOUND), attempts("two nodes", 2, BOUND_SHARE, BOUND),
              attempts("three nodes", 3, BOUND_SHARE, BOUND)),
          Optional.of(new Wanted("three nodes", 2))),
      new NodesRow("cluster-limit", "PostgreSQL: due tasks drained by nodes that use all processors",
          List.of(attempts("one node, 1,000 of 100 ms under way", 1, WIDE_SHARE, WIDE),
              attempts("three nodes, 1,000 of 100 ms under way", 3, WIDE_SHARE, WIDE),
              drained("one node, tasks that do nothing", 1, Share.EVEN),
              drained("three nodes, tasks that do nothing", 3, Share.EVEN)),
          Optional.empty()),
      new NodesRow("cluster-doubled",
          "PostgreSQL: due tasks that do nothing, drained by two nodes that each own all slots",
          List.of(drained("one node", 1, Share.EVEN), drained("two nodes, half each", 2, Share.EVEN),
              drained("two nodes, all each", 2, Share.ALL)),
          Optional.empty()),
      new NodesLoadRow("cluster-load", "PostgreSQL: claims at " + NodesLoadRow.PER_SECOND + " tasks a second",
          List.of(load("one node", 1, Share.EVEN), load("two nodes, half each", 2, Share.EVEN),
              load("two nodes, all each", 2, Share.ALL),
              loadAhead("two nodes, half each, which read the index before tasks are due", Share.EVEN),
              loadAhead("two nodes, all each, which read the index before tasks are due", Share.ALL))));

  private Rows() {}

  private static NodesRow.Line attempts(String name, int nodes, double share, int attempts) {
    return new NodesRow.Line(name, share, Nodes.Kind.of(nodes, Share.EVEN).withAttempts(attempts, ATTEMPT));
  }

  private static NodesRow.Line drained(String name, int nodes, Share share) {
    return new NodesRow.Line(name, 1, Nodes.Kind.of(nodes, share));
  }

  private static NodesLoadRow.Line load(String name, int nodes, Share share) {
    return new NodesLoadRow.Line(name + ", due after 1 s", Duration.ofSeconds(1), Nodes.Kind.of(nodes, share));
  }

  /**
   * Returns a line whose tasks are written before the window reaches their due times. So the node that writes a task
   * does not put the task into its wheel; the owner of the slot reads the task ahead later.
   */
  private static NodesLoadRow.Line loadAhead(String name, Share share) {
    return new NodesLoadRow.Line(name, SHORT_WINDOW.multipliedBy(2),
        Nodes.Kind.of(2, share).withWindow(SHORT_WINDOW));
  }

  private static Entry foliotDrain(String name, Site site, Duration kept) {
    return new Entry(new Drain(name, 1, site, () -> new FoliotBacklog(site.openStore(), kept)), 0);
  }

  private static Entry dbSchedulerDrain(String name, SqlSite site, Claims claims, double wanted) {
    return new Entry(new Drain(name, DB_SCHEDULER_SHARE, site, () -> new DbSchedulerBacklog(site, claims)), wanted);
  }

  private static Contender foliotResets(String name, int callers, Site site, int live, int batch) {
    return new Callers(name, callers, site, () -> new FoliotResets(site.openStore(), callers, live, batch));
  }

  private static List<Entry> batches(SqlSite site, double wanted) {
    return List.of(
        new Entry(new Callers("Foliot", BATCH_CALLERS, site,
            () -> new FoliotSubmits(site.openStore(), BATCH, false)), 0),
        new Entry(new Callers("Foliot, with keys", BATCH_CALLERS, site,
            () -> new FoliotSubmits(site.openStore(), BATCH, true)), 0),
        new Entry(new Callers("db-scheduler, scheduleBatch", BATCH_CALLERS, site,
            () -> new DbSchedulerSubmits(site, BATCH_CALLERS, BATCH)), wanted),
        new Entry(new Callers("bare inserts", BATCH_CALLERS, site, () -> new BareInserts(site, BATCH_CALLERS, BATCH)),
            0));
  }

  private static List<Entry> singles(SqlSite site, double wanted) {
    return List.of(
        new Entry(new Callers("Foliot", CALLERS, site, () -> new FoliotSubmits(site.openStore(), 1, false)), 0),
        new Entry(new Callers("bare inserts, each committed", CALLERS, site, () -> new BareInserts(site, CALLERS, 1)),
            wanted),
        new Entry(new Callers("db-scheduler, schedule", CALLERS, site, () -> new DbSchedulerSubmits(site, CALLERS, 1)),
            0));
  }

  private static List<Entry> resets(SqlSite site, StoreOptions options, double wanted) {
    int live = Math.min(LIVE_KEYS, options.work().tasks());
    return List.of(
        new Entry(foliotResets("Foliot, 1,000 a call by 4 callers", BATCH_CALLERS, site, live, BATCH), 0),
        new Entry(foliotResets("Foliot, one by one by 32 callers", CALLERS, site, live, 1), 0),
        new Entry(new Callers("db-scheduler, reschedule by 32 callers", CALLERS, site,
            () -> new DbSchedulerResets(site, CALLERS, live)), wanted));
  }
}
