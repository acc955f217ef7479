package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Checks that no task is lost silently and no call hangs if a thread cannot be started, a driver dies or a handler
 * throws.
 */
@Timeout(60)
final class FailureTest {
  private static final long BOUND_SECONDS = 10;
  private static final long PAUSE_NANOS = 100_000;
  private static final Runnable NOTHING = () -> {};

  /** Gives the driver time to go to sleep. Calls without a pause between them might keep it awake for ever. */
  private static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }

  /** The error of a simulated lack of memory. */
  private static final class NoMemory extends OutOfMemoryError {
    NoMemory() {
      super("simulated");
    }
  }

  /** The ways in which a factory may fail to make a thread that can be started. */
  private enum Fault {
    THROWS_EXCEPTION {
      @Override
      Thread make(Runnable run) {
        throw new IllegalStateException("simulated");
      }
    },

    THROWS_ERROR {
      @Override
      Thread make(Runnable run) {
        throw new NoMemory();
      }
    },

    RETURNS_NULL {
      @Override
      Thread make(Runnable run) {
        return null;
      }
    },

    RETURNS_STARTED_THREAD {
      @Override
      Thread make(Runnable run) {
        return Thread.ofVirtual().start(run);
      }
    },

    CANNOT_START {
      @Override
      Thread make(Runnable run) {
        return new UnstartableThread(run, 1);
      }
    };

    abstract Thread make(Runnable run);
  }

  /** A thread that fails to start a number of times, as if the system had no more threads. */
  private static final class UnstartableThread extends Thread {
    private int failures;

    UnstartableThread(Runnable run, int failures) {
      super(run);
      this.failures = failures;
    }

    @Override
    public void start() {
      if (failures-- > 0) {
        throw new NoMemory();
      }
      super.start();
    }
  }

  /** Returns a factory that fails for the threads of the given numbers, counted from zero. */
  private static ThreadFactory failing(Fault fault, Integer... numbers) {
    AtomicInteger made = new AtomicInteger();
    ThreadFactory threads = Thread.ofVirtual().factory();
    return run -> List.of(numbers).contains(made.getAndIncrement()) ? fault.make(run) : threads.newThread(run);
  }

  /** A clock that fails on demand: when it parks or unparks the driver, or is read on the driver thread. */
  private static final class FailingClock implements TimerClock {
    private final TimerClock system = TimerClock.system();
    final AtomicReference<Thread> driver = new AtomicReference<>();
    volatile boolean failsToPark;
    volatile boolean failsOnDriver;
    volatile boolean failsToUnpark;

    @Override
    public long nanoTime() {
      if (failsOnDriver && Thread.currentThread() == driver.get()) {
        throw new NoMemory();
      }
      return system.nanoTime();
    }

    @Override
    public void park(long nanos) {
      driver.set(Thread.currentThread());
      if (failsToPark) {
        throw new NoMemory();
      }
      system.park(nanos);
    }

    @Override
    public void unpark(Thread thread) {
      system.unpark(thread);
      if (failsToUnpark) {
        throw new NoMemory();
      }
    }
  }

  private final Queue<LogRecord> logged = new ConcurrentLinkedQueue<>();
  private final Logger logger = Logger.getLogger("io.foliot.wheel");

  private final Handler handler = new Handler() {
    @Override
    public void publish(LogRecord entry) {
      logged.add(entry);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  };

  @BeforeEach
  void listen() {
    logger.setUseParentHandlers(false);
    logger.addHandler(handler);
  }

  @AfterEach
  void stopListening() {
    logger.removeHandler(handler);
    logger.setUseParentHandlers(true);
  }

  /**
   * Asserts that one entry with this message and failure is logged. Waits for the entry, because a driver counts as
   * dead before it has logged the reason.
   */
  private void assertLogged(String message, Class<? extends Throwable> failure) {
    long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
    while (logged.stream().noneMatch(entry -> entry.getMessage().contains(message)) && System.nanoTime() - end < 0) {
      pause();
    }
    assertThat(logged).filteredOn(entry -> entry.getMessage().contains(message)).singleElement().satisfies(entry -> {
      assertThat(entry.getLevel()).isEqualTo(Level.SEVERE);
      assertThat(entry.getThrown()).isInstanceOf(failure);
    });
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(BOUND_SECONDS, SECONDS)).as("within %s s", BOUND_SECONDS).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void assertTerminates(WheelScheduledExecutor executor) throws InterruptedException {
    assertThat(executor.awaitTermination(BOUND_SECONDS, SECONDS)).as("terminated: %s", executor).isTrue();
  }

  private static void assertRejectedWithCause(Throwable thrown) {
    assertThat(thrown).isInstanceOf(RejectedExecutionException.class);
    assertThat(thrown.getCause()).isNotNull();
  }

  private static void assertFails(Future<?> future, Class<? extends Throwable> cause) {
    assertThatThrownBy(() -> future.get(BOUND_SECONDS, SECONDS)).isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(cause);
    assertThat(future.isCancelled()).isFalse();
  }

  @Test
  void aTaskIsRejectedIfTheFirstWorkerCannotBeStarted() throws Exception {
    List<Function<WheelScheduledExecutor, Object>> calls = List.of(executor -> {
      executor.execute(NOTHING);
      return "executed";
    }, executor -> executor.submit(NOTHING).isDone(), executor -> executor.schedule(NOTHING, 1, MILLISECONDS).isDone(),
        executor -> executor.scheduleAtFixedRate(NOTHING, 1, 1, MILLISECONDS).isDone());
    for (Fault fault : Fault.values()) {
      for (Function<WheelScheduledExecutor, Object> call : calls) {
        WheelScheduledExecutor executor = WheelScheduledExecutor.builder().workerFactory(failing(fault, 0)).build();
        assertRejectedWithCause(catchThrowable(() -> call.apply(executor)));
        assertThat(executor.schedule(() -> "ran", 1, MILLISECONDS).get(BOUND_SECONDS, SECONDS)).isEqualTo("ran");
        assertThat(executor.submit(() -> "ran").get(BOUND_SECONDS, SECONDS)).isEqualTo("ran");
        executor.shutdown();
        assertTerminates(executor);
      }
    }
  }

  @Test
  void tasksWaitIfAFurtherWorkerCannotBeStarted() throws Exception {
    for (Fault fault : Fault.values()) {
      logged.clear();
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      CountDownLatch ran = new CountDownLatch(50);
      WheelScheduledExecutor executor = WheelScheduledExecutor.builder()
          .workerFactory(failing(fault, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)).build();
      executor.execute(() -> {
        held.countDown();
        await(release);
      });
      await(held);
      for (int i = 0; i < 5; i++) {
        executor.execute(ran::countDown);
        ScheduledFuture<?> scheduled = executor.schedule(ran::countDown, 1, MILLISECONDS);
        assertThat(scheduled.isCancelled()).isFalse();
      }
      // At the latest the eleventh start of a further worker succeeds. That worker can run all waiting tasks.
      for (int i = 0; i < 40; i++) {
        executor.execute(ran::countDown);
      }
      release.countDown();
      await(ran);
      assertLogged("cannot start a worker thread", Throwable.class);
      executor.shutdown();
      assertTerminates(executor);
    }
  }

  @Test
  void anExecutorWithoutAnyThreadRejectsTasksAndTerminates() throws Exception {
    WheelScheduledExecutor executor = WheelScheduledExecutor.builder().workerFactory(run -> {
      throw new NoMemory();
    }).build();
    for (int i = 0; i < 10; i++) {
      assertRejectedWithCause(catchThrowable(() -> executor.execute(NOTHING)));
      assertRejectedWithCause(catchThrowable(() -> executor.schedule(NOTHING, 1, MILLISECONDS)));
    }
    executor.shutdown();
    assertTerminates(executor);
  }

  @Test
  void aTimerIsRejectedIfTheDriverThreadCannotBeStarted() throws Exception {
    ThreadFactory threads = run -> new UnstartableThread(run, 1);
    WheelScheduledExecutor executor = WheelScheduledExecutor.builder().driverFactory(threads).build();
    assertRejectedWithCause(catchThrowable(() -> executor.schedule(NOTHING, 1, MILLISECONDS)));
    assertThat(executor.schedule(() -> "ran", 1, MILLISECONDS).get(BOUND_SECONDS, SECONDS)).isEqualTo("ran");
    executor.shutdown();
    assertTerminates(executor);
    try (WheelTimer timer = WheelTimer.builder().threadFactory(threads).build()) {
      assertRejectedWithCause(catchThrowable(() -> timer.schedule(NOTHING, 1, MILLISECONDS)));
      CountDownLatch fired = new CountDownLatch(1);
      assertThat(timer.schedule(fired::countDown, 1, MILLISECONDS).task()).isNotNull();
      await(fired);
    }
  }

  @Test
  void aBadDriverFactoryIsRefusedWhenTheTimerIsBuilt() {
    for (Fault fault : List.of(Fault.THROWS_EXCEPTION, Fault.THROWS_ERROR, Fault.RETURNS_NULL,
        Fault.RETURNS_STARTED_THREAD)) {
      assertThat(catchThrowable(() -> WheelTimer.builder().threadFactory(failing(fault, 0)).build())).isNotNull();
      assertThat(catchThrowable(() -> WheelScheduledExecutor.builder().driverFactory(failing(fault, 0)).build()))
          .isNotNull();
    }
  }

  @Test
  void aDeadDriverRejectsTimersAndStopReturnsWaitingTimers() {
    FailingClock clock = new FailingClock();
    WheelTimer timer = WheelTimer.builder().clock(clock).inline().build();
    List<io.foliot.wheel.Timeout> waiting = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      waiting.add(timer.schedule(NOTHING, i % 2 == 0 ? i + 1 : 0, HOURS));
    }
    waiting.add(timer.schedule(NOTHING, 1, HOURS));
    clock.failsToPark = true;
    Throwable rejection = null;
    long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
    while (rejection == null) {
      assertThat(System.nanoTime() - end).as("rejected within %s s", BOUND_SECONDS).isNegative();
      rejection = catchThrowable(() -> waiting.add(timer.schedule(NOTHING, 0, SECONDS)));
      if (rejection == null) {
        rejection = catchThrowable(() -> waiting.add(timer.schedule(NOTHING, 2, HOURS)));
      }
      pause();
    }
    assertRejectedWithCause(rejection);
    assertThat(rejection).hasRootCauseInstanceOf(NoMemory.class);
    assertThat(timer.stop()).doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(waiting.stream().filter(timeout -> !timeout.hasFired()).toList());
    assertThat(waiting).allMatch(timeout -> timeout.hasFired() || timeout.isCancelled());
    assertThat(timer.counters().live()).isZero();
    assertThat(timer.stop()).isEmpty();
    assertLogged("the timer's thread has died", NoMemory.class);
  }

  @Test
  void stopReturnsTheTimerThatADyingDriverWasAboutToFire() {
    FailingClock clock = new FailingClock();
    WheelTimer timer = WheelTimer.builder().clock(clock).inline().build();
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    List<io.foliot.wheel.Timeout> all = new ArrayList<>();
    all.add(timer.schedule(() -> {
      clock.driver.set(Thread.currentThread());
      held.countDown();
      await(release);
    }, 0, SECONDS));
    await(held);
    for (int i = 0; i < 100; i++) {
      all.add(timer.schedule(NOTHING, 0, SECONDS));
    }
    clock.failsOnDriver = true;
    release.countDown();
    awaitDead(timer);
    List<io.foliot.wheel.Timeout> unfired = timer.stop();
    assertThat(unfired).containsExactlyInAnyOrderElementsOf(all.stream().filter(t -> !t.hasFired()).toList());
    assertThat(unfired).hasSizeBetween(1, 100);
  }

  private static void awaitDead(WheelTimer timer) {
    long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
    while (!timer.driver().isDead()) {
      assertThat(System.nanoTime() - end).as("dead within %s s", BOUND_SECONDS).isNegative();
      Thread.onSpinWait();
    }
  }

  /** An executor whose driver dies on demand, while one task waits and a periodic task runs. */
  private static final class Orphaned {
    final FailingClock clock = new FailingClock();
    final CountDownLatch held = new CountDownLatch(1);
    final CountDownLatch release = new CountDownLatch(1);
    final WheelScheduledExecutor executor = WheelScheduledExecutor.builder().clock(clock).build();
    final ScheduledFuture<?> waiting = executor.schedule(NOTHING, 1, HOURS);
    final ScheduledFuture<?> periodic = executor.scheduleAtFixedRate(() -> {
      held.countDown();
      await(release);
    }, 0, 1, HOURS);

    Orphaned() {
      await(held);
    }

    void die() {
      clock.failsToPark = true;
      Throwable rejection = null;
      long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
      while (rejection == null) {
        assertThat(System.nanoTime() - end).as("rejected within %s s", BOUND_SECONDS).isNegative();
        rejection = catchThrowable(() -> executor.schedule(NOTHING, 0, SECONDS));
        pause();
      }
      if (!executor.isShutdown()) {
        assertRejectedWithCause(rejection);
      }
    }
  }

  @Test
  void shutdownNowReturnsTheTasksOfADeadDriver() throws Exception {
    Orphaned orphaned = new Orphaned();
    orphaned.die();
    assertThat(orphaned.waiting.isDone()).isFalse();
    assertThat(orphaned.executor.submit(() -> "workers live").get(BOUND_SECONDS, SECONDS)).isEqualTo("workers live");
    orphaned.release.countDown();
    assertFails(orphaned.periodic, RejectedExecutionException.class);
    assertThat(orphaned.executor.shutdownNow()).contains((Runnable) orphaned.waiting);
    assertTerminates(orphaned.executor);
    assertLogged("the timer's thread has died", NoMemory.class);
    assertLogged("a periodic task cannot be scheduled again", RejectedExecutionException.class);
  }

  @Test
  void shutdownFailsTheTasksOfADeadDriver() throws Exception {
    Orphaned orphaned = new Orphaned();
    orphaned.die();
    orphaned.release.countDown();
    orphaned.executor.shutdown();
    assertFails(orphaned.waiting, RejectedExecutionException.class);
    assertTerminates(orphaned.executor);
  }

  @Test
  void aDriverThatDiesAfterShutdownFailsTheWaitingTasks() throws Exception {
    Orphaned orphaned = new Orphaned();
    orphaned.release.countDown();
    orphaned.executor.shutdown();
    assertThat(orphaned.waiting.isDone()).isFalse();
    orphaned.clock.failsToPark = true;
    orphaned.clock.unpark(orphaned.clock.driver.get());
    assertFails(orphaned.waiting, RejectedExecutionException.class);
    assertTerminates(orphaned.executor);
  }

  @Test
  void aTimerWhoseWakeUpFailsIsNotScheduled() {
    FailingClock clock = new FailingClock();
    try (WheelTimer timer = WheelTimer.builder().clock(clock).inline().build()) {
      assertThat(timer.schedule(NOTHING, 1, HOURS).isPending()).isTrue();
      long end = System.nanoTime() + SECONDS.toNanos(BOUND_SECONDS);
      AtomicInteger fired = new AtomicInteger();
      Throwable thrown = null;
      clock.failsToUnpark = true;
      int scheduled = 0;
      while (thrown == null) {
        assertThat(System.nanoTime() - end).as("a sleeping driver within %s s", BOUND_SECONDS).isNegative();
        thrown = catchThrowable(() -> timer.schedule(fired::incrementAndGet, 0, SECONDS));
        scheduled += thrown == null ? 1 : 0;
        pause();
      }
      clock.failsToUnpark = false;
      assertThat(thrown).isInstanceOf(NoMemory.class);
      int expected = scheduled;
      while (timer.counters().live() > 1) {
        assertThat(System.nanoTime() - end).as("all fired within %s s", BOUND_SECONDS).isNegative();
        Thread.onSpinWait();
      }
      assertThat(fired).hasValue(expected);
    }
  }

  @Test
  void anErrorHandlerThatRethrowsDoesNotEndTheDriver() {
    try (WheelTimer timer = WheelTimer.builder().inline().onError((timeout, failure) -> {
      throw (NoMemory) failure;
    }).threadFactory(Thread.ofPlatform().uncaughtExceptionHandler((thread, e) -> {
      throw new IllegalStateException("handler of the thread");
    })::unstarted).build()) {
      assertThat(timer.schedule(() -> {
        throw new NoMemory();
      }, 0, SECONDS).isCancelled()).isFalse();
      CountDownLatch fired = new CountDownLatch(1);
      assertThat(timer.schedule(fired::countDown, 1, MILLISECONDS).isCancelled()).isFalse();
      await(fired);
    }
    assertLogged("the uncaught exception handler has failed", NoMemory.class);
  }

  @Test
  void anUncaughtExceptionHandlerThatThrowsDoesNotEndTheWorker() throws Exception {
    ThreadFactory threads = Thread.ofVirtual().uncaughtExceptionHandler((thread, e) -> {
      throw new NoMemory();
    }).factory();
    try (WheelScheduledExecutor executor = WheelScheduledExecutor.builder().threads(1).workerFactory(threads).build()) {
      executor.execute(() -> {
        throw new IllegalStateException("simulated");
      });
      assertThat(executor.submit(() -> "ran").get(BOUND_SECONDS, SECONDS)).isEqualTo("ran");
    }
    assertLogged("the uncaught exception handler has failed", IllegalStateException.class);
  }

  @Test
  void aFullHandOffDoesNotEndAPeriodicTask() {
    ManualClock clock = new ManualClock();
    CountDownLatch runs = new CountDownLatch(3);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    WheelScheduledExecutor executor = WheelScheduledExecutor.builder().clock(clock).handOffLimit(1).build();
    try {
      ScheduledFuture<?> periodic = executor.scheduleWithFixedDelay(() -> {
        runs.countDown();
        begun.countDown();
        await(release);
      }, 0, 1, HOURS);
      await(begun);
      ScheduledFuture<?> near = executor.schedule(NOTHING, 1, HOURS);
      clock.awaitAsleep();
      // The driver sleeps until the near task is due, so the far task stays in the hand-off and fills it.
      ScheduledFuture<?> far = executor.schedule(NOTHING, 2, HOURS);
      assertRejects(executor);
      release.countDown();
      while (runs.getCount() > 0) {
        assertThat(periodic.isDone()).isFalse();
        clock.advance(HOURS.toNanos(1));
      }
      assertThat(near.isCancelled() || far.isCancelled()).isFalse();
    } finally {
      release.countDown();
      assertThat(executor.shutdownNow()).hasSizeLessThan(3);
    }
  }

  private static void assertRejects(WheelScheduledExecutor executor) {
    assertThatThrownBy(() -> executor.schedule(NOTHING, 2, HOURS)).isInstanceOf(RejectedExecutionException.class);
  }

  @Test
  void aPeriodicTaskFailsIfTheClockCannotBeRead() throws Exception {
    AtomicReference<Thread> worker = new AtomicReference<>();
    TimerClock clock = new TimerClock() {
      @Override
      public long nanoTime() {
        if (Thread.currentThread() == worker.get()) {
          throw new NoMemory();
        }
        return TimerClock.system().nanoTime();
      }

      @Override
      public void park(long nanos) {
        TimerClock.system().park(nanos);
      }

      @Override
      public void unpark(Thread driver) {
        TimerClock.system().unpark(driver);
      }
    };
    WheelScheduledExecutor executor = WheelScheduledExecutor.builder().clock(clock).build();
    ScheduledFuture<?> periodic = executor.scheduleWithFixedDelay(() -> worker.set(Thread.currentThread()), 0, 1,
        HOURS);
    assertFails(periodic, NoMemory.class);
    executor.shutdown();
    assertTerminates(executor);
  }
}
