package io.foliot.server.metrics;

import com.sun.management.OperatingSystemMXBean;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Address;
import io.foliot.core.Scheduler;
import io.foliot.core.coordination.Fleet;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.DoubleSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * All metrics of a server, in the text format of Prometheus. Events of the engine are counted as they happen
 * ({@link ServerMeter}); other values are read at each scrape.
 */
public final class Prometheus implements AutoCloseable {
  // Longest wait for the counts of queues, shorter than the usual time limit of a scraper. If the counts take longer,
  // the scrape shows the previous counts.
  private static final long COUNTS_TIMEOUT_MILLIS = 2_000;
  private static final int MAX_DESTINATIONS = 100;
  private static final int MAX_FAILING_JOBS = 100;

  private final PrometheusMeterRegistry registry = emptyRegistry();
  private final ServerMeter meter;
  private final HttpTimings timings;
  private final JvmGcMetrics garbage = new JvmGcMetrics();
  private final MultiGauge tasks;
  private final MultiGauge lags;
  private final MultiGauge waiting;
  private final MultiGauge running;
  private final MultiGauge destinationLimits;
  private final MultiGauge destinationRunning;
  private final MultiGauge workers;
  private final MultiGauge queueWorkers;
  private final MultiGauge jobsRunning;
  private final MultiGauge jobsWithoutRoom;
  private final MultiGauge jobFailures;

  // guarded by this
  private @Nullable Scheduler scheduler;
  private Runnable beforeReading = () -> {};

  // written at the beginning of a scrape, read by the gauges during the scrape
  private volatile Scheduler.@Nullable EngineStatus status;

  /**
   * Creates the metrics of a server that is about to start.
   *
   * @param maxQueues the number of queues that have a label; all other queues share the label {@code other}
   */
  public Prometheus(int maxQueues) {
    meter = new ServerMeter(registry, maxQueues);
    timings = new HttpTimings(registry);
    tasks = rows("foliot.tasks", "Tasks in the store, by state; a parked task is not counted as delayed");
    lags = rows("foliot.queue.lag.seconds",
        "Overdue time of the oldest due task of a queue. Includes tasks that wait in this node, parked"
            + " tasks, and overdue tasks of other nodes");
    waiting = rows("foliot.lane.waiting", "Due tasks in memory");
    running = rows("foliot.lane.running", "Attempts that run");
    destinationLimits = rows("foliot.destination.limit", "Current limit of concurrent attempts of a destination");
    destinationRunning = rows("foliot.destination.running", "Running attempts of a destination");
    workers = rows("foliot.workers", "Live workers that call this node; the label tells whether they are given tasks");
    queueWorkers = rows("foliot.queue.workers",
        "Workers that call this node and are given tasks of a queue; 0 for a pull queue without such workers");
    jobsRunning = rows("foliot.jobs.running", "Active runs of jobs, as of this node's last planning passes");
    jobsWithoutRoom = rows("foliot.jobs.without.room",
        "Jobs with a run that waits because their queue has as many unfinished shards as its setting maxShards");
    jobFailures = rows("foliot.job.failures.in.a.row",
        "Failed runs of a job since its last success, for the 100 jobs with the most");
    gauge("foliot.wheel.entries", "Ids in the timing wheels", engine -> engine.wheelEntries());
    gauge("foliot.lag.seconds",
        "Overdue time of the oldest due task. Includes tasks that wait in this node, parked tasks,"
            + " and overdue tasks of other nodes",
        engine -> engine.oldestDueMillis() / 1000.0);
    gauge("foliot.queues.missing", "Queues that do not exist although due tasks wait for them",
        engine -> engine.missingQueues().size());
    new JvmMemoryMetrics().bindTo(registry);
    garbage.bindTo(registry);
    new JvmThreadMetrics().bindTo(registry);
    processor();
    new FileDescriptorMetrics().bindTo(registry);
    new UptimeMetrics().bindTo(registry);
  }

