package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Backups.Backup;
import io.foliot.core.store.Claim;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.Touch;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.DamagedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folders that a store opens or refuses. */
final class StoreFolderTest {
  private static final long HOUR = StoreHarness.HOUR;

  @TempDir
  Path temporary;

  private final StoreHarness harness = StoreHarness.create();

  private Path folder() {
    return temporary.resolve("store");
  }

  /** Opens a folder that must be refused. Returns the exception of the refusal. */
  private StoreException refused(Path path) {
    try (RocksDbStore store = harness.open(path)) {
      throw new AssertionError("the store was opened: kind=" + store.kind());
    } catch (StoreException e) {
      return e;
    }
  }

  @Test
  void aFolderInUseIsRefusedAndNamed() {
    try (RocksDbStore store = harness.open(folder())) {
      assertThat(refused(folder())).hasMessageContaining("in use").hasMessageContaining(folder().toString());
      harness.submit(store, "a", harness.now());
    }
    harness.open(folder()).close();
  }

  @Test
  void aFolderOfANewerFoliotIsRefused() throws IOException {
    harness.open(folder()).close();
    Files.writeString(folder().resolve("foliot-store"), "Foliot store on RocksDB, format 4\n");
    assertThat(refused(folder())).hasMessageContaining("newer").hasMessageContaining("format=4");
  }

  @Test
  void aFolderOfAnOlderFormatIsRefused() throws IOException {
    harness.open(folder()).close();
    Files.writeString(folder().resolve("foliot-store"), "Foliot store on RocksDB, format 2\n");
    assertThat(refused(folder())).hasMessageContaining("older").hasMessageContaining("format=2");
  }

  @Test
  void aFolderWithOtherFilesIsRefused() throws IOException {
    Files.createDirectories(folder());
    Files.writeString(folder().resolve("holiday.jpg"), "sun");
    assertThat(refused(folder())).hasMessageContaining("holiday.jpg").hasMessageContaining("empty folder");
    assertThat(folder().toFile().list()).containsExactly("holiday.jpg");
  }

  @Test
  void aFolderWhoseCreationWasInterruptedIsCompleted() throws IOException {
    harness.open(folder()).close();
    Files.delete(folder().resolve("foliot-store"));
    try (RocksDbStore store = harness.open(folder())) {
      harness.submit(store, "a", harness.now());
    }
    assertThat(folder().resolve("foliot-store")).exists();
  }

  @Test
  void aStoreWithoutCurrentIsRefused() throws IOException {
    harness.open(folder()).close();
    Files.delete(folder().resolve("rocks").resolve("CURRENT"));
    assertThat(refused(folder())).hasMessageContaining("incomplete");
  }

  @Test
  void theFolderDecidesTheNumberOfSlotsNotTheOptions() {
    harness.open(folder()).close();
    try (RocksDbStore store = harness.open(folder(), StoreHarness.SMALL.toBuilder().slots(64).build())) {
      assertThat(store.slotCount()).isEqualTo(4);
    }
  }

