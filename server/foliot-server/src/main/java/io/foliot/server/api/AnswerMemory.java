package io.foliot.server.api;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A bound on the memory of all answers under way: records that were read, and the text made of the records. A call that
 * finds no room waits, and is refused after a second. Safe for use by any thread.
 */
public final class AnswerMemory {
  /**
   * Number of copies of a payload that exist at the same time: in the record, in the text, in the array made of the
   * text, and in the buffer of the connection.
   */
  static final int COPIES = 4;
  /** Estimated bytes of a record and its text besides the payload: names, times, the history of attempts. */
  static final int RECORD_BYTES = 4 << 10;

  /** Longest wait for room. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);
  /**
   * Number of concurrent answers for which there should be room. An answer that is made in parts should therefore
   * reserve at most the whole memory divided by this number.
   */
  private static final int CALLERS = 4;
  /** Bytes of one permit. */
  private static final int UNIT = 1 << 10;

  private final int units;
  private final Room room;

  /** A semaphore with one permit for each KiB. {@link #reducePermits} can make the number of permits negative. */
  private static final class Room extends Semaphore {
    private static final long serialVersionUID = 1;

    Room(int units) {
      super(units, true);
    }

    @Override
    protected void reducePermits(int reduction) {
      super.reducePermits(reduction);
    }
  }

  /** Creates a bound of this many bytes for all answers under way together. */
  public AnswerMemory(long bytes) {
    units = units(bytes);
    room = new Room(units);
  }

  private static int units(long bytes) {
    return Math.clamp(Math.ceilDiv(bytes, UNIT), 1, Integer.MAX_VALUE);
  }

  /** Returns how many bytes the answers under way use or have reserved. */
  public long held() {
    return (long) (units - room.availablePermits()) * UNIT;
  }

  /** Returns a share for a request that begins. */
  public Share share() {
    return new Share();
  }

  /** The memory of one request. It is released when the answer has been sent. Used by one thread. */
  public final class Share implements AutoCloseable {
    private int held;

    private Share() {}

    /** Returns the maximum number of bytes that one answer should reserve. */
    long mostBytes() {
      return (long) units * UNIT / CALLERS;
    }

    /**
     * Reserves this many bytes, but at most the whole memory, instead of the bytes that this request has now. The
     * latter are released first, so that two requests never wait for each other's memory.
     *
     * @throws Problem if there is no room within a second, or the server stops
     */
    void reserve(long bytes) {
      close();
      int wanted = Math.min(units, units(bytes));
      try {
        if (!room.tryAcquire(wanted, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new Problem(ProblemKind.OVERLOADED, "answers to requests under way fill the server's memory for answers"
              + " (limits.answer-bytes); nothing was done, try again later or ask for less at once")
              .withHeader("Retry-After", "1");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Problem(ProblemKind.NOT_READY, "the server stops; nothing was done").withHeader("Retry-After", "1");
      }
      held = wanted;
    }

    /**
     * Sets the number of bytes that this request has, without a wait. An answer whose records are already in memory is
     * never refused, so the total can exceed the bound.
     */
    void holds(long bytes) {
      int now = units(bytes);
      if (now < held) {
        room.release(held - now);
      } else {
        room.reducePermits(now - held);
      }
      held = now;
    }

    @Override
    public void close() {
      room.release(held);
      held = 0;
    }
  }
}
