package io.foliot.store.rocksdb;

import io.foliot.core.Clock;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

final class RocksDbStoreContractTest extends TaskStoreContract {
  private static final RocksDbOptions OPTIONS = RocksDbOptions.builder().slots(16).build();

  @TempDir
  Path folder;

  private int opened;

  @Override
  protected TaskStore open(Clock storeClock) {
    opened++;
    return openLast(storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, Clock storeClock) {
    old.close();
    return openLast(storeClock);
  }

  private TaskStore openLast(Clock storeClock) {
    return RocksDbStore.open(folder.resolve("store-" + opened), OPTIONS, storeClock);
  }
}
