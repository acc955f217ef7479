package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract kit that every {@link ScheduledExecutorService} passes. It tests the promises of the interfaces. It also
 * tests the behaviour of a {@link java.util.concurrent.ScheduledThreadPoolExecutor} with its default policies, because
 * callers rely on it. There is one difference: an executor removes a cancelled task at once.
 *
 * <p>An executor with one thread can pass the kit. Lower bounds on time are exact. A test has an upper bound only if
 * the bound is the tested property. Because a stalled machine may be late by any amount, such a test retries with a
 * longer span.
 */
@Timeout(60)
public abstract class ScheduledExecutorContract {
  /** Longest wait for an event that must happen. */
  private static final long BOUND_SECONDS = 10;
  /** A delay longer than any test. */
  private static final long FAR_HOURS = 24;
  /**
   * Lower bound, some 36 years, for the remaining delay of a task with the longest delay. Executors shorten such
   * delays, so that times can be compared by their difference.
   */
  private static final long FOREVER_NANOS = Long.MAX_VALUE / 8;
  /** Several periods of the periodic tasks. Within this time, a periodic task that has not stopped runs again. */
  private static final long SOME_PERIODS_MILLIS = 20;
  /** Spans for properties that a stall may hide. A longer span is tried if a shorter span was not enough. */
  private static final long[] RETRY_SPANS_MILLIS = {4, 16, 64, 256};

  private ScheduledExecutorService executor;

  /** Creates the executor under test, with its defaults. */
  protected abstract ScheduledExecutorService create();

  @BeforeEach
  void createExecutor() {
    executor = create();
  }

  @AfterEach
  void stopExecutor() throws InterruptedException {
    List<Runnable> unused = executor.shutdownNow();
    awaitTermination();
  }

  @Test
  void executeRunsTheTask() throws Exception {
    var ran = new CountDownLatch(1);
    executor.execute(ran::countDown);
    await(ran);
  }

  @Test
  void executedTasksThatThrowLeaveTheExecutorWorking() throws Exception {
    for (int i = 0; i < 3; i++) {
      executor.execute(() -> {
        throw new ExpectedException();
      });
    }
    assertThat(get(executor.submit(() -> "next"))).isEqualTo("next");
    assertThat(get(executor.schedule(() -> "later", 1, MILLISECONDS))).isEqualTo("later");
  }

  @Test
  void aSubmittedRunnableReportsNull() throws Exception {
    var ran = new AtomicBoolean();
    Future<?> future = executor.submit(() -> ran.set(true));
    assertThat(get(future)).isNull();
    assertThat(ran).isTrue();
    assertThat(future.isDone()).isTrue();
    assertThat(future.isCancelled()).isFalse();
  }

  @Test
  void aSubmittedRunnableReportsTheResultGivenWithIt() throws Exception {
    var ran = new AtomicBoolean();
    var result = new Object();
    assertThat(get(executor.submit(() -> ran.set(true), result))).isSameAs(result);
    assertThat(ran).isTrue();
  }

  @Test
  void aSubmittedCallableReportsItsValue() throws Exception {
    var value = new Object();
    Callable<Object> task = () -> value;
    assertThat(get(executor.submit(task))).isSameAs(value);
  }

  @Test
  void aSubmittedTaskReportsTheExceptionInstanceItThrew() {
    var runtime = new ExpectedException();
    var error = new AssertionError("expected");
    var checked = new IOException("expected");
    assertFailedWith(executor.submit(throwing(runtime)), runtime);
    assertFailedWith(executor.submit(throwing(runtime), "result"), runtime);
    assertFailedWith(executor.submit(throwing(error)), error);
    Callable<Object> callable = () -> {
      throw checked;
    };
    assertFailedWith(executor.submit(callable), checked);
  }

  @Test
  void aScheduledCallableReportsItsValue() throws Exception {
    var value = new Object();
    Callable<Object> task = () -> value;
    ScheduledFuture<Object> future = executor.schedule(task, 5, MILLISECONDS);
    assertThat(get(future)).isSameAs(value);
    assertThat(future.isDone()).isTrue();
    assertThat(future.isCancelled()).isFalse();
  }

  @Test
  void aScheduledRunnableReportsNull() throws Exception {
    var ran = new AtomicBoolean();
    assertThat(get(executor.schedule(() -> ran.set(true), 5, MILLISECONDS))).isNull();
    assertThat(ran).isTrue();
  }

  @Test
  void aScheduledTaskReportsTheExceptionInstanceItThrew() {
    var runtime = new ExpectedException();
    var error = new AssertionError("expected");
    var checked = new IOException("expected");
    assertFailedWith(executor.schedule(throwing(runtime), 1, MILLISECONDS), runtime);
    assertFailedWith(executor.schedule(throwing(error), 1, MILLISECONDS), error);
    Callable<Object> callable = () -> {
      throw checked;
    };
    assertFailedWith(executor.schedule(callable, 1, MILLISECONDS), checked);
  }

  @Test
  void aDelayOfZeroOrLessIsDueAtOnceInEveryUnit() throws Exception {
    for (TimeUnit unit : TimeUnit.values()) {
      for (long delay : new long[]{0, -1, -1_000, Long.MIN_VALUE + 1, Long.MIN_VALUE}) {
        ScheduledFuture<String> future = executor.schedule(() -> "ran", delay, unit);
        assertThat(future.getDelay(NANOSECONDS)).as("delay=%s %s", delay, unit).isNotPositive();
        assertThat(get(future)).isEqualTo("ran");
        assertThat(get(executor.schedule(() -> {}, delay, unit))).isNull();
      }
    }
  }

  @Test
  void aPeriodicTaskWithAnInitialDelayOfZeroOrLessStartsAtOnce() throws Exception {
    for (long initialDelay : new long[]{0, -1, Long.MIN_VALUE}) {
      var ran = new CountDownLatch(2);
      ScheduledFuture<?> atRate = executor.scheduleAtFixedRate(ran::countDown, initialDelay, FAR_HOURS, HOURS);
      ScheduledFuture<?> withDelay = executor.scheduleWithFixedDelay(ran::countDown, initialDelay, FAR_HOURS, HOURS);
      await(ran);
      assertThat(atRate.cancel(false)).isTrue();
      assertThat(withDelay.cancel(false)).isTrue();
    }
  }

  @Test
  void theLongestDelayDoesNotOverflowInAnyUnit() throws Exception {
    var ran = new AtomicInteger();
    ScheduledFuture<?> hour = executor.schedule(ran::incrementAndGet, 1, HOURS);
    for (TimeUnit unit : TimeUnit.values()) {
      for (long delay : new long[]{Long.MAX_VALUE, Long.MAX_VALUE - 1}) {
        List<ScheduledFuture<?>> futures = List.of(executor.schedule(ran::incrementAndGet, delay, unit),
            executor.schedule((Runnable) ran::incrementAndGet, delay, unit),
            executor.scheduleAtFixedRate(ran::incrementAndGet, delay, delay, unit),
            executor.scheduleWithFixedDelay(ran::incrementAndGet, delay, delay, unit));
        letPass(1);
        for (ScheduledFuture<?> future : futures) {
          String name = "delay=" + delay + " " + unit;
          assertThat(future.getDelay(NANOSECONDS)).as(name).isGreaterThan(FOREVER_NANOS);
          assertThat(future.getDelay(DAYS)).as(name).isGreaterThanOrEqualTo(NANOSECONDS.toDays(FOREVER_NANOS));
          assertThat(future.compareTo(hour)).as(name).isPositive();
          assertThat(hour.compareTo(future)).as(name).isNegative();
          assertThat(future.isDone()).as(name).isFalse();
          assertThat(future.cancel(false)).as(name).isTrue();
          assertThat(future.isCancelled()).as(name).isTrue();
        }
      }
    }
    letPass(SOME_PERIODS_MILLIS);
    assertThat(ran).hasValue(0);
  }

  @Test
  void tasksBesideTheLongestDelayStillRunInTime() throws Exception {
    ScheduledFuture<?> longest = executor.schedule(() -> {}, Long.MAX_VALUE, NANOSECONDS);
    for (int i = 0; i < 20; i++) {
      assertThat(get(executor.schedule(() -> "ran", i % 3, MILLISECONDS))).isEqualTo("ran");
    }
    assertThat(longest.isDone()).isFalse();
    assertThat(longest.cancel(true)).isTrue();
  }

  @Test
  void theLongestFixedDelayOrPeriodRunsOnceAndDelaysNothing() throws Exception {
    for (TimeUnit unit : TimeUnit.values()) {
      var runs = new AtomicInteger();
      var submittedFromInside = new CountDownLatch(2);
      Runnable task = () -> {
        runs.incrementAndGet();
        executor.execute(submittedFromInside::countDown);
      };
      ScheduledFuture<?> withDelay = executor.scheduleWithFixedDelay(task, 0, Long.MAX_VALUE, unit);
      ScheduledFuture<?> atRate = executor.scheduleAtFixedRate(task, 0, Long.MAX_VALUE, unit);
      await(submittedFromInside);
      for (ScheduledFuture<?> future : List.of(withDelay, atRate)) {
        awaitTrue(() -> future.getDelay(NANOSECONDS) > FOREVER_NANOS);
        assertThat(future.isDone()).isFalse();
      }
      letPass(2);
      assertThat(runs).hasValue(2);
      assertThat(withDelay.cancel(false)).isTrue();
      assertThat(atRate.cancel(false)).isTrue();
    }
  }

  @Test
  void aTaskNeverStartsEarly() throws Exception {
    long[] delaysNanos = {1, 999, 1_000, 500_000, 999_999, 1_000_000, 1_000_001, 1_500_000, 7_999_999, 33_000_001};
    var starts = new ArrayList<Future<Long>>();
    var deadlines = new ArrayList<Long>();
    for (int round = 0; round < 20; round++) {
      for (long delayNanos : delaysNanos) {
        deadlines.add(System.nanoTime() + delayNanos);
        starts.add(executor.schedule(System::nanoTime, delayNanos, NANOSECONDS));
      }
    }
    for (TimeUnit unit : List.of(MICROSECONDS, MILLISECONDS)) {
      for (long delay = 0; delay < 20; delay++) {
        deadlines.add(System.nanoTime() + unit.toNanos(delay));
        starts.add(executor.schedule(System::nanoTime, delay, unit));
      }
    }
    for (int i = 0; i < starts.size(); i++) {
      assertThat(get(starts.get(i)) - deadlines.get(i)).as("nanoseconds after the deadline").isNotNegative();
    }
  }

