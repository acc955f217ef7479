package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests a store that loses its content while servers run. */
final class StoreIdentityTest {
  private static TaskStore empty() {
    return new MemoryStore(1, new SystemClock(), () -> new Token(1, 1));
  }

  /** A store whose documents a test replaces by those of another store. */
  private static final class Replaced extends ForwardingStore {
    TaskStore current;

    Replaced(TaskStore first) {
      super(first);
      current = first;
    }

    @Override
    public boolean isShared() {
      return true;
    }

    @Override
    public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
      return current.document(kind, name);
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long version,
        byte @Nullable [] content) {
      return current.writeDocument(kind, name, version, content);
    }
  }

  private final TaskStore first = empty();
  private final Replaced store = new Replaced(first);
  private final AtomicInteger adoptions = new AtomicInteger();

  private StoreIdentity start(int seed) {
    StoreIdentity identity = StoreIdentity.of(store, new SplittableRandom(seed), null, Duration.ofSeconds(10));
    identity.onAdopted(adoptions::incrementAndGet);
    return identity;
  }

  private static void check(StoreIdentity identity, int times) {
    for (int i = 0; i < times; i++) {
      identity.check();
    }
  }

  @Test
  void aStoreThatStaysEmptyIsAdoptedByAllServers() {
    StoreIdentity one = start(1);
    StoreIdentity other = start(2);
    String lost = one.present();
    store.current = empty();
    check(one, StoreIdentity.ADOPT_AFTER);
    assertThat(one.troubles()).hasSize(1);
    check(one, 1);
    assertThat(one.troubles()).isEmpty();
    check(other, StoreIdentity.ADOPT_AFTER);
    assertThat(other.troubles()).hasSize(1);
    check(other, 1);
    assertThat(other.troubles()).isEmpty();
    assertThat(one.present()).isEqualTo(other.present()).isNotEqualTo(lost);
    assertThat(adoptions).hasValue(2);
    check(one, 2 * StoreIdentity.ADOPT_AFTER);
    assertThat(one.losses()).isEqualTo(1);
  }

  @Test
  void aLossThatIsRevertedSoonIsNotAdopted() {
    StoreIdentity identity = start(1);
    String before = identity.present();
    for (int i = 0; i < 3; i++) {
      store.current = empty();
      check(identity, StoreIdentity.ADOPT_AFTER);
      store.current = first;
      check(identity, 1);
      assertThat(identity.troubles()).isEmpty();
    }
    assertThat(identity.present()).isEqualTo(before);
    assertThat(identity.losses()).isEqualTo(3);
    assertThat(adoptions).hasValue(0);
  }
}
