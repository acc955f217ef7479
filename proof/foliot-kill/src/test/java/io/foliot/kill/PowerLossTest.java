package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.LoopDisk;
import io.foliot.history.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteOptions;

/**
 * The server's disk loses power under load, and loses all data that was not synced. To choose the number of losses:
 * {@code mvn verify -Pmachine -pl :foliot-kill -am -Dtest=io.foliot.kill.PowerLossTest -Dsurefire.failIfNoSpecifiedTests=false -Dpower.losses=20}.
 */
@Tag("machine")
class PowerLossTest {
  private static final int LOSSES = Integer.getInteger("power.losses", 2);
  private static final long DISK_BYTES = 1L << 30;
  private static final long SMALL_DISK_BYTES = 512L << 20;
  private static final int MIN_PAUSE_MILLIS = 500;
  private static final int MAX_PAUSE_MILLIS = 1_000;
  private static final int ENTRIES = 1_000;

  @Test
  void nothingAckedIsLostWhenThePowerFails() throws IOException, LoopDisk.UnavailableException {
    long seed = Rig.seed();
    SplittableRandom random = new SplittableRandom(seed);
    try (LoopDisk disk = LoopDisk.create(Rig.folder("power", seed), DISK_BYTES);
        Rig rig = new Rig("power", seed, disk.folder().resolve("data"))) {
      rig.load();
      for (int loss = 1; loss <= LOSSES; loss++) {
        Await.pause(random.nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
        Path synced = disk.folder().resolve("synced" + loss);
        Path unsynced = disk.folder().resolve("unsynced" + loss);
        write(synced, true);
        write(unsynced, false);
        rig.during(Event.Fault.KILL, "power loss " + loss, () -> {
          rig.server.freeze();
          disk.powerOff();
          rig.server.kill();
          disk.remount();
          rig.server.start();
          rig.server.awaitReady();
        });
        assertThat(synced).exists();
        // A sync by the server may also have saved the name of the unsynced file, but not its contents.
        assertThat(Files.exists(unsynced) ? Files.size(unsynced) : 0).isZero();
      }
      Await.pause(MIN_PAUSE_MILLIS);
      Rig.Result result = rig.judge();
      assertThat(result.verdict().violations()).isEmpty();
      assertThat(result.verdict().counts().open()).isZero();
      assertThat(result.verdict().counts().duplicatesOutsideFaults()).isZero();
      assertThat(result.forgotten()).isEmpty();
      assertThat(result.verdict().counts().delivered()).isGreaterThan(20L * LOSSES);
    }
  }

  private static void write(Path path, boolean sync) {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.allocate(100));
      if (sync) {
        file.force(true);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aStoreThatDoesNotSyncLosesWrites() throws IOException, RocksDBException, LoopDisk.UnavailableException {
    try (LoopDisk disk = LoopDisk.create(Rig.folder("unsynced", Rig.seed()), SMALL_DISK_BYTES)) {
      Path synced = disk.folder().resolve("synced");
      Path unsynced = disk.folder().resolve("unsynced");
      try (RocksDB one = open(synced); RocksDB other = open(unsynced)) {
        put(one, true);
        put(other, false);
        disk.powerOff();
      }
      disk.remount();
      try (RocksDB one = open(synced); RocksDB other = open(unsynced)) {
        assertThat(count(one)).isEqualTo(ENTRIES);
        assertThat(count(other)).isLessThan(ENTRIES);
      }
    }
  }

  private static RocksDB open(Path folder) throws RocksDBException {
    try (Options options = new Options().setCreateIfMissing(true)) {
      return RocksDB.open(options, folder.toString());
    }
  }

  private static void put(RocksDB db, boolean sync) throws RocksDBException {
    try (WriteOptions options = new WriteOptions().setSync(sync)) {
      for (int i = 0; i < ENTRIES; i++) {
        db.put(options, key(i), new byte[100]);
      }
    }
  }

  private static int count(RocksDB db) throws RocksDBException {
    int found = 0;
    for (int i = 0; i < ENTRIES; i++) {
      found += db.get(key(i)) == null ? 0 : 1;
    }
    return found;
  }

  private static byte[] key(int number) {
    return new byte[]{(byte) (number >> 8), (byte) number};
  }
}
