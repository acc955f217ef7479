package io.foliot.kill;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.api.Overlap;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Scope;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.TaskQuery;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.client.UnreachableException;
import io.foliot.client.WorkerView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Servers over one store, and workers of jobs in two zones. Each zone has two workers, which call different servers.
 * All logs are in a folder below {@code target/kill}. The test's thread starts and ends the rig.
 */
final class WorkerRig implements AutoCloseable {
  static final List<String> ZONES = List.of("fra1", "ams1");

  private static final String QUEUE = "work";
  private static final int WORKERS_PER_ZONE = 2;
  private static final Duration PERIOD = Duration.ofSeconds(4);
  private static final Duration READY_BOUND = Duration.ofMinutes(4);
  /**
   * Time within which a run must end, even if it waits for workers that are gone. This covers 12 s until all nodes have
   * noticed that a worker is gone, 10 s until the job examines its run, a lease, and the delays of a busy machine.
   */
  private static final Duration END_BOUND = Duration.ofMinutes(5);
  private static final int SHARDS = 3;
  private static final int SHARDS_PER_ZONE = 2;

  private final String name;
  final Path folder;
  final List<ServerProcess> servers;
  final List<WorkerProcess> workers;
  private final List<FoliotClient> clients;
  private final Map<String, ShardHistory.Kind> kinds = new HashMap<>();
  private final List<Job> jobs = new ArrayList<>();
  private final List<ShardHistory.Disabled> pauses = new CopyOnWriteArrayList<>();
  private final AtomicInteger serversKilled = new AtomicInteger();

