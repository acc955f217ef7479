package io.foliot.store.jdbc;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.Server;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A benchmark of the store without an engine, on a separate server that syncs every commit. It measures the rates of
 * submits, touches, claims, settles and drains, the time of a single submit, and the time of an idle poll of all slots.
 * A drain claims and then settles each batch.
 *
 * <pre>
 * mvn -q -pl :foliot-store-jdbc -am -Pbench-store process-test-classes -Dbench.args="postgresql 200000 500"
 * </pre>
 *
 * Arguments: {@code postgresql} or {@code mariadb}; tasks per step; items per call; number of concurrent calls, by
 * default 4; number of tasks that are created before the measurements, by default 0.
 */
public final class JdbcStoreBenchmark {
  private static final String QUEUE = "bench";
  private static final int PAYLOAD_BYTES = 100;
  private static final long HOUR = 3_600_000;
  private static final int TOUCHED_MAX = 100_000;

  private final SplittableRandom random = new SplittableRandom(42);
  private final JdbcStore store;
  private final int tasks;
  private final int batch;
  private final int underWayMax;
  private long lastOwnMicros;
  private long lastServerMicros;

  private JdbcStoreBenchmark(JdbcStore store, int tasks, int batch, int underWayMax) {
    this.store = store;
    this.tasks = tasks;
    this.batch = batch;
    this.underWayMax = underWayMax;
  }

  /** Runs the benchmark; the class comment lists the arguments. */
  public static void main(String[] arguments) {
    boolean postgres = arguments[0].equals("postgresql");
    int tasks = Integer.parseInt(arguments[1]);
    int batch = Integer.parseInt(arguments[2]);
    int underWay = arguments.length > 3 ? Integer.parseInt(arguments[3]) : 4;
    int before = arguments.length > 4 ? Integer.parseInt(arguments[4]) : 0;
    try (Server server = postgres ? PostgresServer.start() : MariaDbServer.start()) {
      Database database = postgres
          ? ((PostgresServer) server).createDatabase()
          : ((MariaDbServer) server).createDatabase();
      try (JdbcStore store = JdbcStore.open(Databases.options(database).toBuilder().connections(8).build())) {
        System.out.println(store.durability());
        new JdbcStoreBenchmark(store, tasks, batch, underWay).run(before);
      }
    }
  }

  private void run(int before) {
    if (before > 0) {
      create("create, far away", before, false, 24 * HOUR, null);
    }
    create("warm-up", tasks / 2, false, HOUR, null);
    latency();
    create("create without key", tasks, false, HOUR, null);
    create("create with key", tasks, true, HOUR, null);
    for (int i = 0; i < 3; i++) {
      touch(Math.min(tasks, TOUCHED_MAX));
    }
    for (int i = 0; i < 2; i++) {
      reset(Math.min(tasks, TOUCHED_MAX));
    }
    for (int i = 0; i < 2; i++) {
      List<TaskId> due = new ArrayList<>();
      create("create, due", tasks, false, 0, due);
      claimAndSettle(due);
      due.clear();
      create("create, due", tasks, false, 0, due);
      drain(due);
    }
    poll();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static double seconds(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e9;
  }

  private void print(String what, int total, double seconds) {
    long ownMicros = cpuMicros(ProcessHandle.current());
    long serverMicros = ProcessHandle.current().descendants().mapToLong(JdbcStoreBenchmark::cpuMicros).sum();
    System.out.printf("%-22s %,9d items, %,9.0f a second; CPU per item: this process %.1f us, the server %.1f us%n",
        what, total, total / seconds, (double) (ownMicros - lastOwnMicros) / total,
        (double) (serverMicros - lastServerMicros) / total);
    lastOwnMicros = ownMicros;
    lastServerMicros = serverMicros;
  }

  private static long cpuMicros(ProcessHandle process) {
    return process.info().totalCpuDuration().map(time -> time.toNanos() / 1_000).orElse(0L);
  }

  private void latency() {
    int count = 1_000;
    long[] nanos = new long[count];
    for (int i = 0; i < count; i++) {
      long start = System.nanoTime();
      List<SubmitResult> answer = get(store.submit(List.of(draft(null, HOUR))));
      assert answer.size() == 1;
      nanos[i] = System.nanoTime() - start;
    }
    Arrays.sort(nanos);
    System.out.printf("%-22s p50 %d us, p99 %d us%n", "submit, one at a time", nanos[count / 2] / 1_000,
        nanos[count * 99 / 100] / 1_000);
  }

  private Draft draft(@Nullable String key, long delayMillis) {
    int hash = key == null ? random.nextInt() : SlotHash.of(QUEUE, key);
    return new Draft(TaskId.of(System.currentTimeMillis(), hash, random.nextLong()), QUEUE, key,
        Due.after(delayMillis == 0 ? 0 : delayMillis + random.nextLong(HOUR)),
        new Body(new byte[PAYLOAD_BYTES], "application/octet-stream", Map.of()), 0, OnConflict.RESET, null);
  }

  /**
   * Makes calls of {@link #batch} items, at most {@link #underWayMax} at a time. Returns the seconds from the first
   * call to the last result.
   */
  private <R> double pipelined(int total, IntFunction<CompletionStage<R>> call, Consumer<R> answer) {
    Deque<CompletionStage<R>> underWay = new ArrayDeque<>();
    long start = System.nanoTime();
    for (int from = 0; from < total; from += batch) {
      if (underWay.size() == underWayMax) {
        answer.accept(get(underWay.remove()));
      }
      underWay.add(call.apply(from));
    }
    underWay.forEach(stage -> answer.accept(get(stage)));
    return seconds(start);
  }

  private void create(String what, int total, boolean keyed, long delayMillis, @Nullable List<TaskId> ids) {
    print(what, total, pipelined(total, from -> {
      List<Draft> drafts = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        drafts.add(draft(keyed ? "order-" + i : null, delayMillis));
      }
      return store.submit(drafts);
    }, results -> {
      for (SubmitResult result : results) {
        if (result.kind() != SubmitResult.Kind.CREATED) {
          throw new AssertionError(result);
        }
        if (ids != null) {
          ids.add(result.id());
        }
      }
    }));
  }

