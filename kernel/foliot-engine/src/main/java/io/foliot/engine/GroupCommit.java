package io.foliot.engine;

import io.foliot.core.Meter;
import io.foliot.core.TimeSource;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Combines simultaneous calls of many callers into one batch for the store. While the store has the maximum number of
 * batches, calls gather. When a batch comes back, the gathered calls become the next batch. So a single call is sent at
 * once, and under load one sync of the store serves thousands of calls. Thread-safe. A batch is sent either by a thread
 * that makes a call, or by the thread that completes the previous batch.
 *
 * @param <T> the type of requests
 * @param <R> the type of answers
 */
final class GroupCommit<T, R> {
  private static final System.Logger LOG = System.getLogger(GroupCommit.class.getName());

  /** Maximum number of items of a batch. A call that has more items is a batch of its own. */
  private static final int MAX_ITEMS = 5_000;
  private static final int QUEUE_CHUNK = 256;
  /** Default for the maximum number of batches of one kind of call that the store has at the same time. */
  private static final int UNDER_WAY = 2;
  /** Memory of an item of a call besides its payload, in bytes. */
  static final int ITEM_BYTES = 200;

  private record Call<T, R>(List<T> items, long bytes, CompletableFuture<List<R>> answer) {}

  private final String name;
  private final Function<List<T>, CompletionStage<List<R>>> store;
  private final BiConsumer<List<T>, List<R>> done;
  private final int maxUnderWay;
  private final Admission admission;
  private final TimeSource clock;
  private final Meter meter;

  private final MpscUnboundedVarHandleArrayQueue<Call<T, R>> waiting = new MpscUnboundedVarHandleArrayQueue<>(
      QUEUE_CHUNK);
  private final AtomicInteger underWay = new AtomicInteger();

  /**
   * Creates a group commit.
   *
   * @param name the name of the call, for the meter
   * @param store sends a batch to the store
   * @param done receives the items that succeeded in each batch, and their results, before the callers get their
   *     answers
   * @param maxUnderWay maximum number of batches that the store has at the same time: with two, the store already has
   *     the next batch when the first is done
   */
  GroupCommit(String name, Function<List<T>, CompletionStage<List<R>>> store, BiConsumer<List<T>, List<R>> done,
      int maxUnderWay, Admission admission, TimeSource clock, Meter meter) {
    this.maxUnderWay = maxUnderWay;
    this.name = name;
    this.store = store;
    this.done = done;
    this.admission = admission;
    this.clock = clock;
    this.meter = meter;
  }

  /** Creates a group commit that has at most two batches under way. */
  GroupCommit(String name, Function<List<T>, CompletionStage<List<R>>> store, BiConsumer<List<T>, List<R>> done,
      Admission admission, TimeSource clock, Meter meter) {
    this(name, store, done, UNDER_WAY, admission, clock, meter);
  }

  /** Does nothing; for calls that need no work after a batch came back. */
  static <T, R> void nothing(List<T> items, List<R> results) {}

