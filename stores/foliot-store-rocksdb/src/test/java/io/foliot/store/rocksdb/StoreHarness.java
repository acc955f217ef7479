package io.foliot.store.rocksdb;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.TaskRecordFormat;
import io.foliot.testkit.SettableClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Stores for tests, with a clock that tests advance, tokens that count up, and free space that tests set. */
final class StoreHarness {
  static final String QUEUE = "orders";
  static final long HOUR = 3_600_000;
  /** Options so small that tests cause flushes, merges and evictions. */
  static final RocksDbOptions SMALL = RocksDbOptions.builder().slots(4).recordCacheBytes(20_000)
      .blockCacheBytes(4 << 20).writeBufferBytes(4 << 20).logBytes(4 << 20).reserveBytes(1_000).build();

  final SettableClock clock = new SettableClock();
  final AtomicLong freeBytes = new AtomicLong(Long.MAX_VALUE);

  private StoreHarness() {}

  static StoreHarness create() {
    return new StoreHarness();
  }

  RocksDbStore open(Path folder) {
    return open(folder, SMALL);
  }

  RocksDbStore open(Path folder, RocksDbOptions options) {
    return RocksDbStore.open(folder, options, clock,
        new RocksDbStore.Seams(countingTokens(), path -> freeBytes.get()));
  }

  static Supplier<Token> countingTokens() {
    AtomicLong next = new AtomicLong();
    return () -> new Token(7, next.incrementAndGet());
  }

  long now() {
    return clock.wallMillis();
  }

  Draft draft(@Nullable String key, long dueAt) {
    return draft(clock, key, dueAt, Body.json("\"" + key + "\""));
  }

  private static final AtomicLong IDS = new AtomicLong();

  static Draft draft(TimeSource clock, @Nullable String key, long dueAt, @Nullable Body body) {
    long number = IDS.incrementAndGet();
    int hash = key == null ? (int) (number * 0x9E37) : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(clock.wallMillis(), hash, number), QUEUE, key, Due.at(dueAt), body, 0, OnConflict.RESET,
        null);
  }

  static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(60, TimeUnit.SECONDS).join();
  }

  /** Waits up to 60 s until a call fails, and returns the cause of the failure. */
  static Throwable failure(CompletionStage<?> stage) {
    try {
      Object answer = get(stage);
      throw new AssertionError("the call did not fail: answer=" + answer);
    } catch (CompletionException e) {
      return Objects.requireNonNull(e.getCause());
    }
  }

  static StoreException storeFailure(CompletionStage<?> stage) {
    return (StoreException) failure(stage);
  }

  TaskId submit(TaskStore store, @Nullable String key, long dueAt) {
    return get(store.submit(List.of(draft(key, dueAt)))).getFirst().id();
  }

  static TaskRecord claim(TaskStore store, TaskId id) {
    ClaimResult result = get(store.claim(List.of(new Claim(id, HOUR)))).results().getFirst();
    return ((ClaimResult.Won) result).task();
  }

  static void settle(TaskStore store, TaskRecord task, Outcome outcome) {
    AttemptEnd settlement = new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()), outcome,
        task.claimedAt(), "detail");
    SettleResult result = get(store.settle(List.of(settlement))).getFirst();
    if (result.kind() != SettleResult.Kind.SETTLED) {
      throw new AssertionError("not settled: " + result);
    }
  }

  /**
   * Returns stored bytes as a newer version of Foliot might write them: with another version, and a correct checksum.
   *
   * @param mark the mark of the owner, see {@link Checksum}
   */
  static byte[] ofNewerVersion(int mark, byte[] stored) {
    byte[] newer = stored.clone();
    // The first byte is the version, and the last four bytes are the checksum.
    int summed = newer.length - 4;
    newer[0] = 99;
    Bytes sum = new Bytes(4).u32(Checksum.of(mark, newer, 0, summed));
    System.arraycopy(sum.array(), 0, newer, summed, 4);
    return newer;
  }

  /** Returns the whole index, slot by slot. */
  static List<DueEntry> index(TaskStore store) {
    List<DueScan> scans = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      scans.add(new DueScan(slot, Long.MIN_VALUE, null, Long.MAX_VALUE, 1_000_000));
    }
    List<DueEntry> entries = new ArrayList<>();
    get(store.due(scans)).forEach(slice -> entries.addAll(slice.entries()));
    return entries;
  }

  static List<DueEntry> parked(TaskStore store, String queue) {
    return get(store.parked(queue, SlotSet.all(store.slotCount()), null, 1_000_000));
  }

  /** Waits up to 60 s until the guard of an open store includes all commits. No calls may run meanwhile. */
  static void awaitGuard(Path folder) throws IOException {
    Path rocks = folder.resolve("rocks");
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (System.nanoTime() < end) {
      Manifest manifest = Manifest.read(Objects.requireNonNull(Manifest.current(rocks)));
      long last = Math.max(manifest.lastSequence(), new LogCheck(rocks).check(0));
      Guard guard = Objects.requireNonNull(Guard.read(folder));
      if (guard.manifest() == manifest.number() && guard.manifestBytes() == manifest.length()
          && guard.sequence() == last) {
        return;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
    }
    throw new AssertionError("the guard is behind: folder=" + folder + ", guard=" + Guard.read(folder));
  }

  /** Copies a folder, except the native library. A copy of an open store has files as a kill may leave them. */
  static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(each -> !each.startsWith(from.resolve(NativeLibrary.FOLDER))).toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  static byte[] encoded(TaskRecord record) {
    Bytes bytes = new Bytes(256);
    TaskRecordFormat.encode(record, 0, bytes);
    return bytes.toArray();
  }
}
