package io.foliot.engine;

import io.foliot.core.TimeSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * Queues that do not exist although they have parked tasks. A restore, a migration, or a deletion that raced with a
 * transaction may leave such tasks. They wait until the queue is created. Thread-safe.
 */
final class MissingQueues {
  private static final System.Logger LOG = System.getLogger(MissingQueues.class.getName());

  /**
   * Minimum time that a queue is missing before it is reported. It exceeds the second that a node may need to read a
   * queue that another node has created.
   */
  private static final long SURE_NANOS = 3_000_000_000L;
  /** Minimum time between two warnings. */
  private static final long LOG_NANOS = 60_000_000_000L;
  /** Maximum number of names in a warning. */
  private static final int NAMES_LOGGED = 10;

  private final TimeSource clock;

  // guarded by this
  private final Map<String, Long> sinceNanos = new TreeMap<>();
  private long nextLogNanos;

  MissingQueues(TimeSource clock) {
    this.clock = clock;
    nextLogNanos = clock.monotonicNanos();
  }

  /**
   * Records which queues have parked tasks in the store, and logs those that are missing.
   *
   * @param exists tests whether a queue exists
   */
  synchronized void parked(Set<String> queues, Predicate<String> exists) {
    long nowNanos = clock.monotonicNanos();
    sinceNanos.keySet().retainAll(queues);
    for (String queue : queues) {
      if (exists.test(queue)) {
        sinceNanos.remove(queue);
      } else {
        sinceNanos.putIfAbsent(queue, nowNanos);
      }
    }
    List<String> missing = names();
    if (!missing.isEmpty() && nowNanos - nextLogNanos >= 0) {
      nextLogNanos = nowNanos + LOG_NANOS;
      LOG.log(System.Logger.Level.WARNING,
          "due tasks wait for queues that do not exist, and fire once the queues are created:"
              + " missing={0}, queues={1}",
          missing.size(), missing.subList(0, Math.min(NAMES_LOGGED, missing.size())));
    }
  }

  /** Returns the names of the queues that have been missing for at least 3 s, in alphabetical order. */
  synchronized List<String> names() {
    long nowNanos = clock.monotonicNanos();
    return sinceNanos.entrySet().stream().filter(entry -> nowNanos - entry.getValue() >= SURE_NANOS)
        .map(Map.Entry::getKey).toList();
  }
}
