package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/**
 * A hierarchical timing wheel over the whole range of {@code long} ticks. It is passive: it has no thread and no clock,
 * and belongs to one owner. It holds a {@code long} per timer, so the collector has nothing to trace;
 * {@link ObjectTimerWheel} holds objects.
 *
 * <p>Scheduling, cancelling and asking for the next wake take constant time; a reschedule to a later tick is one write.
 * A timer is moved at most once per level below the one it stands on, so a delay of d ticks costs at most
 * {@code log64(d)} moves, rounded up, and one more for each time it is found pushed back. Nothing is allocated per timer:
 * storage grows by whole segments, 28 bytes a timer and 4 for each place that has become free, and does not shrink.
 *
 * <p>Timers expire in the order of their deadlines. Those of one deadline expire in the order in which they were placed:
 * scheduled, rescheduled to an earlier tick, or, after being rescheduled to a later one, moved when the wheel came to
 * where they stood. Those that were due when they were placed expire first at the next {@code advance}, in that order.
 */
public final class TimerWheel implements TimerQueue {
  /*
   * Cells are numbered; a cell's fields stand in columns, cut into segments so that growth never copies. Deadline and
   * payload have a column each. Generation and the two links share one, because a cancel touches just these three: a
   * random cancel costs the cache misses of the cell and its two neighbours, and no more.
   *
   * The timers of a slot form a doubly linked list, appended at its tail. Where a list ends, the link holds the
   * complement of the list's number, so unlinking needs neither the slot nor a sentinel cell. Two lists beside the slots
   * hold what is due: REACHED what the hand has come to, LATE what was due when it was placed. A slot that the hand
   * reaches is spliced onto REACHED whole, in constant time, and worked off one timer at a time, so an advance may stop
   * after any timer.
   *
   * A reschedule to a later tick only writes the deadline; the timer stays where it is until the hand comes there. That
   * keeps the lower bound in SlotMap valid and makes a heartbeat as cheap as a store.
   *
   * Rejected: singly linked slots with lazy cancellation (a cancelled request timeout keeps its memory until it would
   * have expired); a separate array per link (three cache misses per neighbour instead of one); objects linked to each
   * other (32 bytes at best, and the collector traces them).
   */
  private static final int SEGMENT_BITS = 10;
  private static final int SEGMENT_CELLS = 1 << SEGMENT_BITS;
  private static final int CELL_MASK = SEGMENT_CELLS - 1;

  /** Cell numbers stay positive, so that a complement tells the end of a list from a cell. */
  private static final int MAX_CELLS = Integer.MAX_VALUE & ~CELL_MASK;

  private static final int NODE_INTS = 3;
  private static final int GENERATION = 0;
  private static final int NEXT = 1;
  private static final int PREV = 2;

  private static final int REACHED = SlotMap.SLOTS;
  private static final int LATE = SlotMap.SLOTS + 1;
  private static final int LISTS = SlotMap.SLOTS + 2;

  /** Stands in PREV of a cell that holds no timer. No list has this number. */
  private static final int FREE = Integer.MIN_VALUE;

  private static final int NO_CELL = -1;

  private final SlotMap slots;
  private final int[] heads = new int[LISTS];
  private final int[] tails = new int[LISTS];
  private final boolean hasPayloads;

  private long[][] deadlines = {};
  private long[][] payloads = {};
  private int[][] nodes = {};

  /** Cells below this number have been used. */
  private int usedCells;

  private int allocatedCells;

  /**
   * Cells below {@link #usedCells} that hold no timer, a stack. Linked through the cells it would cost nothing, but each
   * schedule would then wait for memory to learn the next free cell.
   */
  private int[] freeCells = {};

  private int freeCount;

  private int size;
  private boolean advancing;

  /** A wheel whose time stands at the given tick. */
  public TimerWheel(long startTick) {
    this(startTick, 0, true);
  }

  /**
   * A wheel with room for a number of timers, so that none of these makes it grow.
   *
   * @throws IllegalArgumentException if {@code expectedTimers} is negative
   */
  public TimerWheel(long startTick, int expectedTimers) {
    this(startTick, expectedTimers, true);
  }

  TimerWheel(long startTick, int expectedTimers, boolean hasPayloads) {
    if (expectedTimers < 0 || expectedTimers > MAX_CELLS) {
      throw new IllegalArgumentException(
          "the number of timers must be between 0 and " + MAX_CELLS + ": expectedTimers=" + expectedTimers);
    }
    this.slots = new SlotMap(startTick);
    this.hasPayloads = hasPayloads;
    Arrays.setAll(heads, list -> ~list);
    Arrays.setAll(tails, list -> ~list);
    while (allocatedCells < expectedTimers) {
      grow();
    }
  }

