package io.foliot.wheel;

import java.util.Arrays;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The timers of the slot that the wheel has opened, in the order of their deadlines. Timers with equal deadlines keep
 * the order of their arrival. Not thread-safe: the driver thread owns the queue.
 */
final class DueQueue {
  /*
   * A slot of the wheel keeps its timers in the order of arrival. When time reaches the slot, its timers are collected
   * here. The order of a timer is one number, its key: the deadline, as a distance from the base of the run, and the
   * timer's index. Only the keys are sorted; the timers stay at their indexes. Equal deadlines keep their order,
   * because a later arrival has a larger index.
   *
   * The timers of a slot are appended and then sorted. A timer that arrives later, because its delay is shorter than
   * the rest of the slot, is inserted. The nearer end of the run moves.
   *
   * A timer that would move too many keys, or whose key would not fit, is a straggler. Stragglers wait in a heap.
   *
   * Callers may reset a timer at any time. So this queue keeps the deadline that each timer had when it was added, and
   * orders the timers by these deadlines.
   *
   * Rejected: a heap for all timers. It takes some 40 ns per timer in a heap of 65 timers. Also rejected: the library's
   * sort, see KeySorter. Also rejected: sorting the timers themselves. It moves three arrays, one of them of
   * references. Also rejected: finer ticks. There would be more slots to open, and fewer nodes to load together.
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
  private static final int MAX_KEPT_CAPACITY = 8192;

  /** Largest number of keys that an insertion moves. */
  private static final int INSERTION_MAX = 128;

  private static final WheelNode[] NO_NODES = {};
  private static final int[] NO_STAMPS = {};
  private static final long[] NO_KEYS = {};

  /** Number of nodes loaded ahead: somewhat more than the cache misses that a core can have outstanding. */
  private static final int PRELOAD = 32;

  /** Number of low bits of a key that hold the index of the timer, enough for 16 million timers of one tick. */
  private static final int INDEX_BITS = 24;

  private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

  /** Bound of the distance of a deadline from the base of the run, 4.5 minutes. Only a long slack reaches it. */
  private static final long DISTANCE_BOUND = 1L << (Long.SIZE - 1 - INDEX_BITS);

  // The run. The nodes and stamps are in the order of arrival, at the indexes that the keys hold.
  private WheelNode[] nodes = NO_NODES;
  private int[] stamps = NO_STAMPS;
  private int arrivals;

  /** Keys of the run, in ascending order from head to tail. */
  private long[] keys = NO_KEYS;
  private int head;
  private int tail;

  /** Deadline of the first timer of the run. The distances in the keys may be negative. */
  private long baseNanos;

  // Bounds of the keys of the slot that is collected.
  private long leastKey;
  private long mostKey;

  private final KeySorter sorter = new KeySorter();

  private final PriorityQueue<Straggler> stragglers = new PriorityQueue<>();

  /** Index into the keys after the last node that was loaded ahead. */
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

  /**
   * Announces that up to this many timers of a slot will be collected, and then {@link #endCollecting} be called. The
   * queue must be empty.
   */
  void beginCollecting(int count) {
    assert isEmpty() : "a slot was opened while timers of another one were due: due=" + this;
    reserve(count);
    leastKey = Long.MAX_VALUE;
    mostKey = Long.MIN_VALUE;
  }

  /** Adds a timer of the slot. The timers are in no order until the call of {@link #endCollecting}. */
  void collect(WheelNode node, int stamp, long deadlineNanos) {
    int index = arrivals;
    if (index == 0) {
      baseNanos = deadlineNanos;
    }
    long distance = deadlineNanos - baseNanos;
    if (index > INDEX_MASK || distance >= DISTANCE_BOUND || distance < -DISTANCE_BOUND) {
      stragglers.add(new Straggler(deadlineNanos, stamp, node));
      return;
    }
    long key = distance << INDEX_BITS | index;
    keys[index] = key;
    leastKey = Math.min(leastKey, key);
    mostKey = Math.max(mostKey, key);
    nodes[index] = node;
    stamps[index] = stamp;
    arrivals = index + 1;
  }

  /** Sorts the timers of the slot. */
  void endCollecting() {
    tail = arrivals;
    if (tail > 1) {
      keys = sorter.sort(keys, tail, leastKey, mostKey);
    }
  }

  /** Adds a timer in the order of the deadlines. */
  void add(WheelNode node, int stamp, long deadlineNanos) {
    if (head == tail) {
      baseNanos = deadlineNanos;
    }
    long distance = deadlineNanos - baseNanos;
    long key = distance << INDEX_BITS | arrivals;
    if (arrivals > INDEX_MASK || distance >= DISTANCE_BOUND || distance < -DISTANCE_BOUND || !insert(key)) {
      stragglers.add(new Straggler(deadlineNanos, stamp, node));
      return;
    }
    nodes[arrivals] = node;
    stamps[arrivals++] = stamp;
  }

