package io.foliot.wheel;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A timing wheel of {@link WheelNode} objects. It places timers as {@link TimerWheel} does. Callers hold the nodes, and
 * any thread may end a node. The wheel itself is not thread-safe: one driver thread owns it and passes it the time.
 *
 * <p>The hand is the current tick of the wheel. The entries of a slot are moved down into 64 slots of the next lower
 * level; these are called the slots below it.
 *
 * <p>This class is one file because placing, staging, sweeping and moving down keep the same invariants of chunks and
 * stamps.
 */
final class NodeWheel {
  /*
   * A slot is a list of chunks, and a chunk is an array of entries. A processor walks arrays fast, because the nodes of
   * a chunk are loaded together. A list that is linked through the nodes would cost a cache miss per node, and again at
   * each level through which the timer moves down.
   *
   * An entry is never removed from the middle of a slot. A node that ends, or that is placed again, leaves a dead entry
   * behind. The entry is dropped when time reaches it, or by a sweep once the dead entries outnumber the live ones. So
   * a cancel costs the caller one compare-and-set and no hand-off.
   *
   * An entry is live while its stamp equals the stamp of its node and the node is armed. Each placement gives the node
   * a new stamp.
   *
   * A slot of a higher level may hold a million entries. While they are moved down, due timers wait. So a large slot is
   * staged before time reaches it: its entries are sorted in steps into one list for each slot below. When time reaches
   * the staged slot, these lists become the slots below.
   *
   * A slot holds its timers in the order of arrival. When the hand reaches a slot of level 0 or 1, a DueQueue sorts the
   * timers of the slot by deadline. So timers of level 1 do not move to level 0. As long as the DueQueue has timers, a
   * timer that is placed at a tick of this slot is added to it, and not to level 0. The DueQueue must be empty before
   * the hand leaves the slot. Only a very large slot of level 1 is moved down to level 0, because its sort would take
   * long.
   *
   * Rejected: an ObjectTimerWheel. It takes 20 bytes and a reference per timer, where this wheel takes a stamp and a
   * reference. Also rejected: links in the nodes, unlinked at once. This was tried first. It took about twice the time
   * per expired timer. A slot of a million timers took some 15 ms to move down, and meanwhile all due timers were late.
   * Also rejected: deadlines in the entries, to move entries down without reading the nodes. This takes 8 bytes more
   * per timer, and the entries of ended and postponed nodes would be moved too. Also rejected: smaller slots on the
   * higher levels. They need more moves for every timer.
   */

  /** Result of {@link Visitor#visit} for a node that leaves the wheel. */
  static final long GONE = Long.MIN_VALUE;

  /** Fires the nodes that are due. */
  interface Visitor {
    /**
     * Ends a node, or returns its new deadline. May place other nodes. If this method throws, the wheel keeps the node.
     *
     * @param deadlineNanos the deadline of the node when the hand reached the node's tick; a caller may have reset the
     *     node since then
     * @return {@link #GONE}, or the new deadline of the node
     */
    long visit(WheelNode node, long deadlineNanos);

    /** Called after one or more visits, before the wheel does other work; also after a visit that throws. */
    default void visitsEnded() {}

    /**
     * Returns the tick at which a node with this deadline is due; a later deadline never has an earlier tick. Must not
     * throw.
     */
    long placeTick(long deadlineNanos);
  }

  /** Capacity of the first chunk of a slot. It is small, so that slots of a few timers need little memory. */
  private static final int SMALLEST_CHUNK = 4;

  /**
   * Capacity of the largest chunks: large enough that the overhead of a chunk is negligible, small enough that a
   * half-empty chunk wastes little.
   */
  private static final int LARGEST_CHUNK = 128;

  /** Number of nodes loaded ahead: somewhat more than the cache misses that a core can have outstanding. */
  private static final int PRELOAD = 32;

  /**
   * Number of dead entries up to which no sweep begins while timers are live. A sweep is costly: it visits every slot.
   */
  private static final int SWEEP_MIN_ENTRIES = 64;