  @Override
  public long schedule(long deadlineTick, long payload) {
    int cell = takeCell();
    int segment = cell >>> SEGMENT_BITS;
    int index = cell & CELL_MASK;
    deadlines[segment][index] = deadlineTick;
    if (hasPayloads) {
      payloads[segment][index] = payload;
    }
    place(cell, deadlineTick);
    size++;
    return handle(cell, nodes[segment][index * NODE_INTS + GENERATION]);
  }

  /**
   * Adds a timer that may expire up to {@code slackTicks} late. The deadline is rounded up to a tick at which fewer
   * levels turn, so that timers with slack cost fewer moves and expire in larger groups.
   *
   * @throws IllegalArgumentException if {@code slackTicks} is negative
   */
  public long schedule(long deadlineTick, long slackTicks, long payload) {
    return schedule(SlotMap.coarsen(deadlineTick, slackTicks), payload);
  }

  @Override
  public boolean cancel(long handle) {
    int cell = live(handle);
    if (cell == NO_CELL) {
      return false;
    }
    unlink(cell);
    release(cell);
    return true;
  }

  @Override
  public boolean reschedule(long handle, long deadlineTick) {
    int cell = live(handle);
    if (cell == NO_CELL) {
      return false;
    }
    long[] segment = deadlines[cell >>> SEGMENT_BITS];
    int index = cell & CELL_MASK;
    long before = segment[index];
    segment[index] = deadlineTick;
    if (deadlineTick < before) {
      unlink(cell);
      place(cell, deadlineTick);
    }
    return true;
  }

  @Override
  public long nextWake() {
    return heads[REACHED] >= 0 || heads[LATE] >= 0 ? slots.hand() : slots.nextWake();
  }

  @Override
  public int advance(long nowTick, int limit, Sink sink) {
    requireNonNull(sink, "sink");
    if (limit <= 0) {
      throw new IllegalArgumentException("limit must be positive: limit=" + limit);
    }
    if (advancing) {
      throw new IllegalStateException("advance must not be called from inside its sink: currentTick=" + slots.hand());
    }
    if (nowTick < slots.hand()) {
      return 0;
    }
    advancing = true;
    try {
      return expire(nowTick, limit, sink);
    } finally {
      advancing = false;
    }
  }

  private int expire(long nowTick, int limit, Sink sink) {
    splice(LATE, REACHED);
    int touched = 0;
    while (touched < limit) {
      int cell = heads[REACHED];
      if (cell >= 0) {
        touched++;
        settle(cell, sink);
      } else {
        int slot = slots.reached(nowTick);
        if (slot == SlotMap.NONE) {
          break;
        }
        splice(slot, REACHED);
        slots.vacate(slot);
      }
    }
    return touched;
  }

