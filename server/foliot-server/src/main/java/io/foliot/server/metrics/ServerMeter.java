package io.foliot.server.metrics;

import io.foliot.core.Meter;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A meter that counts the events of the engine and of jobs. Safe for use by any thread. A map contains the metrics of
 * each queue, because a search in the registry for each event would cost more. Queues beyond a limit share the label
 * {@code other}, because each label costs memory in this process and in each system that collects the metrics.
 */
public final class ServerMeter implements Meter, JobMeter {
  private static final Duration[] LATENESS = {Duration.ofMillis(1), Duration.ofMillis(2), Duration.ofMillis(5),
      Duration.ofMillis(10), Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofMillis(100),
      Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofSeconds(5),
      Duration.ofSeconds(15), Duration.ofSeconds(60)};
  private static final Duration[] ATTEMPTS = {Duration.ofMillis(1), Duration.ofMillis(5), Duration.ofMillis(25),
      Duration.ofMillis(100), Duration.ofMillis(500), Duration.ofSeconds(2), Duration.ofSeconds(10),
      Duration.ofSeconds(60)};
  private static final Duration[] STORE_CALLS = {Duration.ofNanos(250_000), Duration.ofMillis(1), Duration.ofMillis(2),
      Duration.ofMillis(5), Duration.ofMillis(20), Duration.ofMillis(100), Duration.ofSeconds(1)};
  private static final Duration[] TURNS = {Duration.ofNanos(100_000), Duration.ofMillis(1), Duration.ofMillis(5),
      Duration.ofMillis(20), Duration.ofMillis(100)};
  /**
   * Buckets of the lateness of runs. They are wider than those of tasks: a run is late by the whole time in which there
   * was no node to plan it.
   */
  private static final Duration[] RUNS_LATE = {Duration.ofMillis(10), Duration.ofMillis(50), Duration.ofMillis(250),
      Duration.ofSeconds(1), Duration.ofSeconds(5), Duration.ofMinutes(1), Duration.ofMinutes(10), Duration.ofHours(1)};
  private static final double[] BATCHES = {1, 10, 100, 1_000, 10_000};
  private static final String OTHER = "other";
  /** Outcome of a planning pass that failed and is tried again. */
  private static final String RETRIED = "retried";
  /** Result of a scheduled time that a job's misfire policy skipped. */
  private static final String MISSED = "missed";
  private static final Logger log = LoggerFactory.getLogger(ServerMeter.class);

  private final MeterRegistry registry;
  private final int maxQueues;
  private final Map<String, QueueMeters> queues = new ConcurrentHashMap<>();
  private final QueueMeters others;
  private final Map<CallKey, CallMeters> calls = new ConcurrentHashMap<>();
  private final Timer turns;
  private final Timer runsLate;
  private final Timer passesLate;
  private final JobStates jobs = new JobStates();
  private final LatePasses latePasses = new LatePasses(System.nanoTime());
  private final AtomicLong jobsAhead = new AtomicLong();
  private final Counter slotsGained;
  private final Counter slotsLost;

  private record CallKey(String call, boolean failed) {}

  private record CallMeters(Timer time, DistributionSummary items) {}

  /**
   * The metrics of a queue. Counters that an alert watches exist from the first sight of their queue: a counter that
   * first appears with the value 1 has not increased for Prometheus.
   */
  private final class QueueMeters {
    final String label;
    final Map<String, Counter> accepted = new ConcurrentHashMap<>();
    final Map<String, Timer> settled = new ConcurrentHashMap<>();
    final Map<String, Counter> times = new ConcurrentHashMap<>();
    final Map<String, Counter> runs = new ConcurrentHashMap<>();
    final Timer lateness;
    final Counter leasesEnded;
    final Counter parked;
    final Counter unserved;
    final Counter foreign;
    final Counter quarantined;
    final Counter stolen;
    final Counter foundLate;
    final Counter deadLetters;
    final DeadLetterLog deadLetterLog;

