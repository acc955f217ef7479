package io.foliot.kill;

import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.JobContext;
import io.foliot.client.JobResult;
import io.foliot.client.JobStoppedException;
import io.foliot.client.JobView;
import io.foliot.client.JobWorker;
import io.foliot.client.UnknownOutcomeException;
import io.foliot.client.UnreachableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The program of a worker's process. Its handlers do no work: they wait, confirm their leases, and log the evidence for
 * {@link ShardJudge}.
 */
final class JobWorkerProgram {
  /** Name of the environment variable with the API key for the server. The variable is optional. */
  static final String KEY = "FOLIOT_WORKER_KEY";
  /** Name of the job of scope ALL, whose handlers read their targets. */
  static final String EACH = "each";

  private static final int CONCURRENCY = 12;
  /** Exclusive bound of the number of steps of a handler. */
  private static final int MAX_STEPS = 4;
  private static final int MIN_STEP_MILLIS = 50;
  private static final int MAX_STEP_MILLIS = 600;
  /** On average, one in this many shards has long steps, which together may outlast a lease. */
  private static final int SHARDS_PER_LONG_ONE = 12;
  private static final int LONG_STEP_MILLIS = 2_500;
  private static final Duration POLL = Duration.ofSeconds(2);
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Duration END_BOUND = Duration.ofSeconds(20);
  /**
   * Longest wait for the interrupt after a lease is lost. This covers the pause before the next extension (a third of a
   * lease), the refused call, and the delays of a busy machine.
   */
  private static final Duration INTERRUPT_BOUND = Duration.ofSeconds(30);
  private static final long CHECK_MILLIS = 20;

  private static final Pattern RUN = Pattern.compile("\\{\"time\":\"([^\"]+)\"[^\\[\\]]*\"targets\":\\[([^\\]]*)\\]");
  private static final Pattern TARGET = Pattern.compile("\"worker\":\"([^\"]+)\",\"shards\":\"([^\"]+)\"");

  private final FoliotClient client;
  private final WorkerLog log;
  private final CountDownLatch never = new CountDownLatch(1);
  private final Phaser handlers = new Phaser(1);

  private JobWorkerProgram(FoliotClient client, WorkerLog log) {
    this.client = client;
    this.log = log;
  }

