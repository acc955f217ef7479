package io.foliot.core.store.batch;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The items of one batch that concern the same key, request or task, and the results of these items. A unit is written
 * as a whole or not at all; units do not depend on each other.
 *
 * @param <R> the result of an item
 * @param places the indexes of the unit's items in the batch
 * @param results the result of each item, in the order of {@code places}, or null for an item that was refused; valid
 *     once the unit is written
 * @param overlay the changes to be written
 */
public record BatchUnit<R>(List<Integer> places, List<@Nullable R> results, RecordOverlay overlay) {
  /** Returns whether there is nothing to write, so that the results are valid without a write. */
  public boolean isUnchanged() {
    return overlay.isUnchanged();
  }
}
