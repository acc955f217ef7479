package io.foliot.store.rocksdb;

import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks the folder of a store against its expected contents, before RocksDB opens the folder. If the MANIFEST was cut
 * at the end of an edit, or the last log is missing, RocksDB opens an older state. It then deletes all files that are
 * not part of this state. Damage that this check misses therefore loses data permanently. A refused folder is left
 * unchanged.
 *
 * <ul>
 * <li>The {@linkplain Guard guard} has recorded a length and a checksum of the MANIFEST. The MANIFEST is at least this
 * long, and its first bytes, up to this length, have this checksum.
 * <li>Each table file that the MANIFEST names is present, and has the recorded length.
 * <li>Each closed log that RocksDB still needs is present, and is at least as long as its synced part.
 * <li>The log is whole except for commits that were not synced, and has no gaps ({@link LogCheck}).
 * <li>MANIFEST and log together reach the last commit that the guard has recorded.
 * </ul>
 *
 * <p>The guard is written shortly after the commits ({@link GuardWriter}). If a crash and damage together remove
 * commits that are younger than the guard, the loss is not detected. To detect such a loss, each commit would need a
 * second sync, for a record outside the log.
 *
 * <p>Two alternatives were rejected. The check could refuse table files that the MANIFEST does not name. However, a
 * crash leaves such files too: outputs of a merge that are not yet installed, and inputs that are not yet deleted. The
 * check could also open RocksDB read-only first. However, this reads the log twice, and detects neither a cut MANIFEST
 * nor a missing last log.
 */
final class FolderCheck {
  private final StoreFolder folder;
  private final LogCheck logs;

  FolderCheck(StoreFolder folder) {
    this.folder = folder;
    logs = new LogCheck(folder.rocks());
  }

  /**
   * Checks that no acknowledged data is missing or damaged. Changes nothing.
   *
   * @return whether the folder holds a RocksDB store at all
   * @throws DamagedException if acknowledged data is missing or damaged
   */
  boolean check() throws IOException {
    Path current = Manifest.current(folder.rocks());
    if (current == null && !Files.exists(folder.rocks().resolve("CURRENT"))) {
      return false;
    }
    if (current == null || !Files.exists(current)) {
      throw new DamagedException("CURRENT does not name an existing MANIFEST: folder=" + folder.rocks(), null);
    }
    Manifest manifest = Manifest.read(current);
    Guard guard = readGuard();
    if (guard != null) {
      check(manifest, guard);
    }
    if (manifest.isUnderstood()) {
      checkFiles(manifest);
    }
    // If the MANIFEST is not understood, any log may be one that RocksDB no longer needs.
    long lastInLog = logs.check(manifest.isUnderstood() ? manifest.firstLog() : Long.MAX_VALUE);
    if (guard != null && manifest.isUnderstood()) {
      long last = Math.max(manifest.lastSequence(), lastInLog);
      if (last < guard.sequence()) {
        throw new DamagedException("the end of the log is missing, and commits in it were acknowledged: folder="
            + folder.rocks() + ", lastEntry=" + last + ", acknowledged=" + guard.sequence(), null);
      }
    }
    return true;
  }

  /** Removes the torn tails of logs that {@link #check} has tolerated. {@link #check} must have returned. */
  void removeTails() throws IOException {
    logs.removeTails();
  }

  private @Nullable Guard readGuard() throws IOException {
    try {
      return Guard.read(folder.path());
    } catch (Guard.UnreadableException e) {
      throw new DamagedException("the guard is damaged, so missing data cannot be detected: "
          + e.getMessage(), e);
    }
  }

  private static void check(Manifest manifest, Guard guard) {
    if (manifest.number() < guard.manifest()) {
      throw new DamagedException("CURRENT names an older MANIFEST than was in use: found=" + manifest.path()
          + ", inUse=" + guard.manifest(), null);
    }
    // A crash can come before the guard records a newer MANIFEST. CURRENT names a MANIFEST only when it is complete.
    if (manifest.number() > guard.manifest()) {
      return;
    }
    if (manifest.length() < guard.manifestBytes()) {
      throw new DamagedException("the MANIFEST was cut, so RocksDB would delete files with acknowledged tasks: "
          + "file=" + manifest.path() + ", bytes=" + manifest.length() + ", expected=" + guard.manifestBytes(), null);
    }
    if (manifest.sum((int) guard.manifestBytes()) != guard.manifestSum()) {
      throw new DamagedException("the MANIFEST was changed: its checksum does not match: file=" + manifest.path()
          + ", bytes=" + guard.manifestBytes(), null);
    }
  }

  static String tableName(long number) {
    return String.format("%06d.sst", number);
  }

  private void checkFiles(Manifest manifest) throws IOException {
    for (Map.Entry<Long, Long> file : manifest.fileBytes().entrySet()) {
      ensure(tableName(file.getKey()), file.getValue(), true);
    }
    for (Map.Entry<Long, Long> log : manifest.logBytes().entrySet()) {
      if (log.getKey() >= manifest.firstLog()) {
        ensure(String.format("%06d.log", log.getKey()), log.getValue(), false);
      }
    }
  }

  private void ensure(String name, long bytes, boolean isExact) throws IOException {
    Path file = folder.rocks().resolve(name);
    if (!Files.exists(file)) {
      throw new DamagedException("a file with acknowledged tasks is missing: file=" + file + ", bytes=" + bytes, null);
    }
    long found = Files.size(file);
    if (found < bytes || (isExact && found != bytes)) {
      throw new DamagedException("a file with acknowledged tasks has a wrong length: file=" + file + ", bytes="
          + found + ", expected=" + bytes, null);
    }
  }
}