  /**
   * Runs a worker until the process is ended.
   *
   * @param arguments the URL of the server, the queue, the name and the zone of the worker, its lease in ms, the path
   *     of its log, and the jobs, separated by commas
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    String key = System.getenv(KEY);
    FoliotClient.Builder builder = FoliotClient.builder(URI.create(arguments[0]));
    FoliotClient client = (key == null ? builder : builder.apiKey(key)).build();
    String name = arguments[2];
    WorkerLog log = new WorkerLog(Path.of(arguments[5]), name, arguments[3]);
    JobWorkerProgram program = new JobWorkerProgram(client, log);
    JobWorker.Builder settings = JobWorker.builder(client, arguments[1]).name(name).zone(arguments[3])
        .lease(Duration.ofMillis(Long.parseLong(arguments[4]))).concurrency(CONCURRENCY).pollWait(POLL)
        .onError((what, failure) -> System.err.println(name + ": " + what + ": " + failure));
    for (String job : arguments[6].split(",", -1)) {
      settings.handle(job, context -> program.handle(name, context));
    }
    JobWorker worker = settings.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> program.stop(worker)));
    log.started();
    program.never.await();
  }

  private void stop(JobWorker worker) {
    try {
      boolean isDone = worker.stop(GRACE);
      System.err.println("stopped: allHandlersEnded=" + isDone);
      handlers.awaitAdvanceInterruptibly(handlers.arrive(), END_BOUND.toMillis(), TimeUnit.MILLISECONDS);
      log.stopped();
      log.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (TimeoutException e) {
      throw new IllegalStateException("interrupted handlers did not end in time: running="
          + handlers.getUnarrivedParties(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private JobResult handle(String worker, JobContext job) {
    handlers.register();
    try {
      long attempt = log.begun(job);
      if (job.job().equals(EACH)) {
        readTarget(attempt, job);
      }
      boolean isPolite = ThreadLocalRandom.current().nextBoolean();
      ShardAttempt.End end = work(attempt, job, isPolite);
      log.ended(attempt, end);
      if (end.outcome() == ShardAttempt.Outcome.GIVEN_BACK) {
        job.ensureRuns();
        throw new IllegalStateException("given back by " + worker + ", which has its lease again");
      }
      return JobResult.done(ShardAttempt.result(worker, job.fence()));
    } finally {
      handlers.arriveAndDeregister();
    }
  }

  /**
   * Works in a random number of steps, and returns how the handler ended.
   *
   * @param isPolite whether the handler gives the shard back when the handler is stopped. Otherwise it reports success,
   *     even after it has lost its lease
   */
  private ShardAttempt.End work(long attempt, JobContext job, boolean isPolite) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int steps = random.nextInt(1, MAX_STEPS);
    boolean isLong = random.nextInt(SHARDS_PER_LONG_ONE) == 0;
    try {
      for (int step = 1; step <= steps; step++) {
        log.wrote(attempt);
        hold(attempt, job, step);
        boolean unused = never.await(isLong ? LONG_STEP_MILLIS : random.nextInt(MIN_STEP_MILLIS, MAX_STEP_MILLIS),
            TimeUnit.MILLISECONDS);
        if (isPolite) {
          job.ensureRuns();
        }
      }
      return end(job, ShardAttempt.Outcome.DONE);
    } catch (JobStoppedException e) {
      return end(job, isPolite ? ShardAttempt.Outcome.GIVEN_BACK : ShardAttempt.Outcome.DONE);
    } catch (InterruptedException e) {
      return interrupted(job, isPolite);
    }
  }

  private void hold(long attempt, JobContext job, int step) throws InterruptedException {
    long sentMicros = WorkerLog.micros();
    try {
      job.checkpointNow(Integer.toString(step));
      log.held(attempt, sentMicros);
    } catch (FoliotException | UnreachableException | UnknownOutcomeException e) {
      System.err.println(job + " could not confirm its lease: " + e);
    }
  }

  /**
   * Returns the end of a handler that has not been interrupted. If its lease is lost, waits for the interrupt, for at
   * most {@link #INTERRUPT_BOUND}.
   */
  private ShardAttempt.End end(JobContext job, ShardAttempt.Outcome outcome) {
    long atMicros = WorkerLog.micros();
    boolean isLost = job.isLost();
    try {
      for (long waited = 0; isLost && waited < INTERRUPT_BOUND.toMillis(); waited += CHECK_MILLIS) {
        boolean unused = never.await(CHECK_MILLIS, TimeUnit.MILLISECONDS);
        atMicros = WorkerLog.micros();
        // An extension that was under way may have restored the lease, if no other worker had taken the shard.
        isLost = job.isLost();
      }
      return new ShardAttempt.End(atMicros, outcome, isLost, false);
    } catch (InterruptedException e) {
      return interrupted(job, outcome == ShardAttempt.Outcome.GIVEN_BACK);
    }
  }

  private static ShardAttempt.End interrupted(JobContext job, boolean isGivenBack) {
    long atMicros = WorkerLog.micros();
    return new ShardAttempt.End(atMicros,
        isGivenBack ? ShardAttempt.Outcome.GIVEN_BACK : ShardAttempt.Outcome.DONE, job.isLost(), true);
  }

  /**
   * Reads the target of a shard from the server, and logs the target. The server lists the run, because the run is
   * active until this shard has ended.
   */
  private void readTarget(long attempt, JobContext job) {
    try {
      JobView view = client.getJob(job.job());
      String worker = target(view.json(), job.scheduledAt().toEpochMilli(), job.shard());
      if (worker != null) {
        log.target(attempt, worker);
      }
    } catch (FoliotException | UnreachableException | UnknownOutcomeException e) {
      System.err.println("the target of " + job + " cannot be read: " + e);
    }
  }

  /** Returns the target of a shard in the active runs of a job, or null if the answer of the server names none. */
  static @Nullable String target(String json, long scheduledMillis, int shard) {
    Matcher runs = RUN.matcher(json);
    while (runs.find()) {
      if (Instant.parse(runs.group(1)).toEpochMilli() == scheduledMillis) {
        Matcher targets = TARGET.matcher(runs.group(2));
        while (targets.find()) {
          for (String range : targets.group(2).split(",", -1)) {
            String[] ends = range.split("-", -1);
            if (shard >= Integer.parseInt(ends[0]) && shard <= Integer.parseInt(ends[ends.length - 1])) {
              return targets.group(1);
            }
          }
        }
      }
    }
    return null;
  }
}
