package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** RocksDB's library is unpacked once per store folder. No process leaves a copy in the temporary folder. */
@SuppressWarnings("SystemOut") // a test that proved nothing must be visible
final class NativeLibraryTest {
  @TempDir
  Path temporary;

  private Path temporaryOfChild() throws IOException {
    return Files.createDirectories(temporary.resolve("tmp"));
  }

  private Set<TaskId> runAndKill(Path store) throws Exception {
    return SubmittingProcess.run(store, 20, ProcessHandle::destroyForcibly, "022",
        "-Djava.io.tmpdir=" + temporaryOfChild());
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void killedProcessesLeaveNoCopyOfTheLibrary() throws Exception {
    Path store = temporary.resolve("store");
    Set<TaskId> acknowledged = new HashSet<>(runAndKill(store));
    assertThat(files(temporaryOfChild())).isEmpty();
    List<Path> unpacked = files(store.resolve(NativeLibrary.FOLDER));
    assertThat(unpacked).hasSize(1);
    Object inode = Files.getAttribute(unpacked.getFirst(), "unix:ino");
    for (int i = 0; i < 3; i++) {
      acknowledged.addAll(runAndKill(store));
      assertThat(files(temporaryOfChild())).isEmpty();
    }
    assertThat(files(store.resolve(NativeLibrary.FOLDER))).isEqualTo(unpacked);
    assertThat(Files.getAttribute(unpacked.getFirst(), "unix:ino")).as("the same file").isEqualTo(inode);
    SubmittingProcess.check(store, acknowledged);
  }

  @Test
  void aDamagedLibraryIsReplacedAndOtherVersionsAreRemoved() throws Exception {
    Path store = temporary.resolve("store");
    runAndKill(store);
    Path library = files(store.resolve(NativeLibrary.FOLDER)).getFirst();
    byte[] whole = Files.readAllBytes(library);
    byte[] damaged = whole.clone();
    damaged[1_000_000] ^= 1;
    Files.write(library, damaged);
    Path older = Files.createDirectories(store.resolve(NativeLibrary.FOLDER).resolve("rocksdbjni-00000000"));
    Files.writeString(older.resolve("library.so"), "older");
    runAndKill(store);
    assertThat(files(store.resolve(NativeLibrary.FOLDER))).containsExactly(library);
    assertThat(Files.readAllBytes(library)).isEqualTo(whole);
  }

  @Test
  void threadsThatUnpackAtOnceGetOneWholeLibrary() throws Exception {
    Path natives = temporary.resolve("native");
    Set<Path> folders = new HashSet<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      List<Future<Path>> unpacking = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        unpacking.add(threads.submit(() -> NativeLibrary.Packed.find().unpack(natives)));
      }
      for (Future<Path> each : unpacking) {
        folders.add(each.get(60, TimeUnit.SECONDS));
      }
    }
    assertThat(folders).hasSize(1);
    List<Path> files = files(natives);
    assertThat(files).hasSize(1);
    assertThat(Files.size(files.getFirst())).isEqualTo(NativeLibrary.Packed.find().bytes());
  }

  @Test
  void aStoreOpensIfItsFolderCannotHoldTheLibrary() throws Exception {
    Path store = Files.createDirectories(temporary.resolve("store"));
    Files.writeString(store.resolve(NativeLibrary.FOLDER), "in the way");
    SubmittingProcess.check(store, runAndKill(store));
    assertThat(files(temporaryOfChild())).isEmpty();
  }

  @Test
  void aStoreOpensOnAFileSystemMountedNoexec() throws Exception {
    Path mount = Files.createDirectories(temporary.resolve("mount"));
    Process mounting = new ProcessBuilder("mount", "-t", "tmpfs", "-o", "noexec,size=400m", "tmpfs", mount.toString())
        .redirectErrorStream(true).start();
    String output = new String(mounting.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (mounting.waitFor() != 0) {
      System.out.println("NativeLibraryTest: NOT PROVED HERE: cannot mount a tmpfs: " + output);
      return;
    }
    try {
      Set<TaskId> acknowledged = runAndKill(mount.resolve("store"));
      assertThat(acknowledged).isNotEmpty();
      assertThat(files(temporaryOfChild())).isEmpty();
    } finally {
      assertThat(new ProcessBuilder("umount", mount.toString()).start().waitFor()).isZero();
    }
  }
}
