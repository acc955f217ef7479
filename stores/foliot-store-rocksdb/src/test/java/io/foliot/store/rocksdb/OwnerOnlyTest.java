package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No other user of the machine can read a store or a backup, regardless of the process's umask. */
final class OwnerOnlyTest {
  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();

  private static String permissions(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private static void assertOwnerOnly(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.toList()) {
        assertThat(permissions(path)).as("%s", path)
            .isEqualTo(Files.isDirectory(path) ? "rwx------" : "rw-------");
      }
    }
  }

  @Test
  void onlyTheOwnerCanReadAStoreUnderTheUsualUmask() throws Exception {
    assertNewStoreIsOwnerOnly("022");
  }

  @Test
  void onlyTheOwnerCanReadAStoreUnderAnOpenUmask() throws Exception {
    assertNewStoreIsOwnerOnly("000");
  }

  private void assertNewStoreIsOwnerOnly(String umask) throws Exception {
    Path folder = temporary.resolve("new").resolve("store");
    SubmittingProcess.run(folder, 3_000, ProcessHandle::destroyForcibly, umask, "-Dunused=1");
    for (Path each : new Path[]{folder.getParent(), folder, folder.resolve("rocks"), folder.resolve("native")}) {
      assertThat(permissions(each)).as("%s", each).isEqualTo("rwx------");
    }
    for (String file : new String[]{"foliot-store", "guard"}) {
      assertThat(permissions(folder.resolve(file))).isEqualTo("rw-------");
    }
    harness.open(folder).close();
    assertOwnerOnly(folder);
  }

  @Test
  void aFolderReadableByOthersIsNarrowed() throws Exception {
    Path folder = temporary.resolve("store");
    harness.open(folder).close();
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path path : all.toList()) {
        Files.setPosixFilePermissions(path,
            PosixFilePermissions.fromString(Files.isDirectory(path) ? "rwxr-xr-x" : "rw-r--r--"));
      }
    }
    harness.open(folder).close();
    assertOwnerOnly(folder);
  }

  @Test
  void onlyTheOwnerCanReadABackupAndARestoredStore() throws Exception {
    Path backups = Files.createDirectory(temporary.resolve("backups"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    Path restored = temporary.resolve("restored");
    try (RocksDbStore store = harness.open(temporary.resolve("store"))) {
      harness.submit(store, "a", harness.now());
      store.backup(backups);
    }
    assertOwnerOnly(backups);
    RocksDbStore.restore(backups, restored);
    assertOwnerOnly(restored);
  }
}