  /** Minimum number of entries of a slot to be staged. A smaller slot is moved down quickly when time reaches it. */
  private static final int STAGE_MIN_ENTRIES = 4096;

  /** Divisor of a slot's width: the staging of a slot starts a quarter of the width before the slot begins. */
  private static final int STAGE_AHEAD = 4;

  /**
   * Minimum number of ticks from the start of staging to the start of the slot. It matters on level 1, where slots are
   * narrow.
   */
  private static final int STAGE_AHEAD_TICKS = 256;

  /**
   * Factor by which the minimum number of entries to stage a slot is larger on level 1. The factor is large, because
   * only one slot is staged at a time: a staged slot of level 1 delays the staging of a slot of a higher level.
   */
  private static final int STAGE_FACTOR_LEVEL_1 = 8;

  /** Largest slot of level 1 that is sorted as a whole: some 200 microseconds of work. */
  private static final int SORT_MAX_ENTRIES = 1 << 14;

  /** Number of nodes that one call fires. A JVM that has just started compiles a method after some hundred calls. */
  private static final int FIRE_TOGETHER = 32;

  /** Value of {@link #dueEnd} while the due queue need not have all timers of a slot. */
  private static final long NO_SLOT = Long.MIN_VALUE;

  /** Index of the first list that staging fills, after the lists of the slots. */
  private static final int STAGED = SlotMap.SLOTS;

  private static final int LISTS = STAGED + SlotMap.SLOTS_PER_LEVEL;

  /**
   * Value of {@link #sweepList} while no sweep is in progress. A sweep examines all lists, and then the due timers,
   * which have the number LISTS.
   */
  private static final int SWEEP_END = LISTS + 1;

  /** An array of entries. Each entry is the node and the stamp at one index. */
  private static final class Chunk {
    final WheelNode[] nodes;
    final int[] stamps;
    int count;
    @Nullable
    Chunk next;

    Chunk(int capacity) {
      nodes = new WheelNode[capacity];
      stamps = new int[capacity];
    }

    boolean isFull() {
      return count == nodes.length;
    }

    void add(WheelNode node, int stamp) {
      nodes[count] = node;
      stamps[count++] = stamp;
    }

    /** Drops the dead entries; the live ones keep their order. */
    void compact() {
      int kept = 0;
      for (int i = 0; i < count; i++) {
        WheelNode node = nodes[i];
        if (node.stamp == stamps[i] && WheelNode.isArmed(node.word())) {
          nodes[kept] = node;
          stamps[kept++] = stamps[i];
        }
      }
      Arrays.fill(nodes, kept, count, null);
      count = kept;
    }
  }

  /** A list of chunks, in the order of arrival. */
  private static final class Entries {
    @Nullable
    Chunk first;
    @Nullable
    Chunk last;

    /** Number of entries; not maintained in {@link NodeWheel#reached} and {@link NodeWheel#late}. */
    int size;

    boolean isEmpty() {
      return first == null;
    }

    void add(WheelNode node, int stamp) {
      size++;
      Chunk chunk = last;
      if (chunk == null) {
        chunk = new Chunk(SMALLEST_CHUNK);
        first = chunk;
        last = chunk;
      } else if (chunk.isFull()) {
        Chunk larger = new Chunk(Math.min(LARGEST_CHUNK, chunk.nodes.length * 2));
        chunk.next = larger;
        last = larger;
        chunk = larger;
      }
      chunk.add(node, stamp);
    }

    void takeAll(Entries from) {
      if (!from.isEmpty()) {
        if (last == null) {
          first = from.first;
        } else {
          last.next = from.first;
        }
        last = from.last;
        size += from.size;
        from.clear();
      }
    }

    void clear() {
      first = null;
      last = null;
      size = 0;
    }

