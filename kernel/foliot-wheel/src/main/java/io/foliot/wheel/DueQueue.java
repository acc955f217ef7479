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
   * here. The order of a timer is one number, its key: the deadline, as a distance from the base of the run, and the
   * timer's index. Only the keys are sorted; the timers stay at their indexes. Equal deadlines keep their order,
   * because a later arrival has a larger index.
   *
   * A small slot is sorted by insertion while it is collected, which moves few keys per timer, and none
   * if the timers arrive in the order of their deadlines. A large slot is appended and sorted once at the end. A timer
   * that arrives later for this tick, because its delay is shorter than the rest of the tick, is inserted too.
   *
   * A timer that would move too many keys, or whose key would not fit, is a straggler. Stragglers wait in a heap.
   *
   * Callers may reset a timer at any time. So this queue keeps the deadline that each timer had when it was added, and
   * orders the timers by these deadlines.
   *
   * The work for a timer is in small methods that are called once per timer, and not in loops over a tick. A JVM that
   * has just started interprets a method until its 200th call. The library's sort is called once per tick, so it was
   * still interpreted 25 ms after the first of a million timers a second was due. Until then it took longer than a
   * tick.
   *
   * Rejected: a heap for all timers. It takes some 40 ns per timer in a heap of 65 timers. Also rejected: the library's
   * sort for small slots, see above. Also rejected: sorting the timers themselves. It moves three arrays, one of them
   * of references. Also rejected: finer ticks. There would be more slots to open, and fewer nodes to load together.
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

  /**
   * Largest number of keys that an insertion moves, and of timers of a slot that is sorted by insertion. A timer of
   * such a slot moves at most a quarter of this number of keys on average, 256 bytes.
   */
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

  /** Keys of the run, in ascending order from head to tail, except while a large slot is collected. */
  private long[] keys = NO_KEYS;
  private int head;
  private int tail;

  /** Deadline of the first timer of the run. The distances in the keys may be negative. */
  private long baseNanos;

  /** True while a large slot is collected, whose keys are sorted at the end. */
  private boolean sortsAtEnd;

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

  /** Announces that up to this many timers of a slot will be added, and then {@link #endCollecting} be called. */
  void beginCollecting(int count) {
    reserve(arrivals + count);
    sortsAtEnd = count > INSERTION_MAX;
  }

  /** Ends the addition of the timers of a slot. */
  void endCollecting() {
    if (sortsAtEnd) {
      sortsAtEnd = false;
      Arrays.sort(keys, head, tail);
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
    int to = tail;
    if (!sortsAtEnd) {
      int least = to - INSERTION_MAX;
      if (least > head && keys[least - 1] > key) {
        return false;
      }
      for (; to > head && keys[to - 1] > key; to--) {
        keys[to] = keys[to - 1];
      }
    }
    keys[to] = key;
    tail++;
    return true;
  }

  /** Ensures capacity for a run of this length. */
  private void reserve(int length) {
    if (length > nodes.length) {
      int capacity = Math.max(MIN_CAPACITY, Math.max(length, nodes.length + (nodes.length >> 1)));
      WheelNode[] moreNodes = Arrays.copyOf(nodes, capacity);
      int[] moreStamps = Arrays.copyOf(stamps, capacity);
      keys = Arrays.copyOf(keys, capacity);
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

  void forEach(Consumer<WheelNode> visitor) {
    for (int i = head; i < tail; i++) {
      visitor.accept(nodes[index(keys[i])]);
    }
    stragglers.forEach(straggler -> visitor.accept(straggler.node));
  }

  void clear() {
    for (int i = head; i < tail; i++) {
      nodes[index(keys[i])] = null;
    }
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
