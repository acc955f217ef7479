package io.foliot.engine;

import io.foliot.core.Stages;
import io.foliot.core.store.ItemsFailedException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends the batches of one kind of store call: limits how many are under way at the same time, and pauses after
 * failures. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: the number of batches under way never exceeds the limit. No batch is sent while the backoff lasts.
 * Each answer is recorded in the {@link StoreHealth} before the answer is handled. If a batch fails in part, for
 * example because one of several databases is unavailable, the items that did not fail are handled with their results.
 *
 * <ol>
 * <li>The owner of the pipe calls {@link #hasRoom}, gathers a batch, and {@linkplain #send sends} it.
 * <li>The answer comes back through the inbox. Health and backoff record whether the batch failed; a failure of one
 * item is recorded as a failure of the batch, unless the store only had no room for the item. Then the owner handles
 * the answer.
 * </ol>
 *
 * <p>Rejected: one limit for all kinds of calls. Settles would wait behind claims, and claims behind calls that only
 * move index entries.
 */
final class CallPipe {
  /** The effect of calls on the store. A store that answers reads but refuses writes is not regarded as serving. */
  enum Effect {
    READ, WRITE
  }

  /** Handles the answer to a batch. */
  interface Handler<R> {
    /**
     * Handles the results of a batch.
     *
     * @param results one result per item, in their order; null for an item that failed, whose outcome is unknown
     */
    void answered(List<@Nullable R> results, long nowNanos);
  }

  /** Handles the answer to a batch, and why items failed. */
  interface FailureHandler<R> {
    /**
     * Handles the results of a batch.
     *
     * @param results one result per item, in their order; null for an item that failed
     * @param failure why items failed; null if none did
     */
    void answered(List<@Nullable R> results, @Nullable Throwable failure, long nowNanos);
  }

  private final String call;
  private final int limit;
  private final Effect effect;
  private final Backoff backoff;
  private final Inbox inbox;
  private final StoreHealth health;
  private int underWay;

  /**
   * Creates a pipe with nothing under way.
   *
   * @param call the name of the call, for meter and log
   * @param limit maximum number of batches under way at the same time; with two, the store can begin the second batch
   *     while the answer to the first batch is handled
   * @param backoff the pause after failures; several pipes may share one backoff
   */
  CallPipe(String call, int limit, Effect effect, Backoff backoff, Inbox inbox, StoreHealth health) {
    this.call = call;
    this.limit = limit;
    this.effect = effect;
    this.backoff = backoff;
    this.inbox = inbox;
    this.health = health;
  }

  boolean hasRoom(long nowNanos) {
    return underWay < limit && backoff.isOver(nowNanos);
  }

  boolean isIdle() {
    return underWay == 0;
  }

  /** Sends a batch; the handler is called with the answer. There must be {@linkplain #hasRoom room}. */
  <R> void send(int items, long nowNanos, Supplier<CompletionStage<List<R>>> batch, Handler<R> handler) {
    send(items, nowNanos, batch,
        (FailureHandler<R>) (results, failure, answeredNanos) -> handler.answered(results, answeredNanos));
  }

  /** Sends a batch as {@link #send(int, long, Supplier, Handler)} does. */
  <R> void send(int items, long nowNanos, Supplier<CompletionStage<List<R>>> batch, FailureHandler<R> handler) {
    assert hasRoom(nowNanos) : call;
    underWay++;
    inbox.after(Stages.call(batch), (result, failure, answeredNanos) -> {
      underWay--;
      // A store that has no room for some items does the others.
      boolean answered = health.called(call, items, nowNanos, failure, answeredNanos)
          || (RoomGate.isFull(failure) && GroupCommit.unwrapped(failure) instanceof ItemsFailedException);
      if (answered) {
        backoff.succeeded();
      } else {
        backoff.failed(answeredNanos);
      }
      if (effect == Effect.WRITE) {
        if (answered) {
          health.wrote();
        } else {
          health.writeFailed(RoomGate.isFull(failure), answeredNanos);
        }
      }
      handler.answered(result == null ? resultsIn(failure, items) : result, failure, answeredNanos);
    });
  }

  /** Returns the results of a failed batch, with null for each item that failed. */
  @SuppressWarnings("unchecked") // the results are those of the call
  private static <R> List<@Nullable R> resultsIn(@Nullable Throwable failure, int items) {
    return GroupCommit.unwrapped(failure) instanceof ItemsFailedException partly
        ? (List<@Nullable R>) partly.results()
        : Collections.nCopies(items, null);
  }
}
