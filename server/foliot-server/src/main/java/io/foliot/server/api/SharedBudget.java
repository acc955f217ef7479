package io.foliot.server.api;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * An amount that all requests share, such as bytes of memory, with a share for each owner. An owner, such as an API
 * key, gets more only while its requests together then have no more than what is free. One owner alone thus gets at
 * most one half, and leaves room for the others; two get a third each. An owner without another request, and a request
 * without an owner, get all that is free. Safe for use by any thread.
 */
final class SharedBudget {
  private final long total;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition released = lock.newCondition();
  // guarded by the lock
  private final Map<String, Long> ofOwner = new HashMap<>();
  private long held;

  SharedBudget(long total) {
    this.total = total;
  }

  /**
   * Takes an amount if there is room. Returns whether it was taken.
   *
   * @param owner the owner of the request, or null for none
   * @param own the amount that the same request has already
   */
  boolean take(@Nullable String owner, long own, long amount) {
    lock.lock();
    try {
      if (!fits(owner, own, amount)) {
        return false;
      }
      change(owner, amount);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Takes an amount for a request that has nothing yet. Waits for room. Returns whether there was room in time. */
  boolean take(@Nullable String owner, long amount, Duration patience) throws InterruptedException {
    long nanos = patience.toNanos();
    lock.lockInterruptibly();
    try {
      while (!fits(owner, 0, amount)) {
        if (nanos <= 0) {
          return false;
        }
        nanos = released.awaitNanos(nanos);
      }
      change(owner, amount);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Adds an amount without a check for room; a negative amount is given back. */
  void add(@Nullable String owner, long amount) {
    if (amount == 0) {
      return;
    }
    lock.lock();
    try {
      change(owner, amount);
      if (amount < 0) {
        released.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean fits(@Nullable String owner, long own, long amount) {
    long free = total - held;
    long others = owner == null ? 0 : ofOwner.getOrDefault(owner, 0L) - own;
    return amount <= free && (others == 0 || others + own + amount <= free);
  }

  private void change(@Nullable String owner, long amount) {
    held += amount;
    if (owner != null) {
      ofOwner.merge(owner, amount, (before, more) -> before + more == 0 ? null : before + more);
    }
  }

  /** Returns how much all requests have. */
  long held() {
    lock.lock();
    try {
      return held;
    } finally {
      lock.unlock();
    }
  }
}
