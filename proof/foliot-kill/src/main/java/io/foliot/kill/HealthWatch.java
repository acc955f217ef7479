package io.foliot.kill;

import io.foliot.backends.Await;
import java.util.ArrayList;
import java.util.List;

/** Polls whether a server is ready, and records all answers. Any thread may read them. */
final class HealthWatch implements AutoCloseable {
  /** Pause between two polls. */
  private static final long EVERY_MILLIS = 20;

  private static final int READY = 200;

  private record Sample(long atMillis, int status) {}

  private final ServerProcess server;
  private final Thread thread;
  private volatile boolean closed;

  // guarded by this
  private final List<Sample> samples = new ArrayList<>();

  HealthWatch(ServerProcess server) {
    this.server = server;
    thread = Thread.ofPlatform().name("health-watch").start(this::watch);
  }

  private void watch() {
    while (!closed) {
      long polledMillis = System.currentTimeMillis();
      int status = server.readyStatus();
      synchronized (this) {
        samples.add(new Sample(polledMillis, status));
      }
      Await.pause(EVERY_MILLIS);
    }
  }

  /** Returns whether the server was polled between two instants, both inclusive, and was never ready. */
  synchronized boolean wasSteadilyDown(long fromMillis, long toMillis) {
    List<Sample> some = samples.stream()
        .filter(sample -> sample.atMillis >= fromMillis && sample.atMillis <= toMillis).toList();
    return !some.isEmpty() && some.stream().allMatch(sample -> sample.status != READY);
  }

  /** Returns whether the server was not ready in some poll between two instants, both inclusive. */
  synchronized boolean wasDown(long fromMillis, long toMillis) {
    return samples.stream()
        .anyMatch(sample -> sample.atMillis >= fromMillis && sample.atMillis <= toMillis && sample.status != READY);
  }

  /**
   * Returns whether the server was ready in all polls since an instant, the latest included. Returns false if the first
   * poll was later than this instant.
   */
  synchronized boolean isReadySince(long millis) {
    return !samples.isEmpty() && samples.getLast().status == READY && samples.getFirst().atMillis <= millis
        && !wasDown(millis, Long.MAX_VALUE);
  }

  /**
   * Returns the time of the latest poll that found the server ready directly after a poll that did not. Considers only
   * polls between two instants, both inclusive. Returns {@code fromMillis} if there is no such poll.
   */
  synchronized long readyMillis(long fromMillis, long toMillis) {
    long ready = fromMillis;
    boolean down = false;
    for (Sample sample : samples) {
      if (sample.atMillis >= fromMillis && sample.atMillis <= toMillis) {
        if (sample.status != READY) {
          down = true;
        } else if (down) {
          ready = sample.atMillis;
          down = false;
        }
      }
    }
    return ready;
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
