package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;

/** The serialized form of a batch, read back with RocksDB's reader. */
final class BatchTest {
  /** A sequence number whose bytes all differ. */
  private static final long SYNCED = 0x0102030405060708L;
  /** Numbers of the column families. As varints, the last two need two and three bytes. */
  private static final int[] IDS = {0, 1, 2, 3, 4, 5, 6, 300, 20_000};

  static {
    RocksDB.loadLibrary();
  }

  private static Bytes bytes(String text) {
    return new Bytes(8).bytes(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<String> readByRocksDb(byte[] serialized, int count) throws RocksDBException {
    List<String> read = new ArrayList<>();
    try (WriteBatch batch = new WriteBatch(serialized); Recorder recorder = new Recorder(read)) {
      assertThat(batch.count()).isEqualTo(count);
      batch.iterate(recorder);
    }
    return read;
  }

  @Test
  void rocksDbReadsTheSerializedBatch() throws RocksDBException {
    Batch batch = new Batch(IDS, 1);
    String large = "v".repeat(70_000);
    batch.put(Family.META, bytes("a"), bytes("1"));
    batch.put(Family.RECORDS, bytes("b"), bytes(large));
    batch.delete(Family.META, bytes("c"));
    batch.delete(Family.KEYS, bytes("d"));
    batch.singleDelete(Family.META, bytes("e"));
    batch.singleDelete(Family.ANSWERS, bytes("f"));
    batch.deleteRange(Family.META, "g".getBytes(StandardCharsets.UTF_8), "h".getBytes(StandardCharsets.UTF_8));
    batch.deleteRange(Family.DOCUMENTS, "i".getBytes(StandardCharsets.UTF_8), "j".getBytes(StandardCharsets.UTF_8));
    batch.put(Family.HISTORY, bytes(""), bytes(""));
    assertThat(readByRocksDb(batch.serialized(SYNCED), 9)).containsExactly("log " + SYNCED, "put 0 a 1",
        "put 1 b " + large, "delete 0 c",
        "delete 5 d", "single 0 e", "single 300 f", "range 0 g h", "range 20000 i j", "put 6  ");
  }

  @Test
  void aClearedBatchIsEmpty() throws RocksDBException {
    Batch batch = new Batch(IDS, 1);
    batch.put(Family.META, bytes("a"), bytes("1"));
    assertThat(batch.isEmpty()).isFalse();
    batch.clear();
    assertThat(batch.isEmpty()).isTrue();
    assertThat(readByRocksDb(batch.serialized(1), 0)).containsExactly("log 1");
  }

  private static final class Recorder extends WriteBatch.Handler {
    private final List<String> read;

    Recorder(List<String> read) {
      this.read = read;
    }

    private void add(String operation, int family, byte[]... parts) {
      StringBuilder line = new StringBuilder(operation + " " + family);
      for (byte[] part : parts) {
        line.append(' ').append(new String(part, StandardCharsets.UTF_8));
      }
      read.add(line.toString());
    }

    private static AssertionError unexpected() {
      return new AssertionError("the reader found a kind of entry that was not written");
    }

    @Override
    public void put(int family, byte[] key, byte[] value) {
      add("put", family, key, value);
    }

    @Override
    public void put(byte[] key, byte[] value) {
      add("put", 0, key, value);
    }

    @Override
    public void delete(int family, byte[] key) {
      add("delete", family, key);
    }

    @Override
    public void delete(byte[] key) {
      add("delete", 0, key);
    }

    @Override
    public void singleDelete(int family, byte[] key) {
      add("single", family, key);
    }

    @Override
    public void singleDelete(byte[] key) {
      add("single", 0, key);
    }

    @Override
    public void deleteRange(int family, byte[] from, byte[] to) {
      add("range", family, from, to);
    }

    @Override
    public void deleteRange(byte[] from, byte[] to) {
      add("range", 0, from, to);
    }

    @Override
    public void merge(int family, byte[] key, byte[] value) {
      throw unexpected();
    }

    @Override
    public void merge(byte[] key, byte[] value) {
      throw unexpected();
    }

    @Override
    public void logData(byte[] blob) {
      read.add("log " + Long.reverseBytes(BytesReader.u64(blob, 0)));
    }

    @Override
    public void putBlobIndex(int family, byte[] key, byte[] value) {
      throw unexpected();
    }

    @Override
    public void markBeginPrepare() {
      throw unexpected();
    }

    @Override
    public void markEndPrepare(byte[] xid) {
      throw unexpected();
    }

    @Override
    public void markNoop(boolean emptyBatch) {
      throw unexpected();
    }

    @Override
    public void markRollback(byte[] xid) {
      throw unexpected();
    }

    @Override
    public void markCommit(byte[] xid) {
      throw unexpected();
    }

    @Override
    public void markCommitWithTimestamp(byte[] xid, byte[] timestamp) {
      throw unexpected();
    }
  }
}
