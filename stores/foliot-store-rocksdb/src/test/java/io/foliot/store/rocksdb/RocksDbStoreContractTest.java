package io.foliot.store.rocksdb;

import io.foliot.core.TimeSource;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.TaskStoreContract;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.io.TempDir;

final class RocksDbStoreContractTest extends TaskStoreContract {
  private static final RocksDbOptions OPTIONS = RocksDbOptions.builder().slots(16).build();

  /** The interval at which the store reads the free space. */
  private static final Duration MEASURED = Duration.ofMillis(100);

  @TempDir
  Path folder;

  private int opened;
  private volatile long freeBytes;

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
    freeBytes = OPTIONS.reserveBytes();
    return RocksDbStore.open(folder.resolve("store-" + opened), OPTIONS, storeClock,
        new RocksDbStore.Seams(new SecureTokens(), path -> freeBytes));
  }

  @Override
  protected void setFull(boolean isFull) {
    freeBytes = isFull ? 0 : OPTIONS.reserveBytes();
    clock().advance(MEASURED);
  }
}
