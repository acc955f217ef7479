package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The folder of a store: a note that says what it is, and RocksDB's own folder in it. The note is written last, when
 * everything else is there and synced, so that a folder without one is new, or its making was interrupted.
 */
final class StoreFolder {
  /** What this Foliot writes, and the newest that it reads. */
  static final int FORMAT = 1;

  private static final String NOTE = "foliot-store";
  private static final String ROCKS = "rocks";
  private static final String FIRST_WORDS = "Foliot store on RocksDB, format ";

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
   * Makes the folder if need be, and looks whether a store can be opened in it.
   *
   * @return whether it holds one already
   */
  boolean prepare() {
    try {
      Files.createDirectories(folder);
      Path note = folder.resolve(NOTE);
      if (Files.exists(note)) {
        ensureFormat(Files.readString(note));
        if (!Files.exists(rocks().resolve("CURRENT"))) {
          throw new StoreException("the store in " + folder + " is incomplete: " + rocks()
              + " has no CURRENT; restore a backup, or point the store at an empty folder", null);
        }
        return true;
      }
      List<Path> others;
      try (Stream<Path> files = Files.list(folder)) {
        others = files.filter(file -> !file.getFileName().toString().equals(ROCKS)).limit(1).toList();
      }
      if (!others.isEmpty()) {
        throw new StoreException("the folder holds files that are no Foliot store: folder=" + folder + ", file="
            + others.getFirst().getFileName() + "; point the store at an empty folder", null);
      }
      return false;
    } catch (IOException e) {
      throw new StoreException("the folder cannot be used: " + folder + ": " + e, e);
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
      throw new StoreException("the file " + folder.resolve(NOTE) + " is not what Foliot wrote; restore a backup",
          null);
    }
    ensureFormat(format);
  }

  void ensureFormat(int format) {
    if (format > FORMAT) {
      throw new StoreException("the store in " + folder + " was written by a newer Foliot: format=" + format
          + ", known=" + FORMAT + "; start that Foliot again, or restore a backup made before the upgrade", null);
    }
  }

  /** Says that everything is there. */
  void writeNote() {
    try {
      Path written = folder.resolve(NOTE + ".new");
      Files.writeString(written, FIRST_WORDS + FORMAT + "\n", StandardCharsets.US_ASCII);
      sync(written);
      Files.move(written, folder.resolve(NOTE), StandardCopyOption.ATOMIC_MOVE);
      sync(folder);
    } catch (IOException e) {
      throw new StoreException("the folder cannot be written to: " + folder + ": " + e, e);
    }
  }

  static void sync(Path path) throws IOException {
    try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Bytes that this process may still write to the file system. */
  static long usableBytes(Path path) {
    try {
      return Files.getFileStore(path).getUsableSpace();
    } catch (IOException e) {
      throw new StoreException("the free space cannot be read: " + path + ": " + e, e);
    }
  }
}
