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
 * The cost of firing a number of timers.
 *
 * @param cpuNanosPerTimer CPU time of the whole process from shortly before the first deadline to the last firing, for
 *     each timer that fired
 * @param earliestNanos the least lateness; negative if a timer fired early
 */
record Expiry(double cpuNanosPerTimer, long earliestNanos, long p50Nanos, long p99Nanos, long maxNanos) {
  /** The distribution of deadlines in the window. */
  enum Shape {
    /** Evenly. */
    UNIFORM {
      @Override
      double position(double random) {
        return random;
      }
    },

    /** Half of them in the first eighth. */
    SKEWED {
      @Override
      double position(double random) {
        return random * random * random;
      }
    },

    /** All at one time. */
    ONE_TICK {
      @Override
      double position(double random) {
        return 0.5;
      }
    };

    /** Returns the place of a deadline in the window, from 0 to 1, for a number that is evenly distributed there. */
    abstract double position(double random);
  }

  /**
   * The task of a timer.
   *
   * @param timers how many are scheduled ahead of the window in which they are due
   * @param cancelledPercent how many of them are cancelled, before the window as well
   */
  record Load(int timers, int cancelledPercent, Shape shape, long windowNanos) {
    int cancelled() {
      return (int) (timers * (long) cancelledPercent / 100);
    }

    int firing() {
      return timers - cancelled();
    }
  }

  /** From the last call of the producer to the first deadline, at least. */
  private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** The time after the last firing in which a second one, or one of a cancelled timer, is noticed. */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(30);

  /** The lateness from which the last timer counts as lost. */
  private static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(15);

  /** From the first call of the producer to the first deadline: a constant, and a multiple for each timer. */
  private static final long LEAD_NANOS = TimeUnit.MILLISECONDS.toNanos(180);
  private static final long LEAD_NANOS_PER_TIMER = 1_500;
  private static final int ATTEMPTS = 4;

  /** Significant digits of a percentile. */
  private static final int DIGITS = 3;

  /**
   * Measures a new timer.
   *
   * @throws IllegalStateException if a timer is lost, fires twice, early or though it was cancelled, or if this machine
   *     cannot schedule the load ahead of its window
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
        // Garbage of the lines above must not be collected within the window.
        System.gc();
        if (startNanos - System.nanoTime() > REST_NANOS) {
          return measure(log, load, startNanos, lostNanos);
        }
      }
      leadNanos *= 2;
    }
    throw new IllegalStateException("timers must be scheduled before the first of them is due: " + load);
  }

  /** The CPU time of one callback alone, run in the order of the deadlines as a timer would run it. */
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
