package io.foliot.cli;

import io.foliot.server.store.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Operations on folders of data and of backups. */
final class Folders {
  private Folders() {}

  /** Throws if a path exists and is not an empty folder; the message names the option. */
  static void ensureEmpty(String option, Path folder) {
    try {
      if (Files.exists(folder) && !Files.isDirectory(folder)) {
        throw CommandException.failure(option + " is a file: " + folder + "; name a new or empty folder");
      }
      if (Files.exists(folder) && !list(folder).isEmpty()) {
        throw CommandException.failure(option + " is not empty: " + folder + "; name a new or empty folder");
      }
    } catch (IOException e) {
      throw CommandException.failure(option + " cannot be read: " + folder + " (" + e.getMessage() + ")", e);
    }
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }

  /** Returns the total length of all files in a folder, in bytes, or 0 if a folder in it cannot be listed. */
  static long bytes(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.mapToLong(Folders::size).sum();
    } catch (IOException | UncheckedIOException e) {
      return 0;
    }
  }

  private static long size(Path file) {
    try {
      return Files.isRegularFile(file) ? Files.size(file) : 0;
    } catch (IOException e) {
      return 0;
    }
  }

  /** Moves a folder to a path that does not exist or is an empty folder. Copies it if the file systems differ. */
  static void move(Path from, Path to) throws IOException {
    Files.deleteIfExists(to);
    Path parent = to.getParent();
    if (parent != null) {
      PrivateFiles.ensureFolder(parent);
    }
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      copy(from, to);
      delete(from);
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.walkFileTree(from, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
        PrivateFiles.ensureFolder(to.resolve(from.relativize(folder)));
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        Path copied = to.resolve(from.relativize(file));
        Files.copy(file, copied, StandardCopyOption.COPY_ATTRIBUTES);
        PrivateFiles.restrictFile(copied);
        try (FileChannel channel = FileChannel.open(copied, StandardOpenOption.WRITE)) {
          channel.force(true);
        }
        return FileVisitResult.CONTINUE;
      }
    });
  }

  /** Deletes a folder with its contents. */
  static void delete(Path folder) throws IOException {
    Files.walkFileTree(folder, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        Files.deleteIfExists(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException failure) throws IOException {
        Files.deleteIfExists(visited);
        return FileVisitResult.CONTINUE;
      }
    });
  }

  /** Returns the folder, or its nearest ancestor that exists. */
  static Path nearestExisting(Path folder) {
    Path existing = folder.toAbsolutePath().normalize();
    while (!Files.exists(existing) && existing.getParent() != null) {
      existing = existing.getParent();
    }
    return existing;
  }
}
