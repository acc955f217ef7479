package io.foliot.store.rocksdb;

import io.foliot.core.TimeSource;
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
  protected TaskStore open(TimeSource storeClock) {
    opened++;
    return openLast(storeClock);
  }

  @Override
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    old.close();
    return openLast(storeClock);
  }

  private TaskStore openLast(TimeSource storeClock) {
    return RocksDbStore.open(folder.resolve("store-" + opened), OPTIONS, storeClock);
  }
}
