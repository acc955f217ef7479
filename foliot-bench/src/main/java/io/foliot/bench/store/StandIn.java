package io.foliot.bench.store;

import io.foliot.core.SystemClock;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.security.SecureRandom;

/** A store in memory where the server's own is not built yet. What runs says so: {@link StoreComparison} prints its kind. */
final class StandIn {
  private static final int SLOTS = 256;

  private StandIn() {}

  /** A store that has nothing to do with the server. */
  static TaskStore open(Object server) {
    assert server != null;
    SecureRandom random = new SecureRandom();
    return new MemoryStore(SLOTS, new SystemClock(), () -> new Token(random.nextLong(), random.nextLong()));
  }
}
