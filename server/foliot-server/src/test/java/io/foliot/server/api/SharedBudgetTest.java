package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests the shares of owners in a budget. */
class SharedBudgetTest {
  private final SharedBudget budget = new SharedBudget(100);

  @Test
  void oneOwnerHasAtMostOneHalf() {
    int taken = 0;
    while (budget.take("a", 0, 10)) {
      taken += 10;
    }
    assertThat(taken).isEqualTo(50);
    assertThat(budget.take("b", 0, 50)).as("the first request of another owner").isTrue();
    assertThat(budget.held()).isEqualTo(100);
    budget.add("a", -50);
    budget.add("b", -50);
    assertThat(budget.held()).isZero();
  }

  @Test
  void anOnlyRequestMayHaveAll() {
    assertThat(budget.take("a", 0, 60)).isTrue();
    assertThat(budget.take("a", 60, 40)).as("the same request").isTrue();
    assertThat(budget.take("a", 0, 1)).isFalse();
  }

  @Test
  void withoutAnOwnerThereIsNoShare() {
    assertThat(budget.take(null, 0, 60)).isTrue();
    assertThat(budget.take(null, 0, 40)).isTrue();
    assertThat(budget.take(null, 0, 1)).isFalse();
  }

  @Test
  void aRequestWaitsUntilThereIsRoom() throws InterruptedException {
    budget.add("a", 100);
    assertThat(budget.take("b", 10, Duration.ofMillis(1))).isFalse();
    CompletableFuture<Boolean> taken = CompletableFuture.supplyAsync(() -> {
      try {
        return budget.take("b", 10, Duration.ofMinutes(1));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    });
    budget.add("a", -100);
    assertThat(taken.join()).isTrue();
  }
}
