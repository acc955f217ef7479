import io.foliot.client.ClaimedTask;
import io.foliot.client.FoliotClient;
import io.foliot.client.Payload;
import io.foliot.client.Settlement;
import io.foliot.client.Worker;
import java.net.URI;
import java.time.Duration;

/** Claims tasks from a server, one at a time. {@link Worker} extends the lease of a task until the handler returns. */
public class PullWorker {
  public static void main(String[] args) throws InterruptedException {
    URI server = URI.create(System.getenv().getOrDefault("FOLIOT_URL", "http://127.0.0.1:7400"));
    Worker worker = Worker.builder(FoliotClient.builder(server).build(), "videos", PullWorker::convert)
        .concurrency(1)
        .lease(Duration.ofSeconds(3)) // after which another worker gets the tasks of a worker that died
        .start();
    // On Ctrl-C the worker claims no more, and handlers have 30 seconds to end.
    Runtime.getRuntime().addShutdownHook(new Thread(worker::close));
    Thread.currentThread().join();
  }

  /** Returns how the attempt ended. {@code fail} is final; an exception means another attempt after a backoff. */
  private static Settlement convert(ClaimedTask task) throws InterruptedException {
    Payload payload = task.payload();
    if (payload == null) {
      return Settlement.fail("a video needs a length in seconds");
    }
    System.out.println("converting " + task.key());
    try {
      Thread.sleep(Duration.ofSeconds(Long.parseLong(payload.toText()))); // the work
    } catch (InterruptedException e) {
      System.out.println("lost the lease of " + task.key());
      throw e;
    }
    System.out.println("converted " + task.key());
    return Settlement.ack();
  }
}