  @Test
  void aFutureIsNotDoneBeforeItsDelayIsOver() throws Exception {
    for (int i = 0; i < 20; i++) {
      long deadline = System.nanoTime() + MILLISECONDS.toNanos(2);
      ScheduledFuture<?> future = executor.schedule(() -> {}, 2, MILLISECONDS);
      assertThat(get(future)).isNull();
      assertThat(System.nanoTime() - deadline).isNotNegative();
    }
  }

  @Test
  void tasksOfDifferentDelaysRunInOrderOfDelay() throws Exception {
    assertForSomeSpan(spanMillis -> {
      List<Integer> delays = new ArrayList<>(List.of(1, 2, 3, 4, 5, 6, 7, 8));
      Collections.shuffle(delays, new Random(spanMillis));
      var order = new ConcurrentLinkedQueue<Integer>();
      var futures = new ArrayList<Future<?>>();
      for (int delay : delays) {
        futures.add(executor.schedule(() -> order.add(delay), delay * spanMillis, MILLISECONDS));
      }
      for (Future<?> future : futures) {
        get(future);
      }
      return List.copyOf(order).equals(List.of(1, 2, 3, 4, 5, 6, 7, 8));
    });
  }

  @Test
  void aShorterDelayOvertakesLongerOnesThatWait() throws Exception {
    var far = new ArrayList<ScheduledFuture<?>>();
    for (int hours = 24; hours > 0; hours--) {
      far.add(executor.schedule(() -> {}, hours, HOURS));
      letPass(1);
    }
    assertThat(far).noneMatch(Future::isDone);
  }

  @Test
  void eachOfManyTasksThatArriveOneByOneRuns() throws Exception {
    for (int i = 0; i < 200; i++) {
      int round = i;
      assertThat(get(executor.schedule(() -> round, i % 4 * 300L, MICROSECONDS))).isEqualTo(round);
    }
  }

  @Test
  void aTaskMayScheduleTheNext() throws Exception {
    var left = new AtomicInteger(50);
    var done = new CountDownLatch(1);
    var step = new Runnable() {
      @Override
      public void run() {
        if (left.decrementAndGet() == 0) {
          done.countDown();
        } else {
          ScheduledFuture<?> unused = executor.schedule(this, left.get() % 3 * 500L, MICROSECONDS);
        }
      }
    };
    executor.execute(step);
    await(done);
  }

  @Test
  void tenThousandTasksOfRandomDelayRunOnceEachAndNotEarly() throws Exception {
    int count = 10_000;
    var runs = new AtomicInteger[count];
    var allRan = new CountDownLatch(count);
    var early = new AtomicInteger();
    var futures = new ArrayList<Future<?>>();
    var random = new Random(42);
    for (int i = 0; i < count; i++) {
      var taskRuns = new AtomicInteger();
      runs[i] = taskRuns;
      long delayNanos = random.nextLong(MILLISECONDS.toNanos(50));
      long deadline = System.nanoTime() + delayNanos;
      futures.add(executor.schedule(() -> {
        if (System.nanoTime() - deadline < 0) {
          early.incrementAndGet();
        }
        taskRuns.incrementAndGet();
        allRan.countDown();
      }, delayNanos, NANOSECONDS));
    }
    await(allRan);
    for (Future<?> future : futures) {
      assertThat(get(future)).isNull();
    }
    executor.shutdown();
    awaitTermination();
    assertThat(early).hasValue(0);
    assertThat(runs).allMatch(ranTimes -> ranTimes.get() == 1);
  }

  @Test
  void aTaskUnderConcurrentCancelRunsOnceOrIsCancelled() throws Exception {
    int threads = 4;
    int perThread = 2_000;
    Queue<Contested> waiting = new ConcurrentLinkedQueue<>();
    var tasks = new ConcurrentLinkedQueue<Contested>();
    inThreads(threads, () -> {
      var random = ThreadLocalRandom.current();
      for (int i = 0; i < perThread; i++) {
        long delayNanos = random.nextLong(MILLISECONDS.toNanos(2));
        var task = new Contested(System.nanoTime() + delayNanos);
        task.future = executor.schedule(task, delayNanos, NANOSECONDS);
        tasks.add(task);
        waiting.add(task);
        // Threads cancel many of the tasks that other threads scheduled, after a varying time.
        if (waiting.size() > 64 || random.nextInt(4) == 0) {
          Contested other = waiting.poll();
          if (other != null && random.nextInt(4) != 0) {
            other.cancel(random.nextBoolean());
          }
        }
      }
    });
    assertThat(tasks).hasSize(threads * perThread);
    for (Contested task : tasks) {
      if (task.cancelled) {
        assertThat(task.future.isCancelled()).isTrue();
        assertThatThrownBy(() -> get(task.future)).isInstanceOf(CancellationException.class);
        // A cancel during the run returns true as well. The run then continues, and its future is cancelled.
        assertThat(task.runs.get()).isLessThanOrEqualTo(1);
      } else {
        assertThat(get(task.future)).isNull();
        assertThat(task.runs).hasValue(1);
        assertThat(task.future.isCancelled()).isFalse();
      }
    }
    executor.shutdown();
    awaitTermination();
    assertThat(tasks).noneMatch(task -> task.cancelledInTime && task.runs.get() != 0);
    assertThat(tasks).allMatch(task -> task.runs.get() == 1 || (task.cancelled && task.runs.get() == 0));
  }

  @Test
  void aTaskSeesWritesBeforeItAndGetSeesItsWrites() throws Exception {
    var box = new PlainBox();
    for (int i = 1; i <= 500; i++) {
      box.in = i;
      get(executor.schedule(() -> {
        box.out = box.in;
      }, i % 2, MICROSECONDS));
      assertThat(box.out).isEqualTo(i);
      box.in = -i;
      get(executor.submit(() -> {
        box.out = box.in;
      }));
      assertThat(box.out).isEqualTo(-i);
    }
  }

