package io.foliot.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class MemoryStoreTest extends TaskStoreContract {
  private static final SecureRandom RANDOM = new SecureRandom();

  private @Nullable MemoryStore store;

  @Override
  protected TaskStore open(TimeSource storeClock) {
    MemoryStore opened = new MemoryStore(16, storeClock, () -> new Token(RANDOM.nextLong(), RANDOM.nextLong()));
    store = opened;
    return opened;
  }

  @Override
  protected void setFull(boolean isFull) {
    requireNonNull(store).setFull(isFull);
  }

  @Override
  protected TaskStore model(int slotCount, TimeSource storeClock) {
    return new PlainModel(slotCount, storeClock);
  }

  @Test
  void anInvalidNumberOfSlotsIsRefused() {
    for (int slotCount : new int[]{Integer.MIN_VALUE, -1, 0, 3, 1 << 17}) {
      assertThatThrownBy(() -> new MemoryStore(slotCount, clock(), () -> new Token(1, 1)))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("slots=" + slotCount);
    }
  }
}