  /** Inserts the key of the next arrival. Returns false if more keys would have to move than allowed. */
  private boolean insert(long key) {
    if (arrivals == nodes.length) {
      reserve(arrivals + 1);
    }
    int least = tail - INSERTION_MAX;
    return (least <= head || keys[least - 1] <= key) ? insertFromTail(key) : insertFromHead(key);
  }

  private boolean insertFromTail(long key) {
    int at = tail++;
    for (; at > head && keys[at - 1] > key; at--) {
      keys[at] = keys[at - 1];
    }
    keys[at] = key;
    return true;
  }

  /** Inserts a key into the place of those that were polled, if the run is long and the key belongs near its head. */
  private boolean insertFromHead(long key) {
    if (head == 0 || keys[head + INSERTION_MAX] < key) {
      return false;
    }
    int at = --head;
    for (; keys[at + 1] < key; at++) {
      keys[at] = keys[at + 1];
    }
    keys[at] = key;
    return true;
  }

  /** Ensures capacity for a run of this length. */
  private void reserve(int length) {
    if (length > nodes.length) {
      int capacity = Math.max(MIN_CAPACITY, Math.max(length, nodes.length + (nodes.length >> 1)));
      WheelNode[] moreNodes = Arrays.copyOf(nodes, capacity);
      int[] moreStamps = Arrays.copyOf(stamps, capacity);
      keys = Arrays.copyOf(keys, Math.max(keys.length, capacity));
      nodes = moreNodes;
      stamps = moreStamps;
    }
  }

  /** Returns the earliest deadline; {@link Long#MAX_VALUE} if there is no timer. */
  long earliest() {
    long ofRun = head == tail ? Long.MAX_VALUE : deadlineNanos(keys[head]);
    Straggler straggler = stragglers.peek();
    return straggler == null ? ofRun : Math.min(ofRun, straggler.deadlineNanos);
  }

  private long deadlineNanos(long key) {
    return baseNanos + (key >> INDEX_BITS);
  }

  private static int index(long key) {
    return (int) key & INDEX_MASK;
  }

  /**
   * Removes and returns the first timer. The queue must not be empty. Afterwards {@link #polledStamp()} returns the
   * timer's stamp.
   */
  WheelNode poll() {
    Straggler straggler = stragglers.peek();
    if (straggler != null && (head == tail || isBeforeRun(straggler))) {
      stragglers.remove();
      polledStamp = straggler.stamp;
      return straggler.node;
    }
    if (head == preloadedTail) {
      preload();
    }
    int index = index(keys[head++]);
    WheelNode node = nodes[index];
    nodes[index] = null;
    polledStamp = stamps[index];
    if (head == tail) {
      clearRun();
    }
    return node;
  }

  private boolean isBeforeRun(Straggler straggler) {
    return straggler.isBefore(deadlineNanos(keys[head]), stamps[index(keys[head])]);
  }

  int polledStamp() {
    return polledStamp;
  }

  /** Loads the next nodes and their callbacks in one pass, so that the cache misses overlap. */
  private void preload() {
    int to = Math.min(tail, head + PRELOAD);
    long sum = 0;
    for (int i = head; i < to; i++) {
      int index = index(keys[i]);
      sum += stamps[index] + nodes[index].preload();
    }
    preloaded = sum;
    preloadedTail = to;
  }

  /** Drops the timers that have ended or were placed again, and returns the number of dropped timers. */
  int dropDead() {
    int before = size();
    int kept = head;
    for (int i = head; i < tail; i++) {
      int index = index(keys[i]);
      if (isAlive(nodes[index], stamps[index])) {
        keys[kept++] = keys[i];
      } else {
        nodes[index] = null;
      }
    }
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

  /** Visits all timers, also those of a slot that is being collected. */
  void forEach(Consumer<WheelNode> visitor) {
    for (int i = 0; i < arrivals; i++) {
      WheelNode node = nodes[i];
      if (node != null) {
        visitor.accept(node);
      }
    }
    stragglers.forEach(straggler -> visitor.accept(straggler.node));
  }

  void clear() {
    Arrays.fill(nodes, 0, arrivals, null);
    clearRun();
    stragglers.clear();
  }

  private void clearRun() {
    arrivals = 0;
    head = 0;
    tail = 0;
    preloadedTail = 0;
    if (nodes.length > MAX_KEPT_CAPACITY) {
      nodes = NO_NODES;
      stamps = NO_STAMPS;
      keys = NO_KEYS;
    }
  }

  @Override
  public String toString() {
    return "DueQueue[run=" + (tail - head) + ", stragglers=" + stragglers.size() + ", preloaded=" + preloaded + "]";
  }
}
