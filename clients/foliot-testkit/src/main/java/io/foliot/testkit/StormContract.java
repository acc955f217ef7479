package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Part of the kit: concurrent calls from many threads. */
abstract class StormContract extends HeldContract {
  private static final int THREADS = 8;
  private static final long STORM_SECONDS_MAX = 120;

  /** Runs the same work on many threads, which begin together, and fails if a thread fails. */
  private static <T> List<T> storm(IntFunction<T> work) {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      CyclicBarrier start = new CyclicBarrier(THREADS);
      List<Future<T>> futures = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        futures.add(threads.submit(() -> {
          await(start);
          return work.apply(thread);
        }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get(STORM_SECONDS_MAX, TimeUnit.SECONDS));
      }
      return results;
    } catch (ExecutionException e) {
      throw new AssertionError("a thread failed: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("a thread did not end: seconds=" + STORM_SECONDS_MAX, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(STORM_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
      throw new IllegalStateException("the barrier failed, probably because another thread failed", e);
    }
  }

  private static <T> List<List<T>> batches(List<T> items, int size) {
    List<List<T>> batches = new ArrayList<>();
    for (int i = 0; i < items.size(); i += size) {
      batches.add(items.subList(i, Math.min(items.size(), i + size)));
    }
    return batches;
  }

  private List<TaskId> manyDue(int count) {
    List<Draft> drafts = new ArrayList<>();
    long now = now();
    for (int i = 0; i < count; i++) {
      drafts.add(draft("key " + i, now));
    }
    return get(store().submit(drafts)).stream().map(SubmitResult::id).toList();
  }

  /**
   * Lets each thread claim all ids. Half of the threads proceed in lockstep, in the given order. Each of the other
   * threads uses its own random order. Returns the tasks that the threads won.
   */
  private List<TaskRecord> claimedByAll(List<TaskId> ids) {
    CyclicBarrier step = new CyclicBarrier(THREADS / 2);
    List<List<TaskRecord>> won = storm(thread -> {
      boolean inStep = thread < THREADS / 2;
      List<TaskId> shuffled = new ArrayList<>(ids);
      if (!inStep) {
        Collections.shuffle(shuffled, new Random(thread));
      }
      List<TaskRecord> mine = new ArrayList<>();
      for (List<TaskId> batch : batches(shuffled, 10)) {
        if (inStep) {
          await(step);
        }
        ClaimBatch claims = get(store().claim(batch.stream().map(id -> new Claim(id, HOUR)).toList()));
        for (ClaimResult result : claims.results()) {
          if (result instanceof ClaimResult.Won(TaskRecord task)) {
            mine.add(task);
          }
        }
      }
      return mine;
    });
    return won.stream().flatMap(List::stream).toList();
  }

  @Test
  void amongManyClaimersEachTaskIsWonByExactlyOne() {
    List<TaskId> ids = manyDue(600);
    for (int i = 0; i < ids.size(); i += 3) {
      assertThat(park(ids.get(i))).isTrue();
    }
    List<TaskRecord> won = claimedByAll(ids);
    assertThat(won).extracting(TaskRecord::id).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
    assertThat(won).extracting(TaskRecord::token).doesNotHaveDuplicates();
  }

  @Test
  void amongManyClaimersEachEndedLeaseIsTakenOverByExactlyOne() {
    List<TaskId> ids = manyDue(300);
    get(store().claim(ids.stream().map(id -> new Claim(id, tickMillis())).toList()));
    pass(2);
    List<TaskRecord> won = claimedByAll(ids);
    assertThat(won).extracting(TaskRecord::id).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(ids);
    assertThat(won).extracting(TaskRecord::attempt).containsOnly(2);
  }