  private List<Path> files(String ending) {
    try (Stream<Path> files = Files.list(folder().resolve("rocks"))) {
      return files.filter(file -> file.toString().endsWith(ending)).sorted().toList();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Flips bits in some bytes of a file, from an offset on. */
  private static void damage(Path file, long at, int count) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    for (int i = 0; i < count; i++) {
      bytes[(int) at + i] ^= 0x55;
    }
    Files.write(file, bytes, StandardOpenOption.WRITE);
  }

  @Test
  void aDamagedFileClosesTheStoreWithTheReason() throws Exception {
    CompletableFuture<StoreException> alarm = new CompletableFuture<>();
    RocksDbOptions options = StoreHarness.SMALL.toBuilder().onFailure(alarm::complete).build();
    List<TaskId> ids = new ArrayList<>();
    try (RocksDbStore store = harness.open(folder(), options)) {
      for (int i = 0; i < 200; i++) {
        ids.add(harness.submit(store, "key " + i, harness.now()));
      }
    }
    for (Path file : files(".sst")) {
      damage(file, 20, 50);
    }
    try (RocksDbStore store = harness.open(folder(), options)) {
      Throwable failure = StoreHarness.failure(store.find(new TaskRef.ById(ids.getFirst())));
      assertThat(failure).isInstanceOf(DamagedException.class).hasMessageContaining("restore a backup");
      assertThat(alarm.get(60, TimeUnit.SECONDS)).isSameAs(store.failure().orElseThrow());
      assertThat(StoreHarness.failure(store.counts())).isInstanceOf(StoreException.class)
          .hasMessageContaining("closed itself");
      assertThat(StoreHarness.failure(store.submit(List.of(harness.draft(null, 0)))))
          .hasMessageContaining("closed itself");
    } catch (StoreException e) {
      // The damage hit a part that every open reads, so the store was not opened at all.
      assertThat(e).isInstanceOf(DamagedException.class);
    }
  }

  @Test
  void aDamagedRecordClosesTheStore() throws Exception {
    TaskId id;
    try (RocksDbStore store = harness.open(folder())) {
      id = harness.submit(store, "a", harness.now());
    }
    overwriteRecord(id);
    CompletableFuture<StoreException> alarm = new CompletableFuture<>();
    AtomicReference<RocksDbStore> opened = new AtomicReference<>();
    try (RocksDbStore store = harness.open(folder(), StoreHarness.SMALL.toBuilder().onFailure(reason -> {
      // An application may close the store in this callback.
      Objects.requireNonNull(opened.get()).close();
      alarm.complete(reason);
    }).build())) {
      opened.set(store);
      Throwable failure = StoreHarness.failure(store.cancel(List.of(new TaskRef.ByKey(StoreHarness.QUEUE, "a"))));
      assertThat(failure).hasMessageContaining("checksum").hasMessageContaining(id.toString());
      assertThat(alarm.get(60, TimeUnit.SECONDS)).hasMessageContaining("checksum");
    }
  }

  private void overwriteRecord(TaskId id) {
    try (Database db = Database.open(folder().resolve("rocks"), StoreHarness.SMALL, false)) {
      byte[] record = Objects.requireNonNull(db.get(Family.RECORDS, Layout.recordKey(id)));
      record[record.length / 2] ^= 1;
      Batch batch = new Batch(db.familyIds(), 100);
      batch.put(Family.RECORDS, Layout.id(new Bytes(16), id), new Bytes(16).bytes(record));
      db.write(batch);
    }
  }

  /** Submits tasks, and copies the folder while the store is open, so that the tasks are only in the log. */
  private Path copyWhileOpen(int tasks, String name) throws IOException {
    Path copy = temporary.resolve(name);
    try (RocksDbStore store = harness.open(folder())) {
      for (int i = 0; i < tasks; i++) {
        harness.submit(store, "key " + i, harness.now() + HOUR);
      }
      StoreHarness.copy(folder(), copy);
    }
    return copy;
  }

  private static Path log(Path store) throws IOException {
    try (Stream<Path> files = Files.list(store.resolve("rocks"))) {
      return files.filter(file -> file.toString().endsWith(".log")).max(Path::compareTo).orElseThrow();
    }
  }

  private int delayed(Path path) {
    try (RocksDbStore store = harness.open(path)) {
      QueueCounts counts = StoreHarness.get(store.counts()).getOrDefault(StoreHarness.QUEUE, QueueCounts.NONE);
      assertThat(StoreHarness.index(store)).hasSize((int) counts.delayed());
      return (int) counts.delayed();
    }
  }

  @Test
  void aCopyOfAnOpenStoreHasAllAcknowledgedTasks() throws IOException {
    assertThat(delayed(copyWhileOpen(50, "copy"))).isEqualTo(50);
  }

  @Test
  void aTornTailIsNoLoss() throws IOException {
    Path copy = temporary.resolve("copy");
    byte[] bytes;
    try (RocksDbStore store = harness.open(folder())) {
      for (int i = 0; i < 49; i++) {
        harness.submit(store, "key " + i, harness.now() + HOUR);
      }
      StoreHarness.awaitGuard(folder());
      StoreHarness.copy(folder(), copy);
      // The power fails during the next write, which may be torn in the log.
      harness.submit(store, "key 49", harness.now() + HOUR);
      bytes = Files.readAllBytes(log(folder()));
    }
    // The torn commit has a few hundred bytes. It loses the last 10 or 100 bytes, or gets a hole of 30 bytes.
    for (int i = 0; i < 3; i++) {
      Path torn = temporary.resolve("torn-" + i);
      StoreHarness.copy(copy, torn);
      byte[] tail = switch (i) {
        case 0 -> Arrays.copyOf(bytes, bytes.length - 10);
        case 1 -> Arrays.copyOf(bytes, bytes.length - 100);
        default -> {
          byte[] hole = bytes.clone();
          Arrays.fill(hole, hole.length - 60, hole.length - 30, (byte) 0);
          yield hole;
        }
      };
      Files.write(log(torn), tail);
      assertThat(delayed(torn)).as("torn tail %s", i).isEqualTo(49);
      assertThat(delayed(torn)).as("opened again").isEqualTo(49);
    }
  }

  @Test
  void aTailOfZerosIsNoLoss() throws IOException {
    Path copy = copyWhileOpen(50, "copy");
    Files.write(log(copy), new byte[100_000], StandardOpenOption.APPEND);
    assertThat(delayed(copy)).isEqualTo(50);
  }

  @Test
  void damageBeforeAcknowledgedCommitsIsRefused() throws IOException {
    Path copy = copyWhileOpen(200, "copy");
    long length = Files.size(log(copy));
    for (int i = 1; i <= 5; i++) {
      Path damaged = temporary.resolve("damaged-" + i);
      StoreHarness.copy(copy, damaged);
      damage(log(damaged), length * i / 6, 1);
      assertThat(refused(damaged)).isInstanceOf(DamagedException.class)
          .hasMessageContaining("commits after the damage were acknowledged");
    }
  }

  @Test
  void aTornCommitIsALossOnlyIfALaterOneWasAcknowledged() throws IOException {
    Path copy = temporary.resolve("copy");
    try (RocksDbStore store = harness.open(folder())) {
      harness.submit(store, "first", harness.now());
      StoreHarness.awaitGuard(folder());
      byte[] before = Files.readAllBytes(Guard.file(folder()));
      byte[] payload = new byte[500_000];
      new Random(1).nextBytes(payload);
      StoreHarness.get(store.submit(List.of(StoreHarness.draft(harness.clock, "large", harness.now(),
          new Body(payload, "x/y", Map.of())))));
      StoreHarness.copy(folder(), copy);
      // The guard was written before the commit that is about to be torn.
      Files.write(Guard.file(copy), before);
      harness.submit(store, "last", harness.now());
      Path damaged = temporary.resolve("damaged");
      StoreHarness.copy(folder(), damaged);
      damage(log(damaged), 200_000, 40_000);
      assertThat(refused(damaged)).isInstanceOf(DamagedException.class);
    }
    // Blocks in the middle never reached the disk; later blocks did.
    byte[] bytes = Files.readAllBytes(log(copy));
    Arrays.fill(bytes, 64 << 10, 160 << 10, (byte) 0);
    Files.write(log(copy), bytes);
    assertThat(delayed(copy)).isEqualTo(1);
  }

  private static void move(RocksDbStore store, TaskId id) {
    StoreHarness.get(store.claim(List.of(Claim.move(id))));
  }

  /** A store with ten touched tasks, and the lengths of its log before and after two moves and two submits. */
  private final class MovingStore {
    final Path copy = temporary.resolve("copy");
    final int beforeMoves;
    final int afterFirst;
    final int afterMoves;
    final int afterSubmit;
    final byte[] log;

    MovingStore() throws IOException {
      try (RocksDbStore store = harness.open(folder())) {
        List<TaskId> ids = new ArrayList<>();
        List<Touch> touches = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
          ids.add(harness.submit(store, "key " + i, harness.now() + HOUR));
          touches.add(new Touch(new TaskRef.ById(ids.getLast()), Due.at(harness.now() + HOUR + HOUR / 6)));
        }
        StoreHarness.get(store.touch(touches));
        StoreHarness.awaitGuard(folder());
        StoreHarness.copy(folder(), copy);
        beforeMoves = length();
        move(store, ids.get(0));
        afterFirst = length();
        move(store, ids.get(1));
        afterMoves = length();
        harness.submit(store, "last", harness.now() + HOUR);
        afterSubmit = length();
        harness.submit(store, "later", harness.now() + HOUR);
        log = Files.readAllBytes(log(folder()));
      }
      assertThat(List.of(beforeMoves, afterFirst, afterMoves, afterSubmit, log.length)).isSorted()
          .doesNotHaveDuplicates();
    }

    private int length() throws IOException {
      return (int) Files.size(log(folder()));
    }

    /** Returns a copy of the folder, with these bytes as the log. */
    Path with(byte[] bytes, String name) throws IOException {
      Path torn = temporary.resolve(name);
      StoreHarness.copy(copy, torn);
      Files.write(log(torn), bytes);
      return torn;
    }
  }