  /**
   * Adds a call. The future completes with one answer per item, in the order of the items.
   *
   * @throws io.foliot.core.Scheduler.OverloadedException if other calls wait for the store, and this call would exceed
   *     a limit of the {@link Admission}
   */
  CompletableFuture<List<R>> call(List<T> items, long bytes) {
    if (items.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    admission.enter(items.size(), bytes);
    CompletableFuture<List<R>> answer = new CompletableFuture<>();
    waiting.offer(new Call<>(items, bytes, answer));
    send();
    return answer;
  }

  /** Sends waiting calls, as long as the store may have one more batch. */
  private void send() {
    while (enter()) {
      List<Call<T, R>> calls = take();
      if (calls.isEmpty()) {
        underWay.decrementAndGet();
        if (waiting.isEmpty()) {
          return;
        }
        continue;
      }
      List<T> items = itemsOf(calls);
      long begun = clock.monotonicNanos();
      CompletableFuture<List<R>> batch = call(items);
      boolean answersLater = !batch.isDone();
      CompletableFuture<Void> answered = batch.handle((results, failure) -> {
        underWay.decrementAndGet();
        try {
          if (answersLater) {
            // The next batch is sent before these callers continue: the store must not wait for them.
            send();
          }
        } finally {
          answer(calls, items, begun, results, failure);
        }
        return null;
      });
      assert answersLater || answered.isDone();
    }
  }

  /** Passes a batch to the store. If that throws, even an Error, the callers of the batch get the failure. */
  private CompletableFuture<List<R>> call(List<T> items) {
    try {
      return store.apply(items).toCompletableFuture();
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private boolean enter() {
    int now = underWay.get();
    while (now < maxUnderWay) {
      if (underWay.compareAndSet(now, now + 1)) {
        return true;
      }
      now = underWay.get();
    }
    return false;
  }

  /** Takes the calls of the next batch. The queue has one consumer at a time. */
  private synchronized List<Call<T, R>> take() {
    List<Call<T, R>> calls = new ArrayList<>();
    int items = 0;
    while (items < MAX_ITEMS) {
      Call<T, R> next = waiting.peek();
      if (next == null || (items > 0 && items + next.items().size() > MAX_ITEMS)) {
        break;
      }
      waiting.poll();
      calls.add(next);
      items += next.items().size();
    }
    return calls;
  }

  private static <T, R> List<T> itemsOf(List<Call<T, R>> calls) {
    if (calls.size() == 1) {
      return calls.get(0).items();
    }
    List<T> items = new ArrayList<>();
    for (Call<T, R> call : calls) {
      items.addAll(call.items());
    }
    return items;
  }

  private void answer(List<Call<T, R>> calls, List<T> items, long begun, @Nullable List<R> results,
      @Nullable Throwable failure) {
    Throwable reason = failure == null ? null : unwrapped(failure);
    if (reason instanceof ItemsFailedException partly) {
      afterPartialCommit(items, begun, partly);
    } else {
      afterCommit(items, begun, results, failure);
    }
    int from = 0;
    for (Call<T, R> call : calls) {
      int to = from + call.items().size();
      admission.leave(call.items().size(), call.bytes());
      if (results != null) {
        call.answer().complete(calls.size() == 1 ? results : results.subList(from, to));
      } else if (reason instanceof ItemsFailedException partly) {
        answerPart(call, partly, from, to);
      } else {
        call.answer().completeExceptionally(reason == null ? unwrapped(null) : reason);
      }
      from = to;
    }
  }

  /** Completes a call with the results of its own items. A failed item of another call does not fail this call. */
  @SuppressWarnings("unchecked") // the results are those of the store's call
  private static <T, R> void answerPart(Call<T, R> call, ItemsFailedException partly, int from, int to) {
    List<@Nullable Object> results = partly.results().subList(from, to);
    long failed = results.stream().filter(Objects::isNull).count();
    if (failed == 0) {
      call.answer().complete((List<R>) results);
    } else if (failed == results.size()) {
      call.answer().completeExceptionally(partly.failure());
    } else {
      call.answer().completeExceptionally(new StoreException("some items of the call took effect and others failed:"
          + " items=" + results.size() + ", failed=" + failed + ", reason=" + partly.failure().getMessage(), partly));
    }
  }

  @SuppressWarnings("unchecked") // the results are those of the store's call
  private void afterPartialCommit(List<T> items, long begun, ItemsFailedException partly) {
    List<T> doneItems = new ArrayList<>();
    List<R> doneResults = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Object result = partly.results().get(i);
      if (result != null) {
        doneItems.add(items.get(i));
        doneResults.add((R) result);
      }
    }
    afterCommit(doneItems, begun, doneResults, partly);
  }

  /**
   * Runs the work after a commit. A failure of this work, even an Error, is logged, and the callers still get their
   * answers: the commit is done, and a call without an answer would keep its place in the admission for ever.
   */
  private void afterCommit(List<T> items, long begun, @Nullable List<R> results, @Nullable Throwable failure) {
    try {
      meter.storeCall(name, items.size(), (clock.monotonicNanos() - begun) / 1_000, failure != null);
      if (results != null) {
        done.accept(items, results);
      }
    } catch (Throwable e) {
      LOG.log(System.Logger.Level.ERROR, "post-commit hook failed; the commit itself succeeded: call=" + name, e);
    }
  }

  static Throwable unwrapped(@Nullable Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? new IllegalStateException("a stage failed without a cause") : cause;
  }
}
