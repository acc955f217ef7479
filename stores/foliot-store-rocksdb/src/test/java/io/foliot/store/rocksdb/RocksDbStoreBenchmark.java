package io.foliot.store.rocksdb;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Measures the store without an engine: the latency of single submits; the rates of creations without and with keys, of
 * touches, claims and settles; and the times of an idle poll and of a second open. The benchmark checks with the
 * store's counts that the work was done.
 *
 * <pre>
 * mvn -q -pl :foliot-store-rocksdb -am -Pbench-store process-test-classes \
 *   -Dbench.args="/tmp/foliot-bench 1000000 5000"
 * </pre>
 *
 * Arguments: a folder that is absent or empty and is removed afterwards; the number of tasks per step (touch steps use
 * at most 100,000 of them); the number of items per call; and optionally the number of tasks that are created first.
 */
public final class RocksDbStoreBenchmark {
  private static final String QUEUE = "bench";
  private static final int CALLS_UNDER_WAY = 4;
  private static final int PAYLOAD_BYTES = 100;
  private static final long HOUR = 3_600_000;

  private final TimeSource clock = new SystemClock();
  private final SplittableRandom random = new SplittableRandom(42);
  private final Path folder;
  private final int tasks;
  private final int batch;
  private long lastCpuMicros = cpuMicros();
  private StoreStats last = new StoreStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  private RocksDbStoreBenchmark(Path folder, int tasks, int batch) {
    this.folder = folder;
    this.tasks = tasks;
    this.batch = batch;
  }

  /** Runs the benchmark with the arguments that the class comment describes. */
  public static void main(String[] arguments) throws IOException {
    Path folder = Path.of(arguments[0]);
    RocksDbStoreBenchmark benchmark = new RocksDbStoreBenchmark(folder, Integer.parseInt(arguments[1]),
        Integer.parseInt(arguments[2]));
    try {
      benchmark.run(arguments.length > 3 ? Integer.parseInt(arguments[3]) : 0);
    } finally {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private void run(int before) {
    List<TaskId> due = new ArrayList<>();
    try (RocksDbStore store = RocksDbStore.open(folder, RocksDbOptions.DEFAULT, clock)) {
      if (before > 0) {
        create(store, "create, far away", before, false, 24 * HOUR, null);
      }
      create(store, "warm-up", tasks / 4, false, HOUR, null);
      latency(store, "submit, one at a time");
      create(store, "create without key", tasks, false, HOUR, null);
      create(store, "create with key", tasks, true, HOUR, null);
      int hot = Math.min(tasks, 100_000);
      for (int i = 0; i < 3; i++) {
        touch(store, hot);
      }
      create(store, "create, due", tasks, false, 0, due);
      claimAndSettle(store, due);
      poll(store);
      check(store, before);
      System.out.println(store.stats());
    }
    long start = clock.monotonicNanos();
    try (RocksDbStore store = RocksDbStore.open(folder, RocksDbOptions.DEFAULT, clock)) {
      System.out.printf("open again: %.2f s%n", seconds(start));
      check(store, before);
    }
  }

  private double seconds(long startNanos) {
    return (clock.monotonicNanos() - startNanos) / 1e9;
  }

  private void check(RocksDbStore store, int before) {
    QueueCounts counts = Objects.requireNonNull(get(store.counts()).get(QUEUE));
    long expected = (long) before + tasks / 4 + 2L * tasks + ONE_BY_ONE;
    if (counts.delayed() != expected || counts.running() != 0 || counts.finished() != tasks) {
      throw new AssertionError("the work was not done: counts=" + counts + ", expectedDelayed=" + expected);
    }
  }

  /** Number of submits whose latency is measured, one submit at a time. */
  private static final int ONE_BY_ONE = 2_000;

  private void latency(RocksDbStore store, String label) {
    long[] nanos = new long[ONE_BY_ONE];
    for (int i = 0; i < ONE_BY_ONE; i++) {
      long start = clock.monotonicNanos();
      get(store.submit(List.of(draft(null, HOUR))));
      nanos[i] = clock.monotonicNanos() - start;
    }
    Arrays.sort(nanos);
    System.out.printf("%-22s p50 %d us, p99 %d us%n", label, nanos[ONE_BY_ONE / 2] / 1_000,
        nanos[ONE_BY_ONE * 99 / 100] / 1_000);
  }

  private Draft draft(@Nullable String key, long delayMillis) {
    byte[] payload = new byte[PAYLOAD_BYTES];
    long now = clock.wallMillis();
    int hash = key == null ? random.nextInt() : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(now, hash, random.nextLong()), QUEUE, key,
        Due.at(now + delayMillis + (delayMillis == 0 ? 0 : random.nextLong(HOUR))),
        new Body(payload, "application/octet-stream", Map.of()), 0, OnConflict.RESET, null);
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  /** Makes calls of {@link #batch} items, at most {@link #CALLS_UNDER_WAY} at a time. Returns the items per second. */
  private <R> double pipelined(int total, IntFunction<CompletionStage<R>> call, Consumer<R> answer) {
    Deque<CompletionStage<R>> underWay = new ArrayDeque<>();
    long start = clock.monotonicNanos();
    for (int from = 0; from < total; from += batch) {
      if (underWay.size() == CALLS_UNDER_WAY) {
        answer.accept(get(underWay.remove()));
      }
      underWay.add(call.apply(from));
    }
    underWay.forEach(stage -> answer.accept(get(stage)));
    return total / seconds(start);
  }

  private void create(RocksDbStore store, String label, int total, boolean keyed, long delayMillis,
      @Nullable List<TaskId> ids) {
    double rate = pipelined(total, from -> {
      List<Draft> drafts = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        drafts.add(draft(keyed ? "order-" + i : null, delayMillis));
      }
      return store.submit(drafts);
    }, results -> {
      for (SubmitResult result : results) {
        if (ids != null) {
          ids.add(result.id());
        }
      }
    });
    print(store, label, total, rate);
  }

  private void print(RocksDbStore store, String label, int total, double rate) {
    StoreStats stats = store.stats();
    long cpuMicros = cpuMicros();
    System.out.printf(
        "%-22s %,9d items, %,9.0f a second; per item: CPU of this process %.1f us, the writer's preparation %.1f us, "
            + "its writing and syncing %.1f us%n",
        label, total, rate,
        (double) (cpuMicros - lastCpuMicros) / total, (double) (stats.prepareMicros() - last.prepareMicros()) / total,
        (double) (stats.syncMicros() - last.syncMicros()) / total);
    lastCpuMicros = cpuMicros;
    last = stats;
  }

  private static long cpuMicros() {
    return ProcessHandle.current().info().totalCpuDuration().map(time -> time.toNanos() / 1_000).orElse(0L);
  }

  private void touch(RocksDbStore store, int total) {
    double rate = pipelined(total, from -> {
      List<Touch> touches = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        touches.add(new Touch(new TaskRef.ByKey(QUEUE, "order-" + i), Due.at(clock.wallMillis() + 3 * HOUR)));
      }
      return store.touch(touches);
    }, results -> results.forEach(result -> {
      if (result.kind() != TouchResult.Kind.RESET) {
        throw new AssertionError(result);
      }
    }));
    print(store, "touch live keys", total, rate);
  }

