package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.HOUR;
import static io.foliot.store.redis.Tasks.QUEUE;
import static io.foliot.store.redis.Tasks.eventually;
import static io.foliot.store.redis.Tasks.failure;
import static io.foliot.store.redis.Tasks.finish;
import static io.foliot.store.redis.Tasks.get;
import static io.foliot.store.redis.Tasks.key;
import static io.foliot.store.redis.Tasks.submit;
import static io.foliot.store.redis.Tasks.won;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.backends.RedisCluster;
import io.foliot.backends.RedisServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotGrowth;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The number of slots doubles, also while several stores submit, reset, claim and settle. */
@Tag("long")
final class SlotDoublingTest {
  private static final Duration BOUND = Duration.ofSeconds(60);
  private static final int SLOTS = 4;

  private static RedisOptions options(String uri, String namespace) {
    return RedisOptions.builder(uri).namespace(namespace).slots(SLOTS).build();
  }

  private static SlotGrowth.Progress doubled(RedisStore store) {
    return store.doubleSlots(progress -> {});
  }

  /** Returns the number of records that are in the wrong part. */
  private static long misplaced(RedisStore store, RedisOptions options, int slots) {
    long misplaced = 0;
    for (int part = 0; part < slots; part++) {
      for (Object id : store.link().command(CommandType.HKEYS, new Layout(options.namespace()).of(part, ":task"))
          .join()) {
        misplaced += RecordCodec.id((byte[]) id).slot(slots) == part ? 0 : 1;
      }
    }
    return misplaced;
  }

  @Test
  void aDoublingKeepsEveryTaskUnchanged() {
    try (RedisServer server = RedisServer.start()) {
      RedisOptions options = options(server.uri(), "a");
      Map<TaskId, TaskRecord> before = new HashMap<>();
      Map<TaskId, Draft> requests = new HashMap<>();
      List<TaskRecord> running = new ArrayList<>();
      try (RedisStore store = RedisStore.open(options)) {
        for (int i = 0; i < 300; i++) {
          TaskId id = submit(store, "key " + i, i % 3 == 0 ? HOUR : 0).id();
          if (i % 3 == 1) {
            TaskRecord task = won(store, id);
            if (i % 2 == 0) {
              finish(store, task);
            } else {
              running.add(task);
              submit(store, "key " + i, 2 * HOUR);
            }
          } else if (i % 3 == 2 && i % 2 == 0) {
            assertThat(get(store.park(List.of(new DueEntry(found(store, id).wakeAt(), id, QUEUE))))).containsOnly(true);
          }
          before.put(id, found(store, id));
          Draft request = request("request " + i, 7);
          requests.put(get(store.submit(List.of(request))).getFirst().id(), request);
        }
        QueueCounts counts = get(store.counts()).get(QUEUE);
        SlotGrowth.Progress progress = doubled(store);
        assertThat(progress.isDone()).isTrue();
        assertThat(progress.slots()).isEqualTo(2 * SLOTS);
        assertThat(progress.moved()).isBetween(150L, 450L);
        assertThat(misplaced(store, options, 2 * SLOTS)).isZero();
        assertThat(get(store.counts()).get(QUEUE)).isEqualTo(counts);
        assertSame(store, before, requests, running);
      }
      try (RedisStore store = RedisStore.open(options)) {
        assertThat(store.slotCount()).isEqualTo(2 * SLOTS);
        for (TaskRecord task : running) {
          assertThat(finish(store, task)).isEqualTo(SettleResult.Kind.SETTLED);
          assertThat(found(store, task.id()).state()).as("its successor").isEqualTo(TaskState.DELAYED);
        }
      }
    }
  }

  private static Draft request(String name, long digest) {
    return new Draft(TaskId.of(1, SlotHash.of(QUEUE, name), name.hashCode()), QUEUE, null, Due.after(HOUR),
        Body.json("1"), 0, OnConflict.RESET, new Draft.Idempotency(name, digest));
  }

  private static TaskRecord found(RedisStore store, TaskId id) {
    return get(store.find(new TaskRef.ById(id))).orElseThrow();
  }