  private void touch(int total) {
    print("touch live keys", total, pipelined(total, from -> {
      List<Touch> touches = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        touches.add(new Touch(new TaskRef.ByKey(QUEUE, "order-" + i), Due.after(3 * HOUR)));
      }
      return store.touch(touches);
    }, results -> results.forEach(result -> {
      if (result.kind() != TouchResult.Kind.RESET) {
        throw new AssertionError(result);
      }
    })));
  }

  private void reset(int total) {
    print("submit live keys", total, pipelined(total, from -> {
      List<Draft> drafts = new ArrayList<>(batch);
      for (int i = from; i < Math.min(total, from + batch); i++) {
        drafts.add(draft("order-" + i, 4 * HOUR));
      }
      return store.submit(drafts);
    }, results -> results.forEach(result -> {
      if (result.kind() != SubmitResult.Kind.RESET) {
        throw new AssertionError(result);
      }
    })));
  }

  private CompletionStage<ClaimBatch> claim(List<TaskId> ids, int from) {
    List<Claim> items = new ArrayList<>(batch);
    ids.subList(from, Math.min(ids.size(), from + batch)).forEach(id -> items.add(new Claim(id, HOUR)));
    return store.claim(items);
  }

  private static TaskRecord won(ClaimResult result) {
    if (result instanceof ClaimResult.Won(TaskRecord task)) {
      return task;
    }
    throw new AssertionError(result);
  }

  private CompletionStage<List<SettleResult>> settle(List<TaskRecord> claimed) {
    return store.settle(claimed.stream().map(task -> new AttemptEnd(task.id(), task.generation(),
        Objects.requireNonNull(task.token()), new Outcome.Finished(), task.claimedAt(), "200")).toList());
  }

  private static void check(List<SettleResult> results) {
    results.forEach(result -> {
      if (result.kind() != SettleResult.Kind.SETTLED) {
        throw new AssertionError(result);
      }
    });
  }

  private void claimAndSettle(List<TaskId> ids) {
    List<TaskRecord> won = new ArrayList<>();
    print("claim", ids.size(), pipelined(ids.size(), from -> claim(ids, from),
        claims -> claims.results().forEach(result -> won.add(won(result)))));
    print("settle", won.size(), pipelined(won.size(),
        from -> settle(won.subList(from, Math.min(won.size(), from + batch))), JdbcStoreBenchmark::check));
  }

  private void drain(List<TaskId> ids) {
    print("drain", ids.size(), pipelined(ids.size(),
        from -> claim(ids, from)
            .thenCompose(claims -> settle(claims.results().stream().map(JdbcStoreBenchmark::won).toList())),
        JdbcStoreBenchmark::check));
  }

  private void poll() {
    List<DueScan> scans = new ArrayList<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      scans.add(new DueScan(slot, Long.MIN_VALUE, null, System.currentTimeMillis(), 100));
    }
    long first = System.nanoTime();
    int found = get(store.due(scans)).stream().map(DueSlice::entries).mapToInt(List::size).sum();
    double firstMillis = seconds(first) * 1e3;
    long start = System.nanoTime();
    int polls = 200;
    for (int i = 0; i < polls; i++) {
      found += get(store.due(scans)).size() - scans.size();
    }
    System.out.printf("poll of %d slots      first %.1f ms, found %d; then idle %.2f ms each%n", scans.size(),
        firstMillis, found, seconds(start) * 1e3 / polls);
  }
}