  @Test
  void aTornMoveIsNoLossUntilASyncHasFollowed() throws IOException {
    MovingStore moving = new MovingStore();
    byte[] hole = moving.log.clone();
    Arrays.fill(hole, moving.beforeMoves, moving.afterFirst, (byte) 0);
    // The power failed during the sync of the first submit. The submit reached the disk; the first move did not.
    Path torn = moving.with(Arrays.copyOf(hole, moving.afterSubmit), "torn");
    assertThat(delayed(torn)).isEqualTo(10);
    assertThat(delayed(torn)).as("and again").isEqualTo(10);
    // The second submit began after that sync, so the first submit was acknowledged.
    assertThat(refused(moving.with(hole, "lost"))).isInstanceOf(DamagedException.class)
        .hasMessageContaining("commits after the damage were acknowledged");
  }

  @Test
  void damageToASyncedCommitBeforeMovesIsRefused() throws IOException {
    MovingStore moving = new MovingStore();
    byte[] damaged = Arrays.copyOf(moving.log, moving.afterMoves);
    damaged[moving.beforeMoves - 20] ^= 0x55;
    assertThat(refused(moving.with(damaged, "damaged"))).isInstanceOf(DamagedException.class)
        .hasMessageContaining("commits after the damage were acknowledged");
  }

