package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The exclusive right to a store's folder. RocksDB locks its file LOCK while it is open. This class holds the same lock
 * while files are checked before that, so that they do not change meanwhile, and so that a folder in use is not
 * mistaken for a damaged one.
 *
 * <p>The system's locks belong to the process, and closing any channel of a locked file releases them. A set therefore
 * holds the folders that are open in this process, and their LOCK files are not opened again.
 */
final class FolderLock implements AutoCloseable {
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private final Path folder;
  private @Nullable FileChannel channel;

  private FolderLock(Path folder) {
    this.folder = folder;
  }

  /**
   * Takes the exclusive right to a folder.
   *
   * @throws StoreException if the store is open in this process or another
   */
  static FolderLock of(StoreFolder folder) throws IOException {
    FolderLock lock = new FolderLock(folder.path().toRealPath());
    if (!HELD.add(lock.folder)) {
      throw inUse(folder, null);
    }
    boolean locked = false;
    try {
      locked = lock.lock(folder.rocks().resolve("LOCK"));
      if (!locked) {
        throw inUse(folder, null);
      }
      return lock;
    } finally {
      if (!locked) {
        lock.close();
      }
    }
  }

  static StoreException inUse(StoreFolder folder, @Nullable Throwable cause) {
    return new StoreException("the store is in use by another process, or is open in this one already: folder="
        + folder.path() + "; stop that process, or give each its own folder", cause);
  }

  /** Returns whether a store could be opened in a folder, as far as locks go. */
  static boolean isFree(StoreFolder folder) throws IOException {
    Path real = folder.path().toRealPath();
    if (!HELD.add(real)) {
      return false;
    }
    try (FolderLock lock = new FolderLock(real)) {
      return lock.lock(folder.rocks().resolve("LOCK"));
    }
  }

  private boolean lock(Path file) throws IOException {
    if (!Files.isWritable(file)) {
      // A new folder without LOCK, or a LOCK that this process, and RocksDB in it, cannot open for writing.
      return true;
    }
    FileChannel opened = FileChannel.open(file, StandardOpenOption.WRITE);
    channel = opened;
    try {
      FileLock lock = opened.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /** Releases the lock of the file, for RocksDB to take. */
  void handOver() {
    FileChannel opened = channel;
    channel = null;
    try {
      if (opened != null) {
        opened.close();
      }
    } catch (IOException e) {
      throw new StoreException("a lock cannot be released: " + folder + ": " + e, e);
    }
  }

  /** Releases the folder; RocksDB is closed by then. */
  @Override
  public void close() {
    try {
      handOver();
    } finally {
      HELD.remove(folder);
    }
  }
}