  /** Returns an empty registry with filters. The library warns of a filter that is added after a metric. */
  private static PrometheusMeterRegistry emptyRegistry() {
    PrometheusMeterRegistry empty = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    empty.config().meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"))
        .meterFilter(MeterFilter.denyNameStartsWith("system.cpu.count"));
    return empty;
  }

  /**
   * Adds metrics of the processors. The registry denies two metrics of the library, which are replaced by the processor
   * time in seconds and by the number of processors.
   */
  private void processor() {
    new ProcessorMetrics().bindTo(registry);
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
      FunctionCounter.builder("process.cpu", system, it -> it.getProcessCpuTime() / 1e9).baseUnit("seconds")
          .description("Processor time of this process").register(registry);
    }
    Gauge.builder("system.cpus", () -> Runtime.getRuntime().availableProcessors())
        .description("Processors that this process may use").register(registry);
  }

  private MultiGauge rows(String name, String description) {
    return MultiGauge.builder(name).description(description).register(registry);
  }

  /** A function that reads one number from the engine's status. */
  private interface Figure {
    double of(Scheduler.EngineStatus engine);
  }

  private void gauge(String name, String description, Figure figure) {
    DoubleSupplier value = () -> {
      Scheduler.EngineStatus engine = status;
      return engine == null ? 0 : figure.of(engine);
    };
    Gauge.builder(name, value::getAsDouble).description(description).register(registry);
  }

  /** Returns the meter of the engine. */
  public ServerMeter meter() {
    return meter;
  }

  /** Returns the durations of requests. */
  public HttpTimings timings() {
    return timings;
  }

  /** Adds a metric of the server itself. */
  public void gauge(String name, String description, DoubleSupplier value) {
    Gauge.builder(name, value::getAsDouble).description(description).register(registry);
  }

  /** Adds the metric whose labels are the versions of Foliot and of Java. */
  public void build(String version) {
    Gauge.builder("foliot.build.info", () -> 1).description("Version of Foliot and of Java, as labels; always 1")
        .tag("version", version).tag("java", Runtime.version().toString()).register(registry);
  }

  /** Returns the registry of all metrics. */
  public MeterRegistry registry() {
    return registry;
  }

  /** Sets an action to run before each scrape; it must not block. */
  public synchronized void beforeReading(Runnable refresh) {
    beforeReading = refresh;
  }

  /** Sets the engine whose status each scrape reads. */
  public synchronized void watch(Scheduler engine) {
    scheduler = engine;
    gauge("foliot.worker.seats.in.use", "Seats that workers of the cluster have, or left within the last hour",
        () -> engine.fleet().inUse());
    gauge("foliot.worker.seats.max", "Largest number of seats", () -> Address.PLACES);
  }

  /** Returns all metrics in the text format of Prometheus. */
  public synchronized String scrape() {
    beforeReading.run();
    if (scheduler != null) {
      read(scheduler);
    }
    return registry.scrape();
  }

  private void read(Scheduler engine) {
    Scheduler.EngineStatus now = engine.status();
    status = now;
    rows(waiting, now.lanes(), lane -> meter.label(lane.queue()), "queue", Scheduler.LaneStatus::waiting);
    rows(running, now.lanes(), lane -> meter.label(lane.queue()), "queue", Scheduler.LaneStatus::running);
    List<Scheduler.DestinationStatus> busiest = now.destinations().stream()
        .sorted(Comparator.comparingInt(Scheduler.DestinationStatus::running).reversed()).limit(MAX_DESTINATIONS)
        .toList();
    rows(destinationLimits, busiest, Scheduler.DestinationStatus::destination, "destination",
        Scheduler.DestinationStatus::limit);
    rows(destinationRunning, busiest, Scheduler.DestinationStatus::destination, "destination",
        Scheduler.DestinationStatus::running);
    List<JobStates.State> jobs = meter.jobs().read(System.currentTimeMillis());
    rows(jobsRunning, jobs, job -> meter.label(job.queue()), "queue", JobStates.State::running);
    rows(jobsWithoutRoom, jobs, job -> meter.label(job.queue()), "queue", job -> job.lacksRoom() ? 1 : 0);
    rows(jobFailures, jobs.stream().filter(job -> job.failuresInRow() > 0).limit(MAX_FAILING_JOBS).toList(),
        JobStates.State::job, "job_name", JobStates.State::failuresInRow);
    // Each node counts its own workers, so that the figures of all nodes can be added up.
    String node = engine.cluster().node();
    List<Fleet.Seat> own = engine.fleet().seats().stream().filter(seat -> seat.isLive() && seat.node().equals(node))
        .toList();
    rows(workers, List.of(true, false), isEnabled -> isEnabled ? "live" : "disabled", "state",
        isEnabled -> own.stream().filter(seat -> seat.isEnabled() == isEnabled).count());
    List<Scheduler.QueueStatus> queues = queues(engine.queues());
    if (queues != null) {
      count(queues);
      Map<String, Long> takers = own.stream().filter(Fleet.Seat::isEnabled).flatMap(seat -> seat.queues().stream())
          .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
      rows(queueWorkers, queues.stream().map(Scheduler.QueueStatus::queue)
          .filter(queue -> queue.target().type().equals(Target.PULL)).map(QueueConfig::name).toList(), meter::label,
          "queue", queue -> takers.getOrDefault(queue, 0L));
    }
  }

  private static @Nullable List<Scheduler.QueueStatus> queues(CompletableFuture<List<Scheduler.QueueStatus>> call) {
    try {
      return call.get(COUNTS_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  /** A function that returns the label of a row. */
  private interface Name<T> {
    String of(T row);
  }

  /** A function that returns the value of a row. */
  private interface Value<T> {
    double of(T row);
  }

  private static <T> void rows(MultiGauge gauge, List<T> rows, Name<T> name, String label, Value<T> value) {
    Map<String, Double> sums = new TreeMap<>();
    rows.forEach(row -> sums.merge(name.of(row), value.of(row), Double::sum));
    List<MultiGauge.Row<?>> all = new ArrayList<>();
    sums.forEach((text, sum) -> all.add(MultiGauge.Row.of(Tags.of(label, text), sum)));
    gauge.register(all, true);
  }

  private void count(List<Scheduler.QueueStatus> queues) {
    Map<Tags, Double> counts = new LinkedHashMap<>();
    Map<String, Double> worst = new TreeMap<>();
    for (Scheduler.QueueStatus queue : queues) {
      String label = meter.label(queue.queue().name());
      add(counts, label, "delayed", Math.max(0, queue.counts().delayed() - queue.counts().parked()));
      add(counts, label, "parked", queue.counts().parked());
      add(counts, label, "running", queue.counts().running());
      add(counts, label, "finished", queue.counts().finished());
      add(counts, label, "failed", queue.counts().failed());
      add(counts, label, "cancelled", queue.counts().cancelled());
      worst.merge(label, queue.lag().toMillis() / 1000.0, Math::max);
    }
    List<MultiGauge.Row<?>> all = new ArrayList<>();
    counts.forEach((tags, count) -> all.add(MultiGauge.Row.of(tags, count)));
    tasks.register(all, true);
    List<MultiGauge.Row<?>> lagRows = new ArrayList<>();
    worst.forEach((label, lag) -> lagRows.add(MultiGauge.Row.of(Tags.of("queue", label), lag)));
    lags.register(lagRows, true);
  }

  private static void add(Map<Tags, Double> counts, String queue, String state, long count) {
    counts.merge(Tags.of("queue", queue, "state", state), (double) count, Double::sum);
  }

  @Override
  public void close() {
    garbage.close();
    registry.close();
  }
}
