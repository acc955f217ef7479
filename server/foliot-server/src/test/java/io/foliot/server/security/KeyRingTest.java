package io.foliot.server.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the API keys of two servers over one store. */
final class KeyRingTest {
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

  private final SecureRandom random = new SecureRandom();
  private final TaskStore store = new MemoryStore(1, new SystemClock(), () -> new Token(1, 2));

  private static final class MemoryLatch implements KeyRing.Latch {
    volatile boolean isSet;

    @Override
    public boolean isSet() {
      return isSet;
    }

    @Override
    public void set() {
      isSet = true;
    }
  }

  private KeyRing ring() {
    return ring(store, new MemoryLatch());
  }

  private static KeyRing ring(TaskStore store, KeyRing.Latch latch) {
    return new KeyRing(new StoredKeys(store, Duration.ofSeconds(5)), null, latch);
  }

  private ApiKey.Issued issue() {
    return ApiKey.issue(random, EnumSet.of(Action.ADMIN), List.of(QueuePattern.ALL), "", NOW, null);
  }

  @Test
  void aRefreshSeesTheKeysThatAnotherServerChanged() {
    KeyRing here = ring();
    KeyRing there = ring();
    ApiKey.Issued first = issue();
    ApiKey.Issued second = issue();
    there.add(first.key(), NOW);
    there.add(second.key(), NOW);
    assertThat(here.find(first.text(), NOW)).isNull();
    here.refresh();
    assertThat(here.find(first.text(), NOW)).isNotNull();
    assertThat(there.remove(second.key().id(), NOW, false)).isTrue();
    here.refresh();
    assertThat(here.find(second.text(), NOW)).isNull();
    assertThat(here.find(first.text(), NOW)).isNotNull();
  }

  @Test
  void aKeyOfAnotherServerIsRememberedForGood() {
    MemoryLatch latch = new MemoryLatch();
    KeyRing here = ring(store, latch);
    KeyRing there = ring();
    ApiKey key = issue().key();
    there.add(key, NOW);
    assertThat(latch.isSet).isFalse();
    here.refresh();
    assertThat(latch.isSet).isTrue();
    assertThat(there.remove(key.id(), NOW, true)).isTrue();
    assertThat(there.isRequired()).isFalse();
    here.refresh();
    assertThat(here.isEmpty()).isTrue();
    assertThat(here.isRequired()).isTrue();
    assertThat(ring(store, latch).isRequired()).isTrue();
    assertThat(ring().isRequired()).isFalse();
  }

  @Test
  void twoServersDoNotRemoveTheLastTwoKeysOfAdministrators() {
    KeyRing here = ring();
    ApiKey.Issued first = issue();
    ApiKey.Issued second = issue();
    here.add(first.key(), NOW);
    here.add(second.key(), NOW);
    KeyRing there = ring();
    assertThat(there.remove(first.key().id(), NOW, false)).isTrue();
    assertThatThrownBy(() -> here.remove(second.key().id(), NOW, false))
        .isInstanceOf(KeyRing.LockedOutException.class);
    assertThat(here.find(second.text(), NOW)).isNotNull();
  }

  @Test
  void aStoreThatDoesNotAnswerIsAFailureOfTheStore() {
    TaskStore silent = new ForwardingStore(store) {
      @Override
      public CompletionStage<List<Document>> documents(DocumentKind kind) {
        return new CompletableFuture<>();
      }
    };
    StoredKeys keys = new StoredKeys(silent, Duration.ofMillis(1));
    assertThatThrownBy(keys::all).isInstanceOf(StoreException.class).hasMessageContaining("timeout=PT0.001S");
  }

  @Test
  void theFirstKeyMustNotHaveExpired() {
    KeyRing ring = ring();
    ApiKey.Issued expired = ApiKey.issue(random, EnumSet.of(Action.ADMIN), List.of(QueuePattern.ALL), "", NOW, NOW);
    assertThatThrownBy(() -> ring.add(expired.key(), NOW)).isInstanceOf(KeyRing.LockedOutException.class);
    assertThat(ring.isEmpty()).isTrue();
  }

  @Test
  void aRingIsNeverEmptyDuringARefresh() throws InterruptedException {
    ApiKey first = issue().key();
    ApiKey second = issue().key();
    AtomicInteger reads = new AtomicInteger();
    KeyRing ring = new KeyRing(new KeyRing.Vault() {
      @Override
      public Collection<ApiKey> all() {
        return List.of(reads.incrementAndGet() % 2 == 0 ? first : second);
      }

      @Override
      public void add(ApiKey key) {}

      @Override
      public void remove(String id) {}
    }, null, new MemoryLatch());
    AtomicBoolean wasEmpty = new AtomicBoolean();
    Thread reader = Thread.ofPlatform().start(() -> {
      while (reads.get() < 20_000) {
        wasEmpty.compareAndSet(false, ring.isEmpty());
      }
    });
    while (reads.get() < 20_000) {
      ring.refresh();
    }
    reader.join();
    assertThat(wasEmpty).isFalse();
  }

  /** A store in which another node writes a document between the read and the first removal. */
  private static final class Contended extends ForwardingStore {
    private boolean hasChanged;

    Contended(TaskStore store) {
      super(store);
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
        byte @Nullable [] content) {
      if (content == null && !hasChanged) {
        hasChanged = true;
        return super.document(kind, name).thenCompose(
            found -> super.writeDocument(kind, name, expectedVersion, found.orElseThrow().content()))
            .thenApply(written -> false);
      }
      return super.writeDocument(kind, name, expectedVersion, content);
    }
  }

  @Test
  void aKeyWhoseDocumentChangesDuringItsRemovalIsRemoved() {
    KeyRing ring = ring(new Contended(store), new MemoryLatch());
    ApiKey.Issued key = issue();
    ring.add(key.key(), NOW);
    ring.add(issue().key(), NOW);
    assertThat(ring.remove(key.key().id(), NOW, false)).isTrue();
    ring.refresh();
    assertThat(ring.find(key.text(), NOW)).isNull();
  }
}
