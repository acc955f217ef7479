package io.foliot;

import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * The time and the threads of a {@link Foliot}. Applications do not need it; {@code io.foliot:foliot-test}
 * replaces it by one with a clock that the test advances.
 */
public interface Driver extends AutoCloseable {
  /** Returns the clock of everything that this drives. */
  TimeSource clock();

  /** Returns a new loop, not yet started, whose threads have this name. */
  EventLoop newLoop(String name);

  /** Returns where handlers run. */
  Executor handlers();

  /** Waits for a call, and throws its exception, or one that says that the thread was interrupted. */
  <R> R await(CompletableFuture<R> call);

  /** Waits for the end of the engine, whether or not the thread is interrupted. */
  void awaitStop(CompletableFuture<Void> stop);

  /** Ends the threads that this has made. */
  @Override
  void close();
}
