package io.foliot.load;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures a server while the number of waiting recurring jobs grows: the rate of puts in batches, the threads, the
 * heap, and the restart after a kill. After each restart, random jobs must be found again.
 */
final class JobsScenario implements Scenario {
  private static final int JOBS = 1_000_000;
  private static final int FEW = 10;
  private static final int MIDDLE = 10_000;
  private static final int BATCH = 1_000;
  private static final int UNDER_WAY = 4;
  /** Jobs that are read after a restart. */
  private static final int SAMPLE_SIZE = 500;
  private static final long SEED = 42;
  /** Pause before a measurement, so that the server finishes the work of the last batch. */
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final double MIB = 1 << 20;
  /** Target for the growth of the heap from the fewest jobs to the most, in MiB. */
  private static final double MOST_HEAP = 100;
  private static final double MOST_RESTART_MILLIS = 5_000;
  /** Target for the puts per second. */
  private static final double LEAST_PUTS = 10_000;
  private static final List<String> COLUMNS = List.of("jobs", "puts/s", "threads", "heap MiB", "resident MiB",
      "restart ms", "folder MiB");

  @Override
  public String name() {
    return "jobs";
  }

  @Override
  public String about() {
    return "10 to 10^6 recurring jobs waiting (--tasks for fewer): puts, threads, heap, restart after a kill";
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public boolean killsItsServer() {
    return true;
  }

  /** The state of a run of this scenario. Used by one thread. */
  private static final class Run implements AutoCloseable {
    final Bench bench;
    final Path data;
    final Report report = new Report();
    final Curve curve = new Curve(COLUMNS);
    final Random random = new Random(SEED);
    final HttpClient http = HttpClient.newHttpClient();
    final String queue;
    Target target;
    int jobs;

    Run(Bench bench) {
      this.bench = bench;
      data = bench.newFolder("jobs");
      target = bench.startServer(data, List.of());
      queue = target.pullQueue("jobs");
    }

    @Override
    public void close() {
      http.close();
      target.close();
      Bench.delete(data);
    }
  }

  @Override
  public Report run(Bench bench) {
    int most = bench.tasks(JOBS);
    try (Run run = new Run(bench)) {
      for (int size : List.of(FEW, MIDDLE, most)) {
        if (size > run.jobs && size <= most) {
          bench.progress("  putting jobs up to " + size);
          double rate = fill(run, size);
          measure(run, rate);
        }
      }
      conclude(run);
      return run.report.curve(run.curve);
    }
  }

  /** Puts jobs until {@code size} jobs wait. Returns the number of puts per second. */
  private static double fill(Run run, int size) {
    long begun = System.nanoTime();
    int before = run.jobs;
    Deque<CompletableFuture<HttpResponse<String>>> underWay = new ArrayDeque<>();
    List<HttpResponse<String>> answers = new ArrayList<>();
    while (run.jobs < size) {
      StringBuilder lines = new StringBuilder();
      for (int end = Math.min(size, run.jobs + BATCH); run.jobs < end; run.jobs++) {
        lines.append("{\"job\": \"").append(name(run.jobs)).append("\", \"queue\": \"").append(run.queue)
            .append("\", \"schedule\": {\"cron\": \"H H 1 1 *\"}}\n");
      }
      underWay.add(run.http.sendAsync(request(run, "/v1/jobs:batch").header("Content-Type", "application/x-ndjson")
          .POST(BodyPublishers.ofString(lines.toString(), UTF_8)).build(), BodyHandlers.ofString()));
      if (underWay.size() == UNDER_WAY) {
        answers.add(underWay.remove().join());
      }
    }
    underWay.forEach(answer -> answers.add(answer.join()));
    double rate = (size - before) * 1e9 / (System.nanoTime() - begun);
    long active = answers.stream().flatMap(answer -> answer.body().lines())
        .filter(line -> line.contains("\"ACTIVE\"")).count();
    run.report.checkEqual("jobs put and active, up to " + size, size - before, active);
    return rate;
  }

  private static String name(int number) {
    return "job-" + number;
  }

  private static HttpRequest.Builder request(Run run, String path) {
    return HttpRequest.newBuilder(run.target.url().resolve(path)).timeout(TIMEOUT);
  }

  private static void measure(Run run, double rate) {
    run.bench.progress("  measuring with " + run.jobs + " jobs waiting, load average " + Machine.loadText());
    LockSupport.parkNanos(QUIET_NANOS);
    Target before = run.target;
    Child child = before.child();
    if (child == null) {
      throw new BenchException("jobs are measured on a server that the bench starts");
    }
    double heap = before.liveHeapBytes() / MIB;
    double threads = Machine.threads(child.pid());
    double resident = Machine.residentBytes(child.pid()) / MIB;
    double folder = Bench.size(run.data) / MIB;
    child.kill();
    Target after = run.bench.startServer(run.data, List.of());
    before.client().close();
    run.target = after;
    Child restarted = after.child();
    double restartMillis = restarted == null ? 0 : restarted.startNanos() / 1e6;
    int found = 0;
    for (int i = 0; i < SAMPLE_SIZE; i++) {
      found += exists(run, run.random.nextInt(run.jobs)) ? 1 : 0;
    }
    run.report.checkEqual("jobs found after the kill, with " + run.jobs, SAMPLE_SIZE, found);
    run.curve.row(List.of((double) run.jobs, rate, threads, heap, resident, restartMillis, folder));
  }

  private static boolean exists(Run run, int number) {
    try {
      URI path = run.target.url().resolve("/v1/jobs/" + name(number));
      HttpRequest get = HttpRequest.newBuilder(path).timeout(TIMEOUT).build();
      return run.http.send(get, BodyHandlers.ofString()).body().contains("\"ACTIVE\"");
    } catch (IOException e) {
      throw new BenchException("cannot read a job: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
  }

  /** Reports the last row of the curve; its heap and threads are compared with the first row. */
  private static void conclude(Run run) {
    List<Double> few = run.curve.rows().getFirst();
    List<Double> many = run.curve.rows().getLast();
    int heap = COLUMNS.indexOf("heap MiB");
    int threads = COLUMNS.indexOf("threads");
    run.report.figure("jobs waiting at the end", many.getFirst(), "")
        .atLeast(LEAST_PUTS, "puts, in batches of " + BATCH, many.get(COLUMNS.indexOf("puts/s")), "/s")
        .atMost(MOST_HEAP, "growth of the heap from " + FEW + " jobs", many.get(heap) - few.get(heap), "MiB")
        .atMost(0, "growth of the threads from " + FEW + " jobs", many.get(threads) - few.get(threads), "")
        .atMost(MOST_RESTART_MILLIS, "restart after a kill, until ready", many.get(COLUMNS.indexOf("restart ms")), "ms")
        .note("the server runs with -Xmx1g; each job has one time a year, spread over all of January 1st");
  }
}
