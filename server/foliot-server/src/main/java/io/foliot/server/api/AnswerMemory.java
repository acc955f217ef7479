package io.foliot.server.api;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the memory of all answers under way: records that were read, and the text made of them. A call without room
 * waits a moment and is then refused. Any thread.
 */
public final class AnswerMemory {
  /**
   * A record's payload as it was read, as part of the text, that text as an array, and in the buffer of the connection.
   */
  static final int COPIES = 4;
  /** Memory of a record and its text beside the payload: names, times, the history of attempts. */
  static final int RECORD_BYTES = 4 << 10;

  private static final Duration PATIENCE = Duration.ofSeconds(1);
  /** One caller never gets more than this part of all, so that others get theirs. */
  private static final int CALLERS = 4;
  private static final int UNIT = 1 << 10;

  private final int units;
  private final Room room;

  /** Permits, one for a KiB, which can also be taken when there are none. */
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

  /** Creates a memory of this many bytes for all answers under way together. */
  public AnswerMemory(long bytes) {
    units = units(bytes);
    room = new Room(units);
  }

  private static int units(long bytes) {
    return Math.clamp(Math.ceilDiv(bytes, UNIT), 1, Integer.MAX_VALUE);
  }

  /** Returns how much is held. */
  public long held() {
    return (long) (units - room.availablePermits()) * UNIT;
  }

  /** Returns a share for a request that begins. */
  public Share share() {
    return new Share();
  }

  /** The memory held by one request, which is returned when its answer is sent. One thread. */
  public final class Share implements AutoCloseable {
    private int held;

    private Share() {}

    /** Returns the most that one answer may reserve. */
    long mostBytes() {
      return (long) units * UNIT / CALLERS;
    }

    /**
     * Ensures room for this many bytes, or for the whole memory if they are more, in place of the bytes held. Those are
     * given back first, so that requests never wait for each other.
     *
     * @throws Problem if there is no room within a second
     */
    void reserve(long bytes) {
      close();
      int wanted = Math.min(units, units(bytes));
      try {
        if (!room.tryAcquire(wanted, PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new Problem(ProblemKind.OVERLOADED, "answers to requests under way fill the server's memory for them"
              + " (limits.answer-bytes); nothing was done, try again later or ask for less at once")
              .withHeader("Retry-After", "1");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Problem(ProblemKind.NOT_READY, "the server stops; nothing was done").withHeader("Retry-After", "1");
      }
      held = wanted;
    }

    /** Sets the final number of bytes, more or fewer; an answer that exists already is not refused. */
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
