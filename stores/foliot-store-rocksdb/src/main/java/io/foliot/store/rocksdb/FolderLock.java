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
 * The exclusive right to a store's folder. An open RocksDB holds a lock on its file LOCK. This class holds the same
 * lock earlier, while the files are checked. So the files do not change during the check, and a folder in use is not
 * mistaken for a damaged folder.
 *
 * <p>A file lock belongs to the whole process, and is released when any channel of the file is closed. A set therefore
 * holds the folders that are open in this process, and the LOCK files of these folders are not opened again.
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
   * @throws StoreException if the store is open in this process or in another process
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
    return new StoreException("the store is in use by another process, or is already open in this process: folder="
        + folder.path() + "; stop that process, or give each process a folder of its own", cause);
  }

  /** Returns whether the folder is free: not locked by this process or another process. */
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
      // Either LOCK does not exist yet, or it is read-only for this process, and RocksDB will fail to open it.
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

  /** Releases the lock of the file, so that RocksDB can take the lock. */
  void handOver() {
    FileChannel opened = channel;
    channel = null;
    try {
      if (opened != null) {
        opened.close();
      }
    } catch (IOException e) {
      throw new StoreException("a lock cannot be released: folder=" + folder + ": " + e, e);
    }
  }

  /** Releases the folder. Callers must close RocksDB first. */
  @Override
  public void close() {
    try {
      handOver();
    } finally {
      HELD.remove(folder);
    }
  }
}
