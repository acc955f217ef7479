package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/**
 * A hierarchical timing wheel over the whole range of {@code long} ticks. It is passive: it has no thread and no clock,
 * and belongs to one owner. It holds a {@code long} per timer, so the collector has nothing to trace; {@link
 * ObjectTimerWheel} holds objects.
 *
 * <p>Scheduling, cancelling and reading the next wake take constant time; a reschedule to a later tick is one write. A
 * timer is moved at most once per level below the one it is on, so a delay of d ticks costs at most {@code log64(d)}
 * moves, rounded up, and one more for each time that its wheel slot is reached after a reschedule to a later tick.
 * Nothing is allocated per timer: storage grows by whole segments, 28 bytes a timer and 4 for each place that has
 * become free, and does not shrink.
 *
 * <p>Timers expire in the order of their deadlines. Those of one deadline expire in the order in which they were
 * placed: scheduled, rescheduled to an earlier tick, or, after being rescheduled to a later one, moved when the hand
 * reached their wheel slot. Those that were due when they were placed expire first at the next {@code advance}, in that
 * order.
 */
public final class TimerWheel implements TimerQueue {
  /*
   * Cells are numbered; a cell is seven ints side by side: generation, links, deadline, payload. Cells are stored in
   * segments, so that growth never copies. A timer is in one cache line, or two: a schedule into a cell that was free,
   * a cancel, and a move each cost about one cache miss for the cell and one for each neighbour.
   *
   * The timers of a slot form a doubly linked list, appended at its tail. Where a list ends, the link holds the
   * complement of the list's number, so unlinking needs neither the slot nor a sentinel cell. Two more lists hold due
   * timers: REACHED those that the hand has reached, LATE those that were due when placed. A slot that the hand reaches
   * is spliced onto REACHED as a whole, in constant time, and drained one timer at a time, so an advance may stop after
   * any timer.
   *
   * A reschedule to a later tick only writes the deadline; the timer stays where it is until the hand reaches its slot.
   * That keeps the lower bound in SlotMap valid and makes a heartbeat as cheap as a store.
   *
   * Rejected: singly linked slots with lazy cancellation (a cancelled request timeout keeps its memory until it would
   * have expired); a column per field (with a million timers a schedule took 28 ns instead of half of that, because it
   * misses the cache in each column); objects linked to each other (32 bytes at best, and the collector traces them).
   */
  private static final int SEGMENT_BITS = 10;
  private static final int SEGMENT_CELLS = 1 << SEGMENT_BITS;
  private static final int CELL_MASK = SEGMENT_CELLS - 1;

  /** Cell numbers are never negative, so that a complement, which is, marks the end of a list. */
  private static final int MAX_CELLS = Integer.MAX_VALUE & ~CELL_MASK;

  /** The ints of a cell. A {@code long} is two of them, the low half first. */
  private static final int GENERATION = 0;
  private static final int NEXT = 1;
  private static final int PREV = 2;
  private static final int DEADLINE = 3;
  private static final int PAYLOAD = 5;
  private static final int CELL_INTS = 7;

  private static final int REACHED = SlotMap.SLOTS;
  private static final int LATE = SlotMap.SLOTS + 1;
  private static final int LISTS = SlotMap.SLOTS + 2;

  /** Value of PREV in a cell that holds no timer. No list has this number. */
  private static final int FREE = Integer.MIN_VALUE;

  private static final int NO_CELL = -1;

  private final SlotMap slots;
  private final int[] heads = new int[LISTS];
  private final int[] tails = new int[LISTS];

  /** {@link #CELL_INTS}, or less if there are no payloads. */
  private final int cellInts;

  private int[][] segments = {};

  /** Cells below this number have been used. */
  private int usedCells;

  private int allocatedCells;

  /**
   * Stack of the cells below {@link #usedCells} that hold no timer. If it were linked through the cells, it would need
   * no memory, but each schedule would then wait for a cache miss to learn the next free cell.
   */
  private int[] freeCells = {};

  private int freeCount;

  private int size;
  private boolean advancing;

  /** Creates a wheel whose current tick is the given one. */
  public TimerWheel(long startTick) {
    this(startTick, 0, true);
  }

