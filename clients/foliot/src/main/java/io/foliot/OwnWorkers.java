package io.foliot;

import io.foliot.client.JobWorker;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The workers of one {@link Foliot}. {@link Foliot#close} stops them. Safe for use by any thread. */
final class OwnWorkers {
  private static final System.Logger LOG = System.getLogger(OwnWorkers.class.getName());
  /** Longest wait for an interrupted handler to end, and for the store to record the end of its attempt. */
  private static final Duration INTERRUPTED_WAIT = Duration.ofSeconds(1);
  /** Longest wait of one claim for tasks. It is short, because a close may wait for the claim under way. */
  private static final Duration POLL_WAIT = Duration.ofSeconds(1);
  /** Maximum length of a name in characters. The client appends 9 characters, and the server accepts at most 128. */
  private static final int MAX_NAME = 119;

  private final String name;
  private final String zone;

  // Guarded by this.
  private final Set<JobWorker> workers = new HashSet<>();
  private boolean isClosed;

  /**
   * Creates the workers of a node.
   *
   * @param name the name of the node
   * @param zone the zone of the node, or empty
   */
  OwnWorkers(String name, String zone) {
    this.name = name.substring(0, Math.min(name.length(), MAX_NAME));
    this.zone = zone;
  }

  /**
   * Sets the node's name, the node's zone and a short poll wait in the builder, and returns the builder. {@link #stop}
   * also stops the worker that the builder starts.
   */
  JobWorker.Builder owned(JobWorker.Builder settings) {
    JobWorker.Builder owned = settings.name(name).pollWait(POLL_WAIT).onStart(this::add);
    return zone.isEmpty() ? owned : owned.zone(zone);
  }

  private void add(JobWorker worker) {
    synchronized (this) {
      workers.removeIf(JobWorker::isTerminated);
      if (!isClosed) {
        workers.add(worker);
        return;
      }
    }
    stop(worker, Duration.ZERO);
    throw new IllegalStateException("Foliot is closed, and the worker has been stopped");
  }

  /** Stops all workers at the same time, and interrupts handlers that do not end within {@code patience}. */
  void stop(Duration patience) {
    List<JobWorker> all;
    synchronized (this) {
      isClosed = true;
      if (workers.isEmpty()) {
        // Without the client's module there are no workers, and the class JobWorker must not be loaded.
        return;
      }
      all = List.copyOf(workers);
    }
    List<Thread> stops = all.stream().map(worker -> Thread.startVirtualThread(() -> stop(worker, patience))).toList();
    try {
      for (Thread stop : stops) {
        stop.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void stop(JobWorker worker, Duration patience) {
    try {
      if (!worker.stop(patience) && !worker.stop(INTERRUPTED_WAIT)) {
        LOG.log(System.Logger.Level.WARNING,
            "handlers did not end in time; their attempts are repeated when their leases end: patience=" + patience);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
