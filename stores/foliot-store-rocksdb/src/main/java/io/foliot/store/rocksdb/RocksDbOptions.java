package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.util.function.Consumer;

/**
 * How a store shall be.
 *
 * @param slots how many slots a new folder gets; a power of two from 1 to 65,536. A folder keeps what it was made with
 * @param recordCacheBytes heap for records of keyed and of running tasks, so that a touch or a settle needs no read
 * @param blockCacheBytes native memory for blocks, indexes and filters of files
 * @param writeBufferBytes native memory for what is in the log and not yet in files
 * @param logBytes how long the log gets before what is in it is written to files: it is read when the store is opened,
 *     at about 100 MB a second
 * @param reserveBytes free space of the file system below which submits are refused: room for the log, for write
 *     buffers on their way to files and for one merge of files, so that settles go on
 * @param onFailure told once when the store has closed itself; called on a thread of the store's
 */
public record RocksDbOptions(int slots, long recordCacheBytes, long blockCacheBytes, long writeBufferBytes,
    long logBytes, long reserveBytes, Consumer<StoreException> onFailure) {
  private static final long MIB = 1 << 20;

  /** 256 slots; 128 MiB of heap; 256 + 128 MiB of native memory; a log of 128 MiB; a reserve of 512 MiB. */
  public static final RocksDbOptions DEFAULT = new RocksDbOptions(256, 128 * MIB, 256 * MIB, 128 * MIB, 128 * MIB,
      512 * MIB, failure -> {});

  public RocksDbOptions {
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("the number of slots is a power of two up to 65536: slots=" + slots);
    }
    if (recordCacheBytes < 0 || blockCacheBytes < 0 || writeBufferBytes < MIB || logBytes < MIB || reserveBytes < 0) {
      throw new IllegalArgumentException(
          "sizes are not negative, and write buffers and log have at least 1 MiB: recordCacheBytes=" + recordCacheBytes
              + ", blockCacheBytes=" + blockCacheBytes + ", writeBufferBytes=" + writeBufferBytes + ", logBytes="
              + logBytes + ", reserveBytes=" + reserveBytes);
    }
  }

  /** The same with another number of slots. */
  public RocksDbOptions withSlots(int newSlots) {
    return new RocksDbOptions(newSlots, recordCacheBytes, blockCacheBytes, writeBufferBytes, logBytes, reserveBytes,
        onFailure);
  }

  /** The same with another cache of records. */
  public RocksDbOptions withRecordCacheBytes(long newRecordCacheBytes) {
    return new RocksDbOptions(slots, newRecordCacheBytes, blockCacheBytes, writeBufferBytes, logBytes, reserveBytes,
        onFailure);
  }

  /** The same with other native memory. */
  public RocksDbOptions withNativeBytes(long newBlockCacheBytes, long newWriteBufferBytes) {
    return new RocksDbOptions(slots, recordCacheBytes, newBlockCacheBytes, newWriteBufferBytes, logBytes, reserveBytes,
        onFailure);
  }

  /** The same with another length of the log. */
  public RocksDbOptions withLogBytes(long newLogBytes) {
    return new RocksDbOptions(slots, recordCacheBytes, blockCacheBytes, writeBufferBytes, newLogBytes, reserveBytes,
        onFailure);
  }

  /** The same with another reserve. */
  public RocksDbOptions withReserveBytes(long newReserveBytes) {
    return new RocksDbOptions(slots, recordCacheBytes, blockCacheBytes, writeBufferBytes, logBytes, newReserveBytes,
        onFailure);
  }

  /** The same with another one to be told. */
  public RocksDbOptions withOnFailure(Consumer<StoreException> newOnFailure) {
    return new RocksDbOptions(slots, recordCacheBytes, blockCacheBytes, writeBufferBytes, logBytes, reserveBytes,
        newOnFailure);
  }
}
