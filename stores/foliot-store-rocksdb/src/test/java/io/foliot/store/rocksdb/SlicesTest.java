package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class SlicesTest {
  private final StoreException unknown = new StoreException("the connection broke", null);
  private final StoreException away = new StoreAwayException("nothing was done", null);

  private final List<Integer> items = IntStream.range(0, 2 * Slices.ITEMS + 1).boxed().toList();

  /** Calls three slices of which some fail, and returns the failure. */
  private ItemsFailedException failure(StoreException... failures) {
    Queue<StoreException> next = new ArrayDeque<>(List.of(failures));
    CompletableFuture<List<Integer>> called = Slices
        .call(items, slice -> slice.size() < Slices.ITEMS
            ? CompletableFuture.completedFuture(slice)
            : CompletableFuture.<List<Integer>>failedFuture(next.remove()))
        .toCompletableFuture();
    return (ItemsFailedException) called.exceptionNow();
  }

  @Test
  void theResultsAreInTheOrderOfTheItems() {
    List<Integer> sizes = new ArrayList<>();
    List<Integer> results = Slices.call(items, slice -> {
      sizes.add(slice.size());
      return CompletableFuture.completedFuture(slice);
    }).toCompletableFuture().join();
    assertThat(results).isEqualTo(items);
    assertThat(sizes).containsExactly(Slices.ITEMS, Slices.ITEMS, 1);
  }

  @Test
  void anUnknownEffectOfOneSliceIsSaid() {
    assertThat(failure(unknown, away).failure()).isEqualTo(unknown);
    assertThat(failure(away, unknown).failure()).isEqualTo(unknown);
    assertThat(failure(away, away).failure()).isEqualTo(away);
    List<Object> expected = new ArrayList<>(Collections.nCopies(2 * Slices.ITEMS, null));
    expected.add(2 * Slices.ITEMS);
    assertThat(failure(away, unknown).results()).isEqualTo(expected);
  }
}
