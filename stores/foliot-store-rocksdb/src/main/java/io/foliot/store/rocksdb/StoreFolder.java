package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The folder of a store. It contains a note with the format, and a subfolder with RocksDB's files. The note is written
 * last, after everything else was written and synced. A folder without a note is therefore new, or its creation was
 * interrupted.
 */
final class StoreFolder {
  /**
   * The format that is written, and the only format that is read. Format 1 stored enum constants by their names. In
   * format 2, the ids of addressed tasks had other bits.
   */
  static final int FORMAT = 3;

  private static final System.Logger LOG = System.getLogger(StoreFolder.class.getName());
  private static final String NOTE = "foliot-store";
  private static final String ROCKS = "rocks";
  private static final String FIRST_WORDS = "Foliot store on RocksDB, format ";

  /** The files that a folder without a note may contain. */
  private static final Set<String> OWN = Set.of(ROCKS, NOTE + ".new", Guard.FILE, Guard.FILE + ".new",
      NativeLibrary.FOLDER);

  private final Path folder;

  StoreFolder(Path folder) {
    this.folder = folder.toAbsolutePath().normalize();
  }

  Path path() {
    return folder;
  }

  Path rocks() {
    return folder.resolve(ROCKS);
  }

  /**
   * Creates the folder if necessary, and checks that a store can be opened in it. Does not change existing files.
   *
   * @return whether the folder holds a store already
   * @throws StoreException if the folder cannot be used, or holds other files, an incomplete store, or a store of
   *     another format
   */
  boolean prepare() {
    try {
      OwnerOnly.createFolders(folder);
      boolean exists = holdsStore();
      if (!exists) {
        ensureNothingElse();
      }
      if ((exists || holdsData()) && !Files.exists(rocks().resolve("CURRENT"))) {
        throw new StoreException("the store in " + folder + " is incomplete: " + rocks()
            + " has no CURRENT; restore a backup, or point the store at an empty folder", null);
      }
      return exists;
    } catch (IOException e) {
      throw new StoreException("the folder cannot be used: folder=" + folder + ": " + e, e);
    }
  }

  /**
   * Returns whether the folder has a note, which means that it holds a whole store.
   *
   * @throws StoreException if the note is damaged, or names a format that this Foliot cannot read
   */
  boolean holdsStore() throws IOException {
    Path note = folder.resolve(NOTE);
    if (!Files.exists(note)) {
      return false;
    }
    ensureFormat(Files.readString(note));
    return true;
  }

  /** Ensures that a folder without a note is empty, or holds only files that Foliot creates. */
  private void ensureNothingElse() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      Optional<Path> other = files.filter(file -> !OWN.contains(file.getFileName().toString())).findFirst();
      if (other.isPresent()) {
        throw new StoreException("the folder holds files that do not belong to a Foliot store: folder=" + folder
            + ", file=" + other.get().getFileName() + "; point the store at an empty folder", null);
      }
    }
  }

  // Without CURRENT, RocksDB would begin a new database in the folder, and delete the tables and logs that exist.
  private boolean holdsData() throws IOException {
    if (!Files.isDirectory(rocks())) {
      return false;
    }
    try (Stream<Path> files = Files.list(rocks())) {
      return files.anyMatch(file -> file.toString().endsWith(".sst") || file.toString().endsWith(".log"));
    }
  }

  /**
   * Removes the permissions of other users from the folder and its files. Logs a warning if other users had any
   * permission on the folder.
   */
  void narrow() {
    try {
      if (OwnerOnly.narrow(folder)) {
        LOG.log(System.Logger.Level.WARNING,
            "the store''s folder was open to other users of this machine; now only its owner has access: folder={0}",
            folder);
      }
    } catch (IOException e) {
      LOG.log(System.Logger.Level.WARNING, "the permissions of the store's folder cannot be narrowed, so other users "
          + "of this machine may be able to read it: folder=" + folder, e);
    }
  }

  private void ensureFormat(String note) {
    int format = 0;
    if (note.startsWith(FIRST_WORDS)) {
      try {
        format = Integer.parseInt(note.substring(FIRST_WORDS.length()).strip());
      } catch (NumberFormatException e) {
        format = 0;
      }
    }
    if (format < 1) {
      throw new StoreException("the file " + folder.resolve(NOTE) + " is damaged, or was not written by Foliot; "
          + "restore a backup", null);
    }
    ensureFormat(format);
  }

  void ensureFormat(int format) {
    if (format < FORMAT) {
      throw new StoreException(
          "the store in " + folder + " was written by an older Foliot in a format that is no longer"
              + " read: format=" + format + ", known=" + FORMAT + "; point the store at an empty folder",
          null);
    }
    if (format > FORMAT) {
      throw new StoreException("the store in " + folder + " was written by a newer Foliot: format=" + format
          + ", known=" + FORMAT + "; start that Foliot again, or restore a backup made before the upgrade", null);
    }
  }

  /** Writes the note, which marks the store as whole. */
  void writeNote() {
    try {
      OwnerOnly.replace(folder.resolve(NOTE), (FIRST_WORDS + FORMAT + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new StoreException("the folder cannot be written to: folder=" + folder + ": " + e, e);
    }
  }

  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Returns the number of bytes that this process may still write to the file system. */
  static long usableBytes(Path path) {
    try {
      return Files.getFileStore(path).getUsableSpace();
    } catch (IOException e) {
      throw new StoreException("the free space cannot be read: folder=" + path + ": " + e, e);
    }
  }
}
