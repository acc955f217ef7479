package io.foliot.store.rocksdb;

import io.foliot.core.store.Backups.Backup;
import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.rocksdb.BackupEngine;
import org.rocksdb.BackupEngineOptions;
import org.rocksdb.BackupInfo;
import org.rocksdb.Env;
import org.rocksdb.RestoreOptions;
import org.rocksdb.RocksDBException;

/** A folder of backups. Each backup after the first copies only files that earlier backups do not have. */
final class BackupFolder implements AutoCloseable {
  private final Path folder;
  private final BackupEngineOptions options;
  private final BackupEngine engine;

  BackupFolder(Path folder) {
    this.folder = folder;
    NativeLibrary.load();
    try {
      OwnerOnly.createFolders(folder);
    } catch (IOException e) {
      throw new StoreException("the folder for backups cannot be created: folder=" + folder + ": " + e, e);
    }
    options = new BackupEngineOptions(folder.toString()).setSync(true).setShareTableFiles(true)
        .setShareFilesWithChecksum(true).setBackupLogFiles(true);
    try {
      engine = BackupEngine.open(Env.getDefault(), options);
    } catch (RocksDBException e) {
      options.close();
      throw Database.failure("the folder for backups cannot be used: folder=" + folder, e);
    }
  }

  Backup add(Database db) {
    try {
      // No flush is needed because the log is part of the backup. Writes continue at full speed.
      engine.createNewBackup(db.rocksDb(), false);
    } catch (RocksDBException e) {
      throw Database.failure("the backup failed: folder=" + folder, e);
    }
    narrow();
    Backup made = list().getLast();
    for (int broken : engine.getCorruptedBackups()) {
      if (broken == made.number()) {
        throw new StoreException("the backup is broken: folder=" + folder + ", number=" + broken, null);
      }
    }
    return made;
  }

  private void narrow() {
    try {
      OwnerOnly.narrow(folder);
    } catch (IOException e) {
      throw new StoreException("the backup was made, but other users of this machine may be able to read it, because "
          + "its permissions cannot be narrowed: folder=" + folder + ": " + e, e);
    }
  }

  List<Backup> list() {
    return engine.getBackupInfo().stream().map(BackupFolder::backup).toList();
  }

  private static Backup backup(BackupInfo info) {
    return new Backup(info.backupId(), Instant.ofEpochSecond(info.timestamp()), info.size());
  }

  /** Restores the latest backup into an empty folder, and verifies the checksum of every file. */
  void restoreLatest(StoreFolder target) {
    if (list().isEmpty()) {
      throw new StoreException("the folder holds no backup: folder=" + folder, null);
    }
    try (Stream<Path> existing = Files.exists(target.path()) ? Files.list(target.path()) : Stream.empty()) {
      if (existing.findAny().isPresent()) {
        throw new StoreException("a backup is restored into an empty folder only: folder=" + target.path(), null);
      }
      OwnerOnly.createFolders(target.rocks());
    } catch (IOException e) {
      throw new StoreException("the folder cannot be used: folder=" + target.path() + ": " + e, e);
    }
    try (RestoreOptions keepNoLogs = new RestoreOptions(false)) {
      engine.restoreDbFromLatestBackup(target.rocks().toString(), target.rocks().toString(), keepNoLogs);
    } catch (RocksDBException e) {
      throw Database.failure("the backup could not be restored: from=" + folder + ", to=" + target.path(), e);
    }
    target.narrow();
    target.writeNote();
  }

  @Override
  public void close() {
    engine.close();
    options.close();
  }
}
