import io.foliot.api.Scope;
import io.foliot.client.Dataflow;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotJob;
import io.foliot.client.JobContext;
import io.foliot.client.JobListener;
import io.foliot.client.JobResult;
import io.foliot.client.JobWorker;
import io.foliot.client.Payload;
import io.foliot.worker.script.ScriptRunner;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.List;
import java.util.stream.LongStream;

/** A worker of recurring jobs of all kinds. The arguments are the name and the zone of the worker. */
public class FleetWorker {
  private final String zone;

  private FleetWorker(String zone) {
    this.zone = zone;
  }

  public static void main(String[] args) throws InterruptedException {
    URI server = URI.create(System.getenv().getOrDefault("FOLIOT_URL", "http://127.0.0.1:7400"));
    JobWorker worker = JobWorker.builder(FoliotClient.builder(server).build(), "fleet").name(args[0]).zone(args[1])
        .lease(Duration.ofSeconds(3)) // after which other workers take over the shards of a worker that died
        .pollWait(Duration.ofSeconds(3)) // after which the server no longer keeps a poll for a worker that died
        .handlers(new FleetWorker(args[1]))
        .dataflow("orders", new Orders(), Dataflow.streaming())
        .scripts(ScriptRunner.in(Path.of("examples/jobs/scripts")))
        .listener(new Printer())
        .start();
    System.out.println("worker " + args[0] + " in zone " + args[1] + ", process " + ProcessHandle.current().pid());
    // On Ctrl-C the worker claims no more, and its shards are handed over with their checkpoints.
    Runtime.getRuntime().addShutdownHook(new Thread(worker::close));
    Thread.currentThread().join();
  }

  /**
   * Writes as many pages as the job's parameter states, or ten if there is no parameter. The next attempt
   * continues after the last page that was written.
   */
  @FoliotJob(name = "report")
  String report(JobContext job) throws InterruptedException {
    Payload parameter = job.parameter();
    int last = parameter == null ? 10 : Integer.parseInt(parameter.toText());
    String checkpoint = job.checkpoint();
    for (int page = checkpoint == null ? 1 : Integer.parseInt(checkpoint) + 1; page <= last; page++) {
      job.ensureRuns();
      Thread.sleep(500); // the work; a database can compare job.fence() to refuse a replaced attempt
      job.checkpoint(Integer.toString(page));
      job.progress((double) page / last, "page " + page);
    }
    return last + " pages for " + job.shardParameter();
  }

  /** Loads the exchange rates that all workers of a zone share. */
  @FoliotJob(name = "rates")
  String rates() {
    return "rates are in zone " + zone;
  }

  /** Fills the cache of each worker, every ten seconds and when the worker starts. The worker declares this job. */
  @FoliotJob(name = "warm-cache", every = "10s", scope = Scope.ALL, runAtStart = true)
  String warmCache(JobContext job) {
    return job.fence().generation() == 0 ? "the cache is filled, as this worker starts" : "the cache is filled";
  }

  /**
   * Packs the orders of the ten seconds before the scheduled time of a run. One order arrives per second, and the
   * shards take turns: shard {@code n % shards} packs order n.
   */
  private static final class Orders implements Dataflow<Long> {
    @Override
    public List<Long> fetch(JobContext job, String checkpoint) {
      long end = job.scheduledAt().getEpochSecond();
      long from = checkpoint == null ? end - 10 : Long.parseLong(checkpoint);
      return LongStream.range(from, end).filter(order -> order % job.shards() == job.shard()).limit(2).boxed().toList();
    }

    @Override
    public String process(JobContext job, List<Long> orders) throws InterruptedException {
      Thread.sleep(200L * orders.size()); // the work
      return Long.toString(orders.getLast() + 1);
    }
  }

  /** Prints the beginning and the end of each attempt on this worker. */
  private static final class Printer implements JobListener {
    @Override
    public void before(JobContext job) {
      int attempt = job.fence().attempt();
      print("begins", job, (attempt > 1 ? ", attempt " + attempt : "")
          + (job.checkpoint() == null ? "" : ", after " + job.checkpoint()));
    }

    @Override
    public void after(JobContext job, JobResult result, Throwable failure) {
      print("ends", job, result instanceof JobResult.Done done
          ? ": " + done.text()
          : ", not done: " + (failure == null ? result : failure));
    }

    private static void print(String what, JobContext job, String more) {
      System.out.printf("%tT %s %s %d/%d%s%n", LocalTime.now(), what, job.job(), job.shard() + 1, job.shards(), more);
    }
  }
}
