import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.Foliot;
import io.foliot.Tasks;
import io.foliot.test.FoliotTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests a shop that cancels unpaid orders after 30 minutes. Each test advances the clock, so no test waits. */
final class ShopTest {
  /** The code under test, which works with any Foliot. The tests pass a FoliotTest. */
  static final class Shop {
    private final Tasks<String> timeouts;
    final List<String> cancelled = new ArrayList<>();
    boolean isDatabaseDown;

    Shop(Foliot foliot) {
      timeouts = foliot.tasks("order-timeouts", String.class).retry(5, Duration.ofMinutes(1))
          .handle((order, attempt) -> {
            if (isDatabaseDown) {
              throw new IllegalStateException("the database is unavailable");
            }
            cancelled.add(order);
          });
    }

    void order(String id) {
      timeouts.in(Duration.ofMinutes(30)).key(id).submit(id);
    }

    void pay(String id) {
      timeouts.key(id).cancel();
    }
  }

  private final FoliotTest foliot = FoliotTest.start();
  private final Shop shop = new Shop(foliot);

  @Test
  void anUnpaidOrderIsCancelledAfter30Minutes() {
    shop.order("7");
    foliot.advance(Duration.ofMinutes(29));
    assertThat(shop.cancelled).isEmpty();
    foliot.advance(Duration.ofMinutes(1));
    assertThat(shop.cancelled).containsExactly("7");
  }

  @Test
  void aPaidOrderIsKept() {
    shop.order("7");
    shop.pay("7");
    foliot.advance(Duration.ofHours(1));
    assertThat(shop.cancelled).isEmpty();
  }

  @Test
  void aCancelIsRetriedWhileTheDatabaseIsUnavailable() {
    shop.isDatabaseDown = true;
    shop.order("7");
    foliot.advance(Duration.ofMinutes(31));
    assertThat(shop.cancelled).isEmpty();
    shop.isDatabaseDown = false;
    foliot.advance(Duration.ofMinutes(5));
    assertThat(shop.cancelled).containsExactly("7");
  }
}
