package io.foliot.wheel;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The wheel over objects: the same placement and the same order as {@link TimerWheel}, for timers that are objects
 * anyway because callers hold them, and that end in any thread. Single owner, no clock.
 *
 * <p>One file, because placing, staging, sweeping and moving down keep the same invariants of chunks and stamps.
 */
final class NodeWheel {
  /*
   * A slot is a list of chunks, and a chunk an array of entries, because that is what a processor walks fast: the nodes
   * of a chunk are loaded together, where a list linked through the nodes costs one cache miss after the other, at
   * every level on a timer's way down.
   *
   * Nothing is ever taken out of the middle. A node that ends, or that is placed again, leaves its entry behind; the
   * entry is dropped when time reaches it, or by a sweep once such entries outnumber the others. So a cancel is one
   * compare-and-set for the caller, no hand-off, and half a visit for the driver.
   *
   * An entry is valid for its node while it bears the node's stamp, which each placement renews.
   *
   * A slot of a higher level may hold a million entries, and while they are moved down all of them that are due wait.
   * So a large slot is staged: from a quarter of its width before its beginning on, its entries are sorted into as many
   * lists as it has slots below, a few at a time. When time reaches it, these lists become the slots as they are.
   *
   * A slot holds its timers in the order of arrival. Those of one tick are put into the order of their deadlines when
   * the hand comes to them, in a DueQueue, which must be empty before the hand moves on.
   *
   * Rejected: TimerWheel with the object as payload (28 bytes in the wheel beside as many in the object, against 8
   * here); links in the nodes, unlinked at once (tried first: about twice the time per expired timer, and with a
   * million of them a slot took some 15 ms to move down, during which all that was due was late); deadlines in the
   * entries, to cascade without reading the nodes (8 bytes more a timer, and entries whose node has ended or was
   * pushed back are carried on); smaller slots on the higher levels (more moves for every timer).
   */

  /** Returned by a visitor for a node that is to leave the wheel. */
  static final long GONE = Long.MIN_VALUE;

  /** Fires the nodes that are due. */
  interface Visitor {
    /**
     * Ends a node, or returns its new deadline. May place other nodes. If it throws, the wheel still has the node.
     *
     * @param deadlineNanos the deadline of the node when the wheel came to its tick; callers may have reset it since
     * @return {@link #GONE}, or the deadline that the node has been given
     */
    long visit(WheelNode node, long deadlineNanos);

    /** Returns the tick of a deadline; a later deadline never has an earlier tick. Must not throw. */
    long placeTick(WheelNode node, long deadlineNanos);
  }

  /** Capacity of the first chunk of a slot: small, so that a few timers in many slots cost little. */
  private static final int SMALLEST_CHUNK = 4;

  /**
   * Capacity of the largest chunks: large enough that the overhead of a chunk is negligible, small enough that a
   * half-empty chunk wastes little.
   */
  private static final int LARGEST_CHUNK = 128;

  /** Number of nodes loaded ahead: somewhat more than the cache misses that a core can have under way. */
  private static final int PRELOAD = 32;

  /** Fewer dead entries than this are not worth a sweep, which visits every slot. */
  private static final int SWEEP_MIN_ENTRIES = 64;

  /** A slot with fewer entries is moved down quickly enough when its time comes. */
  private static final int STAGE_MIN_ENTRIES = 4096;

  /** A slot is staged from one part in this many of its width before its beginning. */
  private static final int STAGE_AHEAD = 4;

  /** Ticks before its beginning from which a slot of level 1 is staged, which is narrow but may hold many timers. */
  private static final int STAGE_AHEAD_TICKS = 256;

  /**
   * Factor by which a slot of level 1 must hold more timers to be staged, as when a million are due together. Staging
   * it delays the staging of a slot of a higher level, of which there is one to 64 of level 1.
   */
  private static final int STAGE_FACTOR_LEVEL_1 = 8;

  private static final int STAGED = SlotMap.SLOTS;
  private static final int LISTS = STAGED + SlotMap.SLOTS_PER_LEVEL;

  /** A sweep goes through the lists, and then through what is due. */
  private static final int SWEEP_END = LISTS + 1;

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

    /** Keeps the entries whose node waits, in order. */
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

  private static final class Entries {
    @Nullable
    Chunk first;
    @Nullable
    Chunk last;

    /** The number of entries; not maintained in {@link NodeWheel#reached}. */
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

