package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Checks the order in which timers start. Timers start in the order of their deadlines. Timers that one thread
 * schedules with equal deadlines start in the order of the calls. A timer is never due before the call that schedules
 * it, so the order holds for all starts of a history.
 *
 * <p>The message of a failure has the seed. {@code -Dfoliot.seed=N} runs seed N alone, {@code -Dfoliot.seeds=N} runs N
 * seeds.
 */
final class TimerOrderTest {
  private static final int DEFAULT_SEEDS = 300;
  private static final int STEPS_PER_SEED = 150;
  private static final long BOUND_SECONDS = 30;
  private static final Runnable NOTHING = () -> {};

  @FunctionalInterface
  private interface History {
    void run(long seed) throws Exception;
  }

  private static void forEachSeed(int defaultSeeds, History history) {
    Long only = Long.getLong("foliot.seed");
    int seeds = Integer.getInteger("foliot.seeds", defaultSeeds);
    for (long seed = only == null ? 0 : only; seed < (only == null ? seeds : only + 1); seed++) {
      try {
        history.run(seed);
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(BOUND_SECONDS, SECONDS)).as("within %s s", BOUND_SECONDS).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** The expected order and deadline of a timer. */
  private static final class Expected {
    /** Number of the call that scheduled the timer. */
    final int arrival;

    long deadlineNanos;

    /** True if the order among equal deadlines is unspecified, for example after a reset. */
    boolean wasReset;

    Timeout timeout;

    Expected(int arrival, long deadlineNanos) {
      this.arrival = arrival;
      this.deadlineNanos = deadlineNanos;
    }

    @Override
    public String toString() {
      return "#" + arrival + "@" + deadlineNanos + (wasReset ? " (reset)" : "");
    }
  }

  private static boolean mayStartBefore(Expected first, Expected second) {
    return first.deadlineNanos != second.deadlineNanos
        ? first.deadlineNanos < second.deadlineNanos
        : first.wasReset || second.wasReset || first.arrival < second.arrival;
  }

  /** Asserts that the list is sorted by deadline. The sort must be stable, except for timers that were reset. */
  private static void assertInOrder(List<Expected> started) {
    for (int i = 1; i < started.size(); i++) {
      assertThat(mayStartBefore(started.get(i - 1), started.get(i)))
          .as("start %s: %s came before %s", i, started.get(i - 1), started.get(i)).isTrue();
    }
  }

  @Test
  void theOrderOfStartsIsAStableSortByDeadline() {
    forEachSeed(DEFAULT_SEEDS, seed -> new TimerHistory(seed).run());
  }

  /** Random calls and stalls of a timer whose callbacks run on the driver thread. */
  private static final class TimerHistory {
    private final Random random;
    private final ManualClock clock = new ManualClock();
    private final long tickNanos;
    private final WheelTimer timer;
    private final List<Expected> all = new ArrayList<>();
    private final List<Expected> started = new ArrayList<>();

    TimerHistory(long seed) {
      random = new Random(seed);
      tickNanos = 1L << random.nextInt(4, 17);
      clock.setWithoutDriver(random.nextInt(1_000_000));
      timer = WheelTimer.builder().clock(clock).tick(Duration.ofNanos(tickNanos)).inline()
          .slack(Duration.ofNanos(random.nextInt(3) == 0 ? tickNanos * random.nextInt(10_000) : 0)).build();
    }

    void run() {
      try (timer) {
        schedule(0, NOTHING);
        clock.awaitAsleep();
        for (int step = 0; step < STEPS_PER_SEED; step++) {
          if (random.nextInt(10) == 0) {
            stall();
          } else {
            call();
            clock.awaitAsleep();
            if (random.nextInt(3) == 0) {
              clock.advance(pause());
            }
          }
        }
        while (timer.counters().live() > 0) {
          clock.set(clock.parkedUntil());
        }
        assertInOrder(started);
        assertThat(started).hasSize((int) timer.counters().fired());
        long unfired = all.stream().filter(expected -> !expected.timeout.hasFired()).count();
        assertThat(timer.counters().cancelled()).isEqualTo(unfired);
      }
    }

    /** Blocks the driver in a callback while time passes and the test makes further calls. */
    private void stall() {
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      schedule(0, () -> {
        held.countDown();
        await(release);
      });
      wakeUntilHeld(held);
      for (int calls = random.nextInt(200); calls > 0; calls--) {
        call();
        if (random.nextInt(4) == 0) {
          clock.setWithoutDriver(clock.nanoTime() + pause());
        }
      }
      release.countDown();
      clock.awaitAsleep();
    }

    /**
     * Advances the clock until the blocking callback runs. A timer without a delay starts at once if the driver is
     * awake, and otherwise at the end of the timer's tick or slack.
     */
    private void wakeUntilHeld(CountDownLatch held) {
      for (int polls = 0; held.getCount() > 0; polls++) {
        assertThat(polls).as("polls until the callback runs").isLessThan(30_000);
        clock.wakeAsleepDriver();
        try {
          if (held.await(1, MILLISECONDS)) {
            return;
          }
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
    }

    private long pause() {
      return random.nextInt(4) == 0 ? random.nextLong(100 * tickNanos) : random.nextLong(2 * tickNanos);
    }

    private void call() {
      switch (random.nextInt(8)) {
        case 0 -> any().timeout.cancel();
        case 1, 2 -> reset(any());
        default -> schedule(delay(), NOTHING);
      }
    }

    private Expected any() {
      return all.isEmpty() ? schedule(delay(), NOTHING) : all.get(random.nextInt(all.size()));
    }

    /** Returns a random delay in nanoseconds, which may be negative or end at the deadline of another timer. */
    private long delay() {
      return switch (random.nextInt(6)) {
        case 0 -> 0;
        case 1 -> -random.nextLong(tickNanos);
        case 2 -> random.nextLong(tickNanos);
        case 3 -> random.nextLong(100 * tickNanos);
        case 4 -> random.nextInt(10) == 0 ? random.nextLong(10_000 * tickNanos) : 5 * tickNanos;
        default -> all.isEmpty() ? 0 : all.get(random.nextInt(all.size())).deadlineNanos - clock.nanoTime();
      };
    }

    private Expected schedule(long delayNanos, Runnable action) {
      Expected expected = new Expected(all.size(), clock.nanoTime() + Math.max(0, delayNanos));
      all.add(expected);
      boolean callsBack = action == NOTHING && random.nextInt(20) == 0;
      expected.timeout = timer.schedule(() -> {
        started.add(expected);
        assertThat(clock.nanoTime()).isGreaterThanOrEqualTo(expected.deadlineNanos);
        if (callsBack) {
          scheduleFromCallback();
        }
        action.run();
      }, delayNanos, NANOSECONDS);
      return expected;
    }

    /**
     * Schedules a timer from the driver thread. Its order relative to the caller's timers is unspecified if the
     * deadlines are equal.
     */
    private void scheduleFromCallback() {
      Expected expected = new Expected(Integer.MAX_VALUE, clock.nanoTime());
      expected.wasReset = true;
      Timeout timeout = timer.schedule(() -> started.add(expected), 0, NANOSECONDS);
      assertThat(timeout.isPending()).isTrue();
    }

    /** Resets a timer if it is pending. It cannot fire after the check, because the driver sleeps or is blocked. */
    private void reset(Expected expected) {
      if (expected.timeout.isPending()) {
        long delayNanos = delay();
        expected.deadlineNanos = clock.nanoTime() + Math.max(0, delayNanos);
        expected.wasReset = true;
        assertThat(expected.timeout.reset(delayNanos, NANOSECONDS)).isTrue();
      }
    }
  }

  @Test
  void oneWorkerStartsTasksAndPeriodicRunsInOrder() {
    forEachSeed(DEFAULT_SEEDS, seed -> new ExecutorHistory(seed).run());
  }

  /** Random tasks of an executor with one worker, including periodic tasks. */
  private static final class ExecutorHistory {
    private final Random random;
    private final ManualClock clock = new ManualClock();
    private final List<Expected> started = Collections.synchronizedList(new ArrayList<>());

    ExecutorHistory(long seed) {
      random = new Random(seed);
    }

    void run() throws Exception {
      long tickNanos = 1L << random.nextInt(4, 17);
      int runs = 0;
      try (WheelScheduledExecutor executor = WheelScheduledExecutor.builder().threads(1).clock(clock)
          .tick(Duration.ofNanos(tickNanos)).build()) {
        long startNanos = random.nextLong(tickNanos);
        clock.setWithoutDriver(startNanos);
        List<Expected> all = new ArrayList<>();
        for (int number = random.nextInt(1, 200); number > 0; number--) {
          long delayNanos = random.nextInt(3) == 0 && !all.isEmpty()
              ? all.get(random.nextInt(all.size())).deadlineNanos - startNanos
              : random.nextLong(10 * tickNanos);
          Expected expected = new Expected(all.size(), startNanos + delayNanos);
          all.add(expected);
          Runnable task = () -> started.add(expected);
          // The period is so long that no second run starts in this test.
          ScheduledFuture<?> future = number % 10 == 0
              ? executor.scheduleAtFixedRate(task, delayNanos, 1_000_000 * tickNanos, NANOSECONDS)
              : executor.schedule(task, delayNanos, NANOSECONDS);
          assertThat(future.isCancelled()).isFalse();
          runs++;
        }
        // Most steps of the clock are long, so the driver gets many due tasks together, as after a stall.
        clock.awaitAsleep();
        while (started.size() < runs) {
          clock.advance(1 + random.nextLong(10 * tickNanos));
          awaitStarts(executor);
        }
      }
      assertInOrder(started);
    }

    private void awaitStarts(WheelScheduledExecutor executor) {
      long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
      while (started.size() < executor.counters().fired()) {
        assertThat(System.nanoTime() - end).as("within %s s", BOUND_SECONDS).isNegative();
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void aTimerWithoutDelayDoesNotOvertakeTheBacklogOfAStall() throws Exception {
    ManualClock clock = new ManualClock();
    List<Integer> started = new ArrayList<>();
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    int backlog = 10_000;
    try (WheelTimer timer = WheelTimer.builder().clock(clock).inline().build()) {
      for (int i = 0; i < backlog; i++) {
        int number = i;
        timer.schedule(() -> started.add(number), 1_000_000L + i * 1000L, NANOSECONDS);
      }
      timer.schedule(() -> {
        held.countDown();
        await(release);
      }, 0, SECONDS);
      await(held);
      // The time is not the beginning of a tick. A timer without a delay must start before the next tick begins.
      clock.setWithoutDriver(SECONDS.toNanos(5) + 12_345);
      for (int i = 0; i < 100; i++) {
        int number = backlog + i;
        timer.schedule(() -> started.add(number), 0, SECONDS);
      }
      release.countDown();
      clock.awaitAsleep();
      assertThat(started).hasSize(backlog + 100).isSorted();
    }
  }

  @Test
  void aTimerWithoutDelayDoesNotOvertakeAnEarlierDeadlineInItsTick() {
    ManualClock clock = new ManualClock();
    List<String> started = new ArrayList<>();
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    try (WheelTimer timer = WheelTimer.builder().clock(clock).inline().build()) {
      timer.schedule(() -> {
        held.countDown();
        await(release);
      }, 0, SECONDS);
      await(held);
      timer.schedule(() -> started.add("at 20 us"), 20, MICROSECONDS);
      clock.setWithoutDriver(MICROSECONDS.toNanos(30));
      timer.schedule(() -> started.add("at 30 us"), 0, SECONDS);
      release.countDown();
      clock.awaitAsleep();
      assertThat(started).containsExactly("at 20 us", "at 30 us");
    }
  }

  /** Starts of an executor's tasks, whose deadlines are known only within bounds. */
  private static final class RealTasks {
    /** A start of a task. Its deadline lies between the two bounds; scheduledNanos is the end of its schedule call. */
    record Start(int arrival, long delayNanos, long earliestNanos, long latestNanos, long scheduledNanos) {}

    final List<Start> started = Collections.synchronizedList(new ArrayList<>());
    int scheduled;

    void schedule(ScheduledExecutorService executor, long delayNanos, CountDownLatch done) {
      int arrival = scheduled++;
      long[] bounds = new long[3];
      bounds[0] = System.nanoTime() + delayNanos;
      ScheduledFuture<?> future = executor.schedule(() -> {
        started.add(new Start(arrival, delayNanos, bounds[0], bounds[1], bounds[2]));
        done.countDown();
      }, delayNanos, NANOSECONDS);
      bounds[2] = System.nanoTime();
      bounds[1] = bounds[2] + delayNanos;
      assertThat(future.isCancelled()).isFalse();
    }

    /**
     * Returns the number of pairs (A, B) in which A started before B, in the wrong order. The order is wrong if B was
     * scheduled before the deadline of A and has an earlier deadline. The order is also wrong if B was scheduled before
     * A, with the same or a shorter delay.
     */
    long inversions() {
      long inversions = 0;
      for (int i = 1; i < started.size(); i++) {
        for (int j = 0; j < i; j++) {
          Start before = started.get(j);
          Start after = started.get(i);
          boolean isCalledFirst = after.arrival < before.arrival && after.delayNanos <= before.delayNanos;
          if (isCalledFirst
              || (after.latestNanos < before.earliestNanos && after.scheduledNanos < before.earliestNanos)) {
            inversions++;
          }
        }
      }
      return inversions;
    }
  }

  private static long inversions(ScheduledExecutorService executor, Random random, int tasks, long boundNanos) {
    RealTasks real = new RealTasks();
    CountDownLatch done = new CountDownLatch(tasks + 1);
    // This task blocks the worker until all other tasks are scheduled, so that no task reads its bounds too early.
    CountDownLatch ready = new CountDownLatch(1);
    ScheduledFuture<?> holder = executor.schedule(() -> {
      await(ready);
      done.countDown();
    }, 0, NANOSECONDS);
    for (int i = 0; i < tasks; i++) {
      real.schedule(executor, boundNanos > 0 ? random.nextLong(boundNanos) : MICROSECONDS.toNanos(100), done);
    }
    ready.countDown();
    await(done);
    assertThat(holder.isCancelled()).isFalse();
    return real.inversions();
  }

  @Test
  void tasksStartInTheOrderOfTheJdkOnTheSystemClock() {
    ScheduledThreadPoolExecutor jdk = new ScheduledThreadPoolExecutor(1);
    try (jdk; WheelScheduledExecutor wheel = WheelScheduledExecutor.builder().threads(1).build()) {
      for (int seed = 0; seed < 60; seed++) {
        int tasks = 1000;
        long boundNanos = seed % 3 == 0 ? 0 : TimeUnit.MICROSECONDS.toNanos(seed % 3 == 1 ? 300 : 20_000);
        assertThat(inversions(jdk, new Random(seed), tasks, boundNanos)).as("JDK, seed %s", seed).isZero();
        assertThat(inversions(wheel, new Random(seed), tasks, boundNanos)).as("wheel, seed %s", seed).isZero();
      }
    }
  }

  @Test
  void tasksWithEqualDelaysStartInTheOrderOfTheirCalls() {
    for (int round = 0; round < 100; round++) {
      List<Integer> started = Collections.synchronizedList(new ArrayList<>());
      int tasks = 2000;
      CountDownLatch done = new CountDownLatch(tasks);
      try (WheelScheduledExecutor executor = WheelScheduledExecutor.builder().threads(1).build()) {
        for (int i = 0; i < tasks; i++) {
          int number = i;
          ScheduledFuture<?> future = executor.schedule(() -> {
            started.add(number);
            done.countDown();
          }, 100, MICROSECONDS);
          assertThat(future.isCancelled()).isFalse();
        }
        await(done);
      }
      assertThat(started).as("round %s", round).isSortedAccordingTo(Comparator.naturalOrder());
    }
  }
}
