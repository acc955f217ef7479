package io.foliot.server.api;

import java.io.IOException;
import java.nio.file.Path;

/** What can write a copy of the store while it is open. */
@FunctionalInterface
public interface Backups {
  /**
   * Writes a backup and waits until it is done.
   *
   * @param directory a folder for backups of this store alone; one that is there already gets a further backup
   * @throws IOException if it cannot be written, with what to do
   */
  Written write(Path directory) throws IOException;

  /**
   * What was written.
   *
   * @param number of the backup in its folder
   * @param bytes of everything it refers to
   */
  record Written(int number, long bytes) {}
}