    /** Removes a chunk; {@code before} is the chunk before it, or null if it is the first. */
    void removeAfter(@Nullable Chunk before, Chunk chunk) {
      if (before == null) {
        first = chunk.next;
      } else {
        before.next = chunk.next;
      }
      if (last == chunk) {
        last = before;
      }
    }
  }

  private final int stageMinEntries;
  private final SlotMap slots;
  /** Entries of each slot, followed by the lists of the staged slot: one for each slot below it. */
  private final Entries[] lists = new Entries[LISTS];

  /** Slot that is being staged, or {@link SlotMap#NONE}. The list of this slot holds the entries not yet sorted. */
  private int stagedSlot = SlotMap.NONE;

  /** Lower bound of the deadline ticks in each list of the staged slot. */
  private final long[] stagedEarliest = new long[SlotMap.SLOTS_PER_LEVEL];

  /** Entries of a slot that the hand has reached. They are being moved down, from {@link #reachedIndex} on. */
  private final Entries reached = new Entries();

  /** Index of the next entry to move, in the first chunk of {@link #reached}. */
  private int reachedIndex;

  /** Index after the last node that was loaded ahead, in the first chunk of {@link #reached}. */
  private int preloadedIndex;

  /** Nodes of the slot that the hand has reached, before they are sorted. */
  private final Entries atHand = new Entries();

  /** Last tick of the nodes in {@link #atHand}. */
  private long atHandEnd;

  /** Nodes of the slot that the hand has reached, and nodes that were late, sorted by deadline. */
  private final DueQueue due = new DueQueue();

  /**
   * Last tick of the slot whose nodes are in the due queue, or {@link #NO_SLOT}. All nodes up to this tick are there.
   */
  private long dueEnd = NO_SLOT;

  /** Nodes that were due when they were placed. */
  private final Entries late = new Entries();

  /** Node that was in no list when an operation failed; null if there is none. */
  private @Nullable WheelNode orphan;

  /** Number of all entries, live and dead. */
  private int entries;

  /** Number of placements so far, which is the latest stamp. It wraps. */
  private int stamps;

  /** Number of the list that a sweep examines, or {@link #SWEEP_END} if no sweep is in progress. */
  private int sweepList = SWEEP_END;

  /** Latest chunk of the list {@link #sweepList} that the sweep has kept; null at the beginning of the list. */
  private @Nullable Chunk swept;

  /** Result of loading nodes ahead, kept so that the compiler cannot remove the reads. */
  private long preloaded;

  NodeWheel(long startTick) {
    this(startTick, STAGE_MIN_ENTRIES);
  }

  /** Creates a wheel that stages slots with at least this many entries. Tests use small numbers. */
  NodeWheel(long startTick, int stageMinEntries) {
    this.stageMinEntries = stageMinEntries;
    slots = new SlotMap(startTick);
    Arrays.setAll(lists, list -> new Entries());
  }

  /** Returns the number of entries, including those whose node has ended. */
  int entries() {
    return entries;
  }

  long currentTick() {
    return slots.hand();
  }

  /**
   * Places a node, which may be in the wheel already; then its earlier entry becomes dead. If this method throws, the
   * wheel has the node nevertheless.
   *
   * @param deadlineTick the tick of {@code deadlineNanos}, as {@link Visitor#placeTick} returns it
   */
  void place(WheelNode node, long deadlineTick, long deadlineNanos) {
    node.stamp = ++stamps;
    entries++;
    try {
      if (deadlineTick <= dueEnd && deadlineTick > slots.hand()) {
        due.add(node, node.stamp, deadlineNanos);
      } else {
        listFor(deadlineTick).add(node, node.stamp);
      }
    } catch (Throwable e) {
      orphan = node;
      throw e;
    }
  }

  private Entries listFor(long deadlineTick) {
    if (deadlineTick <= slots.hand()) {
      return late;
    }
    if (!atHand.isEmpty() && reached.isEmpty() && deadlineTick <= atHandEnd) {
      return atHand;
    }
    return !reached.isEmpty() && slots.inReached(deadlineTick) ? reached : lists[slots.occupy(deadlineTick)];
  }

