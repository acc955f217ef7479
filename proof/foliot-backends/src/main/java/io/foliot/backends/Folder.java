package io.foliot.backends;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;

/** Folders for the data of servers. */
final class Folder {
  private Folder() {}

  /** Creates a folder for one server: within {@code target} if this folder exists, else within the temporary folder. */
  static Path create(String name) {
    try {
      Path target = Path.of("target").toAbsolutePath();
      Path parent = Files.isDirectory(target)
          ? target.resolve("servers")
          : Path.of(System.getProperty("java.io.tmpdir"));
      Files.createDirectories(parent);
      // The folder contains passwords, so no other user may read it.
      return Files.createTempDirectory(parent, name + "-",
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes a folder and its contents, if it exists. */
  static void remove(Path folder) {
    try {
      Files.walkFileTree(folder, new SimpleFileVisitor<>() {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
          Files.deleteIfExists(file);
          return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
          if (e instanceof NoSuchFileException) {
            return FileVisitResult.CONTINUE;
          }
          throw e;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException e) throws IOException {
          if (e != null) {
            throw e;
          }
          Files.deleteIfExists(visited);
          return FileVisitResult.CONTINUE;
        }
      });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