  /**
   * Creates a wheel with room for a number of timers, so that it need not grow for these.
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
    this.cellInts = hasPayloads ? CELL_INTS : PAYLOAD;
    Arrays.setAll(heads, list -> ~list);
    Arrays.setAll(tails, list -> ~list);
    while (allocatedCells < expectedTimers) {
      grow();
    }
  }

  @Override
  public long schedule(long deadlineTick, long payload) {
    int cell = takeCell();
    int[] segment = segment(cell);
    int at = offset(cell);
    setLong(segment, at + DEADLINE, deadlineTick);
    if (cellInts == CELL_INTS) {
      setLong(segment, at + PAYLOAD, payload);
    }
    place(cell, deadlineTick);
    size++;
    return handle(cell, segment[at + GENERATION]);
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
    int[] segment = segment(cell);
    int at = offset(cell) + DEADLINE;
    long before = getLong(segment, at);
    setLong(segment, at, deadlineTick);
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
    int[] segment = segment(cell);
    int at = offset(cell);
    long deadlineTick = getLong(segment, at + DEADLINE);
    unlink(cell);
    if (deadlineTick > slots.hand()) {
      append(slots.occupy(deadlineTick), cell);
    } else {
      long payload = payload(segment, at);
      long handle = handle(cell, segment[at + GENERATION]);
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
      int[] segment = segment(cell);
      int at = offset(cell);
      if (segment[at + PREV] != FREE) {
        visitor.accept(handle(cell, segment[at + GENERATION]), getLong(segment, at + DEADLINE), payload(segment, at));
      }
    }
  }

  /** Returns the cell of a handle, which is stable while its timer lives. */
  static int cell(long handle) {
    return (int) handle;
  }

  /** Returns the cell that the next timer will take. */
  int nextCell() {
    return freeCount > 0 ? freeCells[freeCount - 1] : usedCells;
  }

  private static long handle(int cell, int generation) {
    return (long) generation << 32 | cell;
  }

  private int[] segment(int cell) {
    return segments[cell >>> SEGMENT_BITS];
  }

  private int offset(int cell) {
    return (cell & CELL_MASK) * cellInts;
  }

  private long payload(int[] segment, int at) {
    return cellInts == CELL_INTS ? getLong(segment, at + PAYLOAD) : 0;
  }

  private static long getLong(int[] segment, int at) {
    return (segment[at] & 0xFFFF_FFFFL) | (long) segment[at + 1] << 32;
  }

  private static void setLong(int[] segment, int at, long value) {
    segment[at] = (int) value;
    segment[at + 1] = (int) (value >>> 32);
  }

  private int live(long handle) {
    int cell = (int) handle;
    if (cell < 0 || cell >= usedCells) {
      return NO_CELL;
    }
    int[] segment = segment(cell);
    int at = offset(cell);
    return segment[at + GENERATION] == (int) (handle >>> 32) && segment[at + PREV] != FREE ? cell : NO_CELL;
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
    int[] segment = segment(cell);
    int at = offset(cell);
    segment[at + NEXT] = ~list;
    segment[at + PREV] = tail;
    setNext(tail, cell);
    tails[list] = cell;
  }

  private void unlink(int cell) {
    int[] segment = segment(cell);
    int at = offset(cell);
    int next = segment[at + NEXT];
    int prev = segment[at + PREV];
    setNext(prev, next);
    setPrev(next, prev);
    if (next == prev && ~next < SlotMap.SLOTS) {
      // A list that had one timer: both its ends held the list's number.
      slots.vacate(~next);
    }
  }

  /** Moves all of one list to the end of another list, in order. */
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
      segment(cellOrEnd)[offset(cellOrEnd) + NEXT] = next;
    } else {
      heads[~cellOrEnd] = next;
    }
  }

  private void setPrev(int cellOrEnd, int prev) {
    if (cellOrEnd >= 0) {
      segment(cellOrEnd)[offset(cellOrEnd) + PREV] = prev;
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
   * Frees the cell of a timer and increments its generation, so that the handle is stale. A cell whose generations are
   * used up is never used again: this leaks 28 bytes every 2^32 timers, and keeps the promise that a stale handle
   * cancels no other timer.
   */
  private void release(int cell) {
    size--;
    int[] segment = segment(cell);
    int at = offset(cell);
    segment[at + PREV] = FREE;
    if (++segment[at + GENERATION] != 0) {
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
    if (segment == segments.length) {
      segments = Arrays.copyOf(segments, Math.max(4, segment + (segment >> 1)));
    }
    int[] fresh = new int[SEGMENT_CELLS * cellInts];
    for (int cell = 0; cell < SEGMENT_CELLS; cell++) {
      fresh[cell * cellInts + GENERATION] = 1;
    }
    segments[segment] = fresh;
    allocatedCells += SEGMENT_CELLS;
  }

  /** Ages the next free cell, for tests, until only {@code remaining} generations follow its next one. */
  void ageFreeCell(int remaining) {
    int cell = nextCell();
    assert cell < usedCells : "no free cell";
    segment(cell)[offset(cell) + GENERATION] = -1 - remaining;
  }

  @Override
  public String toString() {
    return "TimerWheel[currentTick=" + slots.hand() + ", size=" + size + "]";
  }
}
