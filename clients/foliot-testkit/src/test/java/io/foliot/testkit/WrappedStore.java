package io.foliot.testkit;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** Base of {@link PlainModel} and of most stores of {@link BrokenStoresTest}. */
class WrappedStore extends ForwardingStore {
  WrappedStore(TaskStore delegate) {
    super(delegate);
  }

  /** Replaces each result by the value that a function returns for the item and the old result. */
  static <Q, R> CompletionStage<List<R>> changed(List<Q> items, CompletionStage<List<R>> stage,
      BiFunction<Q, R, R> change) {
    return stage.thenApply(results -> {
      List<R> next = new ArrayList<>();
      for (int i = 0; i < items.size(); i++) {
        next.add(change.apply(items.get(i), results.get(i)));
      }
      return next;
    });
  }

  final @Nullable TaskRecord read(TaskRef ref) {
    return StoreFixture.get(delegate.find(ref)).orElse(null);
  }

  final @Nullable TaskRecord read(TaskId id) {
    return read(new TaskRef.ById(id));
  }
}
