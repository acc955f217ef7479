package io.foliot.server.store;

import io.foliot.core.Clock;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.server.config.FoliotConfig;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.security.SecureRandom;
import java.util.function.Consumer;

/** Opens a store as a configuration says. The only place that knows which kinds there are. */
public final class Stores {
  private static final int MEMORY_SLOTS = 256;

  private Stores() {}

  /**
   * Opens a store.
   *
   * @param onFailure told if the store closes itself
   * @throws StoreException if it cannot be opened
   */
  public static TaskStore open(FoliotConfig.Store config, Clock clock, Consumer<StoreException> onFailure) {
    if (config.kind().equals(FoliotConfig.Store.MEMORY)) {
      SecureRandom random = new SecureRandom();
      return new MemoryStore(MEMORY_SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong()));
    }
    if (config.isRemote()) {
      throw new StoreException("stores of that kind are not part of this version: store=" + config.name(), null);
    }
    FoliotConfig.Store.Sizes sizes = config.sizes();
    RocksDbOptions options = RocksDbOptions.DEFAULT.withOnFailure(onFailure).withReserveBytes(sizes.reserve())
        .withRecordCacheBytes(sizes.recordCache()).withNativeBytes(sizes.blockCache(), sizes.writeBuffer())
        .withLogBytes(sizes.log());
    return RocksDbStore.open(config.folder(), options, clock);
  }
}