  private void claimAndSettle(RocksDbStore store, List<TaskId> ids) {
    List<TaskRecord> won = new ArrayList<>();
    double claims = pipelined(ids.size(), from -> {
      List<Claim> items = new ArrayList<>(batch);
      ids.subList(from, Math.min(ids.size(), from + batch)).forEach(id -> items.add(new Claim(id, HOUR)));
      return store.claim(items);
    }, (ClaimBatch results) -> {
      for (ClaimResult result : results.results()) {
        won.add(((ClaimResult.Won) result).task());
      }
    });
    print(store, "claim", ids.size(), claims);
    double settles = pipelined(won.size(), from -> {
      List<AttemptEnd> items = new ArrayList<>(batch);
      for (TaskRecord task : won.subList(from, Math.min(won.size(), from + batch))) {
        items.add(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
            new Outcome.Finished(), task.claimedAt(), "200"));
      }
      return store.settle(items);
    }, results -> results.forEach(result -> {
      if (result.kind() != SettleResult.Kind.SETTLED) {
        throw new AssertionError(result);
      }
    }));
    print(store, "settle", won.size(), settles);
  }

  private void poll(RocksDbStore store) {
    List<DueScan> scans = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      scans.add(new DueScan(slot, Long.MIN_VALUE, null, clock.wallMillis(), 100));
    }
    long first = clock.monotonicNanos();
    int found = get(store.due(scans)).stream().map(DueSlice::entries).mapToInt(List::size).sum();
    double firstMillis = seconds(first) * 1e3;
    long start = clock.monotonicNanos();
    for (int i = 0; i < 10_000; i++) {
      found += get(store.due(scans)).size() - scans.size();
    }
    System.out.printf("poll of %d slots        first %.1f ms, found %d; then idle %.2f us each%n", scans.size(),
        firstMillis, found, seconds(start) * 1e6 / 10_000);
  }
}