    QueueMeters(String label) {
      this.label = label;
      lateness = Timer.builder("foliot.lateness").description("From the due time to the start of the attempt")
          .tag("queue", label).serviceLevelObjectives(LATENESS).register(registry);
      leasesEnded = counter("foliot.leases.ended", "Attempts whose lease ended before they were settled");
      parked = counter("foliot.parked",
          "Tasks parked, for example because the lane of their queue was full, throttled or paused");
      unserved = counter("foliot.unserved",
          "Tasks parked because this node has no delivery or handler for their queue");
      stolen = counter("foliot.stolen",
          "Tasks from slots of other nodes, or of no node, claimed a second or more after they were due");
      foundLate = counter("foliot.found.late",
          "Tasks from this node's slots that a head poll found a second or more after they were due");
      foreign = counter("foliot.foreign",
          "Tasks that were claimed for a wrong queue, and released again");
      quarantined = counter("foliot.quarantined", "Records set aside because the engine cannot use them");
      deadLetters = counter("foliot.dead.letters", "Tasks that failed permanently");
      times(MISSED);
      deadLetterLog = new DeadLetterLog(log, registry.config().clock().monotonicTime());
    }

    private Counter counter(String name, String description) {
      return Counter.builder(name).description(description).tag("queue", label).register(registry);
    }

    Counter accepted(String what) {
      return accepted.computeIfAbsent(what, word -> Counter.builder("foliot.accepted")
          .description("Tasks submitted, reset and touched, by result").tag("queue", label)
          .tag("result", word).register(registry));
    }

    Counter times(String result) {
      return times.computeIfAbsent(result, word -> Counter.builder("foliot.job.times")
          .description("Scheduled times of jobs, by their results").tag("queue", label).tag("result", word)
          .register(registry));
    }

    Counter runs(String result) {
      return runs.computeIfAbsent(result, word -> Counter.builder("foliot.job.runs")
          .description("Runs of jobs that ended, by result").tag("queue", label).tag("result", word)
          .register(registry));
    }

    Timer settled(String outcome) {
      return settled.computeIfAbsent(outcome, word -> Timer.builder("foliot.attempts")
          .description("Attempts that ended, by outcome").tag("queue", label).tag("outcome", word)
          .serviceLevelObjectives(ATTEMPTS).register(registry));
    }
  }

  /**
   * Creates a meter.
   *
   * @param maxQueues the number of queues that have a label; all other queues share the label {@code other}
   */
  public ServerMeter(MeterRegistry registry, int maxQueues) {
    this.registry = registry;
    this.maxQueues = maxQueues;
    others = new QueueMeters(OTHER);
    QueueMeters planning = new QueueMeters(JobPlanner.QUEUE);
    planning.settled(RETRIED);
    queues.put(JobPlanner.QUEUE, planning);
    runsLate = Timer.builder("foliot.job.late").description("From a job's scheduled time to the start of its run")
        .serviceLevelObjectives(RUNS_LATE).register(registry);
    passesLate = Timer.builder("foliot.planning.late")
        .description("From the due time of a planning pass over a job to its beginning")
        .serviceLevelObjectives(RUNS_LATE).register(registry);
    slotsGained = Counter.builder("foliot.slots.gained").description("Slots that this node has taken over")
        .register(registry);
    slotsLost = Counter.builder("foliot.slots.lost").description("Slots that this node no longer owns")
        .register(registry);
    turns = Timer.builder("foliot.loop.turns").description("Turns of the engine's loops").serviceLevelObjectives(TURNS)
        .register(registry);
  }

  /** Returns the label of a queue: its name, or {@code other}. */
  String label(String queue) {
    return of(queue).label;
  }

  private QueueMeters of(String queue) {
    QueueMeters known = queues.get(queue);
    if (known != null) {
      return known;
    }
    // The internal queue of jobs is in the map, and does not count.
    return queues.size() <= maxQueues ? queues.computeIfAbsent(queue, QueueMeters::new) : others;
  }

