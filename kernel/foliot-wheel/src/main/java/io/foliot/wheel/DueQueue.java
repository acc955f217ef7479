package io.foliot.wheel;

import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The timers of the wheel's current tick, in the order of their deadlines. Timers with equal deadlines keep the order
 * of their arrival. Not thread-safe: the driver thread owns the queue.
 */
final class DueQueue {
  /*
   * A slot of the wheel keeps its timers in the order of arrival. When time reaches the slot, its timers are collected
   * here and sorted once. The sort costs a few nanoseconds per timer. It is skipped if the timers arrived in the order
   * of their deadlines, as timers with equal delays do.
   *
   * A timer may arrive for this tick after the sort, if its delay is shorter than the rest of the tick. The timer is
   * appended to the sorted run if the run has no later deadline. Otherwise it is a straggler, which waits in a heap.
   *
   * Callers may reset a timer at any time. So this queue keeps the deadline that each timer had when it was added, and
   * orders the timers by these deadlines.
   *
   * Rejected: a heap for all timers. It takes some 40 ns per timer in a heap of 65 timers. Also rejected: merging late
   * arrivals into the run. Each late arrival would copy a run of up to a million timers. Also rejected: finer ticks.
   * There would be more slots to open, and fewer nodes to load together.
   */

  /** A timer that arrived for this tick out of order. */
  private record Straggler(long deadlineNanos, int stamp, WheelNode node) implements Comparable<Straggler> {
    @Override
    public int compareTo(Straggler other) {
      return this == other ? 0 : isBefore(other.deadlineNanos, other.stamp) ? -1 : 1;
    }

    /**
     * Returns whether this timer comes before another one. Stamps wrap, so they are compared by their difference:
     * timers with equal deadlines are never 2^31 placements apart.
     */
    boolean isBefore(long otherNanos, int otherStamp) {
      return deadlineNanos != otherNanos ? deadlineNanos < otherNanos : stamp - otherStamp < 0;
    }
  }

  private static final int MIN_CAPACITY = 128;

  /** Largest capacity that an empty run keeps; larger arrays are released. */
  private static final int MAX_KEPT_CAPACITY = 4096;

  private static final WheelNode[] NO_NODES = {};
  private static final int[] NO_STAMPS = {};
  private static final long[] NO_LONGS = {};

  /** Number of nodes loaded ahead: somewhat more than the cache misses that a core can have outstanding. */
  private static final int PRELOAD = 32;

  /**
   * Number of bits of a sort key, which is never negative. The high bits are the distance of a deadline from the
   * earliest one, the low bits are an index into the run.
   */
  private static final int KEY_BITS = Long.SIZE - 1;

  // The sorted run: parallel arrays, used from head to tail.
  private WheelNode[] nodes = NO_NODES;
  private int[] stamps = NO_STAMPS;
  private long[] deadlines = NO_LONGS;
  private int head;
  private int tail;

  /** True if all timers of the run were collected in the order of their deadlines. */
  private boolean isSorted = true;

  /** Earliest deadline collected since the previous sort. */
  private long earliest = Long.MAX_VALUE;

  /** Latest deadline collected since the previous sort. */
  private long latest = Long.MIN_VALUE;

  private long[] keys = NO_LONGS;
  private final PriorityQueue<Straggler> stragglers = new PriorityQueue<>();

  /** Index into the run after the last node that was loaded ahead. */
  private int preloadedTail;

  private int polledStamp;

  /** Result of loading nodes ahead, kept so that the compiler cannot remove the reads. */
  private long preloaded;

  boolean isEmpty() {
    return head == tail && stragglers.isEmpty();
  }

  int size() {
    return tail - head + stragglers.size();
  }

  /** Adds a timer of a slot that is being collected. The caller must call {@link #sort} after the last timer. */
  void collect(WheelNode node, int stamp, long deadlineNanos) {
    isSorted &= latest <= deadlineNanos;
    earliest = Math.min(earliest, deadlineNanos);
    latest = Math.max(latest, deadlineNanos);
    append(node, stamp, deadlineNanos);
  }

  /** Inserts a timer in the order of the deadlines. */
  void add(WheelNode node, int stamp, long deadlineNanos) {
    if (head == tail || deadlines[tail - 1] <= deadlineNanos) {
      append(node, stamp, deadlineNanos);
    } else {
      stragglers.add(new Straggler(deadlineNanos, stamp, node));
    }
  }

  private void append(WheelNode node, int stamp, long deadlineNanos) {
    if (tail == nodes.length) {
      reserve(tail + 1);
    }
    nodes[tail] = node;
    stamps[tail] = stamp;
    deadlines[tail++] = deadlineNanos;
  }

  /** Ensures capacity for a run of this length. */
  void reserve(int length) {
    if (length > nodes.length) {
      int capacity = Math.max(MIN_CAPACITY, Math.max(length, nodes.length + (nodes.length >> 1)));
      WheelNode[] moreNodes = Arrays.copyOf(nodes, capacity);
      int[] moreStamps = Arrays.copyOf(stamps, capacity);
      deadlines = Arrays.copyOf(deadlines, capacity);
      nodes = moreNodes;
      stamps = moreStamps;
    }
  }