  private static void assertSame(RedisStore store, Map<TaskId, TaskRecord> before, Map<TaskId, Draft> requests,
      List<TaskRecord> running) {
    Set<TaskId> indexed = new HashSet<>();
    for (int slot = 0; slot < store.slotCount(); slot++) {
      DueSlice slice = get(store.due(List.of(new DueScan(slot, Long.MIN_VALUE, null, Long.MAX_VALUE, 10_000))))
          .getFirst();
      slice.entries().forEach(entry -> assertThat(indexed.add(entry.id())).isTrue());
    }
    get(store.parked(QUEUE, SlotSet.all(store.slotCount()), null, 10_000))
        .forEach(entry -> assertThat(indexed.add(entry.id())).isTrue());
    before.forEach((id, task) -> {
      assertThat(found(store, id)).usingRecursiveComparison().isEqualTo(task);
      assertThat(get(store.find(key(Objects.requireNonNull(task.key())))).orElseThrow().id()).isEqualTo(id);
      assertThat(indexed.contains(id)).isEqualTo(task.isLive());
    });
    requests.forEach((id, request) -> {
      SubmitResult again = get(store.submit(List.of(request))).getFirst();
      assertThat(again.kind()).isEqualTo(SubmitResult.Kind.REPEATED);
      assertThat(again.id()).isEqualTo(id);
    });
    assertThat(running).isNotEmpty();
  }

  @Test
  void aStoreOpenedBeforeADoublingContinues() {
    try (RedisServer server = RedisServer.start();
        RedisStore behind = RedisStore.open(options(server.uri(), "a"));
        RedisStore ahead = RedisStore.open(options(server.uri(), "a"))) {
      Map<String, SubmitResult> before = new HashMap<>();
      for (int i = 0; i < 100; i++) {
        before.put("key " + i, submit(behind, "key " + i, i % 2 == 0 ? 0 : HOUR));
      }
      // This call migrates no task, so each task that must migrate does so when it is touched.
      ahead.doubling().begin();
      for (Map.Entry<String, SubmitResult> entry : before.entrySet()) {
        TouchResult touched = get(behind.touch(List.of(new Touch(key(entry.getKey()), Due.NOW)))).getFirst();
        assertThat(touched.id()).isEqualTo(entry.getValue().id());
        assertThat(touched.generation()).isGreaterThan(entry.getValue().generation());
        TaskRecord task = won(ahead, entry.getValue().id());
        assertThat(task.body()).isEqualTo(Body.json("\"" + entry.getKey() + "\""));
        assertThat(finish(behind, task)).isEqualTo(SettleResult.Kind.SETTLED);
        SubmitResult next = submit(ahead, entry.getKey(), HOUR);
        assertThat(next.kind()).isEqualTo(SubmitResult.Kind.CREATED);
        assertThat(next.generation()).isGreaterThan(touched.generation());
      }
      assertThat(doubled(behind).isDone()).isTrue();
      assertThat(misplaced(ahead, options(server.uri(), "a"), 2 * SLOTS)).isZero();
      assertThat(get(ahead.counts()).get(QUEUE)).isEqualTo(new QueueCounts(100, 0, 0, 100, 0, 0));
    }
  }