  @Test
  void eachRunOfAPeriodicTaskSeesTheWritesOfTheRunBefore() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var box = new PlainBox();
      var done = new CountDownLatch(100);
      ScheduledFuture<?> future = kind.schedule(executor, () -> {
        box.out++;
        if (box.out + done.getCount() == 101) {
          done.countDown();
        }
      }, 0, 50, MICROSECONDS);
      await(done);
      assertThat(future.cancel(false)).isTrue();
    }
  }

  @Test
  void aPeriodicTaskDoesNotStartBeforeItsInitialDelay() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var start = new AtomicReference<Long>();
      var ran = new CountDownLatch(1);
      long deadline = System.nanoTime() + MILLISECONDS.toNanos(10);
      ScheduledFuture<?> future = kind.schedule(executor, () -> {
        start.compareAndSet(null, System.nanoTime());
        ran.countDown();
      }, 10, FAR_HOURS * 3_600_000, MILLISECONDS);
      await(ran);
      assertThat(start.get() - deadline).isNotNegative();
      assertThat(future.isDone()).isFalse();
      assertThat(future.cancel(false)).isTrue();
    }
  }

  @Test
  void runNumberNAtAFixedRateDoesNotStartBeforeNPeriods() throws Exception {
    for (long periodNanos : new long[]{100_000, 999_999, 1_000_000, 2_500_000}) {
      int count = 20;
      var starts = new ConcurrentLinkedQueue<Long>();
      var done = new CountDownLatch(count);
      long initialNanos = 3_000_000;
      long first = System.nanoTime() + initialNanos;
      ScheduledFuture<?> future = executor.scheduleAtFixedRate(() -> {
        starts.add(System.nanoTime());
        done.countDown();
      }, initialNanos, periodNanos, NANOSECONDS);
      await(done);
      assertThat(future.cancel(false)).isTrue();
      int n = 0;
      for (long start : starts) {
        assertThat(start - (first + n * periodNanos)).as("run %s, period %s", n, periodNanos).isNotNegative();
        n++;
      }
      assertThat(n).isGreaterThanOrEqualTo(count);
    }
  }

  @Test
  void aFixedRateDoesNotDrift() throws Exception {
    assertForSomeSpan(spanMillis -> {
      // Each run takes half a period. If a period began at the end of a run, run 11 would begin after 15 periods.
      int runs = 11;
      var done = new CountDownLatch(runs);
      long start = System.nanoTime();
      ScheduledFuture<?> future = executor.scheduleAtFixedRate(() -> {
        awaitClock(System.nanoTime() + MILLISECONDS.toNanos(spanMillis) / 2);
        done.countDown();
      }, 0, spanMillis, MILLISECONDS);
      await(done);
      long elapsed = System.nanoTime() - start;
      future.cancel(true);
      assertThat(elapsed).isGreaterThanOrEqualTo(MILLISECONDS.toNanos((runs - 1) * spanMillis));
      return elapsed < MILLISECONDS.toNanos((runs + 2) * spanMillis);
    });
  }

  @Test
  void aFixedRateCatchesUpAfterASlowRunWithoutLosingRuns() throws Exception {
    assertForSomeSpan(spanMillis -> {
      long periodNanos = MILLISECONDS.toNanos(spanMillis);
      int missed = 10;
      var starts = new ConcurrentLinkedQueue<Long>();
      var done = new CountDownLatch(missed + 2);
      long first = System.nanoTime();
      ScheduledFuture<?> future = executor.scheduleAtFixedRate(() -> {
        long now = System.nanoTime();
        starts.add(now);
        if (starts.size() == 1) {
          awaitClock(now + missed * periodNanos);
        }
        done.countDown();
      }, 0, periodNanos, NANOSECONDS);
      await(done);
      long elapsed = System.nanoTime() - first;
      future.cancel(true);
      int n = 0;
      for (long start : starts) {
        assertThat(start - (first + n * periodNanos)).as("run %s", n).isNotNegative();
        n++;
      }
      // If missed runs were skipped, or were not run at once after the slow run, all runs would take twice as long.
      return elapsed < (2 * missed - 2) * periodNanos;
    });
  }

  @Test
  void aFixedDelayIsMeasuredFromTheEndOfARunToTheStartOfTheNext() throws Exception {
    long delayNanos = 2_500_000;
    var gaps = new ConcurrentLinkedQueue<Long>();
    var lastEnd = new AtomicReference<Long>();
    var done = new CountDownLatch(10);
    ScheduledFuture<?> future = executor.scheduleWithFixedDelay(() -> {
      Long end = lastEnd.get();
      if (end != null) {
        gaps.add(System.nanoTime() - end);
      }
      awaitClock(System.nanoTime() + 1_000_000);
      done.countDown();
      lastEnd.set(System.nanoTime());
    }, 0, delayNanos, NANOSECONDS);
    await(done);
    assertThat(future.cancel(false)).isTrue();
    assertThat(gaps).hasSizeGreaterThanOrEqualTo(9).allMatch(gap -> gap >= delayNanos);
  }

  @Test
  void runsOfOnePeriodicTaskDoNotOverlapEvenWhenSlowerThanThePeriod() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var inside = new AtomicInteger();
      var overlaps = new AtomicInteger();
      var done = new CountDownLatch(20);
      ScheduledFuture<?> future = kind.schedule(executor, () -> {
        if (inside.incrementAndGet() != 1) {
          overlaps.incrementAndGet();
        }
        awaitClock(System.nanoTime() + 500_000);
        inside.decrementAndGet();
        done.countDown();
      }, 0, 100, MICROSECONDS);
      await(done);
      assertThat(future.cancel(false)).isTrue();
      assertThat(overlaps).hasValue(0);
    }
  }

  @Test
  void aPeriodOfOneNanosecondRunsAndCanBeCancelled() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var runs = new CountDownLatch(50);
      ScheduledFuture<?> future = kind.schedule(executor, runs::countDown, 0, 1, NANOSECONDS);
      await(runs);
      assertThat(future.isDone()).isFalse();
      assertThat(future.cancel(false)).isTrue();
      letPass(1);
    }
  }

  @Test
  void aThrowingPeriodicTaskStopsAndReports() throws Exception {
    for (Periodic kind : Periodic.values()) {
      for (Throwable cause : List.of(new ExpectedException(), new AssertionError("expected"))) {
        var runs = new AtomicInteger();
        ScheduledFuture<?> future = kind.schedule(executor, () -> {
          if (runs.incrementAndGet() == 3) {
            throwing(cause).run();
          }
        }, 0, 1, MILLISECONDS);
        assertFailedWith(future, cause);
        assertThat(future.cancel(true)).isFalse();
        assertThat(future.isCancelled()).isFalse();
        letPass(SOME_PERIODS_MILLIS);
        assertThat(runs).hasValue(3);
      }
    }
  }

  @Test
  void aThrowingPeriodicTaskLeavesOthersRunning() throws Exception {
    var runs = new CountDownLatch(20);
    ScheduledFuture<?> good = executor.scheduleAtFixedRate(runs::countDown, 0, 1, MILLISECONDS);
    var cause = new ExpectedException();
    assertFailedWith(executor.scheduleAtFixedRate(throwing(cause), 1, 1, MILLISECONDS), cause);
    assertFailedWith(executor.scheduleWithFixedDelay(throwing(cause), 1, 1, MILLISECONDS), cause);
    await(runs);
    assertThat(good.isDone()).isFalse();
    assertThat(good.cancel(false)).isTrue();
  }

  @Test
  void aPeriodicTaskIsNeverDoneBetweenItsRuns() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var runs = new CountDownLatch(10);
      ScheduledFuture<?> future = kind.schedule(executor, runs::countDown, 0, 1, MILLISECONDS);
      while (runs.getCount() > 0) {
        assertThat(future.isDone()).isFalse();
        assertThatThrownBy(() -> future.get(1, MILLISECONDS)).isInstanceOf(TimeoutException.class);
      }
      assertThat(future.state()).isEqualTo(Future.State.RUNNING);
      assertThat(future.cancel(false)).isTrue();
    }
  }

  @Test
  void aTaskCancelledBeforeItsTimeNeverRuns() throws Exception {
    for (boolean mayInterrupt : new boolean[]{true, false}) {
      assertForSomeSpan(spanMillis -> {
        var runs = new AtomicInteger();
        long due = System.nanoTime() + MILLISECONDS.toNanos(spanMillis);
        List<ScheduledFuture<?>> futures = List.of(executor.schedule(runs::incrementAndGet, spanMillis, MILLISECONDS),
            executor.schedule((Runnable) runs::incrementAndGet, spanMillis, MILLISECONDS),
            executor.scheduleAtFixedRate(runs::incrementAndGet, spanMillis, 1, MILLISECONDS),
            executor.scheduleWithFixedDelay(runs::incrementAndGet, spanMillis, 1, MILLISECONDS));
        long cancelled = futures.stream().filter(future -> future.cancel(mayInterrupt)).count();
        if (System.nanoTime() - due >= 0) {
          return false;
        }
        assertThat(cancelled).isEqualTo(futures.size());
        for (ScheduledFuture<?> future : futures) {
          assertCancelled(future);
        }
        letPass(spanMillis + SOME_PERIODS_MILLIS);
        assertThat(runs).hasValue(0);
        return true;
      });
    }
  }

  @Test
  void aCancelledTaskStaysCancelled() throws Exception {
    ScheduledFuture<?> future = executor.schedule(() -> {}, 5, MILLISECONDS);
    ScheduledFuture<?> far = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    assertThat(far.cancel(false)).isTrue();
    get(future);
    boolean unused = far.cancel(true);
    assertCancelled(far);
  }

  @Test
  void cancellingATaskKeepsTheTasksWithTheSameDelay() throws Exception {
    int count = 200;
    var runs = new AtomicInteger();
    var kept = new ArrayList<Future<?>>();
    int cancelled = 0;
    for (int i = 0; i < count; i++) {
      ScheduledFuture<?> future = executor.schedule(runs::incrementAndGet, 20, MILLISECONDS);
      if (i % 3 == 1 && future.cancel(false)) {
        cancelled++;
      } else {
        kept.add(future);
      }
    }
    for (Future<?> future : kept) {
      get(future);
    }
    letPass(1);
    assertThat(runs.get()).isBetween(kept.size(), kept.size() + cancelled);
    assertThat(kept).hasSize(count - cancelled);
  }

  @Test
  void cancelAfterCompletionReturnsFalse() throws Exception {
    var cause = new ExpectedException();
    Future<?> done = executor.schedule(() -> "done", 1, MILLISECONDS);
    Future<?> failed = executor.schedule(throwing(cause), 1, MILLISECONDS);
    Future<?> submitted = executor.submit(() -> {});
    get(done);
    get(submitted);
    assertFailedWith(failed, cause);
    for (Future<?> future : List.of(done, failed, submitted)) {
      assertThat(future.cancel(true)).isFalse();
      assertThat(future.cancel(false)).isFalse();
      assertThat(future.isCancelled()).isFalse();
      assertThat(future.isDone()).isTrue();
    }
    assertThat(get(done)).isEqualTo("done");
    assertFailedWith(failed, cause);
  }

  @Test
  void cancelTrueInterruptsARunningTask() throws Exception {
    for (var way : ways()) {
      var blocker = new Blocker();
      Future<?> future = way.start(blocker);
      await(blocker.started);
      assertThat(future.cancel(true)).isTrue();
      assertCancelled(future);
      await(blocker.interrupted);
      await(blocker.ended);
      letPass(SOME_PERIODS_MILLIS);
      assertThat(blocker.runs).hasValue(1);
    }
  }

  @Test
  void cancelFalseLetsARunningTaskFinishAndNotRunAgain() throws Exception {
    for (var way : ways()) {
      var blocker = new Blocker();
      Future<?> future = way.start(blocker);
      await(blocker.started);
      assertThat(future.cancel(false)).isTrue();
      assertCancelled(future);
      assertThat(blocker.ended.getCount()).isEqualTo(1);
      blocker.release.countDown();
      await(blocker.ended);
      assertThat(blocker.interrupted.getCount()).isEqualTo(1);
      letPass(SOME_PERIODS_MILLIS);
      assertThat(blocker.runs).hasValue(1);
      assertCancelled(future);
    }
  }

  @Test
  void aTaskThatThrowsAfterItWasCancelledStaysCancelled() throws Exception {
    for (var way : ways()) {
      var blocker = new Blocker();
      Future<?> future = way.start(() -> {
        blocker.run();
        throw new ExpectedException();
      });
      await(blocker.started);
      assertThat(future.cancel(true)).isTrue();
      await(blocker.ended);
      letPass(1);
      assertCancelled(future);
    }
  }

  @Test
  void aPeriodicTaskCancelledFromOutsideStops() throws Exception {
    for (Periodic kind : Periodic.values()) {
      for (boolean mayInterrupt : new boolean[]{true, false}) {
        var runs = new AtomicInteger();
        var some = new CountDownLatch(3);
        ScheduledFuture<?> future = kind.schedule(executor, () -> {
          runs.incrementAndGet();
          some.countDown();
        }, 0, 1, MILLISECONDS);
        await(some);
        assertThat(future.cancel(mayInterrupt)).isTrue();
        assertCancelled(future);
        letPass(2);
        int ran = runs.get();
        letPass(SOME_PERIODS_MILLIS);
        assertThat(runs).hasValue(ran);
      }
    }
  }

  @Test
  void aPeriodicTaskThatCancelsItselfStopsAfterThatRun() throws Exception {
    for (Periodic kind : Periodic.values()) {
      for (boolean mayInterrupt : new boolean[]{true, false}) {
        var runs = new AtomicInteger();
        var self = new AtomicReference<Future<?>>();
        var assigned = new CountDownLatch(1);
        var cancelled = new AtomicReference<Boolean>();
        var done = new CountDownLatch(1);
        self.set(kind.schedule(executor, () -> {
          awaitUninterruptibly(assigned);
          if (runs.incrementAndGet() == 3) {
            cancelled.set(self.get().cancel(mayInterrupt));
            done.countDown();
          }
        }, 0, 1, MILLISECONDS));
        assigned.countDown();
        await(done);
        assertThat(cancelled.get()).isTrue();
        letPass(SOME_PERIODS_MILLIS);
        assertThat(runs).hasValue(3);
        assertCancelled(self.get());
      }
    }
  }

  @Test
  void aOneShotTaskMayCancelItself() throws Exception {
    var self = new AtomicReference<Future<?>>();
    var assigned = new CountDownLatch(1);
    var done = new CountDownLatch(1);
    self.set(executor.schedule(() -> {
      awaitUninterruptibly(assigned);
      boolean unused = self.get().cancel(true);
      done.countDown();
    }, 1, MILLISECONDS));
    assigned.countDown();
    await(done);
    letPass(1);
    assertCancelled(self.get());
  }

  @Test
  void cancelReleasesTheThreadsThatWaitInGet() throws Exception {
    for (Future<?> future : List.of(executor.schedule(() -> {}, FAR_HOURS, HOURS),
        executor.scheduleAtFixedRate(() -> {}, 0, 1, MILLISECONDS))) {
      var thrown = new AtomicReference<Throwable>();
      Thread waiter = Thread.ofPlatform().start(() -> thrown.set(catchThrowable(future::get)));
      awaitBlocked(waiter);
      assertThat(future.cancel(false)).isTrue();
      join(waiter);
      assertThat(thrown.get()).isInstanceOf(CancellationException.class);
    }
  }

  @Test
  void anInterruptLeftByATaskDoesNotReachTheNextTask() throws Exception {
    var interrupted = new ArrayList<Future<Boolean>>();
    for (int i = 0; i < 200; i++) {
      interrupted.add(executor.submit(() -> {
        boolean before = Thread.currentThread().isInterrupted();
        Thread.currentThread().interrupt();
        return before;
      }));
      interrupted.add(executor.schedule(() -> Thread.currentThread().isInterrupted(), i % 3, MILLISECONDS));
    }
    for (Future<Boolean> future : interrupted) {
      assertThat(get(future)).isFalse();
    }
  }

  @Test
  void anInterruptLeftByAPeriodicRunDoesNotReachTheNextRun() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var leaks = new AtomicInteger();
      var done = new CountDownLatch(20);
      ScheduledFuture<?> future = kind.schedule(executor, () -> {
        if (Thread.currentThread().isInterrupted()) {
          leaks.incrementAndGet();
        }
        Thread.currentThread().interrupt();
        done.countDown();
      }, 0, 200, MICROSECONDS);
      await(done);
      assertThat(future.cancel(false)).isTrue();
      assertThat(leaks).hasValue(0);
    }
  }

  @Test
  void anInterruptingCancelNeverHitsAnotherTask() throws Exception {
    var leaks = new AtomicInteger();
    for (int i = 0; i < 500; i++) {
      var started = new CountDownLatch(1);
      Future<?> victim = executor.submit(started::countDown);
      Future<?> bystander = executor.submit(() -> {
        awaitClock(System.nanoTime() + 20_000);
        if (Thread.currentThread().isInterrupted()) {
          leaks.incrementAndGet();
        }
      });
      await(started);
      boolean unused = victim.cancel(true);
      get(bystander);
    }
    assertThat(leaks).hasValue(0);
  }

  @Test
  void nullTasksAreRefused() {
    assertRefused(NullPointerException.class, () -> executor.execute(null), () -> executor.submit((Runnable) null),
        () -> executor.submit(null, "result"), () -> executor.submit((Callable<?>) null),
        () -> executor.schedule((Runnable) null, 1, MILLISECONDS),
        () -> executor.schedule((Callable<?>) null, 1, MILLISECONDS),
        () -> executor.scheduleAtFixedRate(null, 1, 1, MILLISECONDS),
        () -> executor.scheduleWithFixedDelay(null, 1, 1, MILLISECONDS));
  }

  @Test
  void nullUnitsAreRefused() throws Exception {
    var runs = new AtomicInteger();
    Runnable task = runs::incrementAndGet;
    Callable<Integer> callable = runs::incrementAndGet;
    assertRefused(NullPointerException.class, () -> executor.schedule(task, 0, null),
        () -> executor.schedule(callable, 0, null), () -> executor.scheduleAtFixedRate(task, 0, 1, null),
        () -> executor.scheduleWithFixedDelay(task, 0, 1, null), () -> executor.awaitTermination(1, null),
        () -> executor.invokeAll(List.of(callable), 1, null), () -> executor.invokeAny(List.of(callable), 1, null));
    ScheduledFuture<?> future = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    assertRefused(NullPointerException.class, () -> future.get(1, null), () -> future.getDelay(null),
        () -> future.compareTo(null));
  }

  @Test
  void periodsAndDelaysBetweenRunsMustBePositive() throws Exception {
    var runs = new AtomicInteger();
    for (long period : new long[]{0, -1, Long.MIN_VALUE}) {
      for (TimeUnit unit : TimeUnit.values()) {
        assertRefused(IllegalArgumentException.class,
            () -> executor.scheduleAtFixedRate(runs::incrementAndGet, 0, period, unit),
            () -> executor.scheduleWithFixedDelay(runs::incrementAndGet, 0, period, unit));
      }
    }
    letPass(5);
    assertThat(runs).hasValue(0);
  }

  @Test
  void aFreshExecutorIsNeitherShutDownNorTerminated() throws Exception {
    assertThat(executor.isShutdown()).isFalse();
    assertThat(executor.isTerminated()).isFalse();
    get(executor.submit(() -> {}));
    assertThat(executor.isShutdown()).isFalse();
    assertThat(executor.isTerminated()).isFalse();
  }

  @Test
  void anUnusedExecutorTerminatesAtShutdown() throws Exception {
    executor.shutdown();
    assertThat(executor.isShutdown()).isTrue();
    awaitTermination();
    assertThat(executor.isTerminated()).isTrue();
    assertThat(executor.shutdownNow()).isEmpty();
  }

  @Test
  void delayedTasksStillRunAfterShutdownAndEndTheExecutor() throws Exception {
    var runs = new AtomicInteger();
    var futures = new ArrayList<Future<?>>();
    long deadline = System.nanoTime() + MILLISECONDS.toNanos(30);
    for (int i = 0; i <= 30; i++) {
      futures.add(executor.schedule(runs::incrementAndGet, i, MILLISECONDS));
    }
    Future<Integer> callable = executor.schedule(() -> 42, 30, MILLISECONDS);
    executor.shutdown();
    assertThat(executor.isShutdown()).isTrue();
    awaitTermination();
    assertThat(System.nanoTime() - deadline).isNotNegative();
    assertThat(executor.isTerminated()).isTrue();
    assertThat(runs).hasValue(31);
    assertThat(futures).allMatch(future -> future.state() == Future.State.SUCCESS);
    assertThat(callable.resultNow()).isEqualTo(42);
  }

  @Test
  void submittedTasksStillRunAfterShutdown() throws Exception {
    int count = 500;
    var runs = new AtomicInteger();
    var futures = new ArrayList<Future<?>>();
    for (int i = 0; i < count; i++) {
      futures.add(executor.submit(runs::incrementAndGet));
      executor.execute(runs::incrementAndGet);
    }
    executor.shutdown();
    awaitTermination();
    assertThat(runs).hasValue(2 * count);
    assertThat(futures).allMatch(future -> future.state() == Future.State.SUCCESS);
  }

  @Test
  void aTaskThatThrowsAfterShutdownDoesNotDelayTermination() throws Exception {
    var cause = new ExpectedException();
    Future<?> future = executor.schedule(throwing(cause), 5, MILLISECONDS);
    executor.shutdown();
    awaitTermination();
    assertFailedWith(future, cause);
  }

  @Test
  void periodicTasksAreCancelledAtShutdown() throws Exception {
    var runs = new CountDownLatch(10);
    var futures = new ArrayList<ScheduledFuture<?>>();
    for (Periodic kind : Periodic.values()) {
      futures.add(kind.schedule(executor, runs::countDown, 0, 1, MILLISECONDS));
      futures.add(kind.schedule(executor, runs::countDown, FAR_HOURS, FAR_HOURS, HOURS));
    }
    await(runs);
    executor.shutdown();
    awaitTermination();
    for (ScheduledFuture<?> future : futures) {
      assertCancelled(future);
    }
  }

  @Test
  void waitingPeriodicTasksAreCancelledBeforeShutdownReturns() throws Exception {
    var futures = new ArrayList<ScheduledFuture<?>>();
    for (Periodic kind : Periodic.values()) {
      futures.add(kind.schedule(executor, () -> {}, FAR_HOURS, FAR_HOURS, HOURS));
    }
    var delayed = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    executor.shutdown();
    for (ScheduledFuture<?> future : futures) {
      assertCancelled(future);
    }
    assertThat(delayed.isDone()).isFalse();
    assertThat(executor.isTerminated()).isFalse();
  }

  @Test
  void aPeriodicRunInProgressAtShutdownFinishesAndIsTheLast() throws Exception {
    for (Periodic kind : Periodic.values()) {
      ScheduledExecutorService own = create();
      try {
        var blocker = new Blocker();
        ScheduledFuture<?> future = kind.schedule(own, blocker, 0, 1, MILLISECONDS);
        await(blocker.started);
        own.shutdown();
        assertThat(own.isTerminated()).isFalse();
        assertThat(future.isDone()).isFalse();
        blocker.release.countDown();
        assertThat(own.awaitTermination(BOUND_SECONDS, SECONDS)).isTrue();
        assertThat(blocker.interrupted.getCount()).isEqualTo(1);
        assertThat(blocker.runs).hasValue(1);
        assertCancelled(future);
      } finally {
        List<Runnable> unused = own.shutdownNow();
      }
    }
  }

  @Test
  void shutdownDoesNotInterruptARunningTaskAndTerminatesOnlyAfterIt() throws Exception {
    var blocker = new Blocker();
    Future<?> future = executor.submit(blocker);
    await(blocker.started);
    executor.shutdown();
    assertThat(executor.awaitTermination(10, MILLISECONDS)).isFalse();
    assertThat(executor.isShutdown()).isTrue();
    assertThat(executor.isTerminated()).isFalse();
    blocker.release.countDown();
    awaitTermination();
    assertThat(blocker.ended.getCount()).isZero();
    assertThat(blocker.interrupted.getCount()).isEqualTo(1);
    assertThat(future.state()).isEqualTo(Future.State.SUCCESS);
  }

  @Test
  void aCancelOfTheLastTaskAfterShutdownEndsTheExecutor() throws Exception {
    ScheduledFuture<?> hour = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    ScheduledFuture<?> longest = executor.schedule(() -> {}, Long.MAX_VALUE, DAYS);
    executor.shutdown();
    assertThat(hour.cancel(false)).isTrue();
    assertThat(executor.isTerminated()).isFalse();
    assertThat(longest.cancel(false)).isTrue();
    awaitTermination();
  }

  @Test
  void tasksCancelledBeforeShutdownDoNotHoldUpTermination() throws Exception {
    for (int i = 0; i < 100; i++) {
      assertThat(executor.schedule(() -> {}, FAR_HOURS, HOURS).cancel(i % 2 == 0)).isTrue();
    }
    executor.shutdown();
    awaitTermination();
  }

  @Test
  void shutdownNowReturnsExactlyTheTasksThatNeverCommenced() throws Exception {
    var runs = new AtomicInteger();
    var blocker = new Blocker();
    Future<?> running = executor.submit(blocker);
    await(blocker.started);
    var futures = new ArrayList<ScheduledFuture<?>>();
    for (int i = 0; i < 3; i++) {
      futures.add(executor.schedule((Runnable) runs::incrementAndGet, FAR_HOURS, HOURS));
      futures.add(executor.schedule(runs::incrementAndGet, Long.MAX_VALUE, DAYS));
      futures.add(executor.scheduleAtFixedRate(runs::incrementAndGet, FAR_HOURS, 1, HOURS));
      futures.add(executor.scheduleWithFixedDelay(runs::incrementAndGet, FAR_HOURS, 1, HOURS));
    }
    List<Runnable> returned = executor.shutdownNow();
    assertThat(returned).hasSize(futures.size()).doesNotContainNull().doesNotHaveDuplicates();
    assertThat(executor.isShutdown()).isTrue();
    await(blocker.interrupted);
    awaitTermination();
    assertThat(executor.isTerminated()).isTrue();
    assertThat(running.isDone()).isTrue();
    assertThat(runs).hasValue(0);
    // The returned tasks belong to the caller now: the executor neither runs nor cancels them.
    for (ScheduledFuture<?> future : futures) {
      assertThat(future.isDone()).isFalse();
      assertThat(future.isCancelled()).isFalse();
    }
  }

  @Test
  void tasksThatShutdownNowReturnedCanBeCancelled() throws Exception {
    ScheduledFuture<?> once = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    ScheduledFuture<?> often = executor.scheduleAtFixedRate(() -> {}, FAR_HOURS, 1, HOURS);
    assertThat(executor.shutdownNow()).hasSize(2);
    awaitTermination();
    for (ScheduledFuture<?> future : List.of(once, often)) {
      assertThat(future.cancel(true)).isTrue();
      assertCancelled(future);
    }
  }

  @Test
  void shutdownNowReturnsAPeriodicTaskThatWaitsForItsNextRun() throws Exception {
    var runs = new CountDownLatch(2);
    ScheduledFuture<?> atRate = executor.scheduleAtFixedRate(runs::countDown, 0, FAR_HOURS, HOURS);
    ScheduledFuture<?> withDelay = executor.scheduleWithFixedDelay(runs::countDown, 0, FAR_HOURS, HOURS);
    await(runs);
    awaitTrue(() -> atRate.getDelay(HOURS) > 0 && withDelay.getDelay(HOURS) > 0);
    letPass(1);
    assertThat(executor.shutdownNow()).hasSize(2);
    awaitTermination();
  }

  @Test
  void shutdownNowReturnsNoTaskThatEnded() throws Exception {
    var cause = new ExpectedException();
    get(executor.submit(() -> {}));
    get(executor.schedule(() -> {}, 1, MILLISECONDS));
    assertFailedWith(executor.schedule(throwing(cause), 1, MILLISECONDS), cause);
    for (Periodic kind : Periodic.values()) {
      assertFailedWith(kind.schedule(executor, throwing(cause), 0, 1, HOURS), cause);
      var blocker = new Blocker();
      ScheduledFuture<?> future = kind.schedule(executor, blocker, 0, 1, HOURS);
      await(blocker.started);
      assertThat(future.cancel(false)).isTrue();
      blocker.release.countDown();
      await(blocker.ended);
    }
    letPass(SOME_PERIODS_MILLIS);
    assertThat(executor.shutdownNow()).isEmpty();
    awaitTermination();
  }

  @Test
  void shutdownNowInterruptsTheRunningTasksOfEveryKind() throws Exception {
    for (Periodic kind : Periodic.values()) {
      ScheduledExecutorService own = create();
      var blocker = new Blocker();
      ScheduledFuture<?> future = kind.schedule(own, blocker, 0, 1, MILLISECONDS);
      await(blocker.started);
      assertThat(own.shutdownNow()).isEmpty();
      await(blocker.interrupted);
      assertThat(own.awaitTermination(BOUND_SECONDS, SECONDS)).isTrue();
      assertThat(blocker.runs).hasValue(1);
      assertCancelled(future);
    }
    var blocker = new Blocker();
    Future<?> future = executor.schedule(blocker, 1, MILLISECONDS);
    await(blocker.started);
    assertThat(executor.shutdownNow()).isEmpty();
    await(blocker.interrupted);
    awaitTermination();
    // The interrupted task returned normally, so its future is done and not cancelled.
    assertThat(future.state()).isEqualTo(Future.State.SUCCESS);
  }

  @Test
  void shutdownNowTerminatesOnlyWhenATaskThatIgnoresInterruptsEnds() throws Exception {
    var started = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    Future<?> future = executor.submit(() -> {
      started.countDown();
      awaitUninterruptibly(release);
    });
    await(started);
    assertThat(executor.shutdownNow()).isEmpty();
    assertThat(executor.awaitTermination(5, MILLISECONDS)).isFalse();
    assertThat(executor.isTerminated()).isFalse();
    assertAllRejected();
    release.countDown();
    awaitTermination();
    assertThat(future.isDone()).isTrue();
  }

  @Test
  void eachTaskStartsOrIsReturnedByShutdownNowOrIsCancelled() throws Exception {
    var commenced = new AtomicInteger();
    var first = new CountDownLatch(1);
    var futures = new ArrayList<Future<?>>();
    for (int i = 0; i < 64; i++) {
      futures.add(executor.submit(() -> {
        commenced.incrementAndGet();
        first.countDown();
        LockSupport.parkNanos(SECONDS.toNanos(BOUND_SECONDS));
      }));
    }
    await(first);
    int returned = executor.shutdownNow().size();
    awaitTermination();
    long cancelled = futures.stream().filter(Future::isCancelled).count();
    assertThat(commenced.get() + returned + cancelled).isEqualTo(futures.size());
  }

  @Test
  void shutdownNowAfterShutdownReturnsTheWaitingTasks() throws Exception {
    ScheduledFuture<?> once = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    ScheduledFuture<?> often = executor.scheduleAtFixedRate(() -> {}, FAR_HOURS, 1, HOURS);
    executor.shutdown();
    executor.shutdown();
    assertCancelled(often);
    assertThat(executor.shutdownNow()).hasSize(1);
    assertThat(executor.shutdownNow()).isEmpty();
    awaitTermination();
    assertThat(once.isDone()).isFalse();
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
  }

  @Test
  void everySubmissionIsRejectedAfterShutdownAndAfterTermination() throws Exception {
    var blocker = new Blocker();
    executor.execute(blocker);
    await(blocker.started);
    executor.shutdown();
    assertAllRejected();
    assertThat(executor.isTerminated()).isFalse();
    blocker.release.countDown();
    awaitTermination();
    assertAllRejected();
  }

  @Test
  void everySubmissionIsRejectedAfterShutdownNow() throws Exception {
    assertThat(executor.shutdownNow()).isEmpty();
    assertAllRejected();
    awaitTermination();
    assertAllRejected();
  }

  @Test
  void aTaskSubmittedDuringShutdownRunsOrIsCancelled() throws Exception {
    for (int round = 0; round < 10; round++) {
      var contest = new SubmissionContest(create());
      contest.submitUntilRejected(contest.target::shutdown);
      assertThat(contest.target.awaitTermination(BOUND_SECONDS, SECONDS)).isTrue();
      long cancelled = contest.futures.stream().filter(Future::isCancelled).count();
      assertThat(contest.futures).allMatch(Future::isDone);
      assertThat(contest.runs.get() + cancelled).isEqualTo(contest.futures.size());
    }
  }

  @Test
  void aTaskSubmittedDuringShutdownNowRunsOrIsReturnedOrCancelled() throws Exception {
    for (int round = 0; round < 10; round++) {
      var contest = new SubmissionContest(create());
      var returned = new AtomicInteger();
      contest.submitUntilRejected(() -> returned.set(contest.target.shutdownNow().size()));
      assertThat(contest.target.awaitTermination(BOUND_SECONDS, SECONDS)).isTrue();
      long cancelled = contest.futures.stream().filter(Future::isCancelled).count();
      long unfinished = contest.futures.stream().filter(future -> !future.isDone()).count();
      assertThat(unfinished).isEqualTo(returned.get());
      assertThat(contest.runs.get() + cancelled + unfinished).isEqualTo(contest.futures.size());
    }
  }

  @Test
  void awaitTerminationTimesOutWhileNotTerminated() throws Exception {
    for (long timeout : new long[]{0, -1, Long.MIN_VALUE}) {
      assertThat(executor.awaitTermination(timeout, NANOSECONDS)).isFalse();
    }
    long before = System.nanoTime();
    assertThat(executor.awaitTermination(5, MILLISECONDS)).isFalse();
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(5));
  }

  @Test
  void awaitTerminationReturnsAtOnceWhenTerminated() throws Exception {
    executor.shutdown();
    assertThat(executor.awaitTermination(Long.MAX_VALUE, DAYS)).isTrue();
    for (long timeout : new long[]{0, -1, Long.MIN_VALUE, 1, Long.MAX_VALUE}) {
      assertThat(executor.awaitTermination(timeout, NANOSECONDS)).isTrue();
    }
  }

  @Test
  void awaitTerminationIsInterruptible() throws Exception {
    assertThat(interruptedWhileIn(() -> executor.awaitTermination(BOUND_SECONDS, SECONDS)))
        .isInstanceOf(InterruptedException.class);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> executor.awaitTermination(BOUND_SECONDS, SECONDS))
        .isInstanceOf(InterruptedException.class);
    assertThat(Thread.interrupted()).isFalse();
  }

  @Test
  void terminationReleasesAllThreadsThatAwaitIt() throws Exception {
    var blocker = new Blocker();
    executor.execute(blocker);
    await(blocker.started);
    var released = new AtomicInteger();
    var waiters = new ArrayList<Thread>();
    for (int i = 0; i < 5; i++) {
      waiters.add(Thread.ofPlatform().start(() -> {
        if (catchThrowable(this::awaitTermination) == null) {
          released.incrementAndGet();
        }
      }));
    }
    for (Thread waiter : waiters) {
      awaitBlocked(waiter);
    }
    executor.shutdown();
    blocker.release.countDown();
    for (Thread waiter : waiters) {
      join(waiter);
    }
    assertThat(released).hasValue(5);
  }

  @Test
  void closeWaitsForDelayedTasksAndCancelsPeriodicOnes() throws Exception {
    var ran = new AtomicBoolean();
    ScheduledFuture<?> once = executor.schedule(() -> ran.set(true), 10, MILLISECONDS);
    ScheduledFuture<?> often = executor.scheduleAtFixedRate(() -> {}, 0, 1, MILLISECONDS);
    executor.close();
    assertThat(executor.isTerminated()).isTrue();
    assertThat(ran).isTrue();
    assertThat(once.state()).isEqualTo(Future.State.SUCCESS);
    assertCancelled(often);
    assertAllRejected();
    executor.close();
  }

  @Test
  void anInterruptedCloseStopsAllTasksAndKeepsTheInterrupt() throws Exception {
    var runs = new AtomicInteger();
    ScheduledFuture<?> far = executor.schedule(runs::incrementAndGet, FAR_HOURS, HOURS);
    var blocker = new Blocker();
    executor.execute(blocker);
    await(blocker.started);
    var kept = new AtomicBoolean();
    assertThat(interruptedWhileIn(() -> {
      executor.close();
      kept.set(Thread.interrupted());
    })).isNull();
    assertThat(kept).isTrue();
    assertThat(executor.isTerminated()).isTrue();
    assertThat(blocker.ended.getCount()).isZero();
    assertThat(blocker.interrupted.getCount()).isZero();
    assertThat(runs).hasValue(0);
    assertThat(far.state()).isNotEqualTo(Future.State.SUCCESS);
  }

  @Test
  void aTaskMayShutDownItsExecutor() throws Exception {
    var delayedRan = new AtomicBoolean();
    ScheduledFuture<?> delayed = executor.schedule(() -> delayedRan.set(true), 20, MILLISECONDS);
    Future<?> future = executor.submit(executor::shutdown);
    awaitTermination();
    assertThat(future.state()).isEqualTo(Future.State.SUCCESS);
    assertThat(delayed.state()).isEqualTo(Future.State.SUCCESS);
    assertThat(delayedRan).isTrue();
  }

  @Test
  void aPeriodicTaskMayShutDownItsExecutor() throws Exception {
    for (Periodic kind : Periodic.values()) {
      ScheduledExecutorService own = create();
      var runs = new AtomicInteger();
      ScheduledFuture<?> future = kind.schedule(own, () -> {
        if (runs.incrementAndGet() == 3) {
          own.shutdown();
        }
      }, 0, 1, MILLISECONDS);
      assertThat(own.awaitTermination(BOUND_SECONDS, SECONDS)).isTrue();
      assertThat(runs).hasValue(3);
      assertCancelled(future);
    }
  }

  @Test
  void aTaskMayCallShutdownNowOnItsExecutor() throws Exception {
    ScheduledFuture<?> far = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    Future<Integer> returned = executor.submit(() -> executor.shutdownNow().size());
    awaitTermination();
    assertThat(get(returned)).isEqualTo(1);
    assertThat(far.isDone()).isFalse();
  }

  @Test
  void aScheduleFromATaskAfterShutdownIsRejected() throws Exception {
    var thrown = new AtomicReference<Throwable>();
    executor.execute(() -> {
      executor.shutdown();
      thrown.set(catchThrowable(() -> executor.schedule(() -> {}, 1, MILLISECONDS)));
    });
    awaitTermination();
    assertThat(thrown.get()).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void getTimesOutWhileTheTaskIsNotDone() throws Exception {
    ScheduledFuture<?> future = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    for (long timeout : new long[]{0, -1, Long.MIN_VALUE, 1}) {
      assertThatThrownBy(() -> future.get(timeout, NANOSECONDS)).isInstanceOf(TimeoutException.class);
    }
    long before = System.nanoTime();
    assertThatThrownBy(() -> future.get(5, MILLISECONDS)).isInstanceOf(TimeoutException.class);
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(5));
    assertThat(future.isDone()).isFalse();
  }

  @Test
  void theLongestTimeoutsDoNotOverflow() throws Exception {
    for (TimeUnit unit : TimeUnit.values()) {
      assertThat(executor.schedule(() -> "ran", 1, MILLISECONDS).get(Long.MAX_VALUE, unit)).isEqualTo("ran");
      Callable<String> task = () -> "ran";
      assertThat(executor.invokeAny(List.of(task), Long.MAX_VALUE, unit)).isEqualTo("ran");
      assertThat(executor.invokeAll(List.of(task), Long.MAX_VALUE, unit)).allMatch(f -> f.resultNow().equals("ran"));
    }
  }

  @Test
  void getIsInterruptible() throws Exception {
    ScheduledFuture<?> once = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    ScheduledFuture<?> often = executor.scheduleAtFixedRate(() -> {}, 0, 1, MILLISECONDS);
    for (ScheduledFuture<?> future : List.of(once, often)) {
      assertThat(interruptedWhileIn(future::get)).isInstanceOf(InterruptedException.class);
      assertThat(interruptedWhileIn(() -> get(future))).isInstanceOf(InterruptedException.class);
      assertThat(future.isDone()).isFalse();
    }
  }

  @Test
  void oneFutureServesManyWaiters() throws Exception {
    var release = new CountDownLatch(1);
    Future<String> future = executor.schedule(() -> {
      await(release);
      return "value";
    }, 1, MILLISECONDS);
    var served = new AtomicInteger();
    var waiters = new ArrayList<Thread>();
    for (int i = 0; i < 8; i++) {
      waiters.add(Thread.ofPlatform().start(() -> {
        if (catchThrowable(() -> assertThat(future.get()).isEqualTo("value")) == null) {
          served.incrementAndGet();
        }
      }));
    }
    for (Thread waiter : waiters) {
      awaitBlocked(waiter);
    }
    release.countDown();
    for (Thread waiter : waiters) {
      join(waiter);
    }
    assertThat(served).hasValue(8);
  }

  @Test
  void theStateOfAFutureFollowsItsTask() throws Exception {
    var cause = new ExpectedException();
    ScheduledFuture<?> waiting = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    assertThat(waiting.state()).isEqualTo(Future.State.RUNNING);
    ScheduledFuture<String> done = executor.schedule(() -> "value", 1, MILLISECONDS);
    get(done);
    assertThat(done.state()).isEqualTo(Future.State.SUCCESS);
    ScheduledFuture<?> failed = executor.schedule(throwing(cause), 1, MILLISECONDS);
    assertFailedWith(failed, cause);
    assertThat(failed.state()).isEqualTo(Future.State.FAILED);
    assertThat(waiting.cancel(false)).isTrue();
    assertThat(waiting.state()).isEqualTo(Future.State.CANCELLED);
  }

  @Test
  void resultNowAndExceptionNowReturnOnlyInTheMatchingState() throws Exception {
    var cause = new IOException("expected");
    ScheduledFuture<?> waiting = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    ScheduledFuture<?> often = executor.scheduleAtFixedRate(() -> {}, 0, 1, MILLISECONDS);
    ScheduledFuture<?> cancelled = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    assertThat(cancelled.cancel(false)).isTrue();
    for (ScheduledFuture<?> future : List.of(waiting, often, cancelled)) {
      assertRefused(IllegalStateException.class, future::resultNow, future::exceptionNow);
    }
    ScheduledFuture<String> done = executor.schedule(() -> "value", 1, MILLISECONDS);
    get(done);
    assertThat(done.resultNow()).isEqualTo("value");
    assertRefused(IllegalStateException.class, done::exceptionNow);
    ScheduledFuture<?> failed = executor.schedule(() -> {
      throw cause;
    }, 1, MILLISECONDS);
    assertFailedWith(failed, cause);
    assertThat(failed.exceptionNow()).isSameAs(cause);
    assertRefused(IllegalStateException.class, failed::resultNow);
  }

  @Test
  void theDelayOfAFutureIsTheTimeUntilItsDeadline() {
    for (long seconds : new long[]{1, 60, 3_600, 1_000_000}) {
      long delayNanos = SECONDS.toNanos(seconds);
      long before = System.nanoTime();
      List<ScheduledFuture<?>> futures = List.of(executor.schedule(() -> {}, seconds, SECONDS),
          executor.scheduleAtFixedRate(() -> {}, seconds, 1, SECONDS),
          executor.scheduleWithFixedDelay(() -> {}, seconds, 1, SECONDS));
      long after = System.nanoTime();
      for (ScheduledFuture<?> future : futures) {
        long earliest = System.nanoTime();
        long remaining = future.getDelay(NANOSECONDS);
        long latest = System.nanoTime();
        // After a stall of a second the first deadline of a periodic task may have passed already.
        if (latest - before < delayNanos) {
          assertThat(latest + remaining - (before + delayNanos)).isNotNegative();
          // An executor may round a deadline up to a tick, by less than half a second.
          assertThat(earliest + remaining - (after + delayNanos)).isLessThan(MILLISECONDS.toNanos(500));
        }
      }
    }
  }

  @Test
  void theDelayOfAFutureDecreasesAndIsTheSameInEveryUnit() {
    ScheduledFuture<?> future = executor.schedule(() -> {}, FAR_HOURS, HOURS);
    for (int i = 0; i < 100; i++) {
      for (TimeUnit unit : TimeUnit.values()) {
        long most = future.getDelay(NANOSECONDS);
        long inUnit = future.getDelay(unit);
        long least = future.getDelay(NANOSECONDS);
        assertThat(least).isLessThanOrEqualTo(most);
        assertThat(inUnit).isBetween(unit.convert(least, NANOSECONDS), unit.convert(most, NANOSECONDS));
      }
    }
  }

  @Test
  void theDelayOfADoneFutureIsNotPositive() throws Exception {
    ScheduledFuture<?> future = executor.schedule(() -> {}, 2, MILLISECONDS);
    get(future);
    assertThat(future.getDelay(NANOSECONDS)).isNotPositive();
  }

  @Test
  void theDelayOfAPeriodicFutureIsTheTimeUntilItsNextRun() throws Exception {
    for (Periodic kind : Periodic.values()) {
      var ran = new CountDownLatch(1);
      long before = System.nanoTime();
      ScheduledFuture<?> future = kind.schedule(executor, ran::countDown, 0, FAR_HOURS, HOURS);
      await(ran);
      awaitTrue(() -> future.getDelay(NANOSECONDS) > 0);
      long remaining = future.getDelay(NANOSECONDS);
      assertThat(System.nanoTime() + remaining - (before + HOURS.toNanos(FAR_HOURS))).isNotNegative();
    }
  }

  @Test
  void futuresAreOrderedByTheirDelay() {
    var futures = new ArrayList<ScheduledFuture<?>>();
    for (long hours : new long[]{5, 1, 4, 100, 2, 3}) {
      futures.add(executor.schedule(() -> {}, hours, HOURS));
      futures.add(executor.scheduleAtFixedRate(() -> {}, hours, 1, HOURS));
      futures.add(executor.scheduleWithFixedDelay(() -> {}, hours, 1, HOURS));
    }
    futures.add(executor.schedule(() -> {}, Long.MAX_VALUE, NANOSECONDS));
    for (ScheduledFuture<?> left : futures) {
      for (ScheduledFuture<?> right : futures) {
        assertThat(Integer.signum(left.compareTo(right))).isEqualTo(-Integer.signum(right.compareTo(left)));
      }
    }
    futures.sort(Comparator.naturalOrder());
    List<Long> minutes = futures.stream().map(future -> (future.getDelay(SECONDS) + 30) / 60).toList();
    assertThat(minutes).isSorted();
  }

  @Test
  void futuresCompareWithDelayedObjectsOfOtherClasses() {
    ScheduledFuture<?> future = executor.schedule(() -> {}, 2, HOURS);
    assertThat(future.compareTo(new FixedDelay(HOURS.toNanos(1)))).isPositive();
    assertThat(future.compareTo(new FixedDelay(HOURS.toNanos(3)))).isNegative();
    assertThat(future.compareTo(new FixedDelay(-1))).isPositive();
    assertThat(future.compareTo(new FixedDelay(Long.MAX_VALUE))).isNegative();
  }

  @Test
  void futuresAreEqualOnlyToThemselves() {
    Runnable task = () -> {};
    ScheduledFuture<?> one = executor.schedule(task, FAR_HOURS, HOURS);
    ScheduledFuture<?> other = executor.schedule(task, FAR_HOURS, HOURS);
    assertThat(new HashSet<Object>(List.of(one, other, one))).containsExactlyInAnyOrder(one, other);
  }

  @Test
  void invokeAllReturnsDoneFuturesInTheOrderOfTheTasks() throws Exception {
    var tasks = new ArrayList<Callable<Integer>>();
    for (int i = 0; i < 50; i++) {
      int value = i;
      tasks.add(() -> value);
    }
    for (List<Future<Integer>> futures : List.of(executor.invokeAll(tasks),
        executor.invokeAll(tasks, BOUND_SECONDS, SECONDS))) {
      assertThat(futures).hasSize(50).allMatch(Future::isDone);
      for (int i = 0; i < 50; i++) {
        assertThat(futures.get(i).resultNow()).isEqualTo(i);
      }
    }
  }

  @Test
  void invokeAllOfNoTasksReturnsAnEmptyList() throws Exception {
    List<Callable<String>> none = List.of();
    assertThat(executor.invokeAll(none)).isEmpty();
    assertThat(executor.invokeAll(none, 1, SECONDS)).isEmpty();
    assertThat(executor.invokeAll(none, 0, SECONDS)).isEmpty();
  }

  @Test
  void invokeAllRefusesNulls() {
    List<Callable<String>> withNull = Arrays.asList(() -> "value", null);
    assertRefused(NullPointerException.class, () -> executor.invokeAll(null),
        () -> executor.invokeAll(null, 1, SECONDS), () -> executor.invokeAll(withNull),
        () -> executor.invokeAll(withNull, 1, SECONDS));
  }

  @Test
  void invokeAllReportsAFailureOnlyInTheFutureOfItsTask() throws Exception {
    var cause = new IOException("expected");
    List<Callable<String>> tasks = List.of(() -> "first", () -> {
      throw cause;
    }, () -> "last");
    for (List<Future<String>> futures : List.of(executor.invokeAll(tasks),
        executor.invokeAll(tasks, BOUND_SECONDS, SECONDS))) {
      assertThat(futures.get(0).resultNow()).isEqualTo("first");
      assertFailedWith(futures.get(1), cause);
      assertThat(futures.get(2).resultNow()).isEqualTo("last");
    }
  }

  @Test
  void aTimedInvokeAllCancelsUnfinishedTasks() throws Exception {
    assertForSomeSpan(spanMillis -> {
      var blocker = new Blocker();
      List<Callable<String>> tasks = List.of(() -> "quick", () -> {
        blocker.run();
        return "slow";
      });
      long before = System.nanoTime();
      List<Future<String>> futures = executor.invokeAll(tasks, spanMillis, MILLISECONDS);
      assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(spanMillis));
      assertThat(futures).hasSize(2).allMatch(Future::isDone);
      assertCancelled(futures.get(1));
      if (blocker.started.getCount() == 0) {
        await(blocker.interrupted);
      }
      return !futures.get(0).isCancelled() && futures.get(0).get().equals("quick");
    });
  }

  @Test
  void anInterruptedInvokeAllCancelsUnfinishedTasks() throws Exception {
    var blocker = new Blocker();
    Callable<Object> task = () -> {
      blocker.run();
      return null;
    };
    assertThat(interruptedWhileIn(() -> {
      List<Future<Object>> unused = executor.invokeAll(List.of(task, task, task));
    }, blocker.started)).isInstanceOf(InterruptedException.class);
    await(blocker.interrupted);
    executor.shutdown();
    awaitTermination();
  }

  @Test
  void invokeAnyReturnsTheResultOfATaskThatSucceeds() throws Exception {
    var cause = new IOException("expected");
    Callable<String> bad = () -> {
      throw cause;
    };
    Callable<String> good = () -> "good";
    List<List<Callable<String>>> cases = List.of(List.of(good), List.of(good, good), List.of(bad, good),
        List.of(good, bad), List.of(bad, bad, bad, good));
    for (List<Callable<String>> tasks : cases) {
      assertThat(executor.invokeAny(tasks)).isEqualTo("good");
      assertThat(executor.invokeAny(tasks, BOUND_SECONDS, SECONDS)).isEqualTo("good");
    }
  }

  @Test
  void invokeAnyCancelsTheUnfinishedTasks() throws Exception {
    for (int round = 0; round < 20; round++) {
      var blocker = new Blocker();
      List<Callable<String>> tasks = List.of(() -> "quick", () -> {
        blocker.run();
        return "slow";
      });
      assertThat(executor.invokeAny(tasks)).isEqualTo("quick");
      if (blocker.started.getCount() == 0) {
        await(blocker.interrupted);
      }
    }
    executor.shutdown();
    awaitTermination();
  }

  @Test
  void invokeAnyReportsAFailureWhenAllFail() {
    var cause = new IOException("expected");
    Callable<String> bad = () -> {
      throw cause;
    };
    for (List<Callable<String>> tasks : List.of(List.of(bad), List.of(bad, bad, bad))) {
      assertThatThrownBy(() -> executor.invokeAny(tasks)).isInstanceOf(ExecutionException.class).hasCause(cause);
      assertThatThrownBy(() -> executor.invokeAny(tasks, BOUND_SECONDS, SECONDS))
          .isInstanceOf(ExecutionException.class).hasCause(cause);
    }
  }

  @Test
  void invokeAnyRefusesNullsAndAnEmptyList() {
    List<Callable<String>> none = List.of();
    List<Callable<String>> withNull = Arrays.asList(null, null);
    assertRefused(NullPointerException.class, () -> executor.invokeAny(null),
        () -> executor.invokeAny(null, 1, SECONDS), () -> executor.invokeAny(withNull),
        () -> executor.invokeAny(withNull, 1, SECONDS));
    assertRefused(IllegalArgumentException.class, () -> executor.invokeAny(none),
        () -> executor.invokeAny(none, 1, SECONDS));
  }

  @Test
  void invokeAnyRefusesANullTaskAndCancelsTheRest() throws Exception {
    var blocker = new Blocker();
    List<Callable<String>> tasks = Arrays.asList(() -> {
      blocker.run();
      return "slow";
    }, null);
    assertRefused(NullPointerException.class, () -> executor.invokeAny(tasks),
        () -> executor.invokeAny(tasks, BOUND_SECONDS, SECONDS));
    executor.shutdown();
    awaitTermination();
    assertThat(blocker.started.getCount()).isEqualTo(blocker.interrupted.getCount());
  }

  @Test
  void aTimedInvokeAnyTimesOutAndCancelsAll() throws Exception {
    var blocker = new Blocker();
    Callable<String> slow = () -> {
      blocker.run();
      return "slow";
    };
    long before = System.nanoTime();
    assertThatThrownBy(() -> executor.invokeAny(List.of(slow, slow), 10, MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(MILLISECONDS.toNanos(10));
    executor.shutdown();
    awaitTermination();
    assertThat(blocker.started.getCount()).isEqualTo(blocker.interrupted.getCount());
  }

  @Test
  void anInterruptedInvokeAnyCancelsAll() throws Exception {
    var blocker = new Blocker();
    Callable<String> slow = () -> {
      blocker.run();
      return "slow";
    };
    assertThat(interruptedWhileIn(() -> {
      String unused = executor.invokeAny(List.of(slow, slow));
    }, blocker.started)).isInstanceOf(InterruptedException.class);
    await(blocker.interrupted);
    executor.shutdown();
    awaitTermination();
  }

  @Test
  void aCompletionServiceDeliversEachTaskOnceItIsDone() throws Exception {
    var service = new ExecutorCompletionService<String>(executor);
    assertThat(service.poll()).isNull();
    assertThat(service.poll(1, MILLISECONDS)).isNull();
    Future<String> value = service.submit(() -> "value");
    assertThat(service.take()).isSameAs(value);
    assertThat(value.resultNow()).isEqualTo("value");
    Future<String> result = service.submit(() -> {}, "result");
    assertThat(service.poll(BOUND_SECONDS, SECONDS)).isSameAs(result);
    assertThat(result.resultNow()).isEqualTo("result");
    var cause = new ExpectedException();
    Future<String> failed = service.submit(throwing(cause), "result");
    assertThat(service.take()).isSameAs(failed);
    assertFailedWith(failed, cause);
    assertThat(service.poll()).isNull();
  }

  private static void await(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(BOUND_SECONDS, SECONDS)).as("the latch opens within %s s", BOUND_SECONDS).isTrue();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    boolean interrupted = false;
    while (latch.getCount() > 0) {
      try {
        await(latch);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void awaitTrue(BooleanSupplier condition) {
    long deadline = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("the condition holds within %s s", BOUND_SECONDS).isNegative();
      LockSupport.parkNanos(50_000);
    }
  }

  private static void awaitBlocked(Thread thread) {
    awaitTrue(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
  }

  /** Blocks the calling task until the clock reaches a time, even if its thread is interrupted. */
  private static void awaitClock(long nanoTime) {
    for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void awaitTermination() throws InterruptedException {
    assertThat(executor.awaitTermination(BOUND_SECONDS, SECONDS)).as("terminated within %s s", BOUND_SECONDS).isTrue();
  }

  private static void join(Thread thread) throws InterruptedException {
    assertThat(thread.join(Duration.ofSeconds(BOUND_SECONDS))).as("the thread ends within %s s", BOUND_SECONDS)
        .isTrue();
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.get(BOUND_SECONDS, SECONDS);
  }

  /** Waits until a new task with this delay has run. The executor starts all tasks with earlier deadlines before it. */
  private void letPass(long millis) throws Exception {
    get(executor.schedule(() -> {}, millis, MILLISECONDS));
  }

  private static void assertFailedWith(Future<?> future, Throwable cause) {
    Throwable thrown = catchThrowable(() -> get(future));
    assertThat(thrown).isInstanceOf(ExecutionException.class);
    assertThat(thrown.getCause()).isSameAs(cause);
    assertThat(future.isDone()).isTrue();
    assertThat(future.isCancelled()).isFalse();
    assertThat(future.state()).isEqualTo(Future.State.FAILED);
    assertThat(future.exceptionNow()).isSameAs(cause);
  }

  private static void assertCancelled(Future<?> future) {
    assertThat(future.isDone()).isTrue();
    assertThat(future.isCancelled()).isTrue();
    assertThat(future.state()).isEqualTo(Future.State.CANCELLED);
    assertThatThrownBy(future::get).isInstanceOf(CancellationException.class);
    assertThatThrownBy(() -> get(future)).isInstanceOf(CancellationException.class);
  }

  private static void assertRefused(Class<? extends Throwable> refusal, ThrowingCallable... calls) {
    for (int i = 0; i < calls.length; i++) {
      assertThatThrownBy(calls[i]).as("call %s", i).isInstanceOf(refusal);
    }
  }

  private void assertAllRejected() {
    Runnable task = () -> {};
    Callable<String> callable = () -> "value";
    assertRefused(RejectedExecutionException.class, () -> executor.execute(task), () -> executor.submit(task),
        () -> executor.submit(task, "result"), () -> executor.submit(callable),
        () -> executor.schedule(task, 0, MILLISECONDS), () -> executor.schedule(callable, 1, MILLISECONDS),
        () -> executor.schedule(task, Long.MAX_VALUE, DAYS),
        () -> executor.scheduleAtFixedRate(task, 0, 1, MILLISECONDS),
        () -> executor.scheduleWithFixedDelay(task, 1, 1, MILLISECONDS),
        () -> executor.invokeAll(List.of(callable)), () -> executor.invokeAny(List.of(callable)));
  }

  /** Asserts that the property holds for one of the spans. */
  private static void assertForSomeSpan(SpanProperty property) throws Exception {
    for (long spanMillis : RETRY_SPANS_MILLIS) {
      if (property.holds(spanMillis)) {
        return;
      }
    }
    throw new AssertionError("the property holds for no span: spansMillis=" + Arrays.toString(RETRY_SPANS_MILLIS));
  }

  /** Returns the exception that the call throws when its thread is interrupted during the call; null if none. */
  private static Throwable interruptedWhileIn(ThrowingCallable call) throws InterruptedException {
    return interruptedWhileIn(call, new CountDownLatch(0));
  }

  /**
   * Interrupts a call once the latch is open and the call waits. Returns the exception that the call throws; null if
   * none.
   */
  private static Throwable interruptedWhileIn(ThrowingCallable call, CountDownLatch reached)
      throws InterruptedException {
    var thrown = new AtomicReference<Throwable>();
    Thread thread = Thread.ofPlatform().start(() -> thrown.set(catchThrowable(call)));
    await(reached);
    awaitBlocked(thread);
    thread.interrupt();
    join(thread);
    return thrown.get();
  }

  private static void inThreads(int count, Runnable body) throws Exception {
    var together = new CyclicBarrier(count);
    var failure = new AtomicReference<Throwable>();
    var threads = new ArrayList<Thread>();
    for (int i = 0; i < count; i++) {
      threads.add(Thread.ofPlatform().start(() -> {
        Throwable thrown = catchThrowable(() -> {
          together.await(BOUND_SECONDS, SECONDS);
          body.run();
        });
        failure.compareAndSet(null, thrown);
      }));
    }
    for (Thread thread : threads) {
      join(thread);
    }
    assertThat(failure.get()).isNull();
  }

  private static Runnable throwing(Throwable cause) {
    return () -> {
      switch (cause) {
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        default -> throw new IllegalArgumentException("a Runnable cannot throw a checked exception: cause=" + cause);
      }
    };
  }

  /** Returns every way to start a task that has a future. */
  private List<Way> ways() {
    return List.of(task -> executor.submit(task), task -> executor.submit(task, "result"),
        task -> executor.schedule(task, 1, MILLISECONDS), task -> executor.schedule(() -> {
          task.run();
          return "value";
        }, 1, MILLISECONDS), task -> executor.scheduleAtFixedRate(task, 0, 1, MILLISECONDS),
        task -> executor.scheduleWithFixedDelay(task, 0, 1, MILLISECONDS));
  }

  private interface Way {
    Future<?> start(Runnable task);
  }

  private interface SpanProperty {
    boolean holds(long spanMillis) throws Exception;
  }

  /** The two kinds of periodic tasks, for properties that both have. */
  private enum Periodic {
    AT_FIXED_RATE {
      @Override
      ScheduledFuture<?> schedule(ScheduledExecutorService executor, Runnable task, long initial, long period,
          TimeUnit unit) {
        return executor.scheduleAtFixedRate(task, initial, period, unit);
      }
    },
    WITH_FIXED_DELAY {
      @Override
      ScheduledFuture<?> schedule(ScheduledExecutorService executor, Runnable task, long initial, long period,
          TimeUnit unit) {
        return executor.scheduleWithFixedDelay(task, initial, period, unit);
      }
    };

    abstract ScheduledFuture<?> schedule(ScheduledExecutorService executor, Runnable task, long initial, long period,
        TimeUnit unit);
  }

  /** A task that runs until it is released or interrupted. It records an interrupt. */
  private static final class Blocker implements Runnable {
    final CountDownLatch started = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);
    final CountDownLatch ended = new CountDownLatch(1);
    final AtomicInteger runs = new AtomicInteger();

    @Override
    public void run() {
      runs.incrementAndGet();
      started.countDown();
      try {
        await(release);
      } catch (InterruptedException e) {
        interrupted.countDown();
      } finally {
        ended.countDown();
      }
    }
  }

  /** A task that a thread of the test may cancel at any time. */
  private static final class Contested implements Runnable {
    final AtomicInteger runs = new AtomicInteger();
    final long dueNanoTime;
    volatile Future<?> future;
    volatile boolean cancelled;
    // True if cancel returned true before the task was due. Then the task must not run at all.
    volatile boolean cancelledInTime;

    Contested(long dueNanoTime) {
      this.dueNanoTime = dueNanoTime;
    }

    @Override
    public void run() {
      runs.incrementAndGet();
    }

    void cancel(boolean mayInterrupt) {
      boolean wasDone = future.isDone();
      boolean nowCancelled = future.cancel(mayInterrupt);
      cancelledInTime = nowCancelled && System.nanoTime() - dueNanoTime < 0;
      cancelled = nowCancelled;
      assertThat(wasDone && nowCancelled).as("cancelled although done").isFalse();
      assertThat(future.isDone()).isTrue();
    }
  }

  /** Four threads that schedule tasks. Each ends at its first rejected task. The caller's stop runs after 300 tasks. */
  private static final class SubmissionContest {
    final ScheduledExecutorService target;
    final AtomicInteger runs = new AtomicInteger();
    final Queue<Future<?>> futures = new ConcurrentLinkedQueue<>();

    SubmissionContest(ScheduledExecutorService target) {
      this.target = target;
    }

    void submitUntilRejected(Runnable stop) throws Exception {
      var accepted = new AtomicInteger();
      inThreads(4, () -> {
        var random = ThreadLocalRandom.current();
        try {
          while (true) {
            futures.add(target.schedule(runs::incrementAndGet, random.nextLong(1_000), MICROSECONDS));
            if (accepted.incrementAndGet() == 300) {
              stop.run();
            }
          }
        } catch (RejectedExecutionException e) {
          // The executor was stopped.
        }
      });
    }
  }

  /** Plain fields. Another thread is sure to see a write to them only through a happens-before edge. */
  private static final class PlainBox {
    int in;
    int out;
  }

  /** A {@link Delayed} of another class. A caller may compare such an object with the futures of an executor. */
  private record FixedDelay(long nanos) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(nanos, NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(nanos, other.getDelay(NANOSECONDS));
    }
  }

  private static final class ExpectedException extends RuntimeException {
    ExpectedException() {
      super("expected");
    }
  }
}
