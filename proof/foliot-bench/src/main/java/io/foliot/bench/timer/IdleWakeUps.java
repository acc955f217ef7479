package io.foliot.bench.timer;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * The rate at which the threads of a peer wake while none of its timers is due. Several peers are measured at the same
 * time, because idle peers do not disturb each other.
 *
 * @param empty wake-ups per second with no timer
 * @param oneAhead wake-ups per second with one timer that is due in an hour
 */
record IdleWakeUps(double empty, double oneAhead) {
  private static final long AHEAD_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final long FIRST_DELAY_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  private static final long FIRST_FIRING_NANOS_MAX = TimeUnit.SECONDS.toNanos(10);

  /** Pause that lets threads finish their work and go to sleep. */
  private static final long SETTLE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** Returns whether this system shows how often threads wake. */
  static boolean areVisible() {
    return NativeThreads.areVisible();
  }

  /** Measures new peers, all at the same time. The results are in the order of the makers. */
  static List<IdleWakeUps> measure(List<? extends Supplier<? extends Peer>> makers, long windowNanos) {
    List<Watched> all = new ArrayList<>();
    try {
      for (Supplier<? extends Peer> maker : makers) {
        all.add(Watched.start(maker));
      }
      List<Double> empty = perSecond(all, windowNanos);
      all.forEach(watched -> watched.peer.schedule(() -> {}, AHEAD_NANOS));
      List<Double> oneAhead = perSecond(all, windowNanos);
      List<IdleWakeUps> results = new ArrayList<>();
      for (int index = 0; index < all.size(); index++) {
        results.add(new IdleWakeUps(empty.get(index), oneAhead.get(index)));
      }
      return results;
    } finally {
      all.forEach(watched -> watched.peer.close());
    }
  }

  private static List<Double> perSecond(List<Watched> all, long windowNanos) {
    LockSupport.parkNanos(SETTLE_NANOS);
    List<Map<Path, Long>> before = all.stream().map(Watched::waits).toList();
    long startNanos = System.nanoTime();
    LockSupport.parkNanos(windowNanos);
    List<Map<Path, Long>> after = all.stream().map(Watched::waits).toList();
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    List<Double> result = new ArrayList<>();
    for (int index = 0; index < all.size(); index++) {
      long waits = 0;
      for (Map.Entry<Path, Long> thread : before.get(index).entrySet()) {
        // A thread that has ended in the meantime adds no wake-ups.
        waits += Math.max(0, after.get(index).getOrDefault(thread.getKey(), 0L) - thread.getValue());
      }
      result.add(waits / seconds);
    }
    return result;
  }

  /** A peer in which one timer has fired, and the threads that the peer has started. */
  private record Watched(Peer peer, Set<Path> threads) {
    static Watched start(Supplier<? extends Peer> maker) {
      Set<Path> before = NativeThreads.ofJava();
      Peer peer = maker.get();
      try {
        fireOnce(peer);
      } catch (RuntimeException e) {
        peer.close();
        throw e;
      }
      LockSupport.parkNanos(SETTLE_NANOS);
      Set<Path> threads = new HashSet<>(NativeThreads.ofJava());
      threads.removeAll(before);
      return new Watched(peer, threads);
    }

    /** Fires one timer, because a peer starts its threads with the first schedule or the first callback. */
    private static void fireOnce(Peer peer) {
      FiringLog log = new FiringLog(1);
      long now = System.nanoTime();
      Object handle = peer.schedule(log.timer(0, now + FIRST_DELAY_NANOS), FIRST_DELAY_NANOS);
      assert handle != null : "a timer that is scheduled has a handle";
      log.awaitFirings(1, now + FIRST_FIRING_NANOS_MAX);
      log.ensureExact(0);
    }

    Map<Path, Long> waits() {
      Map<Path, Long> waits = new HashMap<>();
      threads.forEach(thread -> waits.put(thread, NativeThreads.waits(thread)));
      return waits;
    }
  }
}
