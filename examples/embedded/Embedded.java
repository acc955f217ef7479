import io.foliot.Foliot;
import io.foliot.Tasks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** Keeps tasks in a folder: one is cancelled, one is retried, and one outlives the process that submitted it. */
public class Embedded {
  record Timeout(String order) {}

  public static void main(String[] args) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("foliot-embedded");
    CountDownLatch first = new CountDownLatch(1);
    try (Foliot foliot = Foliot.open(folder)) {
      Tasks<Timeout> timeouts = timeouts(foliot, first);
      timeouts.in(Duration.ofMinutes(30)).key("order-7").submit(new Timeout("7"));
      timeouts.in(Duration.ofMillis(100)).key("order-8").submit(new Timeout("8"));
      timeouts.in(Duration.ofSeconds(3)).key("order-9").submit(new Timeout("9"));
      System.out.println("order 7 is paid: " + timeouts.key("order-7").cancel());
      first.await();
    }
    System.out.println("the application is restarted");
    CountDownLatch second = new CountDownLatch(1);
    try (Foliot foliot = Foliot.open(folder)) {
      timeouts(foliot, second);
      second.await();
    }
  }

  private static Tasks<Timeout> timeouts(Foliot foliot, CountDownLatch handled) {
    return foliot.tasks("order-timeouts", Timeout.class)
        .retry(5, Duration.ofMillis(100))
        .handle((timeout, attempt) -> {
          if (timeout.order().equals("8") && attempt.number() == 1) {
            throw new IOException("the shop does not answer"); // logged; the attempt is repeated
          }
          System.out.println("cancel order " + timeout.order() + ", attempt " + attempt.number());
          handled.countDown();
        });
  }
}
