package io.foliot.wheel;

import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The timers of the tick that the hand has come to, in the order of their deadlines; those with equal deadlines in the
 * order of their arrival. Single owner.
 */
final class DueQueue {
  /*
   * A slot of the wheel keeps its timers in the order of arrival. When the hand comes to it they are collected here and
   * sorted once: a few nanoseconds a timer, and nothing if they arrived in the order of their deadlines, as timers with
   * one delay do. A timer that arrives later for the same tick, because its delay is shorter than the rest of the tick,
   * is appended to the sorted run if the run has no later deadline, and else waits in a heap beside it.
   *
   * The keys are the deadlines as of the collection, because callers may reset a timer at any time.
   *
   * Rejected: a heap for all (some 40 ns a timer with 65 of them); merging late arrivals into the run (a tick of a
   * million timers would be copied for each of them); finer ticks (more slots to open, and fewer nodes to load
   * together).
   */

  /** A timer that arrived for this tick out of order. */
  private record Straggler(long deadlineNanos, int stamp, WheelNode node) implements Comparable<Straggler> {
    @Override
    public int compareTo(Straggler other) {
      return this == other ? 0 : isBefore(other.deadlineNanos, other.stamp) ? -1 : 1;
    }

    /** Stamps wrap, and are compared by their difference: equal deadlines are never 2^31 placements apart. */
    boolean isBefore(long otherNanos, int otherStamp) {
      return deadlineNanos != otherNanos ? deadlineNanos < otherNanos : stamp - otherStamp < 0;
    }
  }

  private static final int MIN_CAPACITY = 128;

  /** Arrays larger than this are released when they are empty. */
  private static final int MAX_KEPT_CAPACITY = 4096;

  private static final WheelNode[] NO_NODES = {};
  private static final int[] NO_STAMPS = {};
  private static final long[] NO_LONGS = {};

  /** Number of nodes loaded ahead: somewhat more than the cache misses that a core can have under way. */
  private static final int PRELOAD = 32;

  /** Number of bits of a sort key, which holds a deadline's distance from the earliest one and an index. */
  private static final int KEY_BITS = Long.SIZE - 1;

  // The sorted run: parallel arrays, used from head to tail.
  private WheelNode[] nodes = NO_NODES;
  private int[] stamps = NO_STAMPS;
  private long[] deadlines = NO_LONGS;
  private int head;
  private int tail;

  /** True while all timers of the run have been collected in order. */
  private boolean isSorted = true;

  /** The bounds of the deadlines that have been collected. */
  private long earliest = Long.MAX_VALUE;

  private long latest = Long.MIN_VALUE;

  private long[] keys = NO_LONGS;
  private final PriorityQueue<Straggler> stragglers = new PriorityQueue<>();

  /** Nodes of the run before this one have been loaded. */
  private int preloadedTail;

  private int polledStamp;

  /** Keeps the result of the loads ahead, so that the compiler cannot remove them. */
  private long preloaded;

  boolean isEmpty() {
    return head == tail && stragglers.isEmpty();
  }

  int size() {
    return tail - head + stragglers.size();
  }

  /** Adds a timer of a slot that is being collected; {@link #sort} must follow the last of them. */
  void collect(WheelNode node, int stamp, long deadlineNanos) {
    isSorted &= latest <= deadlineNanos;
    earliest = Math.min(earliest, deadlineNanos);
    latest = Math.max(latest, deadlineNanos);
    append(node, stamp, deadlineNanos);
  }

  /** Adds a timer in the order of the deadlines, behind those with the same deadline. */
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

  /** Makes room for a run of this length. */
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

  /** Sorts the run that was collected. */
  void sort() {
    assert head == 0 : "a run is sorted before its first timer is taken: head=" + head;
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

  /** Moves the run to the heap: its deadlines are too far apart for the keys, as is possible if a tick lasts hours. */
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

  /** Removes the first timer of a queue that is not empty, and returns it; {@link #polledStamp} is its stamp. */
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

  /** Loads the next nodes, and the callbacks that they will run, in one pass, so that the cache misses overlap. */
  private void preload() {
    int to = Math.min(tail, head + PRELOAD);
    long sum = 0;
    for (int i = head; i < to; i++) {
      sum += nodes[i].preload();
    }
    preloaded = sum;
    preloadedTail = to;
  }

  /** Drops the timers that have ended or were placed again, and returns how many. */
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