  /**
   * Returns the next wake as {@link TimerQueue#nextWake} does, with three differences. Dead entries are included. The
   * staging of a slot is a reason to wake. An entry is due once the hand has reached the entry's tick, even if the
   * entry's deadline is later than now.
   */
  long nextWake(Visitor visitor) {
    if (!reached.isEmpty() || !atHand.isEmpty() || !late.isEmpty()) {
      return slots.hand();
    }
    long wake = Math.min(slots.nextWake(), nextStaging());
    return due.isEmpty()
        ? wake
        : Math.min(wake, Math.max(slots.hand(), visitor.placeTick(due.earliest())));
  }

  /**
   * Moves time forward as {@link TimerQueue#advance} does, with these differences. Dead entries that are moved or taken
   * from the due queue are counted as touched. All entries of a slot are collected in order at once, and this is not
   * counted. Entries are visited in the order of their deadlines in nanoseconds. Entries with equal deadlines are
   * visited in the order of their placements. Entries of {@code nowTick} whose deadline is after {@code nowNanos} stay
   * until a call with a later time.
   *
   * @param nowTick the tick of {@code nowNanos}, as {@link Visitor#placeTick} returns it
   * @param nowNanos the new time, before {@link Long#MAX_VALUE}
   */
  int advance(long nowTick, long nowNanos, int limit, Visitor visitor) {
    if (nowTick < slots.hand()) {
      return 0;
    }
    boolean takesLate = true;
    int touched = 0;
    while (touched < limit) {
      if (!reached.isEmpty()) {
        touched += moveReached(limit - touched, visitor);
      } else if (!atHand.isEmpty()) {
        collect(atHand, visitor);
      } else if (takesLate) {
        collectLate(visitor);
        takesLate = false;
      } else if (!due.isEmpty()) {
        if (due.earliest() > nowNanos) {
          slots.moveTo(nowTick);
          break;
        }
        touched += fire(limit - touched, nowNanos, visitor);
      } else {
        dueEnd = NO_SLOT;
        int slot = slots.reached(nowTick);
        if (slot == SlotMap.NONE) {
          break;
        }
        open(slot);
      }
    }
    return touched;
  }

  private void open(int slot) {
    boolean sorts = slot == stagedSlot
        ? openStaged()
        : !SlotMap.isOnLevel1(slot) || lists[slot].size <= SORT_MAX_ENTRIES;
    long sortedTicks = sorts ? Math.min(SlotMap.width(slot), SlotMap.SLOTS_PER_LEVEL) : 1;
    atHandEnd = slots.hand() + sortedTicks - 1;
    (sortedTicks == SlotMap.width(slot) ? atHand : reached).takeAll(lists[slot]);
    slots.vacate(slot);
    if (slot == sweepList) {
      swept = null;
    }
  }

  /**
   * Turns the lists of the staged slot into the slots below it. These slots are empty, because a slot is filled only
   * while the hand is in the slot above it. The first list contains the hand and becomes no slot.
   *
   * @return whether all timers of the first 64 ticks may be sorted together
   */
  private boolean openStaged() {
    int firstBelow = (stagedSlot & -SlotMap.SLOTS_PER_LEVEL) - SlotMap.SLOTS_PER_LEVEL;
    Entries first = lists[STAGED];
    boolean sorts = !SlotMap.isOnLevel1(stagedSlot)
        && (first.size <= SORT_MAX_ENTRIES || !SlotMap.isOnLevel1(firstBelow));
    (sorts && SlotMap.isOnLevel1(firstBelow) ? atHand : reached).takeAll(first);
    for (int digit = 1; digit < SlotMap.SLOTS_PER_LEVEL; digit++) {
      Entries list = lists[STAGED + digit];
      if (!list.isEmpty()) {
        slots.occupy(firstBelow + digit, stagedEarliest[digit]);
        lists[firstBelow + digit].takeAll(list);
      }
    }
    if (sweepList >= STAGED) {
      swept = null;
    }
    stagedSlot = SlotMap.NONE;
    return sorts;
  }

