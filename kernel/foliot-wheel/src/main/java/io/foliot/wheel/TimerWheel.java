package io.foliot.wheel;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;

/**
 * A hierarchical timing wheel over the whole range of {@code long} ticks. It is passive: it has no thread and no clock.
 * It is not thread-safe. It holds a {@code long} per timer, so the garbage collector has nothing to trace; {@link
 * ObjectTimerWheel} holds objects.
 *
 * <p>Scheduling, cancelling and reading the next wake take constant time; a reschedule to a later tick is one write. A
 * timer is moved down at most once for each level below its first level. So a delay of d ticks costs at most {@code
 * log64(d)} moves, rounded up. After a reschedule to a later tick, the timer is moved once more when its wheel slot is
 * reached.
 *
 * <p>Nothing is allocated per timer. A timer has a cell of 28 bytes. Cells are allocated 1,024 at a time and never
 * released. A cell that has become free takes 4 bytes more.
 *
 * <p>Timers expire in the order of their deadlines. Timers with equal deadlines expire in the order in which they were
 * placed. A timer is placed when it is scheduled or rescheduled to an earlier tick. A timer that was rescheduled to a
 * later tick is placed again when its wheel slot is reached. Timers that were due when they were placed expire at the
 * next {@code advance}, in the order of their placements. Only timers that an earlier {@code advance} left behind
 * expire before these.
 */
public final class TimerWheel implements TimerQueue {
  /*
   * Each timer has a numbered cell of seven adjacent ints: generation, two links, deadline, payload. Cells are stored
   * in segments, so that growth never copies a cell. A cell lies in one or two cache lines. Three operations each cost
   * about one cache miss for the cell, and one for each neighbour in its list: a schedule into a freed cell, a cancel,
   * and a move.
   *
   * The timers of a slot form a doubly linked list; new timers are appended at the tail. The link at each end of a list
   * holds the complement of the list's number, so unlinking needs neither the slot nor a sentinel cell.
   *
   * Two more lists hold due timers. REACHED holds the timers of slots that the hand has reached; the hand is the
   * current tick. LATE holds the timers that were due when they were placed. When the hand reaches a slot, the slot's
   * whole list is appended to REACHED in constant time. REACHED is drained one timer at a time, so an advance may stop
   * after any timer.
   *
   * A reschedule to a later tick only writes the deadline; the timer stays in its list until the hand reaches the slot.
   * The lower bound in SlotMap thus remains valid, and the reschedule costs one memory write.
   *
   * Rejected: singly linked slots with lazy cancellation. The timeout of an answered request would keep its memory
   * until its deadline. Also rejected: one array per field. With a million timers, a schedule took 28 ns instead of 14
   * ns, because it missed the cache in each array. Also rejected: objects linked to each other. They take at least 32
   * bytes each, and the garbage collector traces them.
   */

  /** Base-2 logarithm of the number of cells in a segment. */
  private static final int SEGMENT_BITS = 10;

  private static final int SEGMENT_CELLS = 1 << SEGMENT_BITS;
  private static final int CELL_MASK = SEGMENT_CELLS - 1;

  /** Largest number of cells. Cell numbers are never negative, so a negative link marks the end of a list. */
  private static final int MAX_CELLS = Integer.MAX_VALUE & ~CELL_MASK;

  // Offsets of a cell's fields, in ints. Deadline and payload take two ints each, the low half first.
  private static final int GENERATION = 0;
  private static final int NEXT = 1;
  private static final int PREV = 2;
  private static final int DEADLINE = 3;
  private static final int PAYLOAD = 5;
  private static final int CELL_INTS = 7;

  // Numbers of the lists after those of the slots.
  private static final int REACHED = SlotMap.SLOTS;
  private static final int LATE = SlotMap.SLOTS + 1;
  private static final int LISTS = SlotMap.SLOTS + 2;

  /** Value of PREV in a cell that holds no timer. No list has this number. */
  private static final int FREE = Integer.MIN_VALUE;

  /** Result of {@link #live} for a stale or unknown handle. */
  private static final int NO_CELL = -1;

  private final SlotMap slots;
  private final int[] heads = new int[LISTS];
  private final int[] tails = new int[LISTS];

  /** Number of ints of a cell: {@link #CELL_INTS}, or {@link #PAYLOAD} if cells have no payload. */
  private final int cellInts;

  private int[][] segments = {};

  /** Number of cells that have been used at least once, which are the cells with the lowest numbers. */
  private int usedCells;

  private int allocatedCells;

  /**
   * Stack of the used cells that have become free. A list linked through the cells would need no memory, but each
   * schedule would wait for a cache miss to read the number of the next free cell.
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
   * @throws IllegalArgumentException if {@code expectedTimers} is negative or above 2,147,482,624
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
   * Adds a timer that may expire up to {@code slackTicks} late. The deadline is rounded up to a multiple of a power of
   * 64 ticks, so that timers with slack cost fewer moves and expire in larger groups.
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
        expireOrMove(cell, sink);
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

  /** Hands out a timer of a reached slot, or moves the timer to another slot if its deadline is after the hand. */
  private void expireOrMove(int cell, Sink sink) {
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

  /** Returns the cell number in a handle. A timer keeps its cell until it expires or is cancelled. */
  static int cell(long handle) {
    return (int) handle;
  }

  /** Returns the cell that the next timer will take. */
  int nextCell() {
    return freeCount > 0 ? freeCells[freeCount - 1] : usedCells;
  }

  /** Returns the handle of a timer: the generation in the high 32 bits, the cell number in the low 32 bits. */
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

  /** Returns the cell of a timer that waits, or {@link #NO_CELL}. */
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
      // The list had one timer: both links of the timer were the complement of the list's number.
      slots.vacate(~next);
    }
  }

  /** Moves all timers of one list to the end of another list; they keep their order. */
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
   * Frees the cell of a timer and increments its generation, so that the handle becomes stale. A cell whose generations
   * are used up is never used again, so a stale handle never cancels another timer. This leaks 28 bytes per
   * 2^32 - 1 timers.
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

  /** Sets the generation of the next free cell so that only {@code remaining} generations follow it. For tests. */
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
