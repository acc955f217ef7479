package io.foliot.store.rocksdb;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A call that waits for the writer. After the call has run, its result waits for the commit. */
final class Operation<R> {
  /** The work of a call, given the time of the store's clock in microseconds since 1970. */
  interface Step<R> {
    R run(long nowMicros);
  }

  final CompletableFuture<R> stage = new CompletableFuture<>();
  /** The number of items. The writer limits the sum over all waiting calls. */
  final int items;
  /** The payload bytes of the items. The writer limits the sum over all waiting calls. */
  final long bytes;
  /** True if the commit must be synced before the call completes. */
  final boolean synced;
  /** True if the writer runs the call before all calls that are not urgent. */
  final boolean urgent;
  private final Consumer<StoredRecords> wants;
  private final Step<R> step;

  // set by the writer thread, read by the thread that completes the call
  private @Nullable R result;
  private @Nullable RuntimeException refusal;

  Operation(int items, long bytes, Consumer<StoredRecords> wants, Step<R> step) {
    this(items, bytes, true, false, wants, step);
  }

  private Operation(int items, long bytes, boolean synced, boolean urgent, Consumer<StoredRecords> wants,
      Step<R> step) {
    this.items = items;
    this.bytes = bytes;
    this.synced = synced;
    this.urgent = urgent;
    this.wants = wants;
    this.step = step;
  }

  /** Returns an urgent call. */
  static <R> Operation<R> claim(int items, Consumer<StoredRecords> wants, Step<R> step) {
    return new Operation<>(items, 0, true, true, wants, step);
  }

  /** Returns a call whose commit need not be synced. */
  static <R> Operation<R> move(int items, Consumer<StoredRecords> wants, Step<R> step) {
    return new Operation<>(items, 0, false, false, wants, step);
  }

  /** Names the records that the call will read. */
  void announce(StoredRecords stored) {
    wants.accept(stored);
  }

  void run(long nowMicros) {
    result = step.run(nowMicros);
  }

  void refuse(RuntimeException reason) {
    refusal = reason;
  }

  /** Completes the stage of the caller, which may run the caller's code. */
  void complete() {
    R answer = result;
    RuntimeException reason = refusal;
    if (reason != null || answer == null) {
      stage.completeExceptionally(reason != null ? reason : new IllegalStateException("no result"));
    } else {
      stage.complete(answer);
    }
  }
}
