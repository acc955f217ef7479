package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.core.SystemClock;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.Touch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls of many threads to one store. */
final class ConcurrencyTest {
  private static final RocksDbOptions TWO_SLOTS = StoreHarness.SMALL.toBuilder().slots(2).build();
  private static final int ROUNDS = 300;

  @TempDir
  Path temporary;

  private final SystemClock clock = new SystemClock();

  private static DueScan whole(int slot) {
    return new DueScan(slot, Long.MIN_VALUE, null, Long.MAX_VALUE, 10_000);
  }

  /** Scans on other threads raise the low watermarks as fast as possible. No watermark may pass a live entry. */
  @Test
  void noScanMissesAnAcknowledgedTask() throws Exception {
    AtomicBoolean done = new AtomicBoolean();
    ExecutorService threads = Executors.newFixedThreadPool(3);
    try (RocksDbStore store = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, clock)) {
      List<Future<?>> scanners = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        scanners.add(threads.submit(() -> {
          while (!done.get()) {
            StoreHarness.get(store.due(List.of(whole(0), whole(1))));
          }
        }));
      }
      scanners.add(threads.submit(() -> {
        while (!done.get()) {
          StoreHarness.get(store.parked(StoreHarness.QUEUE, SlotSet.all(2), null, 10));
        }
      }));
      Random random = new Random(1);
      for (int round = 0; round < ROUNDS; round++) {
        long dueAt = clock.wallMillis() - random.nextInt(1_000);
        Draft draft = StoreHarness.draft(clock, null, dueAt, Body.EMPTY);
        StoreHarness.get(store.submit(List.of(draft)));
        DueEntry entry = new DueEntry(dueAt, draft.id(), StoreHarness.QUEUE);
        int slot = draft.id().slot(2);
        for (int i = 0; i < 3; i++) {
          assertThat(StoreHarness.get(store.due(List.of(whole(slot)))).getFirst().entries()).as("round %s", round)
              .contains(entry);
        }
        if (random.nextBoolean()) {
          assertThat(StoreHarness.get(store.park(List.of(entry)))).containsExactly(true);
          for (int i = 0; i < 3; i++) {
            assertThat(StoreHarness.get(store.parked(StoreHarness.QUEUE, SlotSet.all(2), null, 10)))
                .as("round %s, parked", round).containsExactly(entry);
          }
        }
        StoreHarness.get(store.cancel(List.of(new TaskRef.ById(draft.id()))));
      }
      done.set(true);
      for (Future<?> scanner : scanners) {
        scanner.get(60, TimeUnit.SECONDS);
      }
    } finally {
      done.set(true);
      threads.shutdownNow();
    }
  }

  @Test
  void aCommitServesManyCallers() {
    try (RocksDbStore store = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, clock)) {
      List<CompletionStage<List<SubmitResult>>> stages = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        stages.add(store.submit(List.of(StoreHarness.draft(clock, "key " + i, clock.wallMillis(), Body.EMPTY))));
      }
      Set<TaskId> ids = new HashSet<>();
      stages.forEach(stage -> ids.add(StoreHarness.get(stage).getFirst().id()));
      assertThat(ids).hasSize(2_000);
      assertThat(store.stats().commits()).isLessThan(1_000);
      assertThat(store.stats().waitingItems()).isZero();
    }
  }

  @Test
  void callsBeforeACloseCompleteAndLaterCallsAreRefused() throws Exception {
    RocksDbStore store = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, clock);
    AtomicBoolean done = new AtomicBoolean();
    CountDownLatch firstSubmits = new CountDownLatch(50);
    ExecutorService threads = Executors.newFixedThreadPool(2);
    List<Future<Set<TaskId>>> submitters = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      submitters.add(threads.submit(() -> {
        Set<TaskId> acknowledged = new HashSet<>();
        while (!done.get()) {
          Draft draft = StoreHarness.draft(clock, null, clock.wallMillis(), Body.EMPTY);
          try {
            acknowledged.add(StoreHarness.get(store.submit(List.of(draft))).getFirst().id());
            firstSubmits.countDown();
          } catch (CompletionException e) {
            assertThat(e.getCause()).isInstanceOf(StoreException.class).hasMessageContaining("closed");
            return acknowledged;
          }
        }
        return acknowledged;
      }));
    }
    assertThat(firstSubmits.await(60, TimeUnit.SECONDS)).isTrue();
    store.close();
    Set<TaskId> acknowledged = new HashSet<>();
    for (Future<Set<TaskId>> submitter : submitters) {
      acknowledged.addAll(submitter.get(60, TimeUnit.SECONDS));
    }
    done.set(true);
    threads.shutdown();
    try (RocksDbStore reopened = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, clock)) {
      assertThat(StoreHarness.index(reopened)).extracting(DueEntry::id)
          .containsExactlyInAnyOrderElementsOf(acknowledged);
    }
  }

  /** A clock whose next reading by the writer is held, so that calls wait for the writer meanwhile. */
  private static final class HeldClock implements TimeSource {
    private final SystemClock clock = new SystemClock();
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile boolean holds;

    @Override
    public long wallMicros() {
      if (holds && Thread.currentThread().getName().equals("foliot-rocksdb-writer")) {
        held.countDown();
        try {
          assertThat(released.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return clock.wallMicros();
    }

    @Override
    public long monotonicNanos() {
      return clock.monotonicNanos();
    }
  }

  @Test
  void aClaimOvertakesLargeCalls() throws Exception {
    HeldClock heldClock = new HeldClock();
    try (RocksDbStore store = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, heldClock)) {
      Draft due = StoreHarness.draft(heldClock, null, heldClock.wallMillis(), Body.EMPTY);
      StoreHarness.get(store.submit(List.of(due)));
      List<Touch> touches = Stream.generate(() -> StoreHarness.draft(heldClock, null, 0, Body.EMPTY).id())
          .<Touch>map(absent -> new Touch(new TaskRef.ById(absent), Due.at(0))).limit(3 * Slices.ITEMS).toList();
      heldClock.holds = true;
      CompletionStage<Boolean> first = store.hasLive(StoreHarness.QUEUE);
      assertThat(heldClock.held.await(60, TimeUnit.SECONDS)).isTrue();
      List<String> order = Collections.synchronizedList(new ArrayList<>());
      CompletionStage<?> touched = store.touch(touches).thenAccept(results -> order.add("touched " + results.size()));
      CompletionStage<?> claimed = store.claim(List.of(new Claim(due.id(), StoreHarness.HOUR)))
          .thenAccept(batch -> order.add(batch.results().getFirst().getClass().getSimpleName()));
      heldClock.released.countDown();
      StoreHarness.get(touched);
      StoreHarness.get(claimed);
      assertThat(StoreHarness.get(first)).isTrue();
      assertThat(order).containsExactly("Won", "touched " + touches.size());
    }
  }

  @Test
  void aPollOfSlotsInWhichNothingIsDueReadsNothing() {
    try (RocksDbStore store = RocksDbStore.open(temporary.resolve("store"), TWO_SLOTS, clock)) {
      long now = clock.wallMillis();
      Draft draft = StoreHarness.draft(clock, null, now + StoreHarness.HOUR, Body.EMPTY);
      StoreHarness.get(store.submit(List.of(draft)));
      List<DueScan> poll = List.of(new DueScan(0, Long.MIN_VALUE, null, now, 10),
          new DueScan(1, Long.MIN_VALUE, null, now, 10));
      StoreHarness.get(store.due(poll));
      for (int i = 0; i < 100; i++) {
        CompletionStage<List<DueSlice>> answer = store.due(poll);
        assertThat(answer.toCompletableFuture().isDone()).as("completed in the call, without a read").isTrue();
        assertThat(StoreHarness.get(answer)).allMatch(slice -> slice.entries().isEmpty() && !slice.more());
      }
      StoreHarness.get(store.touch(List.of(new Touch(new TaskRef.ById(draft.id()), Due.at(now)))));
      assertThat(StoreHarness.get(store.due(poll)).get(draft.id().slot(2)).entries()).hasSize(1);
      List<ClaimResult> claims = StoreHarness.get(store.claim(List.of(new Claim(draft.id(), 1_000)))).results();
      assertThat(claims.getFirst()).isInstanceOf(ClaimResult.Won.class);
    }
  }
}
