package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Cancellation;
import io.foliot.api.OnConflict;
import io.foliot.backends.Await;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that each way to open a {@link Foliot} must pass. Each way has a test class that extends this class. */
abstract class FoliotContract {
  static final Duration BOUND = Duration.ofSeconds(30);
  static final Duration HOUR = Duration.ofHours(1);

  record Timeout(String order, int cents, Instant placedAt) {}

  private final List<Object> handled = new CopyOnWriteArrayList<>();

  /** Opens the tasks of this test. A second call opens the same tasks, except those in memory. */
  abstract Foliot open(FoliotBuilder builder);

  /** Returns whether tasks survive a close. */
  abstract boolean isDurable();

  /** Returns a transaction of the database where the tasks are kept, or null if they are kept elsewhere. */
  @Nullable
  Connection transaction() throws SQLException {
    return null;
  }

  final Foliot open() {
    return open(Foliot.builder());
  }

  private void awaitHandled(int count) {
    Await.until("handlers add " + count + " results; before: " + handled, BOUND, () -> handled.size() >= count);
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aHandlerGetsThePayloadThatWasSubmitted() {
    Timeout payload = new Timeout("7", 1_250, Instant.parse("2026-03-01T10:00:00.123Z"));
    try (Foliot foliot = open()) {
      Tasks<Timeout> timeouts = foliot.tasks("order-timeouts", Timeout.class).retry(5, Duration.ofSeconds(1))
          .concurrency(20).handle((timeout, attempt) -> {
            handled.add(timeout);
            handled.add(List.of(String.valueOf(attempt.key()), attempt.number(), attempt.headers()));
            handled.add(attempt.firingId().equals(attempt.id() + "-" + attempt.generation()));
          });
      Submitted submitted = timeouts.in(Duration.ofMillis(20)).key("order-7").header("x-tenant", "a").submit(payload);
      assertThat(submitted.result()).isEqualTo(Submitted.Result.CREATED);
      awaitHandled(3);
    }
    assertThat(handled).containsExactly(payload, List.of("order-7", 1, Map.of("x-tenant", "a")), true);
  }

  @Test
  void aQueueWithoutAHandlerWaits() {
    try (Foliot foliot = open()) {
      Tasks<byte[]> tasks = foliot.tasks("waits", byte[].class);
      tasks.now().submit(new byte[]{1, 2});
      foliot.tasks("other", String.class).handle((text, attempt) -> handled.add(text)).now().submit("other");
      awaitHandled(1);
      tasks.handle((bytes, attempt) -> handled.add(bytes.length + " of attempt " + attempt.number()));
      awaitHandled(2);
    }
    assertThat(handled).containsExactly("other", "2 of attempt 1");
  }

  @Test
  void aSecondHandlerOfAQueueIsRefused() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("q", String.class).handle((text, attempt) -> handled.add("first " + text));
      assertThatThrownBy(() -> tasks.handle((text, attempt) -> handled.add("second " + text)))
          .isInstanceOf(IllegalStateException.class).hasMessageContaining("queue=q");
      tasks.now().submit("a");
      awaitHandled(1);
    }
    assertThat(handled).containsExactly("first a");
  }

  @Test
  void aWaitingTaskIsTouchedAndCancelled() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("keys", String.class);
      tasks.in(HOUR).key("k").submit("x");
      assertThat(tasks.key("k").touch(HOUR)).isTrue();
      assertThat(tasks.key("k").touchAsync(HOUR)).succeedsWithin(BOUND).isEqualTo(true);
      assertThat(tasks.key("none").touch(HOUR)).isFalse();
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.CANCELLED);
      assertThat(tasks.key("k").cancelAsync()).succeedsWithin(BOUND).isEqualTo(Cancellation.ALREADY_FINISHED);
      assertThat(tasks.key("k").touch(HOUR)).isFalse();
      assertThat(tasks.key("none").cancel()).isEqualTo(Cancellation.NOT_FOUND);
    }
  }

  @Test
  void aKeyThatIsTakenIsResetKeptOrRejected() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("keys", String.class);
      Submitted first = tasks.in(HOUR).key("k").submit("x");
      assertThat(first.result()).isEqualTo(Submitted.Result.CREATED);
      Submitted reset = tasks.in(HOUR).key("k").submit("y");
      assertThat(reset.result()).isEqualTo(Submitted.Result.RESET);
      assertThat(reset.generation()).isGreaterThan(first.generation());
      Submitted kept = tasks.in(HOUR).key("k").onConflict(OnConflict.KEEP).submit("z");
      assertThat(kept.result()).isEqualTo(Submitted.Result.KEPT);
      Submitted rejected = tasks.in(HOUR).key("k").onConflict(OnConflict.REJECT).submit("z");
      assertThat(rejected.result()).isEqualTo(Submitted.Result.REJECTED);
      assertThat(List.of(reset.id(), kept.id(), rejected.id())).containsOnly(first.id());
      assertThat(rejected.dueAt()).isEqualTo(reset.dueAt());
    }
  }

  @Test
  void aRepeatedSubmitReturnsTheFirstResult() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("q", String.class);
      Submitted once = tasks.in(HOUR).idempotencyKey("request").submit("a");
      Submitted twice = tasks.in(HOUR).idempotencyKey("request").submit("a");
      assertThat(once.result()).isEqualTo(Submitted.Result.CREATED);
      assertThat(twice.result()).isEqualTo(Submitted.Result.REPEATED);
      assertThat(tasks.in(HOUR).idempotencyKey("request").submit("b").result())
          .isEqualTo(Submitted.Result.MISMATCHED);
      assertThat(twice.id()).isEqualTo(once.id());
    }
  }

  @Test
  void anAsynchronousSubmitCompletes() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("q", String.class).handle((text, attempt) -> handled.add(text));
      assertThat(tasks.at(Instant.EPOCH).submitAsync("now")).succeedsWithin(BOUND)
          .extracting(Submitted::result).isEqualTo(Submitted.Result.CREATED);
      awaitHandled(1);
    }
  }

  @Test
  void aResetOfARunningTaskFollowsItsAttempt() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("runs", String.class).handle((text, attempt) -> {
        begun.countDown();
        await(ends);
        handled.add(text);
      });
      Submitted first = tasks.now().key("k").submit("old");
      await(begun);
      Submitted second = tasks.now().key("k").submit("new");
      assertThat(second.result()).isEqualTo(Submitted.Result.RESET_PENDING);
      assertThat(second.id()).isEqualTo(first.id());
      assertThat(second.generation()).isGreaterThan(first.generation());
      assertThat(tasks.key("k").touch(Duration.ofMillis(100))).isTrue();
      ends.countDown();
      awaitHandled(2);
    }
    assertThat(handled).containsExactly("old", "new");
  }

  @Test
  void aCancelledRunningTaskEndsWithItsAttempt() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("runs", String.class).retry(5, Duration.ofMillis(1))
          .handle((text, attempt) -> {
            handled.add(text + attempt.number());
            begun.countDown();
            await(ends);
            throw new IllegalStateException("on purpose");
          });
      tasks.now().key("k").submit("x");
      await(begun);
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.CANCEL_PENDING);
      ends.countDown();
      Await.until("the task has ended", BOUND, () -> tasks.key("k").cancel() == Cancellation.ALREADY_FINISHED);
    }
    assertThat(handled).containsExactly("x1");
  }

  @Test
  void anExceptionIsRetriedUntilNoAttemptIsLeft() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("fails", String.class).retry(3, Duration.ofMillis(1))
          .handle((text, attempt) -> {
            handled.add(text + attempt.number());
            throw new IllegalStateException("on purpose");
          });
      tasks.now().key("a").submit("a");
      awaitHandled(3);
      Await.until("the task has failed", BOUND, () -> tasks.key("a").cancel() == Cancellation.ALREADY_FINISHED);
      tasks.now().attempts(2).key("b").submit("b");
      Await.until("the task has failed", BOUND, () -> tasks.key("b").cancel() == Cancellation.ALREADY_FINISHED);
    }
    assertThat(handled).startsWith("a1", "a2", "a3");
  }

  @Test
  void callingFailEndsTheTask() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("fails", String.class).retry(3, Duration.ofMillis(1))
          .handle((text, attempt) -> {
            handled.add(attempt.number());
            attempt.fail("no use");
            assertThatThrownBy(() -> attempt.again(HOUR)).isInstanceOf(IllegalStateException.class);
          });
      tasks.now().key("k").submit("x");
      awaitHandled(1);
      Await.until("the task has failed", BOUND, () -> tasks.key("k").cancel() == Cancellation.ALREADY_FINISHED);
    }
    assertThat(handled).containsExactly(1);
  }

  @Test
  void callingAgainFiresTheTaskAgain() {
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("again", String.class).handle((text, attempt) -> {
        handled.add(attempt.generation());
        if (handled.size() == 1) {
          attempt.again(Duration.ofMillis(100));
        }
      });
      tasks.now().key("k").submit("x");
      awaitHandled(2);
    }
    assertThat((Long) handled.get(1)).isGreaterThan((Long) handled.get(0));
  }

  @Test
  void theNextAttemptContinuesFromTheCheckpoint() {
    try (Foliot foliot = open()) {
      foliot.tasks("pages", String.class).retry(5, Duration.ofMillis(1)).handle((text, attempt) -> {
        int from = attempt.checkpoint() == null ? 0 : Integer.parseInt(attempt.checkpoint());
        for (int page = from; page < 6; page++) {
          handled.add(page);
          attempt.checkpoint(Integer.toString(page + 1));
          attempt.progress((page + 1) / 6.0, "page " + page);
          attempt.log("read " + page);
          if (page % 2 == 1) {
            throw new IllegalStateException("on purpose");
          }
        }
      }).now().submit("a");
      awaitHandled(6);
    }
    assertThat(handled).containsExactly(0, 1, 2, 3, 4, 5);
  }

  @Test
  void aRaisedConcurrencyTakesEffect() {
    CountDownLatch all = new CountDownLatch(8);
    try (Foliot foliot = open()) {
      Tasks<String> tasks = foliot.tasks("q", String.class).concurrency(2).handle((text, attempt) -> {
        all.countDown();
        await(all);
      });
      tasks.concurrency(20);
      for (int i = 0; i < 8; i++) {
        tasks.now().submit("task " + i);
      }
      Await.until("eight run at once", BOUND, () -> all.getCount() == 0);
    }
  }

  @Test
  void aCloseWaitsForTheHandlerThatRuns() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Tasks<String> tasks;
    try (Foliot foliot = open()) {
      tasks = foliot.tasks("q", String.class).handle((text, attempt) -> {
        begun.countDown();
        Await.pause(300);
        handled.add(text);
      });
      tasks.now().key("k").submit("slow");
      await(begun);
    }
    assertThat(handled).containsExactly("slow");
    if (isDurable()) {
      try (Foliot foliot = open()) {
        assertThat(foliot.tasks("q", String.class).key("k").cancel()).as("the end of the task is recorded")
            .isEqualTo(Cancellation.ALREADY_FINISHED);
      }
    }
  }

  @Test
  void aHandlerThatOutlivesACloseIsInterruptedAndRepeated() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    try (Foliot foliot = open(Foliot.builder().patience(Duration.ofMillis(200)))) {
      foliot.tasks("q", String.class).retry(5, Duration.ofSeconds(2)).handle((text, attempt) -> {
        begun.countDown();
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException e) {
          handled.add("interrupted " + attempt.number());
          throw e;
        }
      }).now().submit("x");
      await(begun);
    }
    assertThat(handled).containsExactly("interrupted 1");
    if (isDurable()) {
      try (Foliot foliot = open()) {
        foliot.tasks("q", String.class).handle((text, attempt) -> handled.add(text + " " + attempt.number()));
        awaitHandled(2);
      }
      assertThat(handled).containsExactly("interrupted 1", "x 2");
    }
  }

  @Test
  void aCloseDoesNotBlockARunningHandler() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    try (Foliot foliot = open(Foliot.builder().patience(Duration.ofSeconds(5)))) {
      Tasks<String> other = foliot.tasks("other", String.class);
      foliot.tasks("q", String.class).handle((text, attempt) -> {
        begun.countDown();
        try {
          while (!Thread.currentThread().isInterrupted()) {
            other.handle((more, again) -> handled.add(more));
          }
          handled.add("interrupted");
        } catch (RuntimeException refused) {
          handled.add(Thread.currentThread().isInterrupted() ? "interrupted" : "refused");
        }
      }).now().submit("x");
      await(begun);
    }
    assertThat(handled).containsExactly("refused");
  }

  @Test
  void tasksAndSettingsSurviveAClose() {
    if (!isDurable()) {
      return;
    }
    try (Foliot foliot = open()) {
      foliot.tasks("kept", String.class).concurrency(1).retry(2, Duration.ofMillis(1)).in(Duration.ofMillis(1))
          .submit("a");
    }
    try (Foliot foliot = open()) {
      foliot.tasks("kept", String.class).priority(2).timeout(Duration.ofSeconds(5)).handle((text, attempt) -> {
        handled.add(text + attempt.number());
        throw new IllegalStateException("on purpose");
      });
      awaitHandled(2);
      foliot.tasks("kept", String.class).now().attempts(3).submit("b");
      awaitHandled(5);
    }
    assertThat(handled).containsExactly("a1", "a2", "b1", "b2", "b3");
  }

  @Test
  void aSubmitJoinsTheCallersTransactionOrIsRefused() throws SQLException {
    try (Foliot foliot = open(); Connection transaction = transaction()) {
      Tasks<String> tasks = foliot.tasks("q", String.class);
      if (transaction == null) {
        Connection other = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
            new Class<?>[]{Connection.class}, (proxy, method, arguments) -> null);
        assertThatThrownBy(() -> tasks.now().with(other)).isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining("Foliot.on(dataSource)");
        assertThatThrownBy(() -> tasks.key("k").with(other)).isInstanceOf(UnsupportedOperationException.class)
            .hasMessageContaining("Foliot.on(dataSource)");
        return;
      }
      tasks.in(HOUR).key("k").with(transaction).submit("rolled back");
      transaction.rollback();
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.NOT_FOUND);
      tasks.in(HOUR).key("k").with(transaction).submit("committed");
      assertThat(tasks.key("k").touch(HOUR)).as("outside of the transaction").isFalse();
      transaction.commit();
      assertThat(tasks.key("k").touch(HOUR)).isTrue();
      assertThatThrownBy(() -> tasks.in(HOUR).with(transaction).submitAsync("x"))
          .isInstanceOf(IllegalStateException.class).hasMessageContaining("call submit");
    }
  }

  @Test
  void impossibleUsesAreRefusedWithTheReason() {
    try (Foliot foliot = open()) {
      assertThatThrownBy(() -> foliot.tasks("no such name", String.class)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no such name");
      Tasks<String> tasks = foliot.tasks("q", String.class);
      assertThatThrownBy(() -> tasks.in(Duration.ofSeconds(-1)).submit("x"))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PT-1S");
      assertThatThrownBy(() -> tasks.key("k").touch(Duration.ofSeconds(-1)))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("delay");
      assertThatThrownBy(() -> tasks.key("")).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tasks.now().attempts(0)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tasks.retry(0, Duration.ofSeconds(1))).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
