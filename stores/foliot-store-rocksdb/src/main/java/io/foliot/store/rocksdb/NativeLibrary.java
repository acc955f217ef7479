package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.net.URLConnection;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.rocksdb.RocksDB;
import org.rocksdb.util.Environment;

/**
 * RocksDB's native library, unpacked from its jar into the store's folder once, and loaded from there at each start.
 * By default RocksDB writes a new file of 17 MB into the temporary folder for each process, and deletes it when the
 * process exits. A process that is killed leaves the file behind, so a loop of restarts fills the disk.
 *
 * <p>The library is in a folder named after its checksum, so each version of RocksDB has a folder of its own. The file
 * is compared with the jar before it is loaded. If it cannot be loaded from the store's folder (no room, or a file
 * system mounted {@code noexec}), the library is unpacked into the temporary folder, and deleted there after the load.
 */
final class NativeLibrary {
  static final String FOLDER = "native";

  private static final System.Logger LOG = System.getLogger(NativeLibrary.class.getName());
  /** RocksDB's environment variable that names a folder. RocksDB itself then unpacks the library into that folder. */
  private static final String FOLDER_VARIABLE = "ROCKSDB_SHAREDLIB_DIR";
  /** The name of the library in the jar. */
  private static final String IN_JAR = "rocksdb";
  /** The name that RocksDB expects for the library in a folder. It differs from the name in the jar. */
  private static final String IN_FOLDER = "rocksdbjni";
  /** The suffix of a file while the library is being unpacked to it. */
  private static final String UNFINISHED = ".new";
  /** Age at which an unfinished file is removed, because the process that wrote it was probably killed. */
  private static final long UNFINISHED_MILLIS = 600_000;

  // guarded by the class
  private static boolean loaded;

  private NativeLibrary() {}

  /** Loads the library from the folder of a store, unless this process has it already. */
  static synchronized void load(Path store) {
    if (loaded) {
      return;
    }
    if (System.getenv(FOLDER_VARIABLE) != null) {
      load();
      return;
    }
    try {
      Packed packed = Packed.find();
      Path folder = packed.unpack(store.resolve(FOLDER));
      RocksDB.loadLibrary(List.of(folder.toString()));
      loaded = true;
      removeOthers(folder);
    } catch (IOException | UnsatisfiedLinkError e) {
      LOG.log(System.Logger.Level.WARNING, "RocksDB''s native library cannot be loaded from the store''s folder; it is "
          + "loaded from the temporary folder instead: folder={0}, reason={1}", store.resolve(FOLDER),
          e.toString());
      load();
    }
  }

  /**
   * Loads the library for a caller that may not write to a store's folder. Leaves no file behind, unless {@link
   * #FOLDER_VARIABLE} is set.
   */
  static synchronized void load() {
    if (loaded) {
      return;
    }
    if (System.getenv(FOLDER_VARIABLE) != null) {
      RocksDB.loadLibrary();
      loaded = true;
      return;
    }
    try {
      Path temporary = Files.createTempDirectory("foliot-rocksdb");
      try {
        RocksDB.loadLibrary(List.of(Packed.find().unpack(temporary).toString()));
        loaded = true;
      } finally {
        delete(temporary);
      }
    } catch (IOException | UnsatisfiedLinkError e) {
      throw new StoreException("RocksDB's native library cannot be loaded from the temporary folder: folder="
          + System.getProperty("java.io.tmpdir") + ": " + e.getMessage() + "; set another folder with "
          + "-Djava.io.tmpdir=DIR; it needs 20 MB of room and must not be mounted noexec", e);
    }
  }

  /** Removes the libraries of other versions, and the unfinished files of killed processes. */
  private static void removeOthers(Path folder) throws IOException {
    try (Stream<Path> others = Files.list(Objects.requireNonNull(folder.getParent()))) {
      for (Path other : others.filter(each -> !each.equals(folder)).toList()) {
        delete(other);
      }
    }
    long now = System.currentTimeMillis();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(each -> each.toString().endsWith(UNFINISHED)).toList()) {
        if (now - Files.getLastModifiedTime(file).toMillis() > UNFINISHED_MILLIS) {
          Files.deleteIfExists(file);
        }
      }
    }
  }

  /** Deletes a folder with its files. If the system refuses to delete a file in use, deletes all files at exit. */
  private static void delete(Path path) throws IOException {
    List<Path> deepestLast;
    try (Stream<Path> files = Files.walk(path)) {
      deepestLast = files.toList();
    }
    for (Path file : deepestLast.reversed()) {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        deepestLast.stream().map(Path::toFile).forEach(File::deleteOnExit);
        return;
      }
    }
  }

  /**
   * The library in the jar.
   *
   * @param url the address of the library
   * @param bytes the length of the library
   * @param sum the CRC32 of the library
   */
  record Packed(URL url, long bytes, long sum) {
    static Packed find() throws IOException {
      ClassLoader loader = RocksDB.class.getClassLoader();
      String name = Environment.getJniLibraryFileName(IN_JAR);
      URL url = loader.getResource(name);
      String fallback = Environment.getFallbackJniLibraryFileName(IN_JAR);
      if (url == null && fallback != null) {
        url = loader.getResource(fallback);
      }
      if (url == null) {
        throw new IOException("RocksDB has no native library for this system: file=" + name);
      }
      URLConnection connection = url.openConnection();
      // The jar's directory has length and checksum, so no byte of the library is read.
      if (connection instanceof JarURLConnection jar && jar.getJarEntry() != null && jar.getJarEntry().getCrc() != -1) {
        return new Packed(url, jar.getJarEntry().getSize(), jar.getJarEntry().getCrc());
      }
      CRC32 sum = new CRC32();
      long bytes;
      try (InputStream in = connection.getInputStream()) {
        bytes = copy(in, OutputStream.nullOutputStream(), sum);
      }
      return new Packed(url, bytes, sum.getValue());
    }

    /**
     * Ensures that the library is unpacked.
     *
     * @param natives the folder for the libraries of all versions
     * @return the folder that holds the library
     */
    Path unpack(Path natives) throws IOException {
      Path folder = natives.resolve(String.format("rocksdbjni-%08x", sum));
      Path library = folder.resolve(Environment.getJniLibraryFileName(IN_FOLDER));
      if (isWhole(library)) {
        return folder;
      }
      OwnerOnly.createFolders(folder);
      Path written = Files.createTempFile(folder, "library", UNFINISHED);
      try {
        CRC32 found = new CRC32();
        try (InputStream in = url.openStream();
            FileChannel channel = FileChannel.open(written, StandardOpenOption.WRITE)) {
          copy(in, Channels.newOutputStream(channel), found);
          channel.force(true);
        }
        if (found.getValue() != sum) {
          throw new IOException("the native library in the jar does not match its checksum: url=" + url);
        }
        Files.move(written, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        return folder;
      } finally {
        Files.deleteIfExists(written);
      }
    }

    private boolean isWhole(Path library) throws IOException {
      if (!Files.isRegularFile(library) || Files.size(library) != bytes) {
        return false;
      }
      CRC32 found = new CRC32();
      try (InputStream in = Files.newInputStream(library)) {
        copy(in, OutputStream.nullOutputStream(), found);
      }
      return found.getValue() == sum;
    }

    private static long copy(InputStream in, OutputStream out, CRC32 sum) throws IOException {
      byte[] buffer = new byte[1 << 16];
      long total = 0;
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        sum.update(buffer, 0, count);
        out.write(buffer, 0, count);
        total += count;
      }
      return total;
    }
  }
}
