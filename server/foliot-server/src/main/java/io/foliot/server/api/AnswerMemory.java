package io.foliot.server.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A bound on the memory of all answers under way: records that were read, and the text made of the records. Each owner
 * has a share ({@link SharedBudget}). A call that finds no room waits, and is refused after a second. Safe for use by
 * any thread.
 */
public final class AnswerMemory {
  /**
   * Number of copies of a payload that exist at the same time: in the record, in the text, in the array made of the
   * text, and in the buffer of the connection.
   */
  static final int COPIES = 4;
  /** Number of copies of an answer while it is sent: the text, and the buffer of the connection. */
  private static final int COPIES_SENT = 2;
  /** Estimated bytes of a record and its text besides the payload: names, times, the history of attempts. */
  static final int RECORD_BYTES = 4 << 10;

  /** Longest wait for room. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);
  /**
   * Number of concurrent answers for which there should be room. An answer that is made in parts should therefore
   * reserve at most the whole memory divided by this number.
   */
  private static final int CALLERS = 4;
  private final long total;
  private final SharedBudget budget;

  /** Creates a bound of this many bytes for all answers under way together. */
  public AnswerMemory(long bytes) {
    total = bytes;
    budget = new SharedBudget(bytes);
  }

  /** Returns how many bytes the answers under way use or have reserved. */
  public long held() {
    return budget.held();
  }

  /** Returns a share for a request that begins. */
  public Share share() {
    return new Share();
  }

  /** The memory of one request. It is released when the answer has been sent. Used by one thread. */
  public final class Share implements AutoCloseable {
    private @Nullable String owner;
    private long held;

    private Share() {}

    /** Names the owner of the request before it reserves memory. Without an owner there is no share. */
    public void belongsTo(String newOwner) {
      owner = newOwner;
    }

    /** Returns the maximum number of bytes that one answer should reserve. */
    long mostBytes() {
      return total / CALLERS;
    }

    /**
     * Reserves this many bytes, but at most the whole memory, instead of the bytes that this request has now. The
     * latter are released first, so that two requests never wait for each other's memory.
     *
     * @throws Problem if there is no room within a second, or the server stops
     */
    void reserve(long bytes) {
      close();
      long wanted = Math.min(total, bytes);
      try {
        if (!budget.take(owner, wanted, PATIENCE)) {
          throw new Problem(ProblemKind.OVERLOADED, "answers to requests under way fill the server's memory for answers"
              + " (limits.answer-bytes), or the share of this caller; nothing was done, try again later or ask for less"
              + " at once").withHeader("Retry-After", "1");
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
      budget.add(owner, bytes - held);
      held = bytes;
    }

    /**
     * Releases the memory of the records before the answer is sent, because a slow client may take long to read it. The
     * text remains, and its copy in the buffer of the connection.
     */
    public void sends(long textBytes) {
      if (held > COPIES_SENT * textBytes) {
        holds(COPIES_SENT * textBytes);
      }
    }

    @Override
    public void close() {
      holds(0);
    }
  }
}