    /** Removes the chunk after the given one, or the first one for null. */
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
  /** The entries of each slot; after them, for each slot below the staged one, the entries that are to come there. */
  private final Entries[] lists = new Entries[LISTS];

  /** The slot that is staged; its list holds what has not been sorted yet. */
  private int stagedSlot = SlotMap.NONE;

  /** Per list of a staged slot, a lower bound of the deadlines in it. */
  private final long[] stagedEarliest = new long[SlotMap.SLOTS_PER_LEVEL];

  /**
   * The entries that are moved down from a slot that the hand has reached. The first chunk is moved from
   * {@link #reachedIndex} on.
   */
  private final Entries reached = new Entries();

  private int reachedIndex;

  /** The entries of that chunk before this index have been loaded. */
  private int preloadedIndex;

  /** Nodes due at the hand, before they are sorted. */
  private final Entries atHand = new Entries();

  /** Nodes due at the hand. */
  private final DueQueue due = new DueQueue();

  /** Nodes that were due when they were placed. */
  private final Entries late = new Entries();

  /** A node that was in no list when an operation failed. */
  private @Nullable WheelNode orphan;

  private int entries;
  private int stamps;

  /** The list that a sweep is at, or {@link #SWEEP_END} if none is under way. */
  private int sweepList = SWEEP_END;

  /** The last chunk of that list that the sweep has kept; null at the beginning of the list. */
  private @Nullable Chunk swept;

  /** Result of loading nodes ahead, so that the compiler does not remove the reads. */
  private long preloaded;

  NodeWheel(long startTick) {
    this(startTick, STAGE_MIN_ENTRIES);
  }

  /** Creates a wheel for tests, which stage slots of a few entries. */
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
   * Places a node, new or not; an entry that it has already is void from now on. If it throws, the wheel has the node.
   */
  void place(WheelNode node, long deadlineTick) {
    node.stamp = ++stamps;
    entries++;
    try {
      listFor(deadlineTick).add(node, node.stamp);
    } catch (Throwable e) {
      orphan = node;
      throw e;
    }
  }

  private Entries listFor(long deadlineTick) {
    if (deadlineTick <= slots.hand()) {
      return late;
    }
    return !reached.isEmpty() && slots.inReached(deadlineTick) ? reached : lists[slots.occupy(deadlineTick)];
  }

  /**
   * As {@link TimerQueue#nextWake}, for all entries; it is also time to call again when a slot is to be staged. An
   * entry that waits for the nanosecond of its deadline counts as due at its tick.
   */
  long nextWake() {
    return reached.isEmpty() && atHand.isEmpty() && late.isEmpty() && due.isEmpty()
        ? Math.min(slots.nextWake(), nextStaging())
        : slots.hand();
  }

  /**
   * As {@link TimerQueue#advance}, for all entries, with these differences: entries are visited in the order of their
   * deadlines in nanoseconds, those of equal deadlines in the order in which they were placed; and those of the last
   * tick that are due after {@code nowNanos} stay, until they are due or the next tick comes.
   *
   * @param nowTick the tick of {@code nowNanos}, as {@link Visitor#placeTick} returns it
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
          break;
        }
        touched += fire(limit - touched, nowNanos, visitor);
      } else {
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
    if (slot == stagedSlot) {
      openStaged();
    }
    (slot < SlotMap.SLOTS_PER_LEVEL ? atHand : reached).takeAll(lists[slot]);
    slots.vacate(slot);
    if (slot == sweepList) {
      swept = null;
    }
  }

  /** Opens the staged slot. The slots below are empty, because they were ahead of the hand until it came here. */
  private void openStaged() {
    int firstBelow = (stagedSlot & -SlotMap.SLOTS_PER_LEVEL) - SlotMap.SLOTS_PER_LEVEL;
    reached.takeAll(lists[STAGED]);
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
  }

  /**
   * Returns the slot that is being staged, or is to be staged next; {@link SlotMap#NONE} if no slot is large enough.
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

  /** Returns the tick from which on a slot is to be staged, or {@link TimerQueue#NEVER}. */
  private long nextStaging() {
    int slot = slotToStage();
    return slot == SlotMap.NONE
        ? TimerQueue.NEVER
        : Math.max(slots.hand(), slots.start(slot) - Math.max(STAGE_AHEAD_TICKS, SlotMap.width(slot) / STAGE_AHEAD));
  }

