package io.foliot.engine;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An amount of something that the queues and destinations of a node share: bytes of payload, or attempts. Thread-safe.
 *
 * <p>After a destination has taken units, it may have at most as many units as remain free. After a queue has taken
 * units, the sum of its units and of the units of its destination, which include them, may be at most as large. These
 * are the dynamic thresholds of shared-memory switches (Choudhury and Hahne 1998). Nothing is taken back from a holder,
 * so room must be left before other holders need it. A destination that gives nothing back gets half of the total, and
 * a queue of such a destination a third. With {@code n} such destinations, each gets one part in {@code n+1}, and one
 * such part stays free for the others. Demands smaller than such a part are met in full, so the shares are max-min
 * fair.
 *
 * <p>If the free part is too small for one unit of work, a queue that holds nothing may take one unit from a reserve
 * beyond the total. Such queues take turns in the order of their first requests. All holdings together exceed the total
 * plus the reserve only if callers charge more than they acquired. These additional amounts do not use up the reserve.
 *
 * <p>Rejected: a fixed share per queue. Thousands of queues would get a few kilobytes each, or the sum would be
 * unbounded. Also rejected: one bound per loop. One queue that hangs would use it up.
 */
final class Budget {
  /** Time that a queue keeps its turn without a request; loops request at least every 0.1 s. */
  private static final long TURN_NANOS = 1_000_000_000;

  /** The amount held by one queue or one destination. */
  static final class Share {
    // guarded by the budget
    private long held;
    /** The part of {@link #held} that was taken from the reserve. */
    private long reserved;
  }

  private final long total;
  private final long reserve;
  private final long guarantee;

  // guarded by this
  private long used;
  private long reservedUsed;
  /**
   * The queues that wait for the reserve, each with the time of its latest request. They are in the order of their
   * first requests.
   */
  private final Map<Share, Long> turns = new LinkedHashMap<>();
  private final Set<Runnable> starving = new LinkedHashSet<>();

  /**
   * Creates a budget from which nothing has been taken.
   *
   * @param reserve how much may be held beyond the total, by holders that would otherwise get nothing
   * @param guarantee the largest unit of work: the amount that one turn takes from the reserve
   */
  Budget(long total, long reserve, long guarantee) {
    this.total = total;
    this.reserve = reserve;
    this.guarantee = guarantee;
  }

  private long left(Share holder, @Nullable Share parent) {
    return total - (used - reservedUsed) - holder.held - (parent == null ? 0 : parent.held);
  }

  /** Returns whether a holder without a parent can get another unit of size 1 only from the reserve. */
  synchronized boolean isFull(Share holder) {
    return left(holder, null) < 2;
  }

  /**
   * Takes units, up to the number wanted.
   *
   * @param each the size of a unit
   * @param holder the queue; the destination if the budget has no shares of queues
   * @param parent the destination of the queue; null if the holder has no parent
   * @param again if fewer units were taken than wanted, this is called once when another request may succeed
   * @return the number of units taken
   */
  synchronized int acquire(int wanted, long each, Share holder, @Nullable Share parent, Runnable again) {
    long left = left(holder, parent);
    // Each taken unit adds to the holder and to the parent, and reduces the free part.
    long fits = left / ((parent == null ? 2 : 3) * each);
    int given = Math.clamp(fits, 0, wanted);
    if (given > 0) {
      add(holder, parent, given * each);
      turns.remove(holder);
    }
    if (given < wanted) {
      starving.add(again);
    }
    return given;
  }

  /**
   * Takes one unit of the guaranteed size from the reserve. This succeeds only if the holder has nothing, its parent
   * has less than one such unit, and it is the holder's turn.
   *
   * @return whether the unit was taken
   */
  synchronized boolean acquireReserved(Share holder, @Nullable Share parent, long nowNanos) {
    if (holder.held > 0 || (parent != null && parent.held >= guarantee)) {
      return false;
    }
    turns.put(holder, nowNanos);
    if (!isTurnOf(holder, (reserve - reservedUsed) / guarantee, nowNanos)) {
      return false;
    }
    turns.remove(holder);
    add(holder, parent, guarantee);
    holder.reserved = guarantee;
    reservedUsed += guarantee;
    return true;
  }

  private boolean isTurnOf(Share holder, long places, long nowNanos) {
    Iterator<Map.Entry<Share, Long>> each = turns.entrySet().iterator();
    for (long place = 0; place < places && each.hasNext();) {
      Map.Entry<Share, Long> next = each.next();
      if (next.getKey() == holder) {
        return true;
      }
      if (nowNanos - next.getValue() >= TURN_NANOS) {
        each.remove();
      } else {
        place++;
      }
    }
    return false;
  }

  /**
   * Changes how much a holder has. A positive amount charges work that has turned out larger than the acquired amount.
   * A negative amount gives back units that are not needed any more.
   */
  synchronized void change(Share holder, @Nullable Share parent, long amount) {
    add(holder, parent, amount);
    if (amount < 0 && !starving.isEmpty()) {
      starving.forEach(Runnable::run);
      starving.clear();
    }
  }

  /**
   * Gives back units that were acquired a moment ago and could not be used. This wakes no other loop. Otherwise two
   * loops that find units in this budget, but lack another resource, would wake each other without end.
   */
  synchronized void giveBackUnused(Share holder, @Nullable Share parent, long amount) {
    add(holder, parent, -amount);
  }

  private void add(Share holder, @Nullable Share parent, long amount) {
    holder.held += amount;
    if (parent != null) {
      parent.held += amount;
    }
    used += amount;
    assert holder.held >= 0 && used >= 0 : "held=" + holder.held + ", used=" + used;
    long excess = holder.reserved - holder.held;
    if (excess > 0) {
      holder.reserved -= excess;
      reservedUsed -= excess;
    }
  }

  /** Returns the largest unit of work. */
  long guarantee() {
    return guarantee;
  }

  synchronized long used() {
    return used;
  }
}