  @Test
  void amongManySettlersEachTokenIsAcceptedOnce() {
    List<TaskRecord> claimed = manyDue(300).stream().map(this::won).toList();
    List<List<SettleResult>> results = storm(thread -> {
      List<SettleResult> mine = new ArrayList<>();
      for (List<TaskRecord> batch : batches(claimed, 10)) {
        mine.addAll(get(store().settle(batch.stream().map(task -> settlement(task, thread % 2 == 0
            ? new Outcome.Finished()
            : new Outcome.Failed())).toList())));
      }
      return mine;
    });
    for (int i = 0; i < claimed.size(); i++) {
      int item = i;
      TaskState state = record(claimed.get(i).id()).state();
      assertThat(results.stream().map(list -> list.get(item).kind())).containsOnlyOnce(SettleResult.Kind.SETTLED);
      for (int thread = 0; thread < THREADS; thread++) {
        SettleResult result = results.get(thread).get(item);
        boolean same = (thread % 2 == 0) == (state == TaskState.FINISHED);
        assertThat(result.kind()).isIn(same
            ? List.of(SettleResult.Kind.SETTLED, SettleResult.Kind.REPEATED)
            : List.of(SettleResult.Kind.STALE));
        assertThat(result.state()).isEqualTo(state);
      }
    }
  }

