package io.foliot.core.store;

import java.nio.file.Path;
import java.time.Instant;

/** Backups of a store that is open. A capability: see {@link TaskStore#capability}. */
public interface Backups {
  /**
   * Adds a backup of the whole store to a folder of backups while the store is in use. Blocks until the backup is
   * complete and durable.
   *
   * @param folder a folder for backups of this store alone; existing backups in the folder are kept
   * @throws StoreException if the backup fails or the store is closed; the message says what to do
   */
  Backup backup(Path folder);

  /**
   * A backup.
   *
   * @param number the number of the backup, which increases within its folder
   * @param madeAt when the backup was made
   * @param bytes the length of all files of the backup; backups in one folder may share files
   */
  record Backup(int number, Instant madeAt, long bytes) {}
}
