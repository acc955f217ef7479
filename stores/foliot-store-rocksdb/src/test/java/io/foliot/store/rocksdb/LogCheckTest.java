package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests {@link LogCheck} on logs as a power loss leaves them, and on damaged logs. The logs have random commits. The
 * test knows which of these commits were synced.
 */
final class LogCheckTest {
  private static final int RUNS = 400;
  private static final int SECTOR = 512;

  @TempDir
  Path temporary;

  /**
   * A commit in a log.
   *
   * @param log the index of the log in {@link Logs#files}
   * @param start the offset of its first piece, in bytes
   * @param end the offset after its last piece
   * @param first the sequence number of its first entry
   * @param last the sequence number of its last entry
   * @param isSynced whether the next commit began after the sync of this one
   * @param syncedBefore the highest sequence number that was already synced when this commit was written
   */
  private record Commit(int log, int start, int end, long first, long last, boolean isSynced, long syncedBefore) {}

  private static final class Logs {
    final List<Bytes> files = new ArrayList<>();
    final List<Commit> commits = new ArrayList<>();

    Logs(Random random) {
      long sequence = 100;
      long synced = sequence - 1;
      int count = 2 + random.nextInt(12);
      for (int i = 0; i < count; i++) {
        if (files.isEmpty() || random.nextInt(6) == 0) {
          files.add(new Bytes(64));
        }
        int entries = 1 + random.nextInt(3);
        Bytes batch = new Bytes(64).u64(Long.reverseBytes(sequence)).u32(Integer.reverseBytes(entries)).u8(3).u8(8)
            .u64(Long.reverseBytes(synced)).bytes(new byte[random.nextInt(random.nextInt(5) == 0 ? 70_000 : 60)]);
        int start = append(files.getLast(), batch);
        // The first commit after an open is always synced.
        boolean isSynced = i == 0 || random.nextBoolean();
        commits.add(new Commit(files.size() - 1, start, files.getLast().length(), sequence, sequence + entries - 1,
            isSynced, synced));
        sequence += entries;
        synced = isSynced ? sequence - 1 : synced;
      }
    }

    /** Appends a record in as many pieces as it needs, and returns the offset of the first. */
    private static int append(Bytes file, Bytes record) {
      int left = LogFormat.BLOCK - file.length() % LogFormat.BLOCK;
      if (left < LogFormat.HEADER) {
        file.bytes(new byte[left]);
        left = LogFormat.BLOCK;
      }
      int start = file.length();
      int at = 0;
      boolean isFirst = true;
      do {
        left = LogFormat.BLOCK - file.length() % LogFormat.BLOCK;
        int length = Math.min(record.length() - at, left - LogFormat.HEADER);
        boolean isLast = at + length == record.length();
        int type = isFirst && isLast
            ? LogFormat.FULL
            : isFirst
                ? LogFormat.FIRST
                : isLast
                    ? LogFormat.LAST
                    : LogFormat.MIDDLE;
        byte[] content = Arrays.copyOfRange(record.array(), at, at + length);
        piece(file, type, content);
        at += length;
        isFirst = false;
      } while (at < record.length());
      return start;
    }

    private static void piece(Bytes file, int type, byte[] content) {
      CRC32C sum = new CRC32C();
      sum.update(type);
      sum.update(content);
      int crc = (int) sum.getValue();
      file.u32(Integer.reverseBytes((crc >>> 15 | crc << 17) + 0xA282EAD8)).u8(content.length & 0xFF)
          .u8(content.length >>> 8).u8(type).bytes(content);
    }
  }

  private Path rocks(int run) throws IOException {
    return Files.createDirectories(temporary.resolve("run-" + run).resolve("rocks"));
  }

  private static Path file(Path rocks, int log) {
    return rocks.resolve(String.format("%06d.log", 7 + log));
  }

  private static long check(Path rocks) throws IOException {
    return new LogCheck(rocks).check(0);
  }

  @Test
  void logsAfterAPowerLossAreAccepted() throws IOException {
    for (int run = 0; run < RUNS; run++) {
      Random random = new Random(run);
      Logs logs = new Logs(random);
      // The commit that was under way at the power loss, and the newest synced commit before it.
      Commit current = logs.commits.get(1 + random.nextInt(logs.commits.size() - 1));
      Commit durable = logs.commits.getFirst();
      for (Commit commit : logs.commits) {
        durable = commit.isSynced() && commit.first() < current.first() ? commit : durable;
      }
      Path rocks = rocks(run);
      for (int log = 0; log <= current.log(); log++) {
        byte[] written = logs.files.get(log).toArray();
        int length = log == current.log() ? current.end() : written.length;
        int kept = log > durable.log() ? 0 : log < durable.log() ? written.length : durable.end();
        Files.write(file(rocks, log), remains(Arrays.copyOf(written, length), kept, random));
      }
      LogCheck check = new LogCheck(rocks);
      assertThat(check.check(0)).as("run=%s", run).isGreaterThanOrEqualTo(durable.last());
      check.removeTails();
      assertThatCode(() -> check(rocks)).as("a second open, run=%s", run).doesNotThrowAnyException();
    }
  }

  /**
   * Returns a log after a power loss: after offset {@code kept}, random sectors are zero, and the end may be missing.
   */
  private static byte[] remains(byte[] log, int kept, Random random) {
    byte[] left = log.clone();
    for (int at = kept; at < log.length; at = (at / SECTOR + 1) * SECTOR) {
      if (random.nextInt(3) == 0) {
        Arrays.fill(left, at, Math.min(log.length, (at / SECTOR + 1) * SECTOR), (byte) 0);
      }
    }
    return random.nextBoolean() ? left : Arrays.copyOf(left, kept + random.nextInt(log.length - kept + 1));
  }

  @Test
  void aDamagedCommitIsRefusedIfALaterOneRecordsItsSync() throws IOException {
    int refused = 0;
    for (int run = 0; run < RUNS; run++) {
      Random random = new Random(run);
      Logs logs = new Logs(random);
      Path rocks = rocks(run);
      int index = random.nextInt(logs.commits.size());
      Commit damaged = logs.commits.get(index);
      for (int log = 0; log < logs.files.size(); log++) {
        byte[] bytes = logs.files.get(log).toArray();
        if (log == damaged.log()) {
          bytes[damaged.start() + random.nextInt(damaged.end() - damaged.start())] ^= 0x55;
        }
        Files.write(file(rocks, log), bytes);
      }
      // If the first commit is damaged, its sequence number is not known, so the check assumes that this commit was
      // synced.
      boolean isLoss = logs.commits.stream().skip(index + 1)
          .anyMatch(later -> index == 0 || later.syncedBefore() >= damaged.first());
      if (isLoss) {
        assertThatThrownBy(() -> check(rocks)).as("run=%s", run).isInstanceOf(DamagedException.class);
        refused++;
      } else {
        assertThatCode(() -> check(rocks)).as("run=%s", run).doesNotThrowAnyException();
      }
    }
    assertThat(refused).as("runs with a loss").isBetween(RUNS / 4, RUNS - RUNS / 8);
  }
}