  /**
   * Sorts entries of a large slot whose time is near.
   *
   * @return how many entries it has sorted; if fewer than {@code limit}, there is nothing more to stage
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
    long tick = visitor.placeTick(node, WheelNode.deadlineNanos(word));
    long start = slots.start(stagedSlot);
    if (tick - start >= SlotMap.width(stagedSlot)) {
      lists[slots.occupy(tick)].add(node, stamp);
      return;
    }
    // A node whose deadline came nearer is about to be placed again; until then it may be at the beginning of the slot.
    int digit = tick < start ? 0 : SlotMap.digitBelow(stagedSlot, tick);
    lists[STAGED + digit].add(node, stamp);
    stagedEarliest[digit] = Math.min(stagedEarliest[digit], tick);
  }

  /** Moves reached entries down, and returns how many. */
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
      long tick = visitor.placeTick(node, WheelNode.deadlineNanos(word));
      (tick > slots.hand() ? lists[slots.occupy(tick)] : atHand).add(node, stamp);
    } else {
      entries--;
    }
  }

  /** Sorts the entries of the tick that the hand has come to. */
  private void collect(Entries list, Visitor visitor) {
    due.reserve(list.size);
    for (Chunk chunk = list.first; chunk != null; chunk = list.first) {
      collect(chunk, visitor);
      list.size -= chunk.count;
      list.removeAfter(null, chunk);
    }
    due.sort();
  }

  private void collect(Chunk chunk, Visitor visitor) {
    for (int from = 0; from < chunk.count;) {
      int to = preload(chunk, from);
      for (; from < to; from++) {
        collect(chunk.nodes[from], chunk.stamps[from], visitor);
      }
    }
  }

  private void collect(WheelNode node, int stamp, Visitor visitor) {
    long word = node.word();
    if (node.stamp == stamp && WheelNode.isArmed(word)) {
      // The word is read once for both: if a collected deadline were after the hand, the hand could not advance.
      long deadlineNanos = WheelNode.deadlineNanos(word);
      long tick = visitor.placeTick(node, deadlineNanos);
      if (tick > slots.hand()) {
        lists[slots.occupy(tick)].add(node, stamp);
      } else {
        due.collect(node, stamp, deadlineNanos);
      }
    } else {
      entries--;
    }
  }

  /** Adds the nodes that were due when they were placed to the due ones. */
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

  /** Adds an entry for a deadline that may be before or after the hand. */
  private void addAgain(WheelNode node, int stamp, long deadlineNanos, Visitor visitor) {
    long tick = visitor.placeTick(node, deadlineNanos);
    if (tick > slots.hand()) {
      lists[slots.occupy(tick)].add(node, stamp);
    } else {
      due.add(node, stamp, deadlineNanos);
    }
  }

  /** Visits the due nodes in order, and returns how many it has visited. */
  private int fire(int limit, long nowNanos, Visitor visitor) {
    int visited = 0;
    for (long deadlineNanos = due.earliest(); visited < limit && !due.isEmpty()
        && deadlineNanos <= nowNanos; deadlineNanos = due.earliest()) {
      visited++;
      WheelNode node = due.poll();
      int stamp = due.polledStamp();
      entries--;
      if (node.stamp == stamp) {
        try {
          long resetNanos = visitor.visit(node, deadlineNanos);
          if (resetNanos != GONE) {
            entries++;
            addAgain(node, stamp, resetNanos, visitor);
          }
        } catch (Throwable e) {
          orphan = node;
          throw e;
        }
      }
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

  /** Begins a sweep if dead entries have come to outnumber the live ones, and none is under way. */
  void sweepIfWorthwhile(long live) {
    long dead = entries - live;
    if (sweepList == SWEEP_END && (dead > Math.max(SWEEP_MIN_ENTRIES, live) || (live == 0 && dead > 0))) {
      sweepList = 0;
      swept = null;
    }
  }

  /**
   * Continues the sweep that is under way, if there is one.
   *
   * @return how many entries it has examined; if fewer than {@code limit}, the sweep is over
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
   * Drops a chunk's dead entries, and the chunk itself if it is empty then, or if the chunk before it has room for the
   * rest.
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

  /** Visits the node of every entry, in no particular order; a node may come more than once. */
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

  /** Takes every entry out, in no particular order; a node may come more than once. May be called by a visitor. */
  void removeAll(Consumer<WheelNode> taker) {
    forEach(taker);
    reached.clear();
    reachedIndex = 0;
    preloadedIndex = 0;
    atHand.clear();
    due.clear();
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
