package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.TaskId;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests group commit, permits, destinations, long polls, engine options and clock readings. */
final class PartsTest {
  private static final long SECOND = 1_000_000_000;

  private static final TimeSource STOPPED_CLOCK = new TimeSource() {
    @Override
    public long wallMicros() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      return 0;
    }
  };

  private static final Runnable NOTHING = () -> {};

  /** A store whose answers the test gives. */
  private static final class Slow {
    final List<List<Integer>> batches = new ArrayList<>();
    final List<CompletableFuture<List<String>>> answers = new ArrayList<>();

    CompletableFuture<List<String>> call(List<Integer> items) {
      batches.add(items);
      CompletableFuture<List<String>> answer = new CompletableFuture<>();
      answers.add(answer);
      return answer;
    }

    void answer(int batch) {
      answers.get(batch).complete(batches.get(batch).stream().map(item -> "r" + item).toList());
    }
  }

  @Test
  void eachCallerOfABatchGetsTheOutcomeOfItsItems() {
    Slow slow = new Slow();
    List<Integer> notified = new ArrayList<>();
    GroupCommit<Integer, String> commit = new GroupCommit<>("test", slow::call,
        (items, results) -> notified.addAll(items), 1, new Admission(100, 1_000), STOPPED_CLOCK, Meter.NONE);
    CompletableFuture<List<String>> first = commit.call(List.of(0), 1);
    CompletableFuture<List<String>> done = commit.call(List.of(1, 2), 1);
    CompletableFuture<List<String>> refused = commit.call(List.of(3, 4), 1);
    CompletableFuture<List<String>> mixed = commit.call(List.of(5, 6), 1);
    slow.answer(0);
    StoreFullException full = new StoreFullException("no room");
    slow.answers.get(1)
        .completeExceptionally(ItemsFailedException.of(Arrays.asList("r1", "r2", null, null, "r5", null), full));
    assertThat(first).isCompletedWithValue(List.of("r0"));
    assertThat(done).isCompletedWithValue(List.of("r1", "r2"));
    assertThat(refused).isCompletedExceptionally().satisfies(call -> assertThat(call.exceptionNow()).isSameAs(full));
    assertThat(mixed.exceptionNow()).as("unknown outcome, because one part was done").isInstanceOf(StoreException.class)
        .isNotInstanceOf(StoreFullException.class);
    assertThat(notified).containsExactly(0, 1, 2, 5);
    assertThat(ItemsFailedException.of(Arrays.asList(null, null), full)).isSameAs(full);
  }

  private static GroupCommit<Integer, String> commit(Slow slow, Admission admission) {
    return new GroupCommit<>("test", slow::call, (items, results) -> {}, 1, admission, STOPPED_CLOCK, Meter.NONE);
  }

  @Test
  void callsGatherWhileABatchIsWithTheStore() {
    Slow slow = new Slow();
    GroupCommit<Integer, String> commit = commit(slow, new Admission(100, 1_000));
    CompletableFuture<List<String>> first = commit.call(List.of(1), 1);
    CompletableFuture<List<String>> second = commit.call(List.of(2, 3), 1);
    CompletableFuture<List<String>> third = commit.call(List.of(4), 1);
    assertThat(slow.batches).containsExactly(List.of(1));
    slow.answer(0);
    assertThat(first).isCompletedWithValue(List.of("r1"));
    assertThat(slow.batches).containsExactly(List.of(1), List.of(2, 3, 4));
    assertThat(second).isNotDone();
    slow.answer(1);
    assertThat(second).isCompletedWithValue(List.of("r2", "r3"));
    assertThat(third).isCompletedWithValue(List.of("r4"));
  }

  @Test
  void aFailedBatchFailsItsCallersAndTheNextBatchIsSent() {
    Slow slow = new Slow();
    GroupCommit<Integer, String> commit = commit(slow, new Admission(100, 1_000));
    CompletableFuture<List<String>> first = commit.call(List.of(1), 1);
    CompletableFuture<List<String>> second = commit.call(List.of(2), 1);
    slow.answers.get(0).completeExceptionally(new IllegalStateException("away"));
    assertThatThrownBy(first::join).hasRootCauseMessage("away");
    slow.answer(1);
    assertThat(second).isCompletedWithValue(List.of("r2"));
  }

  @Test
  void callsBeyondTheAdmissionAreRefusedUntilThereIsRoom() {
    Slow slow = new Slow();
    GroupCommit<Integer, String> commit = commit(slow, new Admission(3, 1_000));
    CompletableFuture<List<String>> first = commit.call(List.of(1, 2, 3, 4), 1);
    assertThatThrownBy(() -> commit.call(List.of(5), 1)).isInstanceOf(OverloadedException.class);
    slow.answer(0);
    assertThat(first).isDone();
    assertThat(commit.call(List.of(5), 1)).isNotDone();
    assertThatThrownBy(() -> commit.call(List.of(6), 1_000)).isInstanceOf(OverloadedException.class)
        .hasMessageContaining("bytes=");
  }

  /** Foreign code may throw an Error, such as an AssertionError or a NoClassDefFoundError, wherever it is called. */
  @Test
  void anErrorOfForeignCodeLeavesNoCallWithoutAnAnswer() {
    int calls = 10;
    Slow slow = new Slow();
    GroupCommit<Integer, String> hooked = new GroupCommit<>("test", slow::call, (items, results) -> {
      throw new NoClassDefFoundError("hook");
    }, 1, new Admission(calls, 1_000), STOPPED_CLOCK, Meter.NONE);
    for (int i = 0; i < 2 * calls; i++) {
      CompletableFuture<List<String>> answer = hooked.call(List.of(i), 1);
      slow.answer(i);
      assertThat(answer).isCompletedWithValue(List.of("r" + i));
    }

    GroupCommit<Integer, String> broken = new GroupCommit<>("test", items -> {
      throw new NoClassDefFoundError("store");
    }, (items, results) -> {}, 1, new Admission(calls, 1_000), STOPPED_CLOCK, Meter.NONE);
    for (int i = 0; i < 2 * calls; i++) {
      assertThat(broken.call(List.of(i), 1).exceptionNow()).isInstanceOf(NoClassDefFoundError.class);
    }
  }

  @Test
  void aFailingMeterChangesNothing() {
    List<String> counted = new ArrayList<>();
    Meter meter = GuardedMeter.of(new Meter() {
      @Override
      public void claimed(String queue, long lateMicros) {
        counted.add(queue);
        throw new NoClassDefFoundError("meter");
      }
    });
    meter.claimed("a", 1);
    meter.claimed("b", 1);
    assertThat(counted).containsExactly("a", "b");
    assertThat(GuardedMeter.of(meter)).isSameAs(meter);
  }

  @Test
  void aRateAllowsABurstOfAtMostATenthOfASecond() {
    Permits permits = new Permits(() -> {});
    permits.configure(QueueConfig.builder("q", Target.pull()).rate(100.0).build(), false, 0);
    assertThat(permits.acquire(1_000, SECOND, NOTHING)).isEqualTo(10);
    assertThat(permits.acquire(1_000, SECOND, NOTHING)).isZero();
    assertThat(permits.rateWaitNanos(SECOND)).isEqualTo(SECOND / 100);
    assertThat(permits.acquire(1_000, SECOND + SECOND / 50, NOTHING)).isEqualTo(2);
    permits.giveBack(1);
    assertThat(permits.acquire(1_000, SECOND + SECOND / 50, NOTHING)).isEqualTo(1);
  }

  @Test
  void aWaitingLaneIsWokenWhenAPermitIsFree() {
    Permits permits = new Permits(() -> {});
    permits.configure(QueueConfig.builder("q", Target.pull()).concurrency(1).build(), false, 0);
    int[] notified = {0};
    assertThat(permits.acquire(2, 0, () -> notified[0]++)).isEqualTo(1);
    assertThat(permits.isFull(0)).isTrue();
    permits.release(1);
    assertThat(notified[0]).isEqualTo(1);
    assertThat(permits.inUse()).isZero();
  }

  @Test
  void successesRaiseTheLimitAndFailuresLeadToATrial() {
    Destination destination = new Destination("d", 64, new Budget(1_000, 0, 1));
    assertThat(destination.acquire(1_000, 0, NOTHING)).isEqualTo(16);
    for (int i = 0; i < 16; i++) {
      destination.answered(new Answer.Done(""), 0);
    }
    assertThat(destination.limit()).isGreaterThan(20);
    long now = 0;
    while (!destination.isOnTrial() && now < 100 * SECOND) {
      now += SECOND / 5;
      int given = destination.acquire(1, now, NOTHING);
      for (int i = 0; i < given; i++) {
        destination.answered(new Answer.Retry(null, Health.UNREACHABLE, ""), now);
      }
    }
    assertThat(destination.limit()).isEqualTo(1);
    assertThat(destination.acquire(10, now, NOTHING)).as("no trial before the wait ends").isZero();
    long wait = destination.trialWaitNanos(now);
    assertThat(wait).isPositive();
    assertThat(destination.acquire(10, now + wait, NOTHING)).isEqualTo(1);
    assertThat(destination.acquire(10, now + wait, NOTHING)).as("one trial at a time").isZero();
    destination.answered(new Answer.Done(""), now + wait);
    assertThat(destination.isOnTrial()).isFalse();
    assertThat(destination.acquire(10, now + wait, NOTHING)).isEqualTo(2);
  }

  @Test
  void aClaimMayExceedTheLimitByAttemptsThatJustEnded() {
    Destination destination = new Destination("d", 16, new Budget(1_000, 0, 1));
    assertThat(destination.acquire(1_000, 0, NOTHING)).isEqualTo(16);
    long before = destination.ended();
    for (int i = 0; i < 10; i++) {
      destination.answered(new Answer.Done(""), 0);
    }
    assertThat(destination.acquire(1_000, 0, NOTHING)).isEqualTo(10);
    destination.claimed(before);
    assertThat(destination.acquire(1_000, 0, NOTHING)).isEqualTo(10);
    destination.claimed(destination.ended());
    assertThat(destination.acquire(1_000, 0, NOTHING)).as("no attempt ended during the last claim").isZero();
    destination.claimed(-1_000);
    assertThat(destination.acquire(1_000, 0, NOTHING)).as("twice the limit at most").isEqualTo(6);
    destination.answered(new Answer.Retry(null, Health.OVERLOADED, ""), 0);
    assertThat(destination.acquire(1_000, 0, NOTHING)).as("overload: no additional places").isZero();
  }

  @Test
  void aLoopWithAnOlderTimeAddsNoTokens() {
    Permits permits = new Permits(() -> {});
    permits.configure(QueueConfig.builder("q", Target.pull()).rate(100.0).build(), false, 0);
    long second = 1_000_000_000;
    assertThat(permits.acquire(1_000, second, NOTHING)).isPositive();
    assertThat(permits.rateWaitNanos(second - 100_000_000)).isPositive();
    assertThat(permits.acquire(1_000, second, NOTHING)).as("no time has passed").isZero();
  }

  @Test
  void permitsThatAreGivenBackUnusedWakeNoLoop() {
    int[] wakes = new int[1];
    Permits permits = new Permits(() -> {});
    permits.configure(QueueConfig.builder("q", Target.pull()).concurrency(1).build(), false, 0);
    assertThat(permits.acquire(2, 0, () -> wakes[0]++)).isOne();
    permits.giveBackUnused(1);
    assertThat(wakes[0]).isZero();
    assertThat(permits.acquire(1, 0, NOTHING)).isOne();
    permits.release(1);
    assertThat(wakes[0]).as("the release of an attempt wakes it").isOne();
  }

  @Test
  void aPollReturnsNoTaskWhoseLeaseHasEnded() {
    LongPollQueue longPolls = new LongPollQueue("q", () -> Seating.of(Fleet.EMPTY, "n"));
    LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(WorkerId.ANONYMOUS, 4, 1_000, 0, Long.MAX_VALUE,
        CompletableFuture.completedFuture(null));
    longPolls.add(waiter);
    for (int i = 0; i < 4; i++) {
      assertThat(longPolls.reserve()).isSameAs(waiter);
    }
    TaskRecord short1 = TaskRecord.edit(TaskId.of(1, 1, 1), "q", null).done();
    TaskRecord long1 = TaskRecord.edit(TaskId.of(1, 2, 2), "q", null).done();
    TaskRecord longer1 = TaskRecord.edit(TaskId.of(1, 3, 3), "q", null).done();
    longPolls.won(waiter, short1, TimeUnit.MILLISECONDS.toNanos(100));
    longPolls.won(waiter, longer1, TimeUnit.MILLISECONDS.toNanos(400));
    longPolls.won(waiter, long1, TimeUnit.MILLISECONDS.toNanos(300));
    longPolls.answer(TimeUnit.MILLISECONDS.toNanos(50));
    assertThat(waiter.answer()).as("a claim for this worker is pending").isNotDone();
    longPolls.lost(waiter);
    longPolls.answer(TimeUnit.MILLISECONDS.toNanos(200));
    assertThat(waiter.answer()).as("300 ms: from the call to the first end of a lease")
        .isCompletedWithValue(new Scheduler.Pulled(List.of(longer1, long1), 300));
  }

  @Test
  void aWorkerWaitsWhileDisabledOrWhileTheFleetIsUnknown() {
    AtomicReference<Seating> seating = new AtomicReference<>(Seating.UNKNOWN);
    LongPollQueue longPolls = new LongPollQueue("q", seating::get);
    LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(WorkerId.of("one"), 4, 1_000, 0, Long.MAX_VALUE,
        CompletableFuture.completedFuture(null));
    longPolls.add(waiter);
    assertThat(longPolls.reserve()).as("the worker may be disabled").isNull();
    assertThat(longPolls.hasWaiters()).isTrue();
    Fleet.Seat seat = new Fleet.Seat(0, "one", "fra", Set.of("q"), "n", true, false);
    seating.set(Seating.of(new Fleet(List.of(seat), List.of("fra")), "n"));
    longPolls.followFleet();
    assertThat(longPolls.reserve()).isNull();
    seating.set(Seating.of(Fleet.EMPTY, "n"));
    longPolls.followFleet();
    assertThat(longPolls.reserve()).isSameAs(waiter);
  }

  @Test
  void aFailureOfOnlyTheTaskDoesNotLowerTheLimit() {
    Destination destination = new Destination("d", 64, new Budget(1_000, 0, 1));
    for (int i = 0; i < 100; i++) {
      assertThat(destination.acquire(1, 0, NOTHING)).isEqualTo(1);
      destination.answered(new Answer.Retry(null, Health.WELL, ""), 0);
    }
    assertThat(destination.limit()).isGreaterThanOrEqualTo(16);
  }

  @Test
  void theBuilderOfOptionsKeepsUnchangedValues() {
    EngineOptions full = EngineOptions.builder("n").zone("z").loops(2).windowMillis(3).wheelEntries(4).laneEntries(5)
        .readyEntries(6).claimBatch(7).callItems(8).callBytes(9).leaseMarginMillis(10).renewedLeaseMillis(311)
        .maxClockOffsetMillis(12).destinationLimit(13).build();
    assertThat(full).isEqualTo(new EngineOptions("n", "z", 2, 3, 4, 5, 6, 7, 8, 9, 10, 311, 12, 13));
    assertThat(full.toBuilder().build()).isEqualTo(full);
    assertThat(EngineOptions.defaults("n")).isEqualTo(new EngineOptions("n", "", 1, 5_000, 1_000_000, 20_000, 200_000,
        1_000, 200_000, 64L << 20, 20_000, 10_000, 5_000, 1_000));
  }

  @Test
  void theMonotonicClockCountsOnFromAReading() {
    ClockReading reading = new ClockReading(1_000_000, 5 * SECOND, 1_000_000, 0);
    assertThat(reading.micros(7 * SECOND + 1_999)).isEqualTo(3_000_001);
  }

  @Test
  void aSlowReadingDoesNotReplaceAFreshQuickReading() {
    ClockReading quick = new ClockReading(0, 0, 500_000, 0);
    ClockReading slow = new ClockReading(1_400_000, SECOND, SECOND / 2, 0);
    assertThat(quick.or(slow)).as("the slow reading may be wrong by 0.5 s").isSameAs(quick);
    ClockReading later = new ClockReading(2_000_100, 2 * SECOND, 600_000, 0);
    assertThat(quick.or(later)).as("the quick reading has drifted since").isSameAs(later);
    ClockReading quicker = new ClockReading(1_000_000, SECOND, 400_000, 0);
    assertThat(quick.or(quicker)).isSameAs(quicker);
  }

  @Test
  void aContradictingReadingReplacesTheLastReading() {
    ClockReading quick = new ClockReading(0, 0, 500_000, 0);
    ClockReading stepped = new ClockReading(3_600_000_000L, SECOND, SECOND / 2, 0);
    assertThat(quick.or(stepped)).as("the store's clock was set").isSameAs(stepped);
    ClockReading back = new ClockReading(-3_600_000_000L, SECOND, SECOND / 2, 0);
    assertThat(quick.or(back)).isSameAs(back);
  }

  @Test
  void theFirstReadingReplacesTheInitialGuess() {
    ClockReading guess = new ClockReading(0, 0, Long.MAX_VALUE / 4, 0);
    ClockReading first = new ClockReading(77, SECOND, 30 * SECOND, 0);
    assertThat(guess.or(first)).isSameAs(first);
  }
}