  /** Hands out a reached timer, or moves it if its deadline is still ahead. */
  private void settle(int cell, Sink sink) {
    int segment = cell >>> SEGMENT_BITS;
    int index = cell & CELL_MASK;
    long deadlineTick = deadlines[segment][index];
    unlink(cell);
    if (deadlineTick > slots.hand()) {
      append(slots.occupy(deadlineTick), cell);
    } else {
      long payload = hasPayloads ? payloads[segment][index] : 0;
      long handle = handle(cell, nodes[segment][index * NODE_INTS + GENERATION]);
      release(cell);
      sink.accept(handle, deadlineTick, payload);
    }
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public long currentTick() {
    return slots.hand();
  }

  @Override
  public void forEach(Sink visitor) {
    requireNonNull(visitor, "visitor");
    for (int cell = 0; cell < usedCells; cell++) {
      int segment = cell >>> SEGMENT_BITS;
      int index = cell & CELL_MASK;
      if (nodes[segment][index * NODE_INTS + PREV] != FREE) {
        visitor.accept(
            handle(cell, nodes[segment][index * NODE_INTS + GENERATION]),
            deadlines[segment][index],
            hasPayloads ? payloads[segment][index] : 0);
      }
    }
  }

  /** The cell of a handle, which is stable while its timer lives. */
  static int cell(long handle) {
    return (int) handle;
  }

  /** The cell that the next timer will take. */
  int nextCell() {
    return freeCount > 0 ? freeCells[freeCount - 1] : usedCells;
  }

  private static long handle(int cell, int generation) {
    return (long) generation << 32 | cell;
  }

  private int live(long handle) {
    int cell = (int) handle;
    if (cell < 0 || cell >= usedCells) {
      return NO_CELL;
    }
    int[] segment = nodes[cell >>> SEGMENT_BITS];
    int node = (cell & CELL_MASK) * NODE_INTS;
    return segment[node + GENERATION] == (int) (handle >>> 32) && segment[node + PREV] != FREE ? cell : NO_CELL;
  }

  private void place(int cell, long deadlineTick) {
    if (deadlineTick <= slots.hand()) {
      append(LATE, cell);
    } else if (heads[REACHED] >= 0 && slots.inReached(deadlineTick)) {
      append(REACHED, cell);
    } else {
      append(slots.occupy(deadlineTick), cell);
    }
  }

  private void append(int list, int cell) {
    int tail = tails[list];
    int[] segment = nodes[cell >>> SEGMENT_BITS];
    int node = (cell & CELL_MASK) * NODE_INTS;
    segment[node + NEXT] = ~list;
    segment[node + PREV] = tail;
    setNext(tail, cell);
    tails[list] = cell;
  }

  private void unlink(int cell) {
    int[] segment = nodes[cell >>> SEGMENT_BITS];
    int node = (cell & CELL_MASK) * NODE_INTS;
    int next = segment[node + NEXT];
    int prev = segment[node + PREV];
    setNext(prev, next);
    setPrev(next, prev);
    if (next == prev && ~next < SlotMap.SLOTS) {
      // A list that had one timer: both its ends held the list's number.
      slots.vacate(~next);
    }
  }

  /** Moves all of one list to the end of another one, in order. */
  private void splice(int from, int to) {
    int first = heads[from];
    int last = tails[from];
    if (first >= 0) {
      int tail = tails[to];
      setNext(tail, first);
      setPrev(first, tail);
      setNext(last, ~to);
      tails[to] = last;
      heads[from] = ~from;
      tails[from] = ~from;
    }
  }

  private void setNext(int cellOrEnd, int next) {
    if (cellOrEnd >= 0) {
      nodes[cellOrEnd >>> SEGMENT_BITS][(cellOrEnd & CELL_MASK) * NODE_INTS + NEXT] = next;
    } else {
      heads[~cellOrEnd] = next;
    }
  }

  private void setPrev(int cellOrEnd, int prev) {
    if (cellOrEnd >= 0) {
      nodes[cellOrEnd >>> SEGMENT_BITS][(cellOrEnd & CELL_MASK) * NODE_INTS + PREV] = prev;
    } else {
      tails[~cellOrEnd] = prev;
    }
  }

  private int takeCell() {
    if (freeCount > 0) {
      return freeCells[--freeCount];
    }
    if (usedCells == allocatedCells) {
      grow();
    }
    return usedCells++;
  }

  /**
   * Ends a timer's life. The generation moves on, so its handle is stale. A cell whose generations are used up is never
   * used again: a leak of 28 bytes every 2^32 timers keeps the promise that a stale handle cancels nobody.
   */
  private void release(int cell) {
    size--;
    int[] segment = nodes[cell >>> SEGMENT_BITS];
    int node = (cell & CELL_MASK) * NODE_INTS;
    segment[node + PREV] = FREE;
    if (++segment[node + GENERATION] != 0) {
      if (freeCount == freeCells.length) {
        freeCells = Arrays.copyOf(freeCells, Math.max(SEGMENT_CELLS, freeCount + (freeCount >> 1)));
      }
      freeCells[freeCount++] = cell;
    }
  }

  private void grow() {
    if (allocatedCells == MAX_CELLS) {
      throw new IllegalStateException("a wheel holds at most " + MAX_CELLS + " timers: size=" + size);
    }
    int segment = allocatedCells >>> SEGMENT_BITS;
    if (segment == nodes.length) {
      int segments = Math.max(4, segment + (segment >> 1));
      deadlines = Arrays.copyOf(deadlines, segments);
      payloads = hasPayloads ? Arrays.copyOf(payloads, segments) : payloads;
      nodes = Arrays.copyOf(nodes, segments);
    }
    int[] fresh = new int[SEGMENT_CELLS * NODE_INTS];
    for (int cell = 0; cell < SEGMENT_CELLS; cell++) {
      fresh[cell * NODE_INTS + GENERATION] = 1;
    }
    deadlines[segment] = new long[SEGMENT_CELLS];
    if (hasPayloads) {
      payloads[segment] = new long[SEGMENT_CELLS];
    }
    nodes[segment] = fresh;
    allocatedCells += SEGMENT_CELLS;
  }

  /** For tests: makes the next use of a free cell its last generation but {@code remaining}. */
  void ageFreeCell(int remaining) {
    int cell = nextCell();
    assert cell < usedCells : "no free cell";
    nodes[cell >>> SEGMENT_BITS][(cell & CELL_MASK) * NODE_INTS + GENERATION] = -1 - remaining;
  }

  @Override
  public String toString() {
    return "TimerWheel[currentTick=" + slots.hand() + ", size=" + size + "]";
  }
}
