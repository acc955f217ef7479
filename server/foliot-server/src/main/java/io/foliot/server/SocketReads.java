package io.foliot.server;

import io.helidon.common.socket.HelidonSocket;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The reads of a connection, one at a time. While a request waits, the next read can already be under way, in a thread
 * of its own: it notices at once that the client closes the connection. Its result is the result of the next call of
 * {@link #next}, so no byte is lost.
 */
final class SocketReads {
  private final HelidonSocket socket;
  private final ReentrantLock lock = new ReentrantLock();
  // guarded by the lock
  private @Nullable CompletableFuture<byte @Nullable []> ahead;

  SocketReads(HelidonSocket socket) {
    this.socket = socket;
  }

  /**
   * Returns the bytes that arrive next, or null at the end of the input.
   *
   * @throws UncheckedIOException if the read fails
   */
  byte @Nullable [] next() {
    CompletableFuture<byte @Nullable []> begun;
    lock.lock();
    try {
      begun = ahead;
      ahead = null;
    } finally {
      lock.unlock();
    }
    if (begun == null) {
      return socket.get();
    }
    try {
      return begun.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }

  /**
   * Begins the next read, unless it has begun already. Runs an action if the read finds that the connection ended. The
   * read may have begun for an earlier request, whose successor arrived together with it.
   */
  void watch(Runnable onEnd) {
    CompletableFuture<byte @Nullable []> read;
    lock.lock();
    try {
      read = ahead;
      if (read == null) {
        read = new CompletableFuture<>();
        ahead = read;
        CompletableFuture<byte @Nullable []> begun = read;
        Thread unusedThread = Thread.ofVirtual().name("foliot-connection-watch").start(() -> read(begun));
      }
    } finally {
      lock.unlock();
    }
    CompletableFuture<?> unused = read.whenComplete((bytes, failure) -> {
      if (bytes == null) {
        onEnd.run();
      }
    });
  }

  private void read(CompletableFuture<byte @Nullable []> read) {
    try {
      read.complete(socket.get());
    } catch (RuntimeException | Error e) {
      read.completeExceptionally(e);
    }
  }
}