  /**
   * Returns the slot that is being staged or will be staged next; {@link SlotMap#NONE} if no slot is large enough.
   */
  private int slotToStage() {
    if (stagedSlot != SlotMap.NONE) {
      return lists[stagedSlot].size < stageMinEntries ? SlotMap.NONE : stagedSlot;
    }
    int slot = slots.nextFromLevel(1);
    if (slot != SlotMap.NONE && SlotMap.isOnLevel1(slot) && lists[slot].size < STAGE_FACTOR_LEVEL_1 * stageMinEntries) {
      slot = slots.nextFromLevel(2);
    }
    return slot == SlotMap.NONE || lists[slot].size < stageMinEntries ? SlotMap.NONE : slot;
  }

  /** Returns the tick at which staging can continue or begin, or {@link TimerQueue#NEVER}. */
  private long nextStaging() {
    int slot = slotToStage();
    return slot == SlotMap.NONE
        ? TimerQueue.NEVER
        : Math.max(slots.hand(), slots.start(slot) - Math.max(STAGE_AHEAD_TICKS, SlotMap.width(slot) / STAGE_AHEAD));
  }

  /**
   * Sorts entries of a large slot that the hand will reach soon.
   *
   * @return the number of examined entries; if it is less than {@code limit}, there is nothing more to stage now
   */
  int stage(int limit, Visitor visitor) {
    int slot = slotToStage();
    if (slot == SlotMap.NONE || nextStaging() > slots.hand()) {
      return 0;
    }
    if (stagedSlot != slot) {
      stagedSlot = slot;
      Arrays.fill(stagedEarliest, Long.MAX_VALUE);
    }
    Entries list = lists[stagedSlot];
    int examined = 0;
    for (Chunk chunk = list.first; chunk != null && examined < limit; chunk = list.first) {
      examined += chunk.count;
      for (int from = 0; from < chunk.count;) {
        int to = preload(chunk, from);
        for (; from < to; from++) {
          stage(chunk.nodes[from], chunk.stamps[from], visitor);
        }
      }
      list.size -= chunk.count;
      list.removeAfter(null, chunk);
    }
    if (sweepList == stagedSlot) {
      swept = null;
    }
    return examined;
  }

  private void stage(WheelNode node, int stamp, Visitor visitor) {
    long word = node.word();
    if (node.stamp != stamp || !WheelNode.isArmed(word)) {
      entries--;
      return;
    }
    long tick = visitor.placeTick(WheelNode.deadlineNanos(word));
    long start = slots.start(stagedSlot);
    if (tick - start >= SlotMap.width(stagedSlot)) {
      lists[slots.occupy(tick)].add(node, stamp);
      return;
    }
    // A node may have been reset to a tick before this slot. It is about to be placed again, so any list will do.
    int digit = tick < start ? 0 : SlotMap.digitBelow(stagedSlot, tick);
    lists[STAGED + digit].add(node, stamp);
    stagedEarliest[digit] = Math.min(stagedEarliest[digit], tick);
  }

  /** Moves reached entries down, and returns the number of moved entries. */
  private int moveReached(int limit, Visitor visitor) {
    int moved = 0;
    while (moved < limit) {
      Chunk chunk = reached.first;
      if (chunk == null) {
        break;
      }
      if (reachedIndex == chunk.count) {
        reached.removeAfter(null, chunk);
        reachedIndex = 0;
        preloadedIndex = 0;
      } else {
        if (reachedIndex == preloadedIndex) {
          preloadedIndex = preload(chunk, reachedIndex);
        }
        moved++;
        move(chunk.nodes[reachedIndex], chunk.stamps[reachedIndex], visitor);
        reachedIndex++;
      }
    }
    return moved;
  }

