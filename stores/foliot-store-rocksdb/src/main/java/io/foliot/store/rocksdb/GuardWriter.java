package io.foliot.store.rocksdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A thread that updates the {@link Guard} of an open store shortly after its commits. An update writes and syncs one
 * page, or nothing if the durable state is unchanged. Only the close of the store waits for this thread.
 *
 * <p><b>Invariant.</b> The guard never names data that a power loss could still remove. It holds the sequence number of
 * the last entry of the last synced commit. The MANIFEST and its folder are synced here before the guard records the
 * MANIFEST's length.
 */
final class GuardWriter {
  private static final System.Logger LOG = System.getLogger(GuardWriter.class.getName());
  /** Interval between updates. A loss of commits that are younger than this interval may go undetected. */
  private static final long INTERVAL_MILLIS = 200;
  private static final int BUFFER = 64 << 10;

  private final Path folder;
  private final Path rocks;
  private final Thread thread = Writer.daemon(this::run, "foliot-rocksdb-guard");

  // guarded by this
  private boolean closing;
  private boolean hasFailed;
  private LongSupplier sequence;
  private @Nullable Guard written;
  /** The number of the MANIFEST that {@link #sum} covers, or -1 at first. */
  private long summedManifest = -1;
  /** The number of bytes from the beginning of the MANIFEST that {@link #sum} covers. */
  private long summedBytes;
  private final CRC32C sum = new CRC32C();

  /**
   * Creates a writer that has not written yet.
   *
   * @param sequence returns the sequence number of the last synced entry of the log
   */
  GuardWriter(StoreFolder folder, LongSupplier sequence) throws IOException {
    this.folder = folder.path();
    rocks = folder.rocks();
    this.sequence = sequence;
    written = Guard.read(this.folder);
  }

  void start() {
    thread.start();
  }

  private synchronized void run() {
    while (!closing) {
      try {
        update();
        hasFailed = false;
      } catch (IOException e) {
        if (!hasFailed) {
          LOG.log(System.Logger.Level.WARNING,
              "the guard cannot be written, so damage to commits from now on "
                  + "may go unnoticed; the write is tried again: folder=" + folder,
              e);
        }
        hasFailed = true;
      }
      try {
        TimeUnit.MILLISECONDS.timedWait(this, INTERVAL_MILLIS);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  /** Records the durable state, unless the guard already holds this state. */
  synchronized void update() throws IOException {
    long reached = sequence.getAsLong();
    Path manifest = Manifest.current(rocks);
    if (manifest == null) {
      throw new IOException("CURRENT names no MANIFEST: folder=" + rocks);
    }
    long number = Manifest.number(manifest);
    if (number != summedManifest) {
      summedManifest = number;
      summedBytes = 0;
      sum.reset();
    }
    try (FileChannel channel = FileChannel.open(manifest, StandardOpenOption.READ)) {
      long length = channel.size();
      if (length > summedBytes) {
        channel.force(false);
        StoreFolder.sync(rocks);
        sum(channel, length);
        OwnerOnly.narrow(rocks);
      }
    } catch (NoSuchFileException e) {
      // RocksDB has just begun the next MANIFEST and deleted this MANIFEST.
      return;
    }
    Guard before = written;
    Guard guard = new Guard(before == null ? 1 : before.count() + 1, number, summedBytes, (int) sum.getValue(),
        reached);
    if (!guard.hasSameState(before)) {
      guard.write(folder);
      written = guard;
    }
  }

  /** Adds the bytes of the MANIFEST up to this length to the checksum. */
  private void sum(FileChannel channel, long length) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(BUFFER, length - summedBytes));
    while (summedBytes < length) {
      buffer.clear().limit((int) Math.min(buffer.capacity(), length - summedBytes));
      int count = channel.read(buffer, summedBytes);
      if (count < 0) {
        throw new IOException("the MANIFEST became shorter: bytes=" + summedBytes + ", before=" + length);
      }
      sum.update(buffer.flip());
      summedBytes += count;
    }
  }

  /** Ends the thread and waits for its end. */
  void stop() {
    synchronized (this) {
      closing = true;
      notifyAll();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Writes the last record, after RocksDB is closed. */
  synchronized void finish(long lastSequence) {
    sequence = () -> lastSequence;
    try {
      update();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "the last guard cannot be written; the previous guard remains valid: folder="
          + folder, e);
    }
  }
}
