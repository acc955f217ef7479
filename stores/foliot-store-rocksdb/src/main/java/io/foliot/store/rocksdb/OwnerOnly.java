package io.foliot.store.rocksdb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.Set;

/**
 * Files and folders that only their owner can read, because they hold payloads, headers and secrets of receivers in
 * clear text. The mode 0700 of the folder protects the files in it. RocksDB creates its files with the process's umask.
 * This class narrows their mode to 0600 afterwards, which also protects a copy that keeps the permissions. On a file
 * system without POSIX permissions, nothing is narrowed.
 */
final class OwnerOnly {
  private static final Set<PosixFilePermission> FOLDER = PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");
  private static final FileAttribute<?>[] NONE = {};

  private OwnerOnly() {}

  private static boolean isSupported(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  private static FileAttribute<?>[] attributes(Path path, Set<PosixFilePermission> permissions) {
    return isSupported(path) ? new FileAttribute<?>[]{PosixFilePermissions.asFileAttribute(permissions)} : NONE;
  }

  /** Creates a folder and its missing parents, readable by their owner only. Existing folders are left unchanged. */
  static void createFolders(Path folder) throws IOException {
    Files.createDirectories(folder, attributes(folder, FOLDER));
  }

  /** Replaces the content of a file atomically, and syncs the file and its folder. */
  static void replace(Path file, byte[] content) throws IOException {
    Path written = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(written);
    try (FileChannel channel = FileChannel.open(written,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), attributes(written, FILE))) {
      ByteBuffer buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
    Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
    StoreFolder.sync(Objects.requireNonNull(file.toAbsolutePath().getParent()));
  }

  /**
   * Removes the permissions of group and others from a folder and all that it contains.
   *
   * @return whether group or others had any permission on the folder itself
   */
  static boolean narrow(Path folder) throws IOException {
    if (!isSupported(folder)) {
      return false;
    }
    boolean wasOpen = !FOLDER.containsAll(Files.getPosixFilePermissions(folder));
    Files.walkFileTree(folder, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path visited, BasicFileAttributes attributes) throws IOException {
        narrow(visited, FOLDER);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        if (attributes.isRegularFile()) {
          narrow(file, FILE);
        }
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
        return gone(failure);
      }
    });
    return wasOpen;
  }

  // RocksDB may delete a file at any moment.
  private static FileVisitResult gone(IOException failure) throws IOException {
    if (failure instanceof NoSuchFileException) {
      return FileVisitResult.CONTINUE;
    }
    throw failure;
  }

  private static void narrow(Path path, Set<PosixFilePermission> permissions) throws IOException {
    try {
      if (!permissions.containsAll(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS))) {
        Files.setPosixFilePermissions(path, permissions);
      }
    } catch (NoSuchFileException e) {
      gone(e);
    }
  }
}