  @Test
  void aTornMoveBeforeALaterLogIsNoLoss() throws IOException {
    MovingStore moving = new MovingStore();
    byte[] hole = Arrays.copyOf(moving.log, moving.afterMoves);
    Arrays.fill(hole, moving.beforeMoves, moving.afterFirst, (byte) 0);
    Path torn = moving.with(hole, "torn");
    Path log = log(torn);
    long number = Long.parseLong(log.getFileName().toString().replace(".log", ""));
    Files.write(log.resolveSibling(String.format("%06d.log", number + 1)),
        Arrays.copyOfRange(moving.log, moving.afterMoves, moving.afterSubmit));
    assertThat(delayed(torn)).isEqualTo(10);
    assertThat(delayed(torn)).as("and again").isEqualTo(10);
  }

  @Test
  void onANearlyFullDiskOnlyNewTasksAreRefused() {
    try (RocksDbStore store = harness.open(folder())) {
      TaskId id = harness.submit(store, "a", harness.now());
      var running = StoreHarness.claim(store, id);
      harness.freeBytes.set(999);
      harness.clock.advance(Duration.ofMillis(100));
      Throwable failure = StoreHarness.failure(store.submit(List.of(harness.draft("b", harness.now()))));
      assertThat(failure).isInstanceOf(StoreFullException.class)
          .hasMessageContaining("freeBytes=999").hasMessageContaining("neededBytes=1000");
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "b")))).isEmpty();
      StoreHarness.settle(store, running, new Outcome.Finished());
      harness.freeBytes.set(1_000);
      harness.clock.advance(Duration.ofMillis(100));
      harness.submit(store, "b", harness.now());
      assertThat(store.failure()).isEmpty();
    }
  }

  @Test
  void aBackupOfAnOpenStoreRestoresItsStateAtThatTime() throws IOException {
    Path backups = temporary.resolve("backups");
    Path restored = temporary.resolve("restored");
    List<io.foliot.core.store.DueEntry> expected;
    try (RocksDbStore store = harness.open(folder())) {
      for (int i = 0; i < 300; i++) {
        harness.submit(store, "key " + i, harness.now() + i);
      }
      store.backup(backups);
      harness.submit(store, "between", harness.now());
      expected = StoreHarness.index(store);
      Backup second = store.backup(backups);
      assertThat(second.number()).isEqualTo(2);
      harness.submit(store, "after", harness.now());
    }
    assertThat(RocksDbStore.backups(backups)).extracting(Backup::number).containsExactly(1, 2);
    assertThatThrownBy(() -> RocksDbStore.restore(backups, folder())).isInstanceOf(StoreException.class)
        .hasMessageContaining("empty folder");
    RocksDbStore.restore(backups, restored);
    try (RocksDbStore store = harness.open(restored)) {
      assertThat(StoreHarness.index(store)).isEqualTo(expected);
      assertThat(StoreHarness.get(store.counts()).get(StoreHarness.QUEUE))
          .isEqualTo(new QueueCounts(301, 0, 0, 0, 0, 0));
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "between")))).isPresent();
      assertThat(StoreHarness.get(store.find(new TaskRef.ByKey(StoreHarness.QUEUE, "after")))).isEmpty();
    }
    assertThatThrownBy(() -> RocksDbStore.restore(temporary.resolve("none"), temporary.resolve("x")))
        .hasMessageContaining("no backup");
  }

  @Test
  void noGenerationRepeatsIfTheClockIsSetBackAfterACrash() throws IOException {
    Path copy = temporary.resolve("copy");
    long last = 0;
    try (RocksDbStore store = harness.open(folder())) {
      store.configure(StoreHarness.QUEUE, new QueueTerms(5, HOUR, HOUR, 0, 0));
      for (int i = 0; i < 20; i++) {
        SubmitResult result = StoreHarness.get(store.submit(List.of(harness.draft("a", harness.now())))).getFirst();
        assertThat(result.generation()).isGreaterThan(last);
        last = result.generation();
        StoreHarness.get(store.cancel(List.of(new TaskRef.ById(result.id()))));
        harness.clock.advance(Duration.ofSeconds(40));
      }
      StoreHarness.copy(folder(), copy);
    }
    harness.clock.stepWall(Duration.ofDays(-1));
    for (Path path : List.of(copy, folder())) {
      try (RocksDbStore store = harness.open(path)) {
        SubmitResult result = StoreHarness.get(store.submit(List.of(harness.draft("a", harness.now())))).getFirst();
        assertThat(result.generation()).isGreaterThan(last);
      }
    }
  }
}
