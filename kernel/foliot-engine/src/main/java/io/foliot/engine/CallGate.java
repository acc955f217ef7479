package io.foliot.engine;

import io.foliot.core.Scheduler.FailedException;
import io.foliot.core.Scheduler.NotServingException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreSeal;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which calls the engine accepts. All calls are refused before start, after stop, and after a failure. While
 * the store is sealed, calls that change something are refused. But while the state of the seal is DRAINING, reports of
 * workers are still accepted. During a long outage of the store, all calls are refused at once, so that a caller learns
 * of it before its own timeout. Thread-safe.
 *
 * <p>Guarantees: a refused call has no effect, and its future fails with the reason. If a call throws, its future fails
 * with the exception.
 *
 * <p>The states of an engine: NEW → RUNNING → STOPPED, or NEW → STOPPED. From each of these states the engine may go to
 * FAILED, which is final.
 */
final class CallGate {
  private final BooleanSupplier storeIsAway;
  private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
  private volatile boolean running;
  private volatile boolean stopped;
  private volatile @Nullable StoreSeal seal;

  /**
   * Creates a closed gate.
   *
   * @param storeIsAway returns whether the store has been away for so long that a call would only wait
   */
  CallGate(BooleanSupplier storeIsAway) {
    this.storeIsAway = storeIsAway;
  }

  void open() {
    running = true;
  }

  void stop() {
    stopped = true;
  }

  void fail(Throwable cause) {
    failure.complete(cause);
  }

  void seal(@Nullable StoreSeal found) {
    seal = found;
  }

  boolean isRunning() {
    return running;
  }

  boolean isStopped() {
    return stopped;
  }

  /** Returns the seal of the store, or null if the store is open. */
  @Nullable
  StoreSeal seal() {
    return seal;
  }

  /** Returns a future that completes with the cause when the engine has failed. */
  CompletableFuture<Throwable> failure() {
    return failure;
  }

  /** Runs a call that changes something. */
  <T> CompletableFuture<T> write(Supplier<CompletionStage<T>> call) {
    return run(refusal(true), call);
  }

  /** Returns the exception that refuses a call now, whether or not the store answers; null if there is none. */
  @Nullable
  RuntimeException refusal(boolean isWrite) {
    StoreSeal sealed = seal;
    if (isWrite && sealed != null) {
      return new NotServingException(sealed.refusal());
    }
    if (failure.isDone()) {
      return new FailedException(failure.join());
    }
    return running && !stopped
        ? null
        : new NotServingException(stopped
            ? "this node is stopping, or has stopped; if it is one of several, call another"
            : "this node is not ready yet");
  }

  /**
   * Runs a call that ends an attempt or extends its lease. Such a call is also accepted while a sealed store drains.
   */
  <T> CompletableFuture<T> report(Supplier<CompletionStage<T>> call) {
    StoreSeal sealed = seal;
    return sealed == null || sealed.state() == StoreSeal.State.DRAINING ? read(call) : write(call);
  }

  /** Runs a call that changes nothing. */
  <T> CompletableFuture<T> read(Supplier<CompletionStage<T>> call) {
    return run(refusal(false), call);
  }

  private <T> CompletableFuture<T> run(@Nullable RuntimeException refusal, Supplier<CompletionStage<T>> call) {
    if (refusal != null) {
      return CompletableFuture.failedFuture(refusal);
    }
    if (storeIsAway.getAsBoolean()) {
      return CompletableFuture.failedFuture(new StoreAwayException("the store does not answer", null));
    }
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
