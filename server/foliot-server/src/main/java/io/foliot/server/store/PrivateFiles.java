package io.foliot.server.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Folders and files that only the user of this process may read, regardless of the umask. They contain payloads,
 * headers with credentials, and secrets of callbacks in clear text. On a file system without POSIX permissions, they
 * have its default access.
 */
public final class PrivateFiles {
  private static final Logger log = LoggerFactory.getLogger(PrivateFiles.class);
  private static final Set<PosixFilePermission> OF_FOLDER = PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OF_FILE = PosixFilePermissions.fromString("rw-------");

  private PrivateFiles() {}

  private static boolean hasPermissions(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
    return hasPermissions(path)
        ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(permissions)}
        : new FileAttribute<?>[0];
  }

  /** Ensures that a folder and its parents exist. The folders that this method creates are private. */
  public static void ensureFolder(Path folder) throws IOException {
    Files.createDirectories(folder, attributes(folder, OF_FOLDER));
  }

  /**
   * Creates a folder that only Foliot uses, or makes it private if it exists. Logs a warning if its permissions cannot
   * be changed.
   */
  public static void ensureOwnFolder(Path folder) throws IOException {
    ensureFolder(folder);
    restrict(folder, OF_FOLDER);
  }

  /** Writes and syncs a private file, and replaces an existing one. */
  public static void write(Path file, String text) throws IOException {
    if (!Files.exists(file)) {
      Files.createFile(file, attributes(file, OF_FILE));
    }
    restrict(file, OF_FILE);
    Files.writeString(file, text, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE,
        StandardOpenOption.SYNC);
  }

  /** Removes all permissions of other users on a file. Logs a warning if that fails. */
  public static void restrictFile(Path file) {
    restrict(file, OF_FILE);
  }

  private static void restrict(Path path, Set<PosixFilePermission> permissions) {
    if (!hasPermissions(path)) {
      return;
    }
    try {
      if (!permissions.containsAll(Files.getPosixFilePermissions(path))) {
        Files.setPosixFilePermissions(path, permissions);
      }
    } catch (IOException e) {
      // The path may belong to another user, for example. The server starts nevertheless.
      log.warn("cannot restrict a file, so other users may be able to read it; remove their permissions: path={},"
          + " reason={}",
          path,
          e.toString());
    }
  }

  /** Returns whether the group or any other user may read a file; false if the permissions cannot be read. */
  public static boolean isReadableByOthers(Path file) {
    try {
      Set<PosixFilePermission> permissions = hasPermissions(file) ? Files.getPosixFilePermissions(file) : Set.of();
      return permissions.contains(PosixFilePermission.GROUP_READ)
          || permissions.contains(PosixFilePermission.OTHERS_READ);
    } catch (IOException | UnsupportedOperationException e) {
      return false;
    }
  }
}
