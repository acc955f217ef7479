package io.foliot.store.rocksdb;

import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A call of many items, as several calls of the writer. A commit is not interrupted, so a claim would have to wait for
 * all items of a large call. Between two slices the writer runs the claims that wait.
 */
final class Slices<T, R> {
  /** Maximum number of items of a slice: about a millisecond of the writer's time. */
  static final int ITEMS = 250;

  private final List<T> items;
  private final List<CompletableFuture<List<R>>> slices = new ArrayList<>();

  private Slices(List<T> items) {
    this.items = items;
  }

  /**
   * Makes a call for each slice of the items.
   *
   * @return the results of all slices. If slices fail, the stage fails with an {@link ItemsFailedException} that has
   *     the results of the others
   */
  static <T, R> CompletionStage<List<R>> call(List<T> items, Function<List<T>, CompletionStage<List<R>>> call) {
    if (items.size() <= ITEMS) {
      return call.apply(items);
    }
    Slices<T, R> slices = new Slices<>(items);
    for (int from = 0; from < items.size(); from += ITEMS) {
      slices.slices.add(call.apply(items.subList(from, Math.min(items.size(), from + ITEMS))).toCompletableFuture());
    }
    return CompletableFuture.allOf(slices.slices.toArray(new CompletableFuture<?>[0]))
        .handle((nothing, failure) -> slices.results());
  }

  @SuppressWarnings("unchecked") // the results are those of the call
  private List<R> results() {
    List<@Nullable Object> results = new ArrayList<>(items.size());
    StoreException failure = null;
    for (CompletableFuture<List<R>> slice : slices) {
      Throwable reason = slice.isCompletedExceptionally() ? slice.exceptionNow() : null;
      int size = Math.min(ITEMS, items.size() - results.size());
      if (reason == null) {
        results.addAll(slice.join());
      } else if (reason instanceof ItemsFailedException partly) {
        results.addAll(partly.results());
        failure = ItemsFailedException.either(failure, partly.failure());
      } else if (reason instanceof StoreException e) {
        results.addAll(Collections.nCopies(size, null));
        failure = ItemsFailedException.either(failure, e);
      } else {
        throw new CompletionException(reason);
      }
    }
    if (failure != null) {
      throw ItemsFailedException.of(results, failure);
    }
    return (List<R>) results;
  }
}
