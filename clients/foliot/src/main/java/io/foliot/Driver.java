package io.foliot;

import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The source of time and threads of a {@link Foliot}. Only tests need a driver of their own:
 * {@code io.foliot:foliot-test} supplies one whose clock the test advances.
 */
public interface Driver extends AutoCloseable {
  /** Returns the clock of the engine and its loops. */
  TimeSource clock();

  /** Returns a new loop, not yet started. The names of its threads begin with this name. */
  EventLoop newLoop(String name);

  /** Returns the executor that runs handlers. */
  Executor handlers();

  /**
   * Waits for a call, and returns its result or throws its exception. An interrupt ends the wait with a
   * {@link io.foliot.core.store.StoreException}, and the thread stays interrupted.
   */
  <R> R await(CompletableFuture<R> call);

  /** Waits for the end of the engine, even if the calling thread is interrupted. */
  void awaitStop(CompletableFuture<Void> stop);

  /** Releases the resources of this driver. All its loops are closed by then. */
  @Override
  void close();
}
