import io.foliot.Foliot;
import io.foliot.Tasks;
import java.util.concurrent.CountDownLatch;

/**
 * Sends messages through a gateway that accepts five a second. A task of a queue without a limit does not wait for
 * these messages.
 */
public class RateLimit {
  public static void main(String[] args) throws InterruptedException {
    CountDownLatch handled = new CountDownLatch(11);
    try (Foliot foliot = Foliot.inMemory()) {
      long begun = System.nanoTime();
      Tasks<String> messages = foliot.tasks("messages", String.class).rate(5).handle((message, attempt) -> {
        System.out.printf("%3.1f s  %s%n", (System.nanoTime() - begun) / 1e9, message);
        handled.countDown();
      });
      Tasks<String> alarms = foliot.tasks("alarms", String.class).handle((alarm, attempt) -> {
        System.out.println("an alarm is not delayed by the messages before it");
        handled.countDown();
      });
      for (int i = 1; i <= 10; i++) {
        messages.now().submit("message " + i);
      }
      alarms.now().submit("alarm");
      handled.await();
    }
  }
}
