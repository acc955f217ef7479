package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.LoopDisk;
import io.foliot.backends.Signals;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * After a power loss, the store opens without a repair and holds every acknowledged task. The test shuts down the disk
 * below the store, so all unsynced writes are lost.
 */
@Tag("machine")
final class PowerLossTest {
  private static final int LOSSES = 4;
  private static final long DISK_BYTES = 400L << 20;

  @TempDir
  Path temporary;

  @Test
  void everyAcknowledgedTaskIsThereAfterAPowerLoss() throws Exception {
    // This process loads the native library from the first folder that it opens, and keeps the file open until it
    // exits. The file must not be on the disk that is shut down.
    RocksDbStore.open(temporary.resolve("elsewhere"), StoreHarness.SMALL, new SystemClock()).close();
    Set<TaskId> acknowledged = new HashSet<>();
    Random random = new Random();
    try (LoopDisk disk = LoopDisk.create(temporary.resolve("disk"), DISK_BYTES)) {
      Path folder = disk.folder().resolve("store");
      for (int loss = 0; loss < LOSSES; loss++) {
        acknowledged.addAll(SubmittingProcess.run(folder, 500 + random.nextInt(3_000), process -> {
          // The process is paused first. Otherwise a sync under way could succeed although its bytes are lost.
          Signals.freeze(process.pid());
          disk.powerOff();
          process.destroyForcibly();
        }));
        disk.remount();
        SubmittingProcess.check(folder, acknowledged);
      }
    }
    assertThat(acknowledged).hasSizeGreaterThan(LOSSES * 500);
  }
}