  @Test
  void aStalledMigrationBringsBackNoEndedTask() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server.uri(), "a"))) {
      TaskId id = submit(store, migratingKey(), 0).id();
      store.doubling().begin();
      Layout layout = new Layout("a");
      byte[] bits = Layout.bytes(Integer.numberOfTrailingZeros(2 * SLOTS));
      int part = id.slot(2 * SLOTS);
      List<Object> departed = store.link().step(Script.DEPART, layout.part(part - SLOTS),
          List.of(bits, Layout.bytes(1), Layout.bytes(0), Layout.bytes(0), RecordCodec.id(id))).join();
      long before = get(store.timeMicros(0)) - 1;
      finish(store, won(store, id));
      for (long notAfter : new long[]{before, before + 60_000_000}) {
        List<byte[]> arriving = new ArrayList<>(
            List.of(bits, Layout.bytes(notAfter), Layout.bytes(0), Layout.bytes(1)));
        ((List<?>) departed.get(2)).forEach(value -> arriving.add(value == null ? new byte[0] : (byte[]) value));
        List<Object> arrived = store.link().step(Script.ARRIVE, layout.part(part), arriving).join();
        assertThat(arrived).as("0 if refused: notAfter=%s", notAfter).containsExactly(notAfter == before ? 0L : 1L);
      }
      assertThat(found(store, id).state()).as("the part has the task already").isEqualTo(TaskState.FINISHED);
      assertThat(get(store.counts()).get(QUEUE)).isEqualTo(new QueueCounts(0, 0, 0, 1, 0, 0));
    }
  }

  @Test
  void aMigrationThatFailsFailsOnlyTheItemsOfItsPart() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server.uri(), "a"))) {
      List<TaskId> ids = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        ids.add(submit(store, "key " + i, HOUR).id());
      }
      store.doubling().begin();
      byte[] tasks = new Layout("a").of(0, ":task");
      store.link().command(CommandType.DEL, tasks).join();
      store.link().command(CommandType.SADD, tasks, Layout.bytes("a set")).join();
      List<Touch> touches = ids.stream().map(id -> new Touch(new TaskRef.ById(id), Due.NOW)).toList();
      for (int round = 0; round < 2; round++) {
        assertThat(failure(store.touch(touches))).isInstanceOfSatisfying(ItemsFailedException.class, partly -> {
          for (int i = 0; i < ids.size(); i++) {
            assertThat(partly.results().get(i) == null).as("item %s", i).isEqualTo(ids.get(i).slot(SLOTS) == 0);
          }
        });
      }
    }
  }

  private static String migratingKey() {
    for (int i = 0;; i++) {
      if ((SlotHash.of(QUEUE, "key " + i) & SLOTS) != 0) {
        return "key " + i;
      }
    }
  }

  @Test
  void underLoadNoFiringIsLostRepeatedOrEarly() throws Exception {
    try (RedisServer server = RedisServer.start()) {
      new Load(options(server.uri(), "load"), 1).run(2);
    }
  }

  @Test
  void onAClusterNoFiringIsLostRepeatedOrEarly() throws Exception {
    try (RedisCluster cluster = RedisCluster.start(3, 0, Map.of())) {
      new Load(options(cluster.nodes().getFirst().uri(), "load"), 2).run(1);
    }
  }

  /** The results of all calls so far. A call must agree with the results that were recorded before the call began. */
  private static final class Ledger {
    private final Map<String, Long> newest = new ConcurrentHashMap<>();
    private final Map<List<Object>, Long> dueOf = new ConcurrentHashMap<>();
    private final Set<List<Object>> fired = ConcurrentHashMap.newKeySet();
    private final Map<String, TaskId> running = new ConcurrentHashMap<>();

    void written(String key, Map<String, Long> before, long generation, long dueAt) {
      assertThat(generation).as("generation of %s", key).isGreaterThan(before.getOrDefault(key, 0L));
      assertThat(dueOf.put(List.of(key, generation), dueAt))
          .as("generation %s of %s is given out once", generation, key)
          .isNull();
      newest.merge(key, generation, Math::max);
    }

    void won(TaskRecord task, long nowMillis, Map<String, Long> before) {
      String key = Objects.requireNonNull(task.key());
      assertThat(task.dueAt()).as("not early").isLessThanOrEqualTo(nowMillis);
      assertThat(task.generation()).as("no generation that was replaced before the claim")
          .isGreaterThanOrEqualTo(before.getOrDefault(key, 0L));
      Long due = dueOf.get(List.of(key, task.generation()));
      assertThat(due == null || (task.attempt() == 1 ? due == task.dueAt() : due <= task.dueAt()))
          .as("due at the reported time, or later for a later attempt: %s", task).isTrue();
      assertThat(running.put(key, task.id())).as("no other attempt runs for %s", key).isNull();
    }

    void settled(TaskRecord task) {
      String key = Objects.requireNonNull(task.key());
      assertThat(fired.add(List.of(key, task.generation()))).as("fired once: %s", task).isTrue();
    }

    void ending(TaskRecord task) {
      assertThat(running.remove(Objects.requireNonNull(task.key()), task.id())).isTrue();
    }
  }

  /** Stores whose threads write and fire tasks while the number of slots doubles. */
  private static final class Load {
    private static final int NODES = 3;
    private static final int KEYS = 400;
    private static final int MAX_DELAY_MILLIS = 800;
    private static final long WRITE_EVERY_NANOS = 30_000_000;

    private final RedisOptions options;
    private final long seed;
    private final Ledger ledger = new Ledger();
    private final AtomicReference<Throwable> failed = new AtomicReference<>();
    private volatile boolean writing = true;
    private volatile boolean firing = true;

    Load(RedisOptions options, long seed) {
      this.options = options;
      this.seed = seed;
    }

    void run(int doublings) throws Exception {
      List<RedisStore> nodes = new ArrayList<>();
      ExecutorService threads = Executors.newCachedThreadPool();
      try {
        List<Future<?>> writers = new ArrayList<>();
        List<Future<?>> firers = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
          RedisStore store = RedisStore.open(options);
          store.configure(QUEUE, new QueueTerms(1_000, Long.MAX_VALUE, HOUR, 50, 50));
          nodes.add(store);
          Random random = new Random(seed * 31 + i);
          writers.add(threads.submit(() -> watched(() -> write(store, random))));
          firers.add(threads.submit(() -> watched(() -> fire(store, new Random(seed * 37)))));
        }
        for (int i = 0; i < doublings; i++) {
          awaitFirings();
          assertThat(doubled(nodes.get(i % NODES)).isDone()).isTrue();
        }
        awaitFirings();
        writing = false;
        awaitEnds(writers);
        eventually("the last generation of each key has fired (seed " + seed + ")", BOUND,
            () -> failed.get() != null || unfired().isEmpty());
        assertThat(failed.get()).isNull();
        firing = false;
        awaitEnds(firers);
        check(nodes.getFirst(), SLOTS << doublings);
      } finally {
        writing = false;
        firing = false;
        threads.shutdown();
        assertThat(threads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        nodes.forEach(RedisStore::close);
      }
    }

    private void watched(Runnable work) {
      try {
        work.run();
      } catch (Throwable e) {
        failed.compareAndSet(null, e);
        throw e;
      }
    }

    private void awaitFirings() {
      int before = ledger.fired.size();
      eventually("tasks fire (seed " + seed + ")", BOUND,
          () -> failed.get() != null || ledger.fired.size() > before + KEYS);
      assertThat(failed.get()).isNull();
    }

    private static void awaitEnds(List<Future<?>> futures)
        throws InterruptedException, ExecutionException, TimeoutException {
      for (Future<?> future : futures) {
        Object done = future.get(60, TimeUnit.SECONDS);
        assertThat(done).isNull();
      }
    }

    private Set<String> unfired() {
      Set<String> unfired = new HashSet<>();
      ledger.newest.forEach((key, generation) -> {
        if (!ledger.fired.contains(List.of(key, generation))) {
          unfired.add(key);
        }
      });
      return unfired;
    }

    private void check(RedisStore store, int slots) {
      assertThat(misplaced(store, options, slots)).isZero();
      assertThat(ledger.fired).hasSizeGreaterThan(KEYS);
      RecordPage live = get(store.live(1_000, null));
      assertThat(live.tasks()).as("all tasks have ended").isEmpty();
      QueueCounts counts = get(store.counts()).getOrDefault(QUEUE, QueueCounts.NONE);
      assertThat(counts.live() + counts.parked()).isZero();
    }

    private void write(RedisStore store, Random random) {
      while (writing) {
        // Without this pause, each key would be reset before it is due.
        LockSupport.parkNanos(WRITE_EVERY_NANOS);
        Set<Integer> keys = new HashSet<>();
        for (int i = 0; i < 12; i++) {
          keys.add(random.nextInt(KEYS));
        }
        Map<String, Long> before = new HashMap<>(ledger.newest);
        if (random.nextInt(3) == 0) {
          List<Touch> touches = keys.stream()
              .map(i -> new Touch(key("key " + i), Due.after(random.nextInt(MAX_DELAY_MILLIS)))).toList();
          List<TouchResult> results = get(store.touch(touches));
          for (int i = 0; i < results.size(); i++) {
            if (results.get(i).kind() != TouchResult.Kind.NOT_FOUND) {
              ledger.written(((TaskRef.ByKey) touches.get(i).ref()).key(), before, results.get(i).generation(),
                  results.get(i).dueAt());
            }
          }
        } else {
          List<Draft> drafts = keys.stream().map(i -> Tasks.draft("key " + i, random.nextInt(MAX_DELAY_MILLIS)))
              .toList();
          List<SubmitResult> results = get(store.submit(drafts));
          for (int i = 0; i < results.size(); i++) {
            ledger.written(Objects.requireNonNull(drafts.get(i).key()), before, results.get(i).generation(),
                results.get(i).dueAt());
          }
        }
      }
    }

    private void fire(RedisStore store, Random random) {
      while (firing) {
        List<DueScan> scans = new ArrayList<>();
        for (int slot = 0; slot < store.slotCount(); slot++) {
          scans.add(new DueScan(slot, Long.MIN_VALUE, null, System.currentTimeMillis(), 50));
        }
        List<Claim> claims = get(store.due(scans)).stream().flatMap(slice -> slice.entries().stream())
            .map(entry -> new Claim(entry.id(), HOUR)).toList();
        Map<String, Long> before = new HashMap<>(ledger.newest);
        ClaimBatch batch = get(store.claim(claims));
        List<AttemptEnd> settlements = new ArrayList<>();
        List<TaskRecord> won = new ArrayList<>();
        for (ClaimResult result : batch.results()) {
          if (result instanceof ClaimResult.Won(TaskRecord task)) {
            ledger.won(task, batch.nowMillis(), before);
            won.add(task);
            settlements.add(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
                random.nextInt(5) == 0 ? new Outcome.Retry(Due.NOW) : new Outcome.Finished(), task.claimedAt(), ""));
          }
        }
        won.forEach(ledger::ending);
        List<SettleResult> results = get(store.settle(settlements));
        for (int i = 0; i < results.size(); i++) {
          assertThat(results.get(i).kind()).isEqualTo(SettleResult.Kind.SETTLED);
          if (settlements.get(i).outcome() instanceof Outcome.Finished) {
            ledger.settled(won.get(i));
          }
        }
      }
    }
  }
}
