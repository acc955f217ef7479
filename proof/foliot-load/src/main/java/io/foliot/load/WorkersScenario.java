package io.foliot.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Measures the processor time and the memory of a server: first without workers, then while named workers poll an empty
 * queue over HTTP. At the end, runs a job on all workers.
 */
final class WorkersScenario implements Scenario {
  private static final int WORKERS = 1_000;
  private static final double SECONDS = 30;
  /** Pause before a measurement, so that the server warms up and finishes earlier work. */
  private static final double SETTLE_SECONDS = 10;
  private static final Duration LIMIT = Duration.ofMinutes(15);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final double MIB = 1 << 20;
  private static final double MOST_PROCESSORS = 0.5;
  /** Target for the growth of the heap and of the resident memory, in MiB. */
  private static final double MOST_MEMORY = 200;
  private static final int CREATED = 201;
  private static final int ACCEPTED = 202;
  private static final int OK = 200;

  @Override
  public String name() {
    return "workers";
  }

  @Override
  public String about() {
    return "1,000 workers that poll (--tasks for fewer): processors and memory, and a run on all workers";
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public boolean killsItsServer() {
    return true;
  }

  /** The resources that a server uses: live heap and resident memory in MiB, and its mean number of busy processors. */
  private record Use(double heap, double resident, double processors) {}

  @Override
  public Report run(Bench bench) {
    int workers = bench.tasks(WORKERS);
    Duration time = bench.time(SECONDS);
    Report report = new Report();
    try (Target server = bench.startServer(bench.newFolder("workers"), List.of());
        HttpClient http = HttpClient.newHttpClient()) {
      String queue = server.pullQueue("workers");
      bench.progress("  an idle server");
      sleep(SETTLE_SECONDS);
      Use idle = use(server, time.dividedBy(3));
      Pollers pollers = new Pollers(server, queue, "poller-", workers);
      try (Load load = Load.open(server.address(), workers)) {
        CompletableFuture<Long> running = CompletableFuture.supplyAsync(() -> load.run(pollers, LIMIT),
            command -> Thread.ofPlatform().name("bench-pollers").start(command));
        bench.progress("  waiting until the server lists " + workers + " workers");
        await("every worker is listed", running, () -> listed(http, server) == workers);
        sleep(SETTLE_SECONDS);
        bench.progress("  measuring for " + time.toSeconds() + " s, load average " + Machine.loadText());
        long pollsBefore = pollers.polls();
        long begunNanos = System.nanoTime();
        Use busy = use(server, time);
        double pollsASecond = (pollers.polls() - pollsBefore) * 1e9 / (System.nanoTime() - begunNanos);
        double millis = runOnAll(http, server, queue, pollers, running, workers);
        pollers.end();
        running.join();
        report.figure("polls", pollsASecond, "/s")
            .atMost(MOST_PROCESSORS, "processors that the server uses", busy.processors(), "")
            .figure("processors that the server uses without workers", idle.processors(), "")
            .atMost(MOST_MEMORY, "growth of the heap with the workers", busy.heap() - idle.heap(), "MiB")
            .atMost(MOST_MEMORY, "growth of resident memory with the workers", busy.resident() - idle.resident(), "MiB")
            .figure("resident memory", busy.resident(), "MiB")
            .figure("a run with a shard for each worker, from trigger to last claim", millis, "ms")
            .checkEqual("workers with one shard", workers, pollers.workersWith(1))
            .checkEqual("shards acknowledged", workers, pollers.acknowledged())
            .check("all requests succeeded" + (pollers.firstFailure() == null ? "" : ": " + pollers.firstFailure()),
                pollers.firstFailure() == null);
      }
    }
    return report;
  }

  private static Use use(Target server, Duration time) {
    Child child = server.child();
    if (child == null) {
      throw new BenchException("workers are measured on a server that the bench starts");
    }
    long begunNanos = System.nanoTime();
    long processor = Machine.processorNanos(child.pid());
    sleep(time.toNanos() / 1e9);
    double processors = (double) (Machine.processorNanos(child.pid()) - processor) / (System.nanoTime() - begunNanos);
    double heap = server.liveHeapBytes() / MIB;
    return new Use(heap, Machine.residentBytes(child.pid()) / MIB, processors);
  }

  /** Runs a job on all workers. Returns the milliseconds from the trigger to the claim of the last shard. */
  private static double runOnAll(HttpClient http, Target server, String queue, Pollers pollers,
      CompletableFuture<?> running, int workers) {
    call(http, request(server, "/v1/jobs/on-all").PUT(BodyPublishers.ofString(String.format(Locale.ROOT,
        "{\"queue\": \"%s\", \"scope\": \"all\", \"schedule\": {\"cron\": \"0 2 1 1 *\"}}", queue), UTF_8)));
    long begunNanos = System.nanoTime();
    call(http, request(server, "/v1/jobs/on-all/trigger").POST(BodyPublishers.noBody()));
    await("every shard is acknowledged", running, () -> pollers.acknowledged() >= workers);
    return (pollers.lastNanos() - begunNanos) / 1e6;
  }

  private static HttpRequest.Builder request(Target server, String path) {
    return HttpRequest.newBuilder(server.url().resolve(path)).timeout(TIMEOUT).header("Content-Type",
        "application/json");
  }

  private static long listed(HttpClient http, Target server) {
    String body = call(http, request(server, "/v1/workers").GET());
    return body.split("\"state\":\"LIVE\"", -1).length - 1L;
  }

  private static String call(HttpClient http, HttpRequest.Builder request) {
    try {
      HttpResponse<String> answer = http.send(request.build(), BodyHandlers.ofString());
      int status = answer.statusCode();
      if (status != OK && status != CREATED && status != ACCEPTED) {
        throw new BenchException("the server refused a call: status=" + status + ", body=" + answer.body());
      }
      return answer.body();
    } catch (IOException e) {
      throw new BenchException("a call of the server failed: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  private static void await(String what, CompletableFuture<?> running, BooleanSupplier condition) {
    long limit = System.nanoTime() + TIMEOUT.toNanos();
    while (!condition.getAsBoolean()) {
      if (running.isCompletedExceptionally()) {
        running.join();
      }
      if (System.nanoTime() - limit > 0) {
        throw new BenchException("not within " + TIMEOUT.toSeconds() + " s: " + what);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private static void sleep(double seconds) {
    long until = System.nanoTime() + (long) (seconds * 1e9);
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
