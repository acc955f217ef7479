package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

final class WheelTimerTest {
  private static final long BOUND_SECONDS = 30;
  private static final long POLL_NANOS = 1_000_000;
  private static final long TICK_NANOS = 1024;
  private static final Runnable NOTHING = () -> {};

  private final ManualClock clock = new ManualClock();

  private WheelTimer manual() {
    return WheelTimer.builder().clock(clock).tick(Duration.ofNanos(TICK_NANOS)).inline().build();
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(BOUND_SECONDS, SECONDS)).as("within %s s", BOUND_SECONDS).isTrue();
  }

  private static void hold(CountDownLatch latch) {
    try {
      await(latch);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void awaitTrue(BooleanSupplier condition) {
    long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("within %s s", BOUND_SECONDS).isNegative();
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  @Test
  void firesInTheOrderOfDeadlinesAndNeverEarly() {
    try (WheelTimer timer = manual()) {
      List<Long> fired = new ArrayList<>();
      Random random = new Random(1);
      for (int i = 0; i < 4000; i++) {
        long deadline = clock.nanoTime() + random.nextInt(10_000_000);
        timer.schedule(() -> {
          assertThat(clock.nanoTime()).isGreaterThanOrEqualTo(deadline);
          fired.add((deadline + TICK_NANOS - 1) / TICK_NANOS);
        }, deadline - clock.nanoTime(), NANOSECONDS);
      }
      clock.awaitAsleep();
      while (timer.counters().live() > 0) {
        clock.advance(1 + random.nextInt(50_000));
        assertThat(timer.counters().failed()).isZero();
      }
      assertThat(fired).hasSize(4000).isSorted();
    }
  }

  @Test
  void theDriverSleepsExactlyUntilTheNextDueTick() {
    try (WheelTimer timer = manual()) {
      timer.schedule(NOTHING, 10 * TICK_NANOS, NANOSECONDS);
      assertThat(clock.parkedUntil()).isEqualTo(10 * TICK_NANOS);
      timer.schedule(NOTHING, 5 * TICK_NANOS + 1, NANOSECONDS);
      assertThat(clock.parkedUntil()).isEqualTo(6 * TICK_NANOS);
      clock.set(6 * TICK_NANOS - 1);
      assertThat(timer.counters().fired()).isZero();
      clock.set(6 * TICK_NANOS);
      assertThat(timer.counters().fired()).isEqualTo(1);
      assertThat(clock.parkedUntil()).isEqualTo(10 * TICK_NANOS);
    }
  }

  @Test
  void aLaterTimerDoesNotWakeTheDriver() {
    try (WheelTimer timer = manual()) {
      timer.schedule(NOTHING, 1, SECONDS);
      clock.awaitAsleep();
      int parks = clock.parks();
      for (int i = 0; i < 500; i++) {
        Timeout timeout = timer.schedule(NOTHING, 2 + i, SECONDS);
        assertThat(timeout.reset(3 + i, SECONDS)).isTrue();
        assertThat(timeout.cancel()).isTrue();
      }
      clock.awaitAsleep();
      assertThat(clock.parks()).isEqualTo(parks);
    }
  }

  @Test
  void aGrowingHandOffWakesTheSleepingDriver() {
    try (WheelTimer timer = manual()) {
      timer.schedule(NOTHING, 1, SECONDS);
      clock.awaitAsleep();
      int parks = clock.parks();
      for (int i = 0; i < 10_000; i++) {
        timer.schedule(NOTHING, 2, SECONDS);
      }
      awaitTrue(() -> clock.parks() > parks);
    }
  }

  @Test
  void aCancelledTimerNeverFires() {
    try (WheelTimer timer = manual()) {
      AtomicInteger fired = new AtomicInteger();
      Timeout placed = timer.schedule(fired::incrementAndGet, 1, MILLISECONDS);
      clock.awaitAsleep();
      Timeout handedOff = timer.schedule(fired::incrementAndGet, 2, MILLISECONDS);
      assertThat(placed.isPending()).isTrue();
      assertThat(placed.cancel()).isTrue();
      assertThat(handedOff.cancel()).isTrue();
      assertThat(placed.cancel()).isFalse();
      assertThat(placed.reset(5, MILLISECONDS)).isFalse();
      assertThat(placed.isCancelled()).isTrue();
      assertThat(placed.isPending()).isFalse();
      clock.advance(MILLISECONDS.toNanos(10));
      assertThat(fired).hasValue(0);
      assertThat(timer.counters().live()).isZero();
      assertThat(timer.counters().cancelled()).isEqualTo(2);
    }
  }

  @Test
  void aTimerThatHasFiredCanBeNeitherCancelledNorReset() {
    try (WheelTimer timer = manual()) {
      Timeout timeout = timer.schedule(NOTHING, 1, MILLISECONDS);
      clock.awaitAsleep();
      clock.advance(MILLISECONDS.toNanos(2));
      assertThat(timeout.hasFired()).isTrue();
      assertThat(timeout.cancel()).isFalse();
      assertThat(timeout.reset(1, SECONDS)).isFalse();
      assertThat(timeout.hasFired()).isTrue();
    }
  }

  @Test
  void aTimerFiresAtTheDeadlineOfItsLastReset() {
    try (WheelTimer timer = manual()) {
      List<Long> firedAt = new ArrayList<>();
      Timeout timeout = timer.schedule(() -> firedAt.add(clock.nanoTime()), 100 * TICK_NANOS, NANOSECONDS);
      clock.awaitAsleep();
      assertThat(timeout.reset(200 * TICK_NANOS, NANOSECONDS)).isTrue();
      clock.set(150 * TICK_NANOS);
      assertThat(firedAt).isEmpty();
      assertThat(timeout.reset(Duration.ofNanos(20 * TICK_NANOS))).isTrue();
      assertThat(clock.parkedUntil()).isEqualTo(170 * TICK_NANOS);
      assertThat(timeout.reset(30 * TICK_NANOS, NANOSECONDS)).isTrue();
      clock.set(179 * TICK_NANOS);
      assertThat(firedAt).isEmpty();
      clock.set(180 * TICK_NANOS);
      assertThat(firedAt).containsExactly(180 * TICK_NANOS);
      clock.set(1000 * TICK_NANOS);
      assertThat(firedAt).hasSize(1);
    }
  }

  @Test
  void aTimerThatIsResetBeforeItsDeadlineDoesNotFire() {
    try (WheelTimer timer = manual()) {
      Timeout heartbeat = timer.schedule(NOTHING, 100, MICROSECONDS);
      for (int i = 0; i < 1000; i++) {
        assertThat(heartbeat.reset(100, MICROSECONDS)).isTrue();
        clock.advance(MICROSECONDS.toNanos(90));
      }
      assertThat(heartbeat.isPending()).isTrue();
      clock.advance(MILLISECONDS.toNanos(1));
      assertThat(heartbeat.hasFired()).isTrue();
    }
  }

  @Test
  void denseTimersShareAboutOneWakePerMillisecond() {
    try (WheelTimer timer = manual()) {
      int count = 10_000;
      for (int i = 1; i <= count; i++) {
        timer.schedule(NOTHING, i * 100L, MICROSECONDS);
      }
      clock.awaitAsleep();
      int before = clock.parks();
      while (timer.counters().live() > 0) {
        clock.set(clock.parkedUntil());
      }
      long millis = count / 10;
      assertThat((long) clock.parks() - before).isBetween(millis - 20, millis + 40);
      assertThat(timer.counters().lateness().nanosAt(100)).isLessThan(MICROSECONDS.toNanos(1200));
    }
  }

  @Test
  void extremeDelaysAreClampedAsDocumented() {
    try (WheelTimer timer = manual()) {
      AtomicInteger fired = new AtomicInteger();
      for (long delay : new long[]{0, -1, Long.MIN_VALUE}) {
        timer.schedule(fired::incrementAndGet, delay, SECONDS);
      }
      clock.awaitAsleep();
      assertThat(fired).hasValue(3);
      List<Timeout> never = new ArrayList<>();
      for (TimeUnit unit : TimeUnit.values()) {
        never.add(timer.schedule(fired::incrementAndGet, Long.MAX_VALUE, unit));
      }
      never.add(timer.schedule(fired::incrementAndGet, Duration.ofSeconds(Long.MAX_VALUE)));
      timer.schedule(fired::incrementAndGet, Duration.ofSeconds(Long.MIN_VALUE));
      clock.advance(HOURS.toNanos(24 * 365 * 100L));
      assertThat(fired).hasValue(4);
      assertThat(never).allMatch(Timeout::isPending);
    }
  }

  @Test
  void allTimersOfAnHourFireAfterAPauseOfAnHour() {
    try (WheelTimer timer = manual()) {
      AtomicInteger fired = new AtomicInteger();
      for (int i = 1; i <= 3600; i++) {
        timer.schedule(fired::incrementAndGet, i, SECONDS);
      }
      clock.awaitAsleep();
      clock.advance(HOURS.toNanos(1));
      assertThat(fired).hasValue(3600);
      assertThat(timer.counters().lateness().nanosAt(100)).isGreaterThanOrEqualTo(SECONDS.toNanos(3599));
    }
  }

  @Test
  void aMillionTimersInOneTickAllFire() {
    try (WheelTimer timer = manual()) {
      AtomicInteger fired = new AtomicInteger();
      for (int i = 0; i < 1_000_000; i++) {
        timer.schedule(fired::incrementAndGet, 1, SECONDS);
      }
      clock.awaitAsleep();
      clock.advance(SECONDS.toNanos(2));
      assertThat(fired).hasValue(1_000_000);
      assertThat(timer.counters().lateness().count()).isEqualTo(1_000_000);
    }
  }

  @Test
  void aCallbackMayScheduleAndCancelTimersOfTheSameTick() {
    try (WheelTimer timer = manual()) {
      List<String> seen = new ArrayList<>();
      AtomicReference<Timeout> sibling = new AtomicReference<>();
      timer.schedule(() -> {
        seen.add("first");
        assertThat(sibling.get().cancel()).isTrue();
        timer.schedule(() -> seen.add("again"), 0, SECONDS);
      }, 1, MILLISECONDS);
      sibling.set(timer.schedule(() -> seen.add("sibling"), 1, MILLISECONDS));
      timer.schedule(() -> seen.add("last"), 1, MILLISECONDS);
      clock.awaitAsleep();
      clock.advance(MILLISECONDS.toNanos(2));
      assertThat(seen).containsExactly("first", "last", "again");
    }
  }

  @Test
  void aTimerPostponedInItsDueTickDoesNotFire() {
    try (WheelTimer timer = manual()) {
      AtomicInteger fired = new AtomicInteger();
      AtomicReference<Timeout> second = new AtomicReference<>();
      timer.schedule(() -> {
        timer.schedule(() -> assertThat(second.get().reset(1, HOURS)).isTrue(), 0, SECONDS);
        second.set(timer.schedule(fired::incrementAndGet, 0, SECONDS));
      }, TICK_NANOS + TICK_NANOS / 2, NANOSECONDS);
      clock.awaitAsleep();
      clock.set(2 * TICK_NANOS + TICK_NANOS / 2);
      assertThat(timer.counters().fired()).isEqualTo(2);
      assertThat(fired).hasValue(0);
      assertThat(second.get().isPending()).isTrue();
      clock.advance(HOURS.toNanos(1) + TICK_NANOS);
      assertThat(fired).hasValue(1);
    }
  }

  @Test
  void aTimerWithoutDelayDoesNotWaitForTheEndOfTheTick() {
    try (WheelTimer timer = manual()) {
      clock.setWithoutDriver(TICK_NANOS / 2);
      AtomicInteger fired = new AtomicInteger();
      timer.schedule(fired::incrementAndGet, 0, SECONDS);
      clock.awaitAsleep();
      assertThat(fired).hasValue(1);
      assertThat(clock.parkedUntil()).isEqualTo(Long.MAX_VALUE);
    }
  }

  @Test
  void aThrowingCallbackIsReportedAndAffectsNoOtherTimer() {
    List<String> errors = new ArrayList<>();
    try (WheelTimer timer = WheelTimer.builder().clock(clock).inline()
        .onError((timeout, failure) -> errors.add(failure.getMessage())).build()) {
      AtomicInteger fired = new AtomicInteger();
      for (int i = 0; i < 10; i++) {
        int number = i;
        timer.schedule(() -> {
          fired.incrementAndGet();
          if (number % 2 == 0) {
            throw new IllegalStateException("poison " + number);
          }
        }, 1, MILLISECONDS);
      }
      clock.awaitAsleep();
      clock.advance(MILLISECONDS.toNanos(2));
      assertThat(fired).hasValue(10);
      assertThat(errors).containsExactly("poison 0", "poison 2", "poison 4", "poison 6", "poison 8");
      assertThat(timer.counters().failed()).isEqualTo(5);
      assertThat(timer.counters().fired()).isEqualTo(10);
    }
  }

  @Test
  void anErrorHandlerThatThrowsDoesNotEndTheDriver() {
    List<Throwable> uncaught = new ArrayList<>();
    try (WheelTimer timer = WheelTimer.builder().clock(clock).inline().onError((timeout, failure) -> {
      throw new IllegalStateException("handler");
    }).threadFactory(Thread.ofPlatform().uncaughtExceptionHandler((thread, e) -> uncaught.add(e))::unstarted).build()) {
      timer.schedule(() -> {
        throw new IllegalStateException("callback");
      }, 0, SECONDS);
      clock.awaitAsleep();
      assertThat(uncaught).singleElement().satisfies(e -> {
        assertThat(e).hasMessage("handler");
        assertThat(e.getSuppressed()).singleElement().satisfies(s -> assertThat(s).hasMessage("callback"));
      });
      AtomicInteger fired = new AtomicInteger();
      timer.schedule(fired::incrementAndGet, 0, SECONDS);
      clock.awaitAsleep();
      assertThat(fired).hasValue(1);
    }
  }

  @Test
  void aRejectionByTheExecutorIsReported() {
    List<Throwable> errors = new ArrayList<>();
    try (WheelTimer timer = WheelTimer.builder().clock(clock).executor(task -> {
      throw new RejectedExecutionException("full");
    }).onError((timeout, failure) -> errors.add(failure)).build()) {
      timer.schedule(NOTHING, 0, SECONDS);
      clock.awaitAsleep();
      assertThat(errors).singleElement().satisfies(e -> assertThat(e).hasMessage("full"));
    }
  }

  @Test
  void stopReturnsExactlyTheWaitingTimers() {
    WheelTimer timer = manual();
    List<Timeout> fired = new ArrayList<>();
    List<Timeout> cancelled = new ArrayList<>();
    List<Timeout> waiting = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      fired.add(timer.schedule(NOTHING, 1, MILLISECONDS));
      cancelled.add(timer.schedule(NOTHING, 3 + i % 7, MILLISECONDS));
      waiting.add(timer.schedule(NOTHING, 3 + i % 11, MILLISECONDS));
    }
    clock.awaitAsleep();
    clock.advance(MILLISECONDS.toNanos(2));
    cancelled.forEach(Timeout::cancel);
    waiting.add(timer.schedule(NOTHING, 1, HOURS));
    waiting.get(0).reset(5, HOURS);
    waiting.get(1).reset(500, MICROSECONDS);
    assertThat(fired).allMatch(Timeout::hasFired);
    assertThat(timer.stop()).containsExactlyInAnyOrderElementsOf(waiting).doesNotHaveDuplicates()
        .allMatch(Timeout::isCancelled).allMatch(timeout -> timeout.task() == NOTHING);
    assertThat(timer.stop()).isEmpty();
    assertThat(timer.counters().live()).isZero();
    assertThat(waiting.get(0).cancel()).isFalse();
    assertThatThrownBy(() -> timer.schedule(NOTHING, 1, SECONDS)).isInstanceOf(RejectedExecutionException.class)
        .hasMessageContaining("stopped");
  }

  @Test
  void aTimerThatNeverRanStopsAtOnce() {
    WheelTimer timer = manual();
    assertThat(timer.stop()).isEmpty();
    assertThatThrownBy(() -> timer.schedule(NOTHING, 1, SECONDS)).isInstanceOf(RejectedExecutionException.class);
    assertThat(timer.counters().scheduled()).isZero();
  }

  @Test
  void anInlineCallbackMayStopItsTimer() throws Exception {
    CountDownLatch stopped = new CountDownLatch(1);
    WheelTimer timer = WheelTimer.builder().inline().build();
    AtomicReference<List<Timeout>> unfired = new AtomicReference<>();
    Timeout far = timer.schedule(NOTHING, 1, HOURS);
    timer.schedule(() -> {
      unfired.set(timer.stop());
      stopped.countDown();
    }, 1, MILLISECONDS);
    await(stopped);
    assertThat(unfired.get()).containsExactly(far);
    assertThat(timer.counters().live()).isZero();
  }

  @Test
  void stopDuringSchedulesNeitherLosesNorDuplicatesTimers() throws Exception {
    for (int round = 0; round < 300; round++) {
      WheelTimer timer = WheelTimer.builder().inline().build();
      CountDownLatch begun = new CountDownLatch(2);
      List<List<Timeout>> accepted = List.of(new ArrayList<>(), new ArrayList<>());
      List<Thread> threads = new ArrayList<>();
      for (List<Timeout> mine : accepted) {
        threads.add(Thread.startVirtualThread(() -> {
          begun.countDown();
          try {
            for (int i = 0; i < 100_000; i++) {
              mine.add(timer.schedule(NOTHING, i % 2 == 0 ? 0 : 1, i % 2 == 0 ? SECONDS : HOURS));
            }
          } catch (RejectedExecutionException e) {
            assertThat(e).hasMessageContaining("stopped");
          }
        }));
      }
      await(begun);
      List<Timeout> unfired = timer.stop();
      for (Thread thread : threads) {
        thread.join();
      }
      HashSet<Timeout> returned = new HashSet<>(unfired);
      assertThat(returned).hasSameSizeAs(unfired);
      int fired = 0;
      for (List<Timeout> mine : accepted) {
        for (Timeout timeout : mine) {
          assertThat(timeout.hasFired()).isNotEqualTo(returned.contains(timeout));
          fired += timeout.hasFired() ? 1 : 0;
        }
      }
      assertThat(timer.counters().fired()).isEqualTo(fired);
      assertThat(timer.counters().live()).isZero();
    }
  }

  @Test
  void countersAgreeWithARecountAfterConcurrentUse() throws Exception {
    AtomicInteger callbacks = new AtomicInteger();
    WheelTimer timer = WheelTimer.builder().inline().build();
    int threadCount = 4;
    List<List<Timeout>> all = new ArrayList<>();
    AtomicInteger cancels = new AtomicInteger();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < threadCount; t++) {
      List<Timeout> mine = new ArrayList<>();
      all.add(mine);
      Random random = new Random(t);
      threads.add(Thread.startVirtualThread(() -> {
        for (int i = 0; i < 50_000; i++) {
          mine.add(timer.schedule(callbacks::incrementAndGet, random.nextInt(20_000), MICROSECONDS));
          Timeout any = mine.get(random.nextInt(mine.size()));
          switch (random.nextInt(4)) {
            case 0 -> cancels.addAndGet(any.cancel() ? 1 : 0);
            case 1 -> any.reset(random.nextInt(20_000), MICROSECONDS);
            default -> {
            }
          }
        }
      }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    awaitTrue(() -> timer.counters().live() == 0);
    long fired = all.stream().flatMap(List::stream).filter(Timeout::hasFired).count();
    long cancelled = all.stream().flatMap(List::stream).filter(Timeout::isCancelled).count();
    TimerCounters counters = timer.counters();
    assertThat(fired + cancelled).isEqualTo(200_000);
    assertThat(counters.scheduled()).isEqualTo(200_000);
    assertThat(counters.fired()).isEqualTo(fired).isEqualTo(callbacks.get());
    assertThat(counters.cancelled()).isEqualTo(cancelled).isEqualTo(cancels.get());
    assertThat(counters.lateness().count()).isEqualTo(fired);
    assertThat(counters.longestTurnNanos()).isPositive();
    assertThat(timer.stop()).isEmpty();
  }

  @Test
  void noTimerFiresEarlyOnTheSystemClock() throws Exception {
    int count = 20_000;
    CountDownLatch done = new CountDownLatch(count);
    AtomicInteger early = new AtomicInteger();
    try (WheelTimer timer = WheelTimer.create()) {
      Random random = new Random(7);
      for (int i = 0; i < count; i++) {
        long delay = random.nextInt(300_000_000);
        long notBefore = System.nanoTime() + delay;
        timer.schedule(() -> {
          if (System.nanoTime() - notBefore < 0) {
            early.incrementAndGet();
          }
          done.countDown();
        }, delay, NANOSECONDS);
      }
      await(done);
    }
    assertThat(early).hasValue(0);
  }

  @Test
  void aBlockingCallbackDelaysNoOtherTimerByDefault() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch others = new CountDownLatch(1000);
    try (WheelTimer timer = WheelTimer.create()) {
      for (int i = 0; i < 1000; i++) {
        timer.schedule(() -> {
          others.countDown();
          hold(release);
        }, 1, MILLISECONDS);
      }
      await(others);
      release.countDown();
    } finally {
      release.countDown();
    }
  }

  @Test
  void aFullHandOffRejectsNewTimers() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch blocked = new CountDownLatch(1);
    try (WheelTimer timer = WheelTimer.builder().inline().handOffLimit(10).build()) {
      timer.schedule(() -> {
        blocked.countDown();
        hold(release);
      }, 0, SECONDS);
      await(blocked);
      List<Timeout> accepted = new ArrayList<>();
      for (int i = 0; i < 10; i++) {
        accepted.add(timer.schedule(NOTHING, 1, HOURS));
      }
      assertThatThrownBy(() -> timer.schedule(NOTHING, 1, HOURS)).isInstanceOf(RejectedExecutionException.class)
          .hasMessageContaining("limit=10");
      assertThat(accepted.get(0).cancel()).as("an accepted timer can be cancelled").isTrue();
      assertThat(timer.counters().scheduled()).isEqualTo(11);
      release.countDown();
      awaitTrue(() -> {
        try {
          return timer.schedule(NOTHING, 1, HOURS).isPending();
        } catch (RejectedExecutionException e) {
          return false;
        }
      });
    } finally {
      release.countDown();
    }
  }

  @Test
  void idleMeansNoWakeUps() throws Exception {
    try (WheelTimer empty = WheelTimer.create();
        WheelTimer cancelled = WheelTimer.create();
        WheelTimer far = WheelTimer.create()) {
      far.schedule(NOTHING, 1, HOURS);
      Timeout timeout = cancelled.schedule(NOTHING, 300, MILLISECONDS);
      timeout.cancel();
      CountDownLatch never = new CountDownLatch(1);
      assertThat(never.await(500, MILLISECONDS)).isFalse();
      long[] before = wakeUps(empty, cancelled, far);
      assertThat(never.await(3, SECONDS)).isFalse();
      assertThat(wakeUps(empty, cancelled, far)).isEqualTo(before);
      assertThat(before).as("wake-ups at the start, and for the entry of the cancelled timer").satisfies(counts -> {
        assertThat(counts[0]).isZero();
        assertThat(counts[1]).isLessThanOrEqualTo(2);
        assertThat(counts[2]).isLessThanOrEqualTo(1);
      });
    }
  }

  private static long[] wakeUps(WheelTimer... timers) {
    return Arrays.stream(timers).mapToLong(timer -> timer.counters().wakeUps()).toArray();
  }

  @Test
  void aCancelledTimerReleasesItsTask() {
    try (WheelTimer timer = WheelTimer.create()) {
      Timeout[] timeout = new Timeout[1];
      WeakReference<Object> payload = cancelled(timer, timeout);
      for (int i = 0; i < 100 && payload.get() != null; i++) {
        System.gc();
      }
      assertThat(payload.get()).isNull();
      assertThat(timeout[0].task()).isNull();
    }
  }

  private static WeakReference<Object> cancelled(WheelTimer timer, Timeout[] timeout) {
    CountDownLatch payload = new CountDownLatch(1);
    timeout[0] = timer.schedule(() -> hold(payload), 1, HOURS);
    assertThat(timeout[0].cancel()).isTrue();
    return new WeakReference<>(payload);
  }

  @Test
  void cancelledTimersDoNotPileUp() {
    try (WheelTimer timer = WheelTimer.create()) {
      timer.schedule(NOTHING, 2, HOURS);
      List<WeakReference<Timeout>> gone = new ArrayList<>();
      for (int i = 0; i < 300_000; i++) {
        Timeout timeout = timer.schedule(NOTHING, 1, HOURS);
        timeout.cancel();
        if (i % 1000 == 0) {
          gone.add(new WeakReference<>(timeout));
        }
      }
      awaitTrue(() -> {
        System.gc();
        return gone.stream().filter(timeout -> timeout.get() != null).count() <= 5;
      });
    }
  }

  @Test
  void badSettingsAreRefused() {
    WheelTimer.Builder builder = WheelTimer.builder();
    assertThatThrownBy(() -> builder.tick(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.tick(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.slack(Duration.ofNanos(-1))).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.handOffLimit(0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> builder.executor(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> builder.clock(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> builder.threadFactory(null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> builder.onError(null)).isInstanceOf(NullPointerException.class);
    try (WheelTimer timer = manual()) {
      assertThatThrownBy(() -> timer.schedule(null, 1, SECONDS)).isInstanceOf(NullPointerException.class);
      assertThatThrownBy(() -> timer.schedule(NOTHING, 1, null)).isInstanceOf(NullPointerException.class);
      assertThat(timer.counters().scheduled()).isZero();
    }
  }

  @Test
  void slackMakesTimersFireTogetherAndNeverEarly() {
    try (WheelTimer timer = WheelTimer.builder().clock(clock).tick(Duration.ofNanos(1024)).slack(Duration.ofMillis(5))
        .inline().build()) {
      List<Long> lateness = new ArrayList<>();
      for (int i = 0; i < 1000; i++) {
        long deadline = 30_000_000 + i * 1000L;
        timer.schedule(() -> lateness.add(clock.nanoTime() - deadline), deadline, NANOSECONDS);
      }
      int parks = clock.parks();
      while (timer.counters().live() > 0) {
        clock.set(clock.parkedUntil());
      }
      assertThat(lateness).hasSize(1000).allSatisfy(late -> assertThat(late).isBetween(0L, 5_000_000L + 1024));
      assertThat(clock.parks() - parks).as("sleeps for a thousand deadlines").isLessThan(10);
    }
  }

  @Test
  void wakeUpsByCallersDoNotMakeTimersLate() {
    try (WheelTimer timer = manual()) {
      for (int i = 0; i < 500; i++) {
        timer.schedule(NOTHING, 1000 - i, MILLISECONDS);
        clock.awaitAsleep();
      }
      assertThat(timer.counters().wakeUps()).as("each new timer was the first to be due").isGreaterThan(400);
      assertThat(clock.parkedUntil()).isEqualTo(Math.ceilDiv(MILLISECONDS.toNanos(501), TICK_NANOS) * TICK_NANOS);
    }
  }

  @Test
  void latenessBucketsAreExactToAnEighth() {
    for (long nanos : new long[]{0, 1, 7, 8, 9, 15, 16, 17, 1000, 65_535, 65_536, 1L << 40, Long.MAX_VALUE}) {
      long bound = LatenessHistogram.upperBoundNanos(LatenessHistogram.bucket(nanos));
      assertThat(bound).isGreaterThanOrEqualTo(nanos);
      assertThat(bound - nanos).isLessThanOrEqualTo(nanos / 8);
    }
    assertThat(LatenessHistogram.bucket(-5)).isZero();
    assertThatThrownBy(() -> new TimerCounters.Lateness(new long[1]).nanosAt(101))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(new TimerCounters.Lateness(new long[1]).nanosAt(50)).isZero();
  }
}
