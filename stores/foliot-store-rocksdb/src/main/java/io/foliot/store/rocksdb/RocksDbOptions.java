package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.util.function.Consumer;

/**
 * The options of a store.
 *
 * @param slots the number of slots of a new folder, a power of two from 1 to 65,536. A folder keeps the number that it
 *     was created with
 * @param recordCacheBytes heap for the records of tasks that are running or have a key, so that a settle or a touch
 *     needs no read
 * @param blockCacheBytes native memory for blocks, indexes and filters of files
 * @param writeBufferBytes native memory for data that is in the log and not yet in files
 * @param logBytes the size that the log may reach before its data is written to files. The log is read when the store
 *     is opened, at about 60 MB a second
 * @param reserveBytes the free space that the file system must have; with less, new tasks are refused. The space is for
 *     the log, for write buffers on their way to files and for one merge of files, so that settles continue
 * @param onFailure called once when the store has closed itself after a failure, on a thread of the store
 */
public record RocksDbOptions(int slots, long recordCacheBytes, long blockCacheBytes, long writeBufferBytes,
    long logBytes, long reserveBytes, Consumer<StoreException> onFailure) {
  private static final long MIB = 1 << 20;

  /** The defaults of the {@link Builder}: 128 MiB of heap and 256 + 128 MiB of native memory. */
  public static final RocksDbOptions DEFAULT = builder().build();

  public RocksDbOptions {
    if (slots < 1 || slots > 1 << 16 || Integer.bitCount(slots) != 1) {
      throw new IllegalArgumentException("the number of slots must be a power of two, at most 65536: slots=" + slots);
    }
    if (recordCacheBytes < 0 || blockCacheBytes < 0 || writeBufferBytes < MIB || logBytes < MIB || reserveBytes < 0) {
      throw new IllegalArgumentException(
          "sizes are not negative, and write buffers and log have at least 1 MiB: recordCacheBytes=" + recordCacheBytes
              + ", blockCacheBytes=" + blockCacheBytes + ", writeBufferBytes=" + writeBufferBytes + ", logBytes="
              + logBytes + ", reserveBytes=" + reserveBytes);
    }
  }

  /** Returns a builder in which each option has its default. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns a builder with these options. */
  public Builder toBuilder() {
    return new Builder().slots(slots).recordCacheBytes(recordCacheBytes).blockCacheBytes(blockCacheBytes)
        .writeBufferBytes(writeBufferBytes).logBytes(logBytes).reserveBytes(reserveBytes).onFailure(onFailure);
  }

  /** Builds {@link RocksDbOptions}. Not safe for use by several threads. */
  public static final class Builder {
    private int slots = 256;
    private long recordCacheBytes = 128 * MIB;
    private long blockCacheBytes = 256 * MIB;
    private long writeBufferBytes = 128 * MIB;
    private long logBytes = 128 * MIB;
    private long reserveBytes = 512 * MIB;
    private Consumer<StoreException> onFailure = failure -> {};

    private Builder() {}

    /**
     * Sets the number of slots of a new folder, a power of two from 1 to 65,536; by default 256. A folder keeps the
     * number that it was created with.
     */
    public Builder slots(int value) {
      slots = value;
      return this;
    }

    /**
     * Sets the heap for the records of tasks that are running or have a key, so that a settle or a touch needs no read;
     * not negative, by default 128 MiB.
     */
    public Builder recordCacheBytes(long value) {
      recordCacheBytes = value;
      return this;
    }

    /** Sets the native memory for blocks, indexes and filters of files; not negative, by default 256 MiB. */
    public Builder blockCacheBytes(long value) {
      blockCacheBytes = value;
      return this;
    }

    /** Sets the native memory for data that is in the log and not yet in files, at least 1 MiB; by default 128 MiB. */
    public Builder writeBufferBytes(long value) {
      writeBufferBytes = value;
      return this;
    }

    /**
     * Sets the size that the log may reach before its data is written to files, at least 1 MiB; by default 128 MiB. The
     * log is read when the store is opened, at about 60 MB a second.
     */
    public Builder logBytes(long value) {
      logBytes = value;
      return this;
    }

    /**
     * Sets the free space that the file system must have; not negative, by default 512 MiB. With less, new tasks are
     * refused. This space is for the log, for write buffers on their way to files and for one merge of files, so that
     * settles continue.
     */
    public Builder reserveBytes(long value) {
      reserveBytes = value;
      return this;
    }

    /**
     * Sets the action that is called once when the store has closed itself after a failure, on a thread of the store;
     * by default nothing is called.
     */
    public Builder onFailure(Consumer<StoreException> value) {
      onFailure = value;
      return this;
    }

    /**
     * Returns the options.
     *
     * @throws IllegalArgumentException if an option is out of its range
     */
    public RocksDbOptions build() {
      return new RocksDbOptions(slots, recordCacheBytes, blockCacheBytes, writeBufferBytes, logBytes, reserveBytes,
          onFailure);
    }
  }
}