  @Test
  void amongManySubmittersOneCreatesTheTaskOfAKey() {
    List<List<SubmitResult>> results = storm(thread -> {
      List<SubmitResult> mine = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        mine.addAll(get(store().submit(List.of(draft("key " + i, now() + HOUR, OnConflict.REJECT),
            draft("kept " + i, now() + HOUR, OnConflict.KEEP)))));
      }
      return mine;
    });
    for (int i = 0; i < results.getFirst().size(); i++) {
      int item = i;
      List<SubmitResult> same = results.stream().map(list -> list.get(item)).toList();
      assertThat(same).extracting(SubmitResult::kind).containsOnlyOnce(SubmitResult.Kind.CREATED);
      assertThat(same).extracting(SubmitResult::kind).containsOnly(SubmitResult.Kind.CREATED,
          item % 2 == 0 ? SubmitResult.Kind.REJECTED : SubmitResult.Kind.KEPT);
      assertThat(same).extracting(SubmitResult::id).containsOnly(same.getFirst().id());
    }
  }

  @Test
  void amongManyRepeatedRequestsOneCreatesATask() {
    List<List<SubmitResult>> results = storm(thread -> {
      List<SubmitResult> mine = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        mine.add(submit(withIdempotency(draft("key " + i, now() + HOUR), "request", 1)));
      }
      return mine;
    });
    for (int i = 0; i < results.getFirst().size(); i++) {
      int item = i;
      List<SubmitResult> same = results.stream().map(list -> list.get(item)).toList();
      assertThat(same).extracting(SubmitResult::kind).containsOnlyOnce(SubmitResult.Kind.CREATED)
          .containsOnly(SubmitResult.Kind.CREATED, SubmitResult.Kind.REPEATED);
      assertThat(same).extracting(SubmitResult::generation).containsOnly(same.getFirst().generation());
    }
  }

  @Test
  void amongManyResettersNoGenerationIsGivenOutTwice() {
    created("a", now() + HOUR);
    List<List<Long>> generations = storm(thread -> {
      List<Long> mine = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        mine.add(thread % 2 == 0
            ? touch(key("a"), now() + HOUR).generation()
            : submit("a", now() + HOUR).generation());
      }
      return mine;
    });
    generations.forEach(list -> assertThat(list).isSorted());
    assertThat(generations.stream().flatMap(List::stream)).doesNotHaveDuplicates();
  }

  @Test
  void amongManyWritersOfADocumentNoWriteIsLost() {
    var kind = DocumentKind.PERMITS;
    get(store().writeDocument(kind, "a", 0, new byte[]{0, 0, 0, 0}));
    storm(thread -> {
      for (int written = 0; written < 25;) {
        var old = get(store().document(kind, "a")).orElseThrow();
        byte[] next = ByteBuffer.allocate(4).putInt(ByteBuffer.wrap(old.content()).getInt() + 1)
            .array();
        written += get(store().writeDocument(kind, "a", old.version(), next)) ? 1 : 0;
      }
      return thread;
    });
    byte[] content = get(store().document(kind, "a")).orElseThrow().content();
    assertThat(ByteBuffer.wrap(content).getInt()).isEqualTo(25 * THREADS);
  }

  @Test
  void resultsAgreeWithEarlierResultsUnderManyThreads() {
    store().configure(QUEUE, attempts(3));
    Storm storm = new Storm();
    storm(thread -> {
      storm.run(new Random(thread));
      return thread;
    });
    storm.check();
  }

  /**
   * Random calls from many threads. The result of a call must agree with each result that was returned before the call
   * began.
   */
  private final class Storm {
    private static final int STEPS = 300;
    private static final int KEYS = 12;

    // any thread
    private final List<TaskId> ids = new CopyOnWriteArrayList<>();
    private final List<TaskRecord> claimed = new CopyOnWriteArrayList<>();
    private final Set<Token> tokens = ConcurrentHashMap.newKeySet();
    private final Set<Token> accepted = ConcurrentHashMap.newKeySet();
    private final Set<List<Object>> generations = ConcurrentHashMap.newKeySet();
    private final ConcurrentMap<String, Long> newestByKey = new ConcurrentHashMap<>();
    /** Oldest generation that a claim may still return, by task; {@code Long.MAX_VALUE} if a settle ended the task. */
    private final ConcurrentMap<TaskId, Long> oldestById = new ConcurrentHashMap<>();

    void run(Random random) {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(12)) {
          case 0, 1, 2 -> submitSome(random);
          case 3 -> touchOne(random);
          case 4 -> cancelOne(random);
          case 5, 6, 7 -> claimSome(random);
          case 8, 9 -> settleOne(random);
          case 10 -> parkOne(random);
          default -> {
            extendOne(random);
            pass(Duration.ofMillis(1));
          }
        }
      }
    }

    private String anyKey(Random random) {
      return "key " + random.nextInt(KEYS);
    }

    private long anyInstant(Random random) {
      return now() + (random.nextInt(4) == 0 ? HOUR : random.nextInt(-2, 3));
    }

    private void submitSome(Random random) {
      List<Draft> drafts = new ArrayList<>();
      for (int i = 0; i <= random.nextInt(3); i++) {
        drafts.add(draft(anyKey(random), anyInstant(random),
            random.nextInt(3) > 0
                ? OnConflict.RESET
                : random.nextBoolean() ? OnConflict.KEEP : OnConflict.REJECT));
      }
      Map<String, Long> before = new HashMap<>(newestByKey);
      List<SubmitResult> results = get(store().submit(drafts));
      for (int i = 0; i < results.size(); i++) {
        SubmitResult result = results.get(i);
        if (result.kind() != SubmitResult.Kind.KEPT && result.kind() != SubmitResult.Kind.REJECTED) {
          newGeneration(String.valueOf(drafts.get(i).key()), before, result.id(), result.generation());
        }
        if (result.kind() == SubmitResult.Kind.CREATED) {
          ids.add(result.id());
        }
      }
    }

    private void newGeneration(String key, Map<String, Long> before, TaskId id, long generation) {
      assertThat(generation).as("generation of %s", key).isGreaterThan(before.getOrDefault(key, 0L));
      assertThat(generations.add(List.of(key, generation))).as("generation %s of %s given out once", generation, key)
          .isTrue();
      newestByKey.merge(key, generation, Math::max);
      oldestById.merge(id, generation, Math::max);
    }

    private void touchOne(Random random) {
      String key = anyKey(random);
      Map<String, Long> before = new HashMap<>(newestByKey);
      TouchResult result = one(store().touch(List.of(new Touch(key(key), Due.at(anyInstant(random))))));
      TaskId id = result.id();
      if (id != null) {
        newGeneration(key, before, id, result.generation());
      }
    }

    private void cancelOne(Random random) {
      CancelResult result = cancel(
          ids.isEmpty() || random.nextBoolean() ? key(anyKey(random)) : id(ids.get(random.nextInt(ids.size()))));
      TaskId id = result.id();
      if (id != null) {
        oldestById.merge(id, result.generation() + 1, Math::max);
      }
    }

    private void claimSome(Random random) {
      Set<TaskId> some = new HashSet<>();
      for (int i = 0; i < 5 && !ids.isEmpty(); i++) {
        some.add(ids.get(Math.max(0, ids.size() - 1 - random.nextInt(2 * KEYS))));
      }
      Map<TaskId, Long> before = new HashMap<>(oldestById);
      long leaseMillis = random.nextInt(3) == 0 ? HOUR : 1 + random.nextInt(3);
      ClaimBatch batch = get(store().claim(some.stream().map(id -> new Claim(id, leaseMillis)).toList()));
      for (ClaimResult result : batch.results()) {
        if (result instanceof ClaimResult.Won(TaskRecord task)) {
          assertThat(tokens.add(tokenOf(task))).as("token used once").isTrue();
          assertThat(task.dueAt()).as("due").isLessThanOrEqualTo(batch.nowMillis());
          assertThat(task.generation()).as("the claimed generation was not replaced, cancelled or ended: %s", task)
              .isGreaterThanOrEqualTo(before.getOrDefault(task.id(), 0L));
          claimed.add(task);
        }
      }
    }

    private void settleOne(Random random) {
      if (claimed.isEmpty()) {
        return;
      }
      TaskRecord task = claimed.get(Math.max(0, claimed.size() - 1 - random.nextInt(THREADS)));
      Outcome outcome = switch (random.nextInt(5)) {
        case 0 -> new Outcome.Finished();
        case 3 -> new Outcome.NotBegun();
        case 1 -> new Outcome.Failed();
        case 2 -> new Outcome.Rearm(Due.at(now()));
        default -> new Outcome.Retry(Due.at(now()));
      };
      SettleResult result = settle(task, outcome);
      if (result.kind() == SettleResult.Kind.SETTLED) {
        assertThat(accepted.add(tokenOf(task))).as("accepted once").isTrue();
        if (result.state().isFinal()) {
          oldestById.merge(task.id(), Long.MAX_VALUE, Math::max);
        }
      }
    }

    private void extendOne(Random random) {
      if (!claimed.isEmpty()) {
        extend(claimed.get(random.nextInt(claimed.size())), random.nextInt(5));
      }
    }

    private void parkOne(Random random) {
      if (!ids.isEmpty()) {
        park(ids.get(Math.max(0, ids.size() - 1 - random.nextInt(2 * KEYS))));
      }
    }

    /**
     * Checks the store after all threads have ended: each key has at most one live task. Each live task has exactly one
     * entry, in the index or among the parked entries, and there are no other entries.
     */
    void check() {
      Map<TaskId, DueEntry> live = new HashMap<>();
      Set<String> keys = new HashSet<>();
      String cursor = null;
      do {
        RecordPage page = get(store().query(QUEUE, null, 100, cursor));
        for (TaskRecord task : page.tasks()) {
          if (task.isLive()) {
            live.put(task.id(), new DueEntry(task.wakeAt(), task.id(), QUEUE));
            assertThat(keys.add(String.valueOf(task.key()))).as("one live task: %s", task).isTrue();
            assertThat(find(key(String.valueOf(task.key()))).orElseThrow().id()).isEqualTo(task.id());
            assertThat(task.generation()).isGreaterThanOrEqualTo(
                task.successor() == null && !task.cancelRequested() ? oldestById.getOrDefault(task.id(), 0L) : 0L);
          }
        }
        cursor = page.cursor();
      } while (cursor != null);
      List<DueEntry> entries = new ArrayList<>(allParked(QUEUE));
      for (int slot = 0; slot < store().slotCount(); slot++) {
        entries.addAll(index(slot));
      }
      assertThat(entries).containsExactlyInAnyOrderElementsOf(live.values());
    }
  }
}
