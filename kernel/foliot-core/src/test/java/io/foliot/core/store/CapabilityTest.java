package io.foliot.core.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import java.nio.file.Path;
import java.time.Instant;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Tests the optional interfaces of a store. A store that wraps a store also offers the interfaces of that store. */
final class CapabilityTest {
  private static final TimeSource CLOCK = new TimeSource() {
    @Override
    public long wallMicros() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      return 0;
    }
  };

  private static TaskStore plain() {
    return new MemoryStore(1, CLOCK, () -> new Token(1, 1));
  }

  private static class Wrapper extends ForwardingStore {
    Wrapper(TaskStore delegate) {
      super(delegate);
    }
  }

  /** A store whose backups all have the given number. */
  private static final class WithBackups extends Wrapper implements Backups {
    private final int number;

    WithBackups(TaskStore delegate, int number) {
      super(delegate);
      this.number = number;
    }

    @Override
    public Backup backup(Path folder) {
      return new Backup(number, Instant.EPOCH, 0);
    }
  }

  private static final class WithGrowth extends Wrapper implements SlotGrowth {
    WithGrowth(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public Progress doubleSlots(Consumer<Progress> progress) {
      return new Progress(2, 1, 0);
    }
  }

  private static int backedUpBy(TaskStore store) {
    return store.capability(Backups.class).orElseThrow().backup(Path.of("")).number();
  }

  @Test
  void aStoreOffersTheCapabilitiesThatItImplements() {
    TaskStore store = new WithBackups(plain(), 1);
    assertThat(store.capability(Backups.class)).containsSame((Backups) store);
    assertThat(store.capability(SlotGrowth.class)).isEmpty();
  }

  @Test
  void aPlainStoreOffersNoCapability() {
    TaskStore store = plain();
    assertThat(store.capability(Backups.class)).isEmpty();
    assertThat(store.capability(SlotGrowth.class)).isEmpty();
    assertThat(store.capability(StoreStatistics.class)).isEmpty();
    assertThat(new Wrapper(store).capability(Backups.class)).isEmpty();
  }

  @Test
  void aForwardingStoreOffersTheCapabilitiesOfItsDelegate() {
    TaskStore store = new WithBackups(plain(), 1);
    assertThat(new Wrapper(new Wrapper(store)).capability(Backups.class)).containsSame((Backups) store);
  }

  @Test
  void theOutermostStoreThatOffersACapabilityServesIt() {
    TaskStore store = new WithGrowth(new WithBackups(new Wrapper(new WithBackups(plain(), 1)), 2));
    assertThat(backedUpBy(store)).isEqualTo(2);
    assertThat(store.capability(SlotGrowth.class)).isPresent();
  }

  @Test
  void aDoublingIsDoneWhenHalfOfItsSlotsAreDrained() {
    assertThat(new SlotGrowth.Progress(8, 3, 0).isDone()).isFalse();
    assertThat(new SlotGrowth.Progress(8, 4, 0).isDone()).isTrue();
  }
}