  /** Sorts the run after all its timers were collected. */
  void sort() {
    assert head == 0 : "cannot sort a run whose first timer has been taken: head=" + head;
    if (!isSorted) {
      int indexBits = bits(tail - 1L);
      if (bits(latest - earliest) + indexBits > KEY_BITS) {
        disperse();
      } else {
        sort(indexBits);
      }
    }
    isSorted = true;
    earliest = Long.MAX_VALUE;
    latest = Long.MIN_VALUE;
  }

  private static int bits(long value) {
    return Long.SIZE - Long.numberOfLeadingZeros(value);
  }

  /** Sorts by keys whose low bits are the index, so that equal deadlines keep their order. */
  private void sort(int indexBits) {
    if (keys.length < tail) {
      keys = new long[nodes.length];
    }
    for (int i = 0; i < tail; i++) {
      keys[i] = ((deadlines[i] - earliest) << indexBits) | i;
    }
    Arrays.sort(keys, 0, tail);
    WheelNode[] sortedNodes = new WheelNode[nodes.length];
    int[] sortedStamps = new int[nodes.length];
    long indexMask = (1L << indexBits) - 1;
    for (int i = 0; i < tail; i++) {
      int index = (int) (keys[i] & indexMask);
      sortedNodes[i] = nodes[index];
      sortedStamps[i] = stamps[index];
      deadlines[i] = earliest + (keys[i] >> indexBits);
    }
    nodes = sortedNodes;
    stamps = sortedStamps;
  }

  /**
   * Moves the run to the heap, because its deadlines are too far apart for the sort keys. This happens only with a very
   * long tick or slack.
   */
  private void disperse() {
    for (int i = 0; i < tail; i++) {
      stragglers.add(new Straggler(deadlines[i], stamps[i], nodes[i]));
    }
    Arrays.fill(nodes, 0, tail, null);
    clearRun();
  }

  /** Returns the earliest deadline; {@link Long#MAX_VALUE} if there is no timer. */
  long earliest() {
    long ofRun = head == tail ? Long.MAX_VALUE : deadlines[head];
    return stragglers.isEmpty() ? ofRun : Math.min(ofRun, stragglers.element().deadlineNanos);
  }

  /**
   * Removes and returns the first timer. The queue must not be empty. Afterwards {@link #polledStamp()} returns the
   * timer's stamp.
   */
  WheelNode poll() {
    if (!stragglers.isEmpty() && (head == tail || stragglers.element().isBefore(deadlines[head], stamps[head]))) {
      Straggler straggler = stragglers.remove();
      polledStamp = straggler.stamp;
      return straggler.node;
    }
    if (head == preloadedTail) {
      preload();
    }
    WheelNode node = nodes[head];
    nodes[head] = null;
    polledStamp = stamps[head++];
    if (head == tail) {
      clearRun();
    }
    return node;
  }

  int polledStamp() {
    return polledStamp;
  }

  /** Loads the next nodes and their callbacks in one pass, so that the cache misses overlap. */
  private void preload() {
    int to = Math.min(tail, head + PRELOAD);
    long sum = 0;
    for (int i = head; i < to; i++) {
      sum += nodes[i].preload();
    }
    preloaded = sum;
    preloadedTail = to;
  }

  /** Drops the timers that have ended or were placed again, and returns the number of dropped timers. */
  int dropDead() {
    int before = size();
    int kept = head;
    for (int i = head; i < tail; i++) {
      if (isAlive(nodes[i], stamps[i])) {
        nodes[kept] = nodes[i];
        stamps[kept] = stamps[i];
        deadlines[kept++] = deadlines[i];
      }
    }
    Arrays.fill(nodes, kept, tail, null);
    tail = kept;
    preloadedTail = head;
    if (head == tail) {
      clearRun();
    }
    stragglers.removeIf(straggler -> !isAlive(straggler.node, straggler.stamp));
    return before - size();
  }

  private static boolean isAlive(WheelNode node, int stamp) {
    return node.stamp == stamp && WheelNode.isArmed(node.word());
  }

  void forEach(Consumer<WheelNode> visitor) {
    for (int i = head; i < tail; i++) {
      visitor.accept(nodes[i]);
    }
    stragglers.forEach(straggler -> visitor.accept(straggler.node));
  }

  void clear() {
    Arrays.fill(nodes, head, tail, null);
    clearRun();
    stragglers.clear();
  }

  private void clearRun() {
    head = 0;
    tail = 0;
    preloadedTail = 0;
    if (nodes.length > MAX_KEPT_CAPACITY) {
      nodes = NO_NODES;
      stamps = NO_STAMPS;
      deadlines = NO_LONGS;
      keys = NO_LONGS;
    }
  }

  @Override
  public String toString() {
    return "DueQueue[run=" + (tail - head) + ", stragglers=" + stragglers.size() + ", preloaded=" + preloaded + "]";
  }
}
