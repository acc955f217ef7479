package io.foliot;

import io.foliot.core.EventLoop;
import io.foliot.core.SystemClock;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.store.StoreException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** A driver with the system's clock and a thread for each loop. Handlers run on an executor or on virtual threads. */
final class ThreadDriver implements Driver {
  private final TimeSource clock = new SystemClock();
  private final Executor handlers;
  /** The executor that this driver has created and closes, or null if the caller has given one. */
  private final @Nullable ExecutorService own;

  /** @param handlers the executor that runs handlers, or null for virtual threads */
  ThreadDriver(@Nullable Executor handlers) {
    if (handlers == null) {
      ExecutorService made = Executors
          .newThreadPerTaskExecutor(Thread.ofVirtual().name("foliot-handler-", 0).factory());
      own = made;
      this.handlers = made;
    } else {
      own = null;
      this.handlers = handlers;
    }
  }

  @Override
  public TimeSource clock() {
    return clock;
  }

  @Override
  public EventLoop newLoop(String name) {
    return new ThreadEventLoop(clock, Thread.ofPlatform().name(name + "-", 0).factory());
  }

  @Override
  public Executor handlers() {
    return handlers;
  }

  @Override
  public <R> R await(CompletableFuture<R> call) {
    return waitFor(call);
  }

  /** Waits for a call, and returns its result or throws its exception. */
  static <R> R waitFor(CompletableFuture<R> call) {
    try {
      return call.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new StoreException("interrupted while waiting; whether the call took effect is unknown", e);
    } catch (ExecutionException e) {
      throw thrown(e);
    }
  }

  @Override
  public void awaitStop(CompletableFuture<Void> stop) {
    stop.join();
  }

  /** Returns the exception of a failed call. If the exception is an {@link Error}, throws it instead. */
  private static RuntimeException thrown(ExecutionException failed) {
    Throwable cause = failed.getCause();
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException known ? known : new StoreException("the call failed", cause);
  }

  @Override
  public void close() {
    if (own != null) {
      own.shutdown();
    }
  }
}
