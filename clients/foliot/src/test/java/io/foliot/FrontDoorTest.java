package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Await;
import io.foliot.core.OnConflict;
import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FrontDoorTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private record Timeout(String order, int cents, Instant placedAt) {}

  private final List<Object> handled = new CopyOnWriteArrayList<>();

  @TempDir
  Path folder;

  private void awaitHandled(int count) {
    Await.until(count + " are handled, of " + handled, BOUND, () -> handled.size() >= count);
  }

  @Test
  void aHandlerGetsThePayloadThatWasSubmitted() {
    Timeout payload = new Timeout("7", 1_250, Instant.parse("2026-03-01T10:00:00.123Z"));
    try (Foliot foliot = Foliot.open(folder)) {
      Tasks<Timeout> timeouts = foliot.tasks("order-timeouts", Timeout.class).retry(5, Duration.ofSeconds(1))
          .concurrency(20).handle((timeout, run) -> {
            handled.add(timeout);
            handled.add(List.of(String.valueOf(run.key()), run.attempt(), run.headers()));
          });
      Submitted submitted = timeouts.in(Duration.ofMillis(20)).key("order-7").header("tenant", "a").submit(payload);
      assertThat(submitted.result()).isEqualTo(Submitted.Result.CREATED);
      awaitHandled(2);
    }
    assertThat(handled).containsExactly(payload, List.of("order-7", 1, Map.of("tenant", "a")));
  }

  @Test
  void tasksSurviveAClose() {
    try (Foliot foliot = Foliot.open(folder)) {
      foliot.tasks("kept", String.class).in(Duration.ofMillis(1)).submit("text");
    }
    try (Foliot foliot = Foliot.open(folder)) {
      foliot.tasks("kept", String.class).handle((text, run) -> handled.add(text));
      awaitHandled(1);
    }
    assertThat(handled).containsExactly("text");
  }

  @Test
  void aBuilderBuildsMoreThanOnce() {
    FoliotBuilder builder = Foliot.builder().node("one");
    for (int i = 0; i < 2; i++) {
      try (Foliot foliot = builder.inMemory()) {
        foliot.tasks("q", String.class).handle((text, run) -> handled.add(text)).now().submit("of " + i);
        awaitHandled(i + 1);
      }
    }
    assertThat(handled).containsExactly("of 0", "of 1");
  }

  @Test
  void aQueueWithoutAHandlerWaits() {
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<byte[]> tasks = foliot.tasks("waits", byte[].class);
      tasks.now().submit(new byte[]{1, 2});
      foliot.tasks("other", String.class).handle((text, run) -> handled.add(text)).now().submit("other");
      awaitHandled(1);
      tasks.handle((bytes, run) -> handled.add(bytes.length + " of attempt " + run.attempt()));
      awaitHandled(2);
    }
    assertThat(handled).containsExactly("other", "2 of attempt 1");
  }

  @Test
  void theNextAttemptContinuesFromTheCheckpoint() {
    try (Foliot foliot = Foliot.inMemory()) {
      foliot.tasks("pages", String.class).retry(5, Duration.ofMillis(1)).handle((text, run) -> {
        int from = run.checkpoint() == null ? 0 : Integer.parseInt(run.checkpoint());
        for (int page = from; page < 6; page++) {
          handled.add(page);
          run.checkpoint(Integer.toString(page + 1));
          run.progress((page + 1) / 6.0, "page " + page);
          run.log("read " + page);
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
  void anExceptionIsRetriedAndFailEndsTheTask() {
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<String> tasks = foliot.tasks("fails", String.class).retry(3, Duration.ofMillis(1)).handle((text, run) -> {
        handled.add(text + " " + run.attempt());
        if (text.equals("fail")) {
          run.fail("no use");
        } else if (run.attempt() < 3) {
          throw new IllegalStateException("on purpose");
        }
      });
      tasks.now().key("a").submit("retry");
      awaitHandled(3);
      tasks.now().key("b").submit("fail");
      awaitHandled(4);
      Await.until("it has failed", BOUND, () -> tasks.key("b").cancel() == Cancellation.ENDED);
    }
    assertThat(handled).containsExactly("retry 1", "retry 2", "retry 3", "fail 1");
  }

  @Test
  void anAgainFiresTheTaskOnceMore() {
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<String> tasks = foliot.tasks("again", String.class).handle((text, run) -> {
        handled.add(run.generation());
        if (handled.size() == 1) {
          run.again(Duration.ofMillis(100));
          assertThatThrownBy(() -> run.fail("too")).isInstanceOf(IllegalStateException.class);
        }
      });
      tasks.now().key("k").submit("x");
      awaitHandled(2);
    }
    assertThat((Long) handled.get(1)).isGreaterThan((Long) handled.get(0));
  }

  @Test
  void touchCancelAndConflicts() {
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<String> tasks = foliot.tasks("keys", String.class);
      Duration hour = Duration.ofHours(1);
      assertThat(tasks.in(hour).key("k").submit("x").result()).isEqualTo(Submitted.Result.CREATED);
      assertThat(tasks.in(hour).key("k").submit("y").result()).isEqualTo(Submitted.Result.RESET);
      assertThat(tasks.in(hour).key("k").onConflict(OnConflict.KEEP).submit("z").result())
          .isEqualTo(Submitted.Result.KEPT);
      assertThat(tasks.in(hour).key("k").onConflict(OnConflict.REJECT).submit("z").result())
          .isEqualTo(Submitted.Result.REJECTED);
      assertThat(tasks.key("k").touch(hour)).isTrue();
      assertThat(tasks.key("k").touchAsync(hour)).succeedsWithin(BOUND).isEqualTo(true);
      assertThat(tasks.key("none").touch(hour)).isFalse();
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.CANCELLED);
      assertThat(tasks.key("k").cancelAsync()).succeedsWithin(BOUND).isEqualTo(Cancellation.ENDED);
      assertThat(tasks.key("none").cancel()).isEqualTo(Cancellation.NOT_FOUND);
      assertThat(tasks.at(Instant.EPOCH).submitAsync("now")).succeedsWithin(BOUND)
          .extracting(Submitted::result).isEqualTo(Submitted.Result.CREATED);
      assertThat(tasks.in(hour).idempotencyKey("once").submit("a").result()).isEqualTo(Submitted.Result.CREATED);
      assertThat(tasks.in(hour).idempotencyKey("once").submit("a").result()).isEqualTo(Submitted.Result.REPEATED);
    }
  }

  @Test
  void aCancelOfARunningTaskSaysSo() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch ends = new CountDownLatch(1);
    try (Foliot foliot = Foliot.inMemory()) {
      Tasks<String> tasks = foliot.tasks("runs", String.class).handle((text, run) -> {
        begun.countDown();
        assertThat(ends.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      });
      tasks.now().key("k").submit("x");
      assertThat(begun.await(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(tasks.key("k").cancel()).isEqualTo(Cancellation.RUNNING);
      ends.countDown();
    }
  }

  @Test
  void aSettingStaysUntilItIsSetToAnotherValue() {
    try (Foliot foliot = Foliot.open(folder)) {
      foliot.tasks("settings", String.class).concurrency(1).retry(2, Duration.ofMillis(1));
    }
    try (Foliot foliot = Foliot.open(folder)) {
      Tasks<String> tasks = foliot.tasks("settings", String.class).priority(2).timeout(Duration.ofSeconds(5))
          .handle((text, run) -> {
            handled.add(text + " " + run.attempt());
            throw new IllegalStateException("on purpose");
          });
      tasks.now().submit("a");
      awaitHandled(2);
      tasks.now().attempts(3).submit("b");
      awaitHandled(5);
    }
    assertThat(handled).containsExactly("a 1", "a 2", "b 1", "b 2", "b 3");
  }

  @Test
  void whatCanNeverWorkIsRefusedWithTheReason() {
    try (Foliot foliot = Foliot.inMemory()) {
      assertThatThrownBy(() -> foliot.tasks("no such name", String.class)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no such name");
      Tasks<String> tasks = foliot.tasks("q", String.class);
      assertThatThrownBy(() -> tasks.in(Duration.ofSeconds(-1)).submit("x"))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("PT-1S");
      assertThatThrownBy(() -> tasks.key("")).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tasks.now().attempts(0)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tasks.retry(0, Duration.ofSeconds(1))).isInstanceOf(IllegalArgumentException.class);
      Connection none = (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
          new Class<?>[]{Connection.class}, (proxy, method, arguments) -> null);
      assertThatThrownBy(() -> tasks.now().with(none)).isInstanceOf(UnsupportedOperationException.class)
          .hasMessageContaining("Foliot.on(dataSource)");
    }
  }

  @Test
  void aFolderThatIsInUseIsRefusedAndLeftAlone() {
    try (Foliot foliot = Foliot.open(folder)) {
      assertThatThrownBy(() -> Foliot.open(folder)).hasMessageContaining("in use");
      assertThat(foliot.tasks("q", String.class).now().submit("x").result()).isEqualTo(Submitted.Result.CREATED);
    }
  }

  @Test
  void anInterruptEndsAWaitWithAnUnknownOutcome() {
    SystemClock clock = new SystemClock();
    TaskStore silent = new ForwardingStore(new MemoryStore(4, clock, () -> new Token(1, 1))) {
      @Override
      public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
        return new CompletableFuture<>();
      }
    };
    try (Foliot foliot = Foliot.builder().on(silent)) {
      Tasks<String> tasks = foliot.tasks("q", String.class);
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> tasks.now().submit("x")).isInstanceOf(StoreException.class)
          .hasMessageContaining("interrupted");
      assertThat(Thread.currentThread().isInterrupted()).isTrue();
    } finally {
      assertThat(Thread.interrupted()).as("a close keeps the interrupt").isTrue();
    }
  }

  @Test
  void aStoreThatCannotBeUsedIsClosed() {
    AtomicBoolean closed = new AtomicBoolean();
    TaskStore away = new ForwardingStore(new MemoryStore(4, new SystemClock(), () -> new Token(1, 1))) {
      @Override
      public CompletionStage<List<Document>> documents(DocumentKind kind) {
        return CompletableFuture.failedFuture(new StoreException("the store is away", null));
      }

      @Override
      public void close() {
        closed.set(true);
        super.close();
      }
    };
    assertThatThrownBy(() -> Foliot.builder().on(away)).isInstanceOf(StoreException.class)
        .hasMessage("the store is away");
    assertThat(closed).isTrue();
  }
}
