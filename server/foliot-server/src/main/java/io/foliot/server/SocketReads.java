package io.foliot.server;

import io.helidon.common.socket.HelidonSocket;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a connection, one at a time. While a request waits, another thread can read ahead: it notices at once
 * that the client closes the connection, even if bytes of the next requests arrive before. The results of these reads
 * are the results of the next calls of {@link #next}, so no byte is lost.
 */
final class SocketReads {
  /**
   * Number of bytes after which no further read is made ahead. A client that sends more before it has an answer can
   * hide the end of its connection, which is then noticed when the answer is written. Without a bound, it could fill
   * the memory.
   */
  static final int MAX_AHEAD_BYTES = 16 << 10;

  private final HelidonSocket socket;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by the lock
  private final Deque<byte[]> ahead = new ArrayDeque<>();
  private int aheadBytes;
  private boolean isReading;
  private boolean isEnded;
  private @Nullable RuntimeException failure;
  /** The action of the request that waits; null if none waits. */
  private @Nullable Runnable onEnd;

  SocketReads(HelidonSocket socket) {
    this.socket = socket;
  }

  /**
   * Returns the bytes that arrive next, or null at the end of the input.
   *
   * @throws UncheckedIOException if the read fails
   */
  byte @Nullable [] next() {
    lock.lock();
    try {
      while (ahead.isEmpty() && isReading) {
        changed.awaitUninterruptibly();
      }
      byte[] bytes = ahead.poll();
      if (bytes != null) {
        aheadBytes -= bytes.length;
        return bytes;
      }
      if (failure != null) {
        throw failure;
      }
      if (isEnded) {
        return null;
      }
    } finally {
      lock.unlock();
    }
    return socket.get();
  }

  /**
   * Begins to read ahead, and runs an action if the input ends. Only the request that is being served may call this
   * method, and must call {@link #unwatch} before it is answered.
   */
  void watch(Runnable action) {
    lock.lock();
    try {
      if (!isEnded) {
        onEnd = action;
        if (!isReading && aheadBytes < MAX_AHEAD_BYTES) {
          isReading = true;
          Thread unused = Thread.ofVirtual().name("foliot-connection-watch").start(this::readAhead);
        }
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  /** Ends the watch. A read that is under way ends with the next bytes, which are part of the next request. */
  void unwatch() {
    lock.lock();
    try {
      onEnd = null;
    } finally {
      lock.unlock();
    }
  }

  private void readAhead() {
    boolean goesOn = true;
    while (goesOn) {
      byte[] bytes = null;
      RuntimeException failed = null;
      try {
        bytes = socket.get();
      } catch (RuntimeException e) {
        failed = e;
      } catch (Error e) {
        boolean unused = arrived(null, new IllegalStateException("a read of the connection failed", e));
        throw e;
      }
      goesOn = arrived(bytes, failed);
    }
  }

  /** Records the result of a read. Returns whether another read follows. */
  private boolean arrived(byte @Nullable [] bytes, @Nullable RuntimeException failed) {
    Runnable action = null;
    lock.lock();
    try {
      if (bytes == null) {
        isEnded = true;
        failure = failed;
        action = onEnd;
        onEnd = null;
      } else {
        ahead.add(bytes);
        aheadBytes += bytes.length;
      }
      isReading = bytes != null && onEnd != null && aheadBytes < MAX_AHEAD_BYTES;
      changed.signalAll();
      return isReading;
    } finally {
      lock.unlock();
      if (action != null) {
        action.run();
      }
    }
  }
}
