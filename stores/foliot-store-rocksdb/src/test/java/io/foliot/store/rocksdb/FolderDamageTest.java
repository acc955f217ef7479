package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.StoreException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * After damage to a file of a store, either the store opens with all acknowledged tasks, or it does not open and its
 * folder is unchanged.
 */
@Tag("long")
final class FolderDamageTest {
  private static final int TASKS = 700;
  /** Number of offsets that a test tries: it cuts or changes the file at each of them. */
  private static final int STEPS = 20;

  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();
  private final Set<TaskId> acknowledged = new HashSet<>();
  private Path original = Path.of("");
  private int damaged;

  /** Copies an open store, as a kill leaves it: with several table files, and with tasks that are only in the log. */
  @BeforeEach
  void make() throws IOException {
    Path folder = temporary.resolve("open");
    original = temporary.resolve("original");
    for (int session = 0; session < 3; session++) {
      try (RocksDbStore store = harness.open(folder)) {
        submit(store, 100, 100);
      }
    }
    try (RocksDbStore store = harness.open(folder)) {
      // Large bodies fill the family BODIES, which is flushed alone. The other families still need their logs.
      submit(store, 300, 20_000);
      submit(store, 100, 100);
      StoreHarness.awaitGuard(folder);
      StoreHarness.copy(folder, original);
    }
    assertThat(acknowledged).hasSize(TASKS);
    assertThat(files(".sst")).hasSizeGreaterThan(3);
    assertThat(files(".log")).hasSizeGreaterThan(1);
  }

  private void submit(RocksDbStore store, int count, int bytes) {
    for (int i = 0; i < count; i++) {
      String key = "key " + acknowledged.size();
      acknowledged.add(StoreHarness.get(store.submit(List.of(StoreHarness.draft(harness.clock, key, harness.now(),
          new Body(new byte[bytes], "x/y", Map.of()))))).getFirst().id());
    }
  }