  /** Returns the jobs that have active runs, have failed since their last success, or have a run without room. */
  JobStates jobs() {
    return jobs;
  }

  @Override
  public void times(String queue, String what, long count) {
    of(queue).times(what).increment((double) count);
  }

  @Override
  public void ended(String queue, String what, long count) {
    of(queue).runs(what).increment((double) count);
  }

  @Override
  public void passed(long lateMillis) {
    passesLate.record(lateMillis, TimeUnit.MILLISECONDS);
    latePasses.passed(lateMillis, System.nanoTime());
  }

  /** Returns the planning passes that began late. */
  public LatePasses latePasses() {
    return latePasses;
  }

  @Override
  public void began(String queue, long lateMillis) {
    runsLate.record(lateMillis, TimeUnit.MILLISECONDS);
  }

  @Override
  public void ahead(long jobs) {
    jobsAhead.set(jobs);
  }

  /** Returns how many jobs were planned while the store's clock was ahead, and are not repaired yet. */
  public long jobsAhead() {
    return jobsAhead.get();
  }

  @Override
  public void planned(String job, String queue, int running, long failuresInRow, boolean lacksRoom, long nextMillis) {
    jobs.planned(job, queue, running, failuresInRow, lacksRoom, nextMillis);
  }

  @Override
  public void accepted(String queue, String what, int count) {
    of(queue).accepted(what).increment(count);
  }

  @Override
  public void claimed(String queue, long lateMicros) {
    of(queue).lateness.record(Math.max(0, lateMicros), TimeUnit.MICROSECONDS);
  }

  @Override
  public void settled(String queue, String outcome, long durationMicros) {
    of(queue).settled(outcome).record(Math.max(0, durationMicros), TimeUnit.MICROSECONDS);
  }

  @Override
  public void deadLetter(String queue, Supplier<String> task) {
    QueueMeters meters = of(queue);
    meters.deadLetters.increment();
    meters.deadLetterLog.failed(queue, task, registry.config().clock().monotonicTime());
  }

  @Override
  public void leaseEnded(String queue) {
    of(queue).leasesEnded.increment();
  }

  @Override
  public void stolen(String queue) {
    of(queue).stolen.increment();
  }

  @Override
  public void foundLate(String queue) {
    of(queue).foundLate.increment();
  }

  @Override
  public void foreign(String queue) {
    of(queue).foreign.increment();
  }

  @Override
  public void slotsChanged(int gained, int lost) {
    slotsGained.increment(gained);
    slotsLost.increment(lost);
  }

  @Override
  public void storeCall(String call, int items, long durationMicros, boolean failed) {
    CallMeters meters = calls.computeIfAbsent(new CallKey(call, failed), this::call);
    meters.time.record(durationMicros, TimeUnit.MICROSECONDS);
    meters.items.record(items);
  }

  private CallMeters call(CallKey key) {
    String failed = Boolean.toString(key.failed);
    return new CallMeters(
        Timer.builder("foliot.store.calls").description("Batches sent to the store").tag("call", key.call)
            .tag("failed", failed).serviceLevelObjectives(STORE_CALLS).register(registry),
        DistributionSummary.builder("foliot.store.items").description("Items of batches sent to the store")
            .tag("call", key.call).tag("failed", failed).serviceLevelObjectives(BATCHES).register(registry));
  }

  @Override
  public void parked(String queue, int count) {
    of(queue).parked.increment(count);
  }

  @Override
  public void loopTurn(long durationMicros) {
    turns.record(durationMicros, TimeUnit.MICROSECONDS);
  }

  @Override
  public void unserved(String queue, int count) {
    of(queue).unserved.increment(count);
  }

  @Override
  public void quarantined(String queue) {
    of(queue).quarantined.increment();
  }
}
