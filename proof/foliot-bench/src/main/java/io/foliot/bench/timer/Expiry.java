package io.foliot.bench.timer;

import java.util.Arrays;
import java.util.Comparator;
import java.util.LongSummaryStatistics;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * The CPU time and the lateness of a number of timers that fire.
 *
 * @param cpuNanosPerTimer CPU time of the whole process, divided by the number of timers that fired. The measurement
 *     begins shortly before the window, and ends with the window, or with the last firing if that is later
 * @param earliestNanos the least lateness; negative if a timer fired early
 * @param p50Nanos the median of the lateness, where an early firing has lateness 0
 * @param p99Nanos the 99th percentile of the lateness
 * @param maxNanos the greatest lateness
 */
record Expiry(double cpuNanosPerTimer, long earliestNanos, long p50Nanos, long p99Nanos, long maxNanos) {
  /** The distribution of deadlines in the window. */
  enum Shape {
    /** Deadlines evenly spread over the window. */
    UNIFORM {
      @Override
      double position(double random) {
        return random;
      }
    },

    /** Half of the deadlines in the first eighth of the window. */
    SKEWED {
      @Override
      double position(double random) {
        return random * random * random;
      }
    },

    /** All deadlines in the middle of the window. */
    ONE_TICK {
      @Override
      double position(double random) {
        return 0.5;
      }
    };

    /** Returns the position of a deadline in the window, from 0 to 1, for a uniform random number from 0 to 1. */
    abstract double position(double random);
  }

  /**
   * The conditions of a measurement. The window is the time in which the timers are due.
   *
   * @param timers how many timers are scheduled before the window begins
   * @param cancelledPercent the percentage of these timers that are cancelled before the window begins
   * @param shape the distribution of deadlines in the window
   * @param windowNanos the length of the window
   */
  record Load(int timers, int cancelledPercent, Shape shape, long windowNanos) {
    int cancelled() {
      return (int) (timers * (long) cancelledPercent / 100);
    }

    int firing() {
      return timers - cancelled();
    }
  }

  /** Least time from the end of the scheduling and cancelling to the start of the window. */
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Wait after the last firing, to notice a repeated firing or the firing of a cancelled timer. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(30);

  /** Time after the end of the window. A timer that has not fired by then is lost. */
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(15);

  /**
   * Time from the beginning of the scheduling to the start of the window: a constant and a part for each timer. This
   * time is doubled for each further attempt.
   */
  private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(180);
  private static final long LEAD_NANOS_PER_TIMER = 1_500;
  /** Maximum number of attempts to schedule all timers before the window begins. */
  private static final int ATTEMPTS = 4;

  /** Significant digits of a percentile. */
  private static final int DIGITS = 3;

  /**
   * Measures a new peer under a load.
   *
   * @throws IllegalStateException if a timer is lost, fires twice, fires more than {@link FiringLog#EARLY_NANOS_MAX}
   *     early, or fires although it was cancelled; or if this machine cannot schedule all timers before the window
   *     begins
   */
  static Expiry measure(Supplier<? extends Peer> maker, Load load) {
    return measure(maker, load, LOST_NANOS);
  }

  static Expiry measure(Supplier<? extends Peer> maker, Load load, long lostNanos) {
    long leadNanos = LEAD_NANOS + LEAD_NANOS_PER_TIMER * load.timers();
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      System.gc();
      try (Peer peer = maker.get()) {
        FiringLog log = new FiringLog(load.timers());
        long startNanos = System.nanoTime() + leadNanos;
        schedule(peer, log, load, startNanos);
        // Collects the garbage of the schedule before the window begins.
        System.gc();
        if (startNanos - System.nanoTime() > REST_NANOS) {
          return measure(log, load, startNanos, lostNanos);
        }
      }
      leadNanos *= 2;
    }
    throw new IllegalStateException("timers must be scheduled before the first of them is due: " + load);
  }

  /**
   * Returns the mean CPU time of a callback without a timer, in nanoseconds. Callbacks run in the order of deadlines,
   * as in a timer.
   */
  static double callbackCpuNanos(Load load) {
    FiringLog log = new FiringLog(load.timers());
    SplittableRandom random = new SplittableRandom(load.timers());
    long startNanos = System.nanoTime();
    record Due(long nanos, Runnable callback) {}
    Due[] callbacks = new Due[load.timers()];
    for (int index = 0; index < callbacks.length; index++) {
      long dueNanos = startNanos + (long) (load.shape().position(random.nextDouble()) * load.windowNanos());
      callbacks[index] = new Due(dueNanos, log.timer(index, dueNanos));
    }
    Runnable[] inOrder = Arrays.stream(callbacks).sorted(Comparator.comparingLong(Due::nanos)).map(Due::callback)
        .toArray(Runnable[]::new);
    System.gc();
    ProcessCpu before = ProcessCpu.now();
    for (Runnable callback : inOrder) {
      callback.run();
    }
    double nanos = (double) ProcessCpu.now().nanosSince(before) / inOrder.length;
    if (log.firings() != inOrder.length) {
      throw new IllegalStateException("every callback must run once: callbacks=" + inOrder.length);
    }
    return nanos;
  }

  private static void schedule(Peer peer, FiringLog log, Load load, long startNanos) {
    SplittableRandom random = new SplittableRandom(load.timers());
    Object[] cancelled = new Object[load.cancelled()];
    for (int index = 0; index < load.timers(); index++) {
      long dueNanos = startNanos + (long) (load.shape().position(random.nextDouble()) * load.windowNanos());
      Runnable timer = log.timer(index, dueNanos);
      Object handle = peer.schedule(timer, dueNanos - System.nanoTime());
      if (index < cancelled.length) {
        cancelled[index] = handle;
      }
    }
    for (Object handle : cancelled) {
      peer.cancel(handle);
    }
  }

  private static Expiry measure(FiringLog log, Load load, long startNanos, long lostNanos) {
    parkUntil(startNanos - REST_NANOS / 2);
    ProcessCpu before = ProcessCpu.now();
    long endNanos = startNanos + load.windowNanos();
    parkUntil(endNanos);
    log.awaitFirings(load.firing(), endNanos + lostNanos);
    long cpuNanos = ProcessCpu.now().nanosSince(before);
    parkUntil(System.nanoTime() + GRACE_NANOS);
    log.ensureExact(load.cancelled());
    LongSummaryStatistics extremes = log.latenessNanos().summaryStatistics();
    Histogram lateness = new Histogram(DIGITS);
    log.latenessNanos().forEach(nanos -> lateness.recordValue(Math.max(0, nanos)));
    return new Expiry((double) cpuNanos / load.firing(), extremes.getMin(), lateness.getValueAtPercentile(50),
        lateness.getValueAtPercentile(99), extremes.getMax());
  }

  private static void parkUntil(long nanos) {
    for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
