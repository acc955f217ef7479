package io.foliot.server;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Checks repeatedly that the store commits, that it is still the same store, and that the port accepts connections. The
 * last check is needed because Helidon's accepting thread ends at its first failure, such as too many open files, and
 * reports nothing.
 */
final class Watchdog implements AutoCloseable {
  private static final long BEAT_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** Number of beats from one test connection to the server's port to the next. */
  private static final int BEATS_PER_KNOCK = 5;
  /** Longest wait for a test connection. */
  private static final int KNOCK_MILLIS = 500;

  private final CommitPulse pulse;
  private final StoreIdentity identity;
  private final InetSocketAddress address;
  private final BooleanSupplier accepts;
  private final Consumer<Throwable> onFailure;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Starts a watchdog, after a first check that the store commits.
   *
   * @param address the address on which the server listens
   * @param accepts whether the server has room for a connection; without room, a test connection would prove nothing
   * @param onFailure called once, by the thread of the watchdog, if nothing listens on the address any more
   */
  Watchdog(CommitPulse pulse, StoreIdentity identity, InetSocketAddress address, BooleanSupplier accepts,
      Consumer<Throwable> onFailure) {
    this.pulse = pulse;
    this.identity = identity;
    InetAddress listens = address.getAddress();
    this.address = listens.isAnyLocalAddress()
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort())
        : address;
    this.accepts = accepts;
    this.onFailure = onFailure;
    awaitFirstBeat();
    thread = Thread.ofPlatform().daemon().name("foliot-watchdog").start(this::watch);
  }

  /**
   * Waits for the first beat, for {@link CommitPulse#LOST_NANOS} at most. A server whose store commits is therefore
   * ready as soon as it has started.
   */
  private void awaitFirstBeat() {
    try {
      boolean unused = pulse.beat().get(CommitPulse.LOST_NANOS, TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException | CompletionException e) {
      // If the first beat fails, the server is not ready, and reports why.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void watch() {
    for (long beat = 1; !closed; beat++) {
      LockSupport.parkNanos(this, BEAT_NANOS);
      CompletableFuture<Boolean> unused = pulse.beat();
      identity.check();
      if (beat % BEATS_PER_KNOCK == 0 && accepts.getAsBoolean() && !closed && !isListening() && !closed) {
        onFailure.accept(new IllegalStateException("nothing listens on the port any more: address=" + address));
        return;
      }
    }
  }

  /**
   * Returns false if a test connection is refused. Any other failure, such as too many open files, proves nothing, and
   * the result is true.
   */
  private boolean isListening() {
    try (Socket knock = new Socket()) {
      knock.connect(address, KNOCK_MILLIS);
    } catch (ConnectException e) {
      return false;
    } catch (IOException e) {
      return true;
    }
    return true;
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
