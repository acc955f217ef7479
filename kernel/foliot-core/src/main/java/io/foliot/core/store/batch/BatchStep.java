package io.foliot.core.store.batch;

import io.foliot.core.store.TaskOperations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One kind of call that changes tasks, item by item.
 *
 * @param <Q> an item of the request
 * @param <R> the result of an item
 */
public interface BatchStep<Q, R> {
  /** Names the records that an item reads. */
  void wants(Q item, Reads reads);

  /**
   * Applies the step to the items of one {@link BatchUnit}, in their order. Returns one result per item, in that order.
   */
  List<R> apply(TaskOperations operations, List<Q> items, long nowMicros);

  /**
   * Returns whether an item may change the record that it names. If a newer version of Foliot wrote the record, such an
   * item is not applied; {@link #ofNewerVersion} then decides its result.
   */
  default boolean changes(Q item) {
    return true;
  }

  /**
   * Returns the result of an item whose record was written by a newer version of Foliot. The record stays unchanged. By
   * default, returns null: the item fails.
   */
  default @Nullable R ofNewerVersion(Q item, long nowMicros) {
    return null;
  }
}
