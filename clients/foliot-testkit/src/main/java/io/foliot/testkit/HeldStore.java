package io.foliot.testkit;

import io.foliot.core.store.TaskStore;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A second store on the data of the store under test, as another node would open it. A test can hold a call of this
 * store between the read that decides the call and the write of the result. Subclasses call {@link #beforeWrite}.
 */
public abstract class HeldStore implements AutoCloseable {
  /** Longest wait for a write that is to be held, and longest time that a write is held. */
  private static final long SECONDS_MAX = 30;

  /** A write that is to be held. */
  private record Gate(CountDownLatch reached, CountDownLatch released) {}

  private final Gate gate = new Gate(new CountDownLatch(1), new CountDownLatch(1));
  // guarded by this
  private @Nullable Gate next;

  /** Returns the store whose calls can be held. */
  public abstract TaskStore store();

  /** Closes the store. */
  protected abstract void closeStore();

  /**
   * Holds the calling thread, if a test waits for this write. The subclass calls this method before each write that
   * depends on an earlier read.
   */
  protected final void beforeWrite() {
    Gate held;
    synchronized (this) {
      held = next;
      next = null;
    }
    if (held != null) {
      held.reached().countDown();
      await(held.released(), "the held write was not released");
    }
  }

  /** Lets the next write wait until {@link #release} is called. A test calls this method once. */
  final synchronized void hold() {
    next = gate;
  }

  /** Waits until a call has done its read and is held before its write. */
  final void awaitHeld() {
    await(gate.reached(), "no write was held");
  }

  /** Lets the held write continue. */
  final void release() {
    gate.released().countDown();
  }

  @Override
  public final void close() {
    release();
    closeStore();
  }

  private static void await(CountDownLatch latch, String problem) {
    try {
      if (!latch.await(SECONDS_MAX, TimeUnit.SECONDS)) {
        throw new AssertionError(problem + ": seconds=" + SECONDS_MAX);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }
}
