import io.foliot.Foliot;
import io.foliot.JobRun;
import io.foliot.api.Job;
import java.time.Duration;
import java.time.Instant;

/** A job in three shards, and a paused job that is triggered by hand. */
public class RecurringJob {
  public static void main(String[] args) throws InterruptedException {
    try (Foliot foliot = Foliot.inMemory()) {
      foliot.tasks("reports", String.class).concurrency(1).handle((text, attempt) -> {
        JobRun job = attempt.run();
        System.out.println(job.job() + " of " + job.shardParameter() + ", shard " + (job.shard() + 1) + " of "
            + job.shards());
      });
      foliot.jobs().put(Job.named("report").queue("reports").at(Instant.now().plusMillis(500))
          .shards(3, "Beijing", "Berlin", "Boston"));
      Thread.sleep(1_000);

      foliot.jobs().put(Job.named("nightly").queue("reports").cron("0 2 * * *").timeZone("Europe/Berlin"));
      System.out.println("nightly next at " + foliot.jobs().next("nightly", 1).getFirst().toLocalTime());
      foliot.jobs().pause("nightly", null, "month end");
      System.out.println("nightly is " + foliot.jobs().find("nightly").orElseThrow().state());
      foliot.jobs().trigger("nightly"); // a triggered run begins even during the pause
      Thread.sleep(Duration.ofMillis(500));
      System.out.println("report succeeded " + foliot.jobs().find("report").orElseThrow().totals().succeeded()
          + " time, nightly " + foliot.jobs().find("nightly").orElseThrow().totals().succeeded());
    }
  }
}
