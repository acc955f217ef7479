package io.foliot.server.api;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A reader of bodies with a bound on the memory of all bodies under way, of which each owner has a share ({@link
 * SharedBudget}). Safe for use by any thread.
 */
public final class Bodies {
  /**
   * Maximum number of bytes that are reserved for a body at first. More bytes are reserved only when these are full, so
   * that a client cannot occupy memory merely by announcing a long body.
   */
  private static final int FIRST_BYTES = 32 << 10;

  private final SharedBudget budget;

  /** Creates a reader with this many bytes for all requests together. */
  public Bodies(long budget) {
    this.budget = new SharedBudget(budget);
  }

  /** The memory held by the body of one request, until this share is closed. Used by one thread. */
  public final class Share implements AutoCloseable {
    private @Nullable String owner;
    private long bytes;

    private Share() {}

    /** Names the owner of the request before its body is read. Without an owner there is no share. */
    public void belongsTo(String newOwner) {
      owner = newOwner;
    }

    private void take(long more) {
      if (!budget.take(owner, bytes, more)) {
        throw new Problem(ProblemKind.OVERLOADED, "the bodies of requests under way fill the server's memory for bodies"
            + " (limits.waiting-bytes), or the share of this caller; nothing was done, try again later")
            .withHeader("Retry-After", "1");
      }
      bytes += more;
    }

    /**
     * Reads a body.
     *
     * @param length the length that the request declares; -1 if it declares none
     * @throws Problem if the body is longer than {@code maxBytes} or shorter than {@code length}, or if there is no
     *     room for the body
     */
    public byte[] read(InputStream in, long length, int maxBytes) throws IOException {
      ensureLength(length, maxBytes);
      byte[] body = length >= 0 && length <= FIRST_BYTES ? readAll(in, (int) length) : readToEnd(in, maxBytes);
      if (body.length < length) {
        throw new Problem(ProblemKind.INVALID_REQUEST, "the body is shorter than the header Content-Length states");
      }
      return body;
    }

    private byte[] readAll(InputStream in, int length) throws IOException {
      take(length);
      byte[] body = new byte[length];
      int filled = in.readNBytes(body, 0, length);
      return filled == length ? body : Arrays.copyOf(body, filled);
    }

    private byte[] readToEnd(InputStream in, int maxBytes) throws IOException {
      int size = FIRST_BYTES;
      take(size);
      byte[] body = new byte[size];
      int filled = 0;
      while (true) {
        int read = in.readNBytes(body, filled, size - filled);
        filled += read;
        if (filled > maxBytes) {
          throw tooLarge(filled, maxBytes);
        }
        if (filled < size) {
          return Arrays.copyOf(body, filled);
        }
        take(size);
        size *= 2;
        body = Arrays.copyOf(body, size);
      }
    }

    @Override
    public void close() {
      budget.add(owner, -bytes);
      bytes = 0;
    }
  }

  /**
   * Ensures that the declared length of a body is not too long, before any of it is read.
   *
   * @param length the length that the request declares; -1 if it declares none
   * @throws Problem if the length is above {@code maxBytes}
   */
  public static void ensureLength(long length, int maxBytes) {
    if (length > maxBytes) {
      throw tooLarge(length, maxBytes);
    }
  }

  private static Problem tooLarge(long bytes, int limit) {
    return new Problem(ProblemKind.TOO_LARGE,
        "the body of this call has at most " + limit + " bytes (limits.body of the"
            + " server, limits.batch-body for many items at once); send less with each call: bytes=" + bytes)
        .with("limit", limit);
  }

  /** Returns a share for a request that begins. */
  public Share share() {
    return new Share();
  }

  /** Returns how many bytes the shares of all requests hold. */
  public long held() {
    return budget.held();
  }
}
