package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.Await;
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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Tests of {@link FoliotBuilder}, and of the exceptions that callers get when the store fails. */
final class FrontDoorTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private final List<Object> handled = new CopyOnWriteArrayList<>();

  private void awaitHandled(int count) {
    Await.until(count + " tasks are handled, of " + handled, BOUND, () -> handled.size() >= count);
  }

  @Test
  void aBuilderBuildsMoreThanOnce() {
    FoliotBuilder builder = Foliot.builder().node("one");
    for (int i = 0; i < 2; i++) {
      try (Foliot foliot = builder.inMemory()) {
        foliot.tasks("q", String.class).handle((text, attempt) -> handled.add(text)).now().submit("of " + i);
        awaitHandled(i + 1);
      }
    }
    assertThat(handled).containsExactly("of 0", "of 1");
  }

  @Test
  void anInterruptEndsAWaitAndIsKept() {
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
    TaskStore unavailable = new ForwardingStore(new MemoryStore(4, new SystemClock(), () -> new Token(1, 1))) {
      @Override
      public CompletionStage<List<Document>> documents(DocumentKind kind) {
        return CompletableFuture.failedFuture(new StoreException("the store is unavailable", null));
      }

      @Override
      public void close() {
        closed.set(true);
        super.close();
      }
    };
    assertThatThrownBy(() -> Foliot.builder().on(unavailable)).isInstanceOf(StoreException.class)
        .hasMessage("the store is unavailable");
    assertThat(closed).isTrue();
  }
}
