package io.foliot.bench.timer;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a call for its caller while a number of timers wait, none of which is due soon.
 *
 * @param nanos the time of a call for its caller, in nanoseconds, averaged over all producers
 * @param requestCpuNanos the CPU time of the whole process for each {@link Call#SCHEDULE_THEN_CANCEL}, in nanoseconds.
 *     It includes the work of the timer's own threads during the calls and shortly after
 */
record CallCosts(Map<Call, Double> nanos, double requestCpuNanos) {
  enum Call {
    SCHEDULE, CANCEL, RESET_LATER, RESET_NEARER, SCHEDULE_THEN_CANCEL
  }

  /**
   * The conditions of a measurement.
   *
   * @param live the number of waiting timers, of all producers together
   * @param producers the number of producer threads
   * @param batch the number of calls between two reads of the clock
   * @param nanosMax the time for which a producer repeats a cycle of calls, in nanoseconds; the producer completes the
   *     last cycle
   */
  record Load(int live, int producers, int batch, long nanosMax) {}

  /**
   * Maximum number of calls of each kind that a producer makes. With this limit, the cancelled timers fit into memory
   * even if the peer keeps them.
   */
  private static final long CALLS_MAX = 1_000_000;

  /** Pause that lets the timer's own threads finish the work that the producers have left for them. */
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /**
   * Measures a new timer.
   *
   * @throws IllegalStateException if a timer fires or a call fails
   */
  static CallCosts measure(Supplier<? extends Peer> maker, Load load) {
    System.gc();
    LongAdder fired = new LongAdder();
    try (Peer peer = maker.get()) {
      List<Caller> callers = new ArrayList<>();
      CyclicBarrier barrier = new CyclicBarrier(load.producers());
      for (int number = 0; number < load.producers(); number++) {
        int live = load.live() / load.producers();
        callers.add(new Caller(new Producer(peer, fired::increment, live, load.batch(), number), load, barrier));
      }
      settle();
      System.gc();
      callers.forEach(caller -> caller.thread.start());
      callers.forEach(caller -> caller.join());
      settle();
      if (fired.sum() != 0) {
        throw new IllegalStateException("no timer may fire before it is due: fired=" + fired.sum());
      }
      return sum(callers);
    }
  }

  private static void settle() {
    LockSupport.parkNanos(SETTLE_NANOS);
  }

  private static CallCosts sum(List<Caller> callers) {
    Map<Call, Double> nanos = new EnumMap<>(Call.class);
    for (Call call : Call.values()) {
      long time = callers.stream().mapToLong(caller -> caller.tally(call).nanos).sum();
      nanos.put(call, (double) time / calls(callers, call));
    }
    double requests = calls(callers, Call.SCHEDULE_THEN_CANCEL);
    return new CallCosts(nanos, callers.getFirst().requestCpuNanos / requests);
  }

  private static long calls(List<Caller> callers, Call call) {
    return callers.stream().mapToLong(caller -> caller.tally(call).calls).sum();
  }

  private static final class Tally {
    long nanos;
    long calls;
  }

  /** One producer thread. At any time, all producers repeat the same cycle of calls. */
  private static final class Caller {
    private final Producer producer;
    private final Load load;
    private final CyclicBarrier barrier;
    private final Thread thread = Thread.ofPlatform().name("producer").unstarted(this::run);

    // Written by the thread, read after its end.
    private final Map<Call, Tally> tallies = new EnumMap<>(Call.class);
    private long requestCpuNanos;
    private @Nullable Throwable failure;

    Caller(Producer producer, Load load, CyclicBarrier barrier) {
      this.producer = producer;
      this.load = load;
      this.barrier = barrier;
    }

    private void run() {
      try {
        makeCalls();
      } catch (Throwable e) {
        failure = e;
        barrier.reset();
      }
    }

    private void makeCalls() {
      together(() -> {
        time(Call.SCHEDULE, producer::scheduleBatch);
        producer.pick();
        time(Call.CANCEL, producer::cancelPicked);
      }, Call.CANCEL);
      producer.scheduleBatch();
      together(() -> {
        producer.pick();
        time(Call.RESET_LATER, producer::resetPickedToLater);
        time(Call.RESET_NEARER, producer::resetPickedToNearer);
      }, Call.RESET_NEARER);
      meet();
      ProcessCpu before = ProcessCpu.now();
      together(() -> time(Call.SCHEDULE_THEN_CANCEL, producer::scheduleThenCancelBatch), Call.SCHEDULE_THEN_CANCEL);
      meet();
      settle();
      requestCpuNanos = ProcessCpu.now().nanosSince(before);
    }

    /** Repeats a cycle of calls for {@link Load#nanosMax}, or until each kind has {@link #CALLS_MAX} calls. */
    private void together(Runnable cycle, Call last) {
      meet();
      long startNanos = System.nanoTime();
      do {
        cycle.run();
      } while (System.nanoTime() - startNanos < load.nanosMax() && tally(last).calls < CALLS_MAX);
    }

    private void time(Call call, Runnable batch) {
      long startNanos = System.nanoTime();
      batch.run();
      long endNanos = System.nanoTime();
      Tally tally = tally(call);
      tally.nanos += endNanos - startNanos;
      tally.calls += load.batch();
    }

    private Tally tally(Call call) {
      return tallies.computeIfAbsent(call, absent -> new Tally());
    }

    private void meet() {
      try {
        barrier.await(1, TimeUnit.MINUTES);
      } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
        throw new IllegalStateException("all producers must make the same kind of call at a time", e);
      }
    }

    private void join() {
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException("a measurement must not be interrupted", e);
      }
      if (failure != null) {
        throw new IllegalStateException("each call must succeed while its timer waits", failure);
      }
    }
  }
}