  private List<Path> files(String ending) throws IOException {
    try (Stream<Path> files = Files.list(original.resolve("rocks"))) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    }
  }

  private Path manifest() throws IOException {
    return Objects.requireNonNull(Manifest.current(original.resolve("rocks")));
  }

  private interface Damage {
    void apply(Path file) throws IOException;
  }

  private static Damage cut(long bytes) {
    return file -> Files.write(file, Arrays.copyOf(Files.readAllBytes(file), (int) bytes));
  }

  private static Damage flip(long at) {
    return file -> {
      byte[] bytes = Files.readAllBytes(file);
      bytes[(int) at] ^= 0x10;
      Files.write(file, bytes);
    };
  }

  /** Damages a file of a copy and opens the copy. Returns whether the copy was opened. */
  private boolean opens(Path file, Damage damage, String what) throws IOException {
    Path copy = temporary.resolve("copy-" + damaged++);
    StoreHarness.copy(original, copy);
    damage.apply(copy.resolve(original.relativize(file)));
    SortedMap<String, Long> before = listing(copy);
    try (RocksDbStore store = harness.open(copy)) {
      Set<TaskId> found = new HashSet<>();
      for (DueEntry entry : StoreHarness.index(store)) {
        found.add(entry.id());
      }
      long missing = acknowledged.stream().filter(id -> !found.contains(id)).count();
      assertThat(missing).as("tasks missing after %s of %s", what, file).isZero();
      assertThat(found).hasSameSizeAs(acknowledged);
      for (TaskId id : acknowledged) {
        assertThat(StoreHarness.get(store.find(new TaskRef.ById(id)))).isPresent();
      }
      return true;
    } catch (StoreException e) {
      assertThat(e).as("%s of %s", what, file).hasMessageContaining("restore");
      assertThat(listing(copy)).as("%s of %s leaves the folder unchanged: %s", what, file, e).isEqualTo(before);
      return false;
    } finally {
      delete(copy);
    }
  }

  private static SortedMap<String, Long> listing(Path folder) throws IOException {
    SortedMap<String, Long> sums = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        CRC32C sum = new CRC32C();
        sum.update(Files.readAllBytes(file));
        sums.put(folder.relativize(file) + " " + Files.getLastModifiedTime(file), sum.getValue());
      }
    }
    return sums;
  }

  private static void delete(Path folder) throws IOException {
    List<Path> all;
    try (Stream<Path> files = Files.walk(folder)) {
      all = files.toList();
    }
    all.reversed().forEach(file -> {
      try {
        Files.delete(file);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    });
  }

  @Test
  void aCopyWithoutDamageOpens() throws IOException {
    assertThat(opens(manifest(), file -> {}, "nothing")).isTrue();
  }

  @Test
  void aCutManifestIsRefused() throws IOException {
    Path manifest = manifest();
    byte[] bytes = Files.readAllBytes(manifest);
    Set<Integer> cuts = new HashSet<>();
    int[] end = new int[1];
    LogFormat.records(bytes, edit -> {
      end[0] += LogFormat.HEADER + edit.length;
      cuts.add(end[0]);
    });
    assertThat(end[0]).as("no edit spans blocks").isEqualTo(bytes.length);
    assertThat(cuts).hasSizeGreaterThan(10);
    for (int step = 0; step < STEPS; step++) {
      cuts.add(bytes.length * step / STEPS);
    }
    cuts.add(bytes.length - 1);
    cuts.remove(bytes.length);
    for (int cut : cuts) {
      assertThat(opens(manifest, cut(cut), "cut to " + cut)).as("cut to %s of %s", cut, bytes.length).isFalse();
    }
  }

  @Test
  void aChangedManifestIsRefused() throws IOException {
    Path manifest = manifest();
    long length = Files.size(manifest);
    for (int step = 0; step < STEPS; step++) {
      assertThat(opens(manifest, flip(length * step / STEPS), "flip")).isFalse();
    }
    assertThat(opens(manifest, flip(length - 1), "flip of the last byte")).isFalse();
  }

  @Test
  void aMissingFileIsRefusedIfTasksDependOnIt() throws IOException {
    List<Path> all = new ArrayList<>();
    try (Stream<Path> files = Files.walk(original)) {
      files.filter(Files::isRegularFile).forEach(all::add);
    }
    for (Path file : all) {
      boolean opened = opens(file, Files::delete, "removal");
      String name = file.getFileName().toString();
      boolean isRequired = name.endsWith(".sst") || name.endsWith(".log") || name.startsWith("MANIFEST")
          || name.equals("CURRENT");
      assertThat(opened).as("removal of %s", file).isEqualTo(!isRequired);
    }
  }

  @Test
  void aCutLogIsRefused() throws IOException {
    for (Path log : files(".log")) {
      long length = Files.size(log);
      for (int step = 0; step < STEPS && length > 0; step++) {
        assertThat(opens(log, cut(length * step / STEPS), "cut")).as("cut at step %s of %s", step, log).isFalse();
      }
      if (length > 0) {
        assertThat(opens(log, cut(length - 1), "cut by a byte")).isFalse();
      }
    }
  }

  @Test
  void aChangedLogIsRefused() throws IOException {
    for (Path log : files(".log")) {
      long length = Files.size(log);
      for (int step = 0; step < STEPS && length > 0; step++) {
        assertThat(opens(log, flip(length * step / STEPS), "flip")).as("flip at step %s of %s", step, log).isFalse();
      }
    }
  }

  @Test
  void aCutTableFileIsRefused() throws IOException {
    for (Path table : files(".sst")) {
      long length = Files.size(table);
      for (int step = 0; step < STEPS; step += 5) {
        assertThat(opens(table, cut(length * step / STEPS), "cut")).isFalse();
      }
      assertThat(opens(table, cut(length - 1), "cut by a byte")).isFalse();
    }
  }

  @Test
  void aDamagedGuardIsRefusedAndAMissingGuardIsAccepted() throws IOException {
    Path guard = Guard.file(original);
    assertThat(opens(guard, file -> Files.write(file, new byte[8192]), "zeros")).isFalse();
    assertThat(opens(guard, file -> Files.write(file, new byte[0]), "emptied")).isFalse();
    assertThat(opens(guard, Files::delete, "removal")).isTrue();
  }
}
