package io.foliot.testkit;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.security.SecureRandom;

final class MemoryStoreTest extends TaskStoreContract {
  private static final SecureRandom RANDOM = new SecureRandom();

  @Override
  protected TaskStore open(TimeSource storeClock) {
    return new MemoryStore(16, storeClock, () -> new Token(RANDOM.nextLong(), RANDOM.nextLong()));
  }

  @Override
  protected TaskStore model(int slotCount, TimeSource storeClock) {
    return new PlainModel(slotCount, storeClock);
  }
}