  /**
   * Starts the servers, puts the jobs, and then starts the workers.
   *
   * @param stores for each server the options by which it reaches the store
   * @param place the host of the servers
   * @param launchers by zone, the beginning of a command that runs in this zone
   */
  WorkerRig(String name, long seed, List<StoreChoice> stores, ServerHost place, Map<String, List<String>> launchers)
      throws IOException {
    this.name = name;
    folder = Path.of("target", "kill", name + "-" + seed + "-workers").toAbsolutePath();
    Files.createDirectories(folder);
    try (var old = Files.list(folder)) {
      for (Path each : old.toList()) {
        Files.delete(each);
      }
    }
    define();
    servers = stores.stream().map(store -> new ServerProcess(store, place, folder.resolve("servers.out"))).toList();
    clients = servers.stream().map(server -> server.client().build()).toList();
    workers = ZONES.stream().flatMap(zone -> IntStream.range(0, WORKERS_PER_ZONE)
        .mapToObj(i -> new WorkerProcess(zone + "-" + i, new WorkerProcess.Place(servers.get(i % servers.size()).url(),
            zone, launchers.getOrDefault(zone, List.of()), place.apiKey(), QUEUE, List.copyOf(kinds.keySet())),
            folder)))
        .toList();
    say("seed " + seed + ", logs in " + folder);
    try {
      servers.forEach(ServerProcess::start);
      servers.forEach(WorkerFaults::awaitReady);
      // A shard may need many attempts, because each fault may cost one. The backoffs are shorter than a lease.
      client().putQueue(QueueConfig.builder(QUEUE, Target.pull())
          .retry(new Retry(1_000, Duration.ofMillis(100), 2.0, Duration.ofMillis(500), 0.2)).build());
      jobs.forEach(job -> client().putJob(job));
      workers.forEach(WorkerProcess::start);
      awaitWorkers();
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  void say(String text) {
    System.out.println("[" + name + "] " + text);
  }

  private void define() {
    define(Scope.ONE, 1, "single", null, Set.of(), null);
    // The servers of this rig have no allocators.
    for (Allocation allocation : EnumSet.complementOf(EnumSet.of(Allocation.OWN))) {
      String rule = allocation.name().replace('_', '-').toLowerCase(Locale.ROOT);
      define(Scope.ONE, SHARDS, "one-" + rule, allocation, Set.of(),
          allocation == Allocation.HASH ? Overlap.QUEUE : null);
    }
    for (Allocation allocation : List.of(Allocation.AVERAGE, Allocation.FREE)) {
      String rule = allocation.name().toLowerCase(Locale.ROOT);
      define(Scope.PER_ZONE, SHARDS_PER_ZONE, "zones-" + rule, allocation, Set.copyOf(ZONES), null);
    }
    define(Scope.PER_ZONE, 1, "live-zones", null, Set.of(), null);
    define(Scope.ALL, 0, JobWorkerProgram.EACH, null, Set.of(), null);
  }

  private void define(Scope scope, int shards, String job, @Nullable Allocation allocation, Set<String> zones,
      @Nullable Overlap overlap) {
    Job.Builder builder = Job.named(job).queue(QUEUE).every(PERIOD).scope(scope);
    if (shards > 0) {
      builder.shards(shards);
    }
    if (allocation != null) {
      builder.allocation(allocation);
    }
    if (!zones.isEmpty()) {
      builder.zones(ZONES.toArray(String[]::new));
    }
    if (overlap != null) {
      builder.overlap(overlap);
    }
    jobs.add(builder.build());
    kinds.put(job, new ShardHistory.Kind(job, scope, shards, zones));
  }

  /** Returns a client of a server that is up, or of the first server if none is up. */
  private FoliotClient client() {
    return clients.get(IntStream.range(0, servers.size()).filter(i -> servers.get(i).isUp()).findFirst().orElse(0));
  }

  /** Waits until all workers claim, and every server lists them as live. */
  void awaitWorkers() {
    Await.until("all workers claim", READY_BOUND, () -> workers.stream().allMatch(WorkerProcess::isStarted));
    for (FoliotClient each : clients) {
      Await.until("every server lists all workers", READY_BOUND,
          () -> workers.stream().allMatch(worker -> view(each, worker) != null));
    }
  }

  private static @Nullable WorkerView view(FoliotClient client, WorkerProcess worker) {
    return client.workers().stream().filter(view -> view.worker().startsWith(worker.name() + "-")
        && view.state().equals("LIVE")).findFirst().orElse(null);
  }

  /**
   * Disables a worker, and waits until every server has read the change. Then waits for {@code millis}, and enables the
   * worker. Records the second wait as a time during which the worker was disabled. Omits this record if a server was
   * killed meanwhile, because a restarted server has read nothing at first.
   */
  void disable(WorkerProcess worker, long millis) {
    try {
      WorkerView view = view(client(), worker);
      if (view == null) {
        say(worker.name() + " is not listed yet, so it is not disabled");
        return;
      }
      int killed = serversKilled.get();
      client().disableWorker(view.worker());
      Await.until("every server lists a worker as disabled", READY_BOUND,
          () -> clients.stream().allMatch(each -> isDisabled(each, view.worker())));
      long fromMillis = System.currentTimeMillis();
      Await.pause(millis);
      if (serversKilled.get() == killed) {
        pauses.add(new ShardHistory.Disabled(worker.name(), fromMillis, System.currentTimeMillis()));
      }
      enable(view);
    } catch (FoliotException | UnreachableException | UnknownOutcomeException e) {
      say(worker.name() + " was not disabled: " + e);
    }
  }

  private static boolean isDisabled(FoliotClient client, String worker) {
    try {
      return client.workers().stream()
          .anyMatch(view -> view.worker().equals(worker) && view.state().equals("DISABLED"));
    } catch (FoliotException | UnreachableException | UnknownOutcomeException e) {
      // The server was killed, and is starting again.
      return false;
    }
  }

  void kill(ServerProcess server) {
    serversKilled.incrementAndGet();
    server.kill();
  }

  private void enable(WorkerView worker) {
    Await.until("a worker is enabled", READY_BOUND, () -> {
      try {
        client().enableWorker(worker.worker());
        return true;
      } catch (FoliotException | UnreachableException | UnknownOutcomeException e) {
        say(worker.worker() + " is not enabled yet: " + e);
        return false;
      }
    });
  }

  /**
   * Waits until each job has a run that succeeded after the last fault, pauses the jobs, waits for the end of their
   * runs, stops the workers, and returns the evidence.
   */
  ShardHistory end() {
    awaitWorkers();
    Map<String, Long> before = new HashMap<>();
    kinds.keySet().forEach(job -> before.put(job, succeeded(job)));
    for (String job : kinds.keySet()) {
      Await.until("the job " + job + " succeeds after the last fault", END_BOUND,
          () -> succeeded(job) > Objects.requireNonNull(before.get(job)));
    }
    kinds.keySet().forEach(job -> client().pauseJob(job, "the run ends"));
    for (String job : kinds.keySet()) {
      Await.until("the runs of " + job + " end", END_BOUND,
          () -> client().getJob(job).json().contains("\"active\":[]"));
    }
    // Each worker waits for the end of its poll, so the workers are stopped in parallel.
    CompletableFuture.allOf(workers.stream()
        .map(worker -> CompletableFuture.runAsync(worker::stop, Thread::startVirtualThread))
        .toArray(CompletableFuture<?>[]::new)).join();
    List<ShardHistory.Shown> records = client().streamTasks(QUEUE, TaskQuery.all()).map(ShardHistory.Shown::of)
        .toList();
    List<ShardHistory.Plan> plans = kinds.values().stream()
        .map(kind -> ShardHistory.Plan.of(kind, PERIOD.toMillis(), client().getJob(kind.name()))).toList();
    Set<String> killed = new HashSet<>();
    workers.forEach(worker -> killed.addAll(worker.killed()));
    return new ShardHistory(workers.stream().flatMap(worker -> worker.attempts().stream()).toList(), records, plans,
        pauses, killed, WorkerProcess.LEASE.toMillis());
  }

  private long succeeded(String job) {
    return client().getJob(job).totals().getOrDefault("succeeded", 0L);
  }

  @Override
  public void close() {
    workers.forEach(WorkerProcess::close);
    servers.forEach(ServerProcess::close);
    clients.forEach(FoliotClient::close);
  }
}