  private void move(WheelNode node, int stamp, Visitor visitor) {
    long word = node.word();
    if (node.stamp == stamp && WheelNode.isArmed(word)) {
      long tick = visitor.placeTick(WheelNode.deadlineNanos(word));
      (tick > atHandEnd ? lists[slots.occupy(tick)] : atHand).add(node, stamp);
    } else {
      entries--;
    }
  }

  /** Moves the entries of the slot that the hand has reached to the due queue, and sorts them. */
  private void collect(Entries list, Visitor visitor) {
    dueEnd = atHandEnd;
    due.beginCollecting(list.size);
    for (Chunk chunk = list.first; chunk != null; chunk = list.first) {
      for (int from = 0; from < chunk.count; from += PRELOAD) {
        collect(chunk, from, Math.min(chunk.count, from + PRELOAD), visitor);
      }
      list.size -= chunk.count;
      list.removeAfter(null, chunk);
    }
    due.endCollecting();
  }

  /** Collects some entries of a chunk. */
  private void collect(Chunk chunk, int from, int to, Visitor visitor) {
    preload(chunk, from);
    for (int i = from; i < to; i++) {
      WheelNode node = chunk.nodes[i];
      int stamp = chunk.stamps[i];
      long word = node.word();
      if (node.stamp != stamp || !WheelNode.isArmed(word)) {
        entries--;
        continue;
      }
      // Deadline and tick are computed from one read of the word, because a caller may reset the node at any time. If
      // the tick of a collected deadline were after the opened slot, the hand could not advance.
      long deadlineNanos = WheelNode.deadlineNanos(word);
      long tick = visitor.placeTick(deadlineNanos);
      if (tick <= dueEnd) {
        due.collect(node, stamp, deadlineNanos);
      } else {
        lists[slots.occupy(tick)].add(node, stamp);
      }
    }
  }

  /** Moves nodes to the due queue that were already due when they were placed. */
  private void collectLate(Visitor visitor) {
    for (Chunk chunk = late.first; chunk != null; chunk = late.first) {
      for (int i = 0; i < chunk.count; i++) {
        WheelNode node = chunk.nodes[i];
        long word = node.word();
        if (node.stamp == chunk.stamps[i] && WheelNode.isArmed(word)) {
          addAgain(node, chunk.stamps[i], WheelNode.deadlineNanos(word), visitor);
        } else {
          entries--;
        }
      }
      late.removeAfter(null, chunk);
    }
  }

  /** Adds an entry to the due queue if its tick is in the opened slot or before, else to its slot. */
  private void addAgain(WheelNode node, int stamp, long deadlineNanos, Visitor visitor) {
    long tick = visitor.placeTick(deadlineNanos);
    if (tick <= Math.max(dueEnd, slots.hand())) {
      due.add(node, stamp, deadlineNanos);
    } else {
      lists[slots.occupy(tick)].add(node, stamp);
    }
  }

  /** Visits the due nodes in the order of their deadlines, and returns the number of entries it has taken. */
  private int fire(int limit, long nowNanos, Visitor visitor) {
    int visited = 0;
    try {
      while (visited < limit && due.earliest() <= nowNanos) {
        visited += fireSome(Math.min(FIRE_TOGETHER, limit - visited), nowNanos, visitor);
      }
    } finally {
      visitor.visitsEnded();
    }
    return visited;
  }

  private int fireSome(int limit, long nowNanos, Visitor visitor) {
    int visited = 0;
    for (long deadlineNanos = due.earliest(); visited < limit && deadlineNanos <= nowNanos;) {
      visited++;
      WheelNode node = due.poll();
      int stamp = due.polledStamp();
      entries--;
      if (node.stamp == stamp) {
        orphan = node;
        slots.moveTo(visitor.placeTick(deadlineNanos));
        long resetNanos = visitor.visit(node, deadlineNanos);
        if (resetNanos != GONE) {
          entries++;
          addAgain(node, stamp, resetNanos, visitor);
        }
        orphan = null;
      }
      deadlineNanos = due.earliest();
    }
    return visited;
  }

