package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import io.foliot.core.store.format.DamagedException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.BuiltinComparator;
import org.rocksdb.Cache;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.LRUCache;
import org.rocksdb.Logger;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;
import org.rocksdb.WALRecoveryMode;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The RocksDB under the store: its families, its tuning, and its errors as {@link StoreException}. Any thread may read;
 * one thread writes.
 *
 * <p><b>Visibility.</b> RocksDB's ordinary write path appends to the log, syncs it, inserts into the memtable, and only
 * then publishes a sequence number. Reads see entries up to this number, so no read sees a write that is not synced.
 * The options that would break this (pipelined and unordered writes, two write queues) stay off. Only commits that do
 * no more than move index entries are visible without a sync ({@link #writeUnsynced}). If a power loss undoes a move,
 * the node moves the entry again.
 */
final class Database implements AutoCloseable {
  private static final int BLOOM_BITS = 10;
  private static final int BLOCK_BYTES = 8 << 10;
  /** Background threads, for flushes and merges. There may be only two cores, and callers need them too. */
  private static final int BACKGROUND_JOBS = 2;
  private static final int OPEN_FILES = 1024;
  private static final long INFO_LOG_BYTES = 4L << 20;
  private static final int INFO_LOGS = 3;

  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final RocksDB db;
  private final ColumnFamilyHandle[] handles = new ColumnFamilyHandle[Family.values().length];
  private final WriteOptions synced;
  private final WriteOptions unsynced;
  // written by the writer, read by any thread
  private volatile long syncedSequence;
  private final ReadOptions plain;
  private final Cache blockCache;

  private enum Mode {
    CREATE, EXISTING, READ_ONLY
  }

  private Database(Path folder, RocksDbOptions options, Mode mode) throws RocksDBException {
    NativeLibrary.load();
    boolean opened = false;
    try {
      blockCache = own(new LRUCache(options.blockCacheBytes(), 4, false, 0.5));
      List<ColumnFamilyDescriptor> descriptors = new ArrayList<>();
      for (Family family : Family.values()) {
        descriptors.add(new ColumnFamilyDescriptor(family.text.getBytes(StandardCharsets.US_ASCII),
            familyOptions(family, options)));
      }
      List<ColumnFamilyHandle> openedHandles = new ArrayList<>();
      DBOptions settings = dbOptions(options, mode);
      db = mode == Mode.READ_ONLY
          ? RocksDB.openReadOnly(settings, folder.toString(), descriptors, openedHandles)
          : RocksDB.open(settings, folder.toString(), descriptors, openedHandles);
      for (int i = 0; i < handles.length; i++) {
        handles[i] = openedHandles.get(i);
      }
      synced = own(new WriteOptions().setSync(true));
      unsynced = own(new WriteOptions());
      // Unless it is read-only, an open of RocksDB moves the data of the log into synced files before it returns.
      syncedSequence = db.getLatestSequenceNumber();
      plain = own(new ReadOptions());
      opened = true;
    } finally {
      if (!opened) {
        release();
      }
    }
  }

  /** Opens an existing database, or creates a new one if {@code create} is true. */
  static Database open(Path folder, RocksDbOptions options, boolean create) {
    return open(folder, options, create ? Mode.CREATE : Mode.EXISTING);
  }

  /** Opens an existing database without writing anything, not even RocksDB's own log of events. */
  static Database openReadOnly(Path folder, RocksDbOptions options) {
    return open(folder, options, Mode.READ_ONLY);
  }

  private static Database open(Path folder, RocksDbOptions options, Mode mode) {
    try {
      return new Database(folder, options, mode);
    } catch (RocksDBException e) {
      throw failure("the database cannot be opened: folder=" + folder, e);
    }
  }

  private <T extends AutoCloseable> T own(T resource) {
    owned.push(resource);
    return resource;
  }

  private DBOptions dbOptions(RocksDbOptions options, Mode mode) {
    Properties byName = new Properties();
    // With this option RocksDB detects a log that is missing or cut short, unless it is the last log. The Java API
    // accepts the option by name only. (The newer option track_and_verify_wals is marked experimental; LogCheck finds
    // the same damage.)
    byName.setProperty("track_and_verify_wals_in_manifest", "true");
    DBOptions parsed = DBOptions.getDBOptionsFromProps(byName);
    if (parsed == null) {
      throw new IllegalStateException("this version of RocksDB does not have all options: options=" + byName);
    }
    if (mode == Mode.READ_ONLY) {
      parsed.setLogger(own(new Silence()));
    }
    boolean create = mode == Mode.CREATE;
    return own(parsed).setCreateIfMissing(create).setCreateMissingColumnFamilies(create).setParanoidChecks(true)
        .setWalRecoveryMode(WALRecoveryMode.PointInTimeRecovery).setMaxTotalWalSize(options.logBytes())
        .setDbWriteBufferSize(options.writeBufferBytes()).setMaxBackgroundJobs(BACKGROUND_JOBS)
        .setAllowConcurrentMemtableWrite(false).setMaxOpenFiles(OPEN_FILES).setBytesPerSync(1 << 20)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL).setMaxLogFileSize(INFO_LOG_BYTES).setKeepLogFileNum(INFO_LOGS)
        .setStatsDumpPeriodSec(0).setStatsPersistPeriodSec(0);
  }

  private ColumnFamilyOptions familyOptions(Family family, RocksDbOptions options) {
    BlockBasedTableConfig table = new BlockBasedTableConfig().setBlockCache(blockCache).setBlockSize(BLOCK_BYTES)
        .setCacheIndexAndFilterBlocks(true).setCacheIndexAndFilterBlocksWithHighPriority(true)
        .setPinL0FilterAndIndexBlocksInCache(true).setFormatVersion(5);
    // Lookups in these families often find nothing.
    boolean hasBloomFilter = switch (family) {
      case RECORDS, KEYS, HISTORY, ANSWERS, BODIES -> true;
      case META, INDEX, PARKED, DOCUMENTS -> false;
    };
    if (hasBloomFilter) {
      table.setFilterPolicy(own(new BloomFilter(BLOOM_BITS)));
    }
    ColumnFamilyOptions settings = own(new ColumnFamilyOptions());
    settings.setComparator(BuiltinComparator.BYTEWISE_COMPARATOR);
    settings.setTableFormatConfig(table).setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(Math.max(1 << 20, options.writeBufferBytes() / 4)).setMaxWriteBufferNumber(4)
        .setLevelCompactionDynamicLevelBytes(true).setForceConsistencyChecks(true);
    if (hasBloomFilter) {
      settings.setMemtablePrefixBloomSizeRatio(0.02).setMemtableWholeKeyFiltering(true);
    }
    return settings;
  }

  int[] familyIds() {
    int[] ids = new int[handles.length];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = handles[i].getID();
    }
    return ids;
  }

  private ColumnFamilyHandle handle(Family family) {
    return handles[family.place];
  }

  byte @Nullable [] get(Family family, byte[] key) {
    try {
      return db.get(handle(family), plain, key);
    } catch (RocksDBException e) {
      throw failure("a read failed", e);
    }
  }

  byte @Nullable [] get(Family family, View view, byte[] key) {
    try {
      return db.get(handle(family), view.options, key);
    } catch (RocksDBException e) {
      throw failure("a read failed", e);
    }
  }

  /** Returns the values of many keys, null for those that are absent. */
  List<byte @Nullable []> getAll(Family family, List<byte[]> keys) {
    if (keys.isEmpty()) {
      return List.of();
    }
    try {
      return db.multiGetAsList(plain, Collections.nCopies(keys.size(), handle(family)), keys);
    } catch (RocksDBException e) {
      throw failure("a read failed", e);
    }
  }

  /** Writes a batch and syncs the log. Reads see the batch when this method returns, and never before the sync. */
  void write(Batch batch) {
    write(batch, synced);
    syncedSequence = db.getLatestSequenceNumber();
  }

  /** Writes a batch without a sync. Until the next synced write, a power loss may undo the batch. */
  void writeUnsynced(Batch batch) {
    write(batch, unsynced);
  }

  private void write(Batch batch, WriteOptions options) {
    try (WriteBatch writeBatch = new WriteBatch(batch.serialized(syncedSequence))) {
      db.write(options, writeBatch);
    } catch (RocksDBException e) {
      throw failure("a write or its sync failed, so the contents of the log are unknown", e);
    }
  }

  /** Deletes the files that hold only keys of a deleted range: {@code from} is inclusive, {@code to} is exclusive. */
  void dropFiles(Family family, byte[] from, byte[] to) {
    try {
      db.deleteFilesInRanges(handle(family), List.of(from, to), false);
    } catch (RocksDBException e) {
      throw failure("files of expired tasks could not be deleted", e);
    }
  }

  /** Returns a view of all data as it is now. The caller closes the view soon. */
  View view() {
    return new View();
  }

  /** Returns the bounds of an iterator over all keys with a prefix. The caller closes the bounds. */
  Range range(byte[] prefix) {
    return new Range(prefix, Layout.behind(prefix));
  }

  RocksIterator iterator(Family family, Range range) {
    return db.newIterator(handle(family), range.options);
  }

  RocksIterator iterator(Family family) {
    return db.newIterator(handle(family), plain);
  }

  RocksIterator iterator(Family family, View view) {
    return db.newIterator(handle(family), view.options);
  }

  /** Throws if an iterator ended because a read failed. */
  static void check(RocksIterator iterator) {
    try {
      iterator.status();
    } catch (RocksDBException e) {
      throw failure("a read failed", e);
    }
  }

  /** Writes the memtables to files, so that the next open has no log to read. */
  void flush() {
    try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
      db.flush(options, List.of(handles));
    } catch (RocksDBException e) {
      throw failure("a flush failed", e);
    }
  }

  /** Returns one of RocksDB's numeric properties, summed over all families. */
  long number(String property) {
    try {
      return db.getAggregatedLongProperty(property);
    } catch (RocksDBException e) {
      throw failure("a property could not be read", e);
    }
  }

  /** Returns the sequence number of the latest synced entry. */
  long lastSequence() {
    return syncedSequence;
  }

  long logBytes() {
    try {
      return db.getSortedWalFiles().stream().mapToLong(file -> file.sizeFileBytes()).sum();
    } catch (RocksDBException e) {
      throw failure("the log's size could not be read", e);
    }
  }

  RocksDB rocksDb() {
    return db;
  }

  @Override
  public void close() {
    for (ColumnFamilyHandle handle : handles) {
      handle.close();
    }
    db.close();
    release();
  }

  private void release() {
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (Exception e) {
        throw new IllegalStateException("native memory could not be released", e);
      }
    }
  }

  /** Returns the exception for an error of RocksDB. If the data is damaged, the message includes what to do. */
  static StoreException failure(String what, RocksDBException e) {
    Status status = e.getStatus();
    boolean damaged = status != null && status.getCode() == Status.Code.Corruption;
    String message = what + ": " + e.getMessage();
    return damaged
        ? new DamagedException(message + "; restore a backup, or ask for help and leave the folder unchanged", e)
        : new StoreException(message, e);
  }

  /** A logger that writes nothing. It replaces RocksDB's file of messages. */
  private static final class Silence extends Logger {
    Silence() {
      super(InfoLogLevel.FATAL_LEVEL);
    }

    @Override
    protected void log(InfoLogLevel level, String message) {
      // RocksDB also reports important events as exceptions.
    }
  }

  /** A view of all data at one moment. RocksDB keeps old versions of the data until the view is closed. */
  final class View implements AutoCloseable {
    private final Snapshot snapshot = Objects.requireNonNull(db.getSnapshot());
    private final ReadOptions options = new ReadOptions().setSnapshot(snapshot);

    @Override
    public void close() {
      options.close();
      db.releaseSnapshot(snapshot);
    }
  }

  /** The bounds of an iterator over all keys with a prefix. */
  static final class Range implements AutoCloseable {
    private final Slice lower;
    private final Slice upper;
    private final ReadOptions options;

    private Range(byte[] prefix, byte[] behind) {
      lower = new Slice(prefix);
      upper = new Slice(behind);
      options = new ReadOptions().setIterateLowerBound(lower).setIterateUpperBound(upper);
    }

    @Override
    public void close() {
      options.close();
      lower.close();
      upper.close();
    }
  }
}