  /**
   * Loads the next nodes together, so that their cache misses overlap.
   *
   * @return the index after the last node that was loaded
   */
  private int preload(Chunk chunk, int from) {
    int to = Math.min(chunk.count, from + PRELOAD);
    long sum = 0;
    for (int i = from; i < to; i++) {
      sum += chunk.nodes[i].word();
    }
    preloaded = sum;
    return to;
  }

  /** Begins a sweep if none is in progress and there are enough dead entries. */
  void sweepIfWorthwhile(long live) {
    long dead = entries - live;
    if (sweepList == SWEEP_END && (dead > Math.max(SWEEP_MIN_ENTRIES, live) || (live == 0 && dead > 0))) {
      sweepList = 0;
      swept = null;
    }
  }

  /**
   * Continues the sweep that is in progress, if there is one.
   *
   * @return the number of examined entries; if it is less than {@code limit}, the sweep is over
   */
  int sweep(int limit) {
    int examined = 0;
    while (sweepList < SWEEP_END && examined < limit) {
      if (sweepList == LISTS) {
        examined += due.size();
        entries -= due.dropDead();
        sweepList++;
        continue;
      }
      Entries list = lists[sweepList];
      Chunk chunk = swept == null ? list.first : swept.next;
      if (chunk == null) {
        sweepList++;
        swept = null;
      } else {
        examined += chunk.count;
        sweep(list, chunk);
      }
    }
    return examined;
  }

  /**
   * Drops the dead entries of a chunk. Then removes the chunk if it is empty, or if the chunk before it has room for
   * the remaining entries.
   */
  private void sweep(Entries list, Chunk chunk) {
    int before = chunk.count;
    chunk.compact();
    entries -= before - chunk.count;
    list.size -= before - chunk.count;
    Chunk kept = swept;
    if (chunk.count == 0) {
      list.removeAfter(kept, chunk);
      if (list.isEmpty() && sweepList < SlotMap.SLOTS && sweepList != stagedSlot) {
        slots.vacate(sweepList);
      }
    } else if (kept != null && kept.nodes.length - kept.count >= chunk.count) {
      for (int i = 0; i < chunk.count; i++) {
        kept.add(chunk.nodes[i], chunk.stamps[i]);
      }
      list.removeAfter(kept, chunk);
    } else {
      swept = chunk;
    }
  }

  /** Visits the node of every entry, in no particular order. A node may be visited more than once. */
  void forEach(Consumer<WheelNode> visitor) {
    forEach(reached, reachedIndex, visitor);
    forEach(atHand, 0, visitor);
    due.forEach(visitor);
    forEach(late, 0, visitor);
    for (Entries list : lists) {
      forEach(list, 0, visitor);
    }
    if (orphan != null) {
      visitor.accept(orphan);
    }
  }

  /**
   * Passes the node of every entry to the taker, in no particular order, and then removes all entries. A node may be
   * passed more than once. {@link Visitor#visit} may call this method.
   */
  void removeAll(Consumer<WheelNode> taker) {
    forEach(taker);
    reached.clear();
    reachedIndex = 0;
    preloadedIndex = 0;
    atHand.clear();
    due.clear();
    dueEnd = NO_SLOT;
    late.clear();
    orphan = null;
    for (int slot = 0; slot < LISTS; slot++) {
      lists[slot].clear();
      if (slot < SlotMap.SLOTS) {
        slots.vacate(slot);
      }
    }
    stagedSlot = SlotMap.NONE;
    entries = 0;
    sweepList = SWEEP_END;
  }

  private static void forEach(Entries list, int from, Consumer<WheelNode> visitor) {
    int index = from;
    for (Chunk chunk = list.first; chunk != null; chunk = chunk.next) {
      for (; index < chunk.count; index++) {
        visitor.accept(chunk.nodes[index]);
      }
      index = 0;
    }
  }

  @Override
  public String toString() {
    return "NodeWheel[currentTick=" + slots.hand() + ", entries=" + entries + ", preloaded=" + preloaded + "]";
  }
}
