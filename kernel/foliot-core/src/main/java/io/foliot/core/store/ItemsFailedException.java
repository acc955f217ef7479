package io.foliot.core.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when some items of a batch took effect and have results, while the other items failed. The cause says why
 * those items failed. If the cause is a {@link StoreFullException} or a {@link StoreAwayException}, nothing was done
 * for them.
 */
public final class ItemsFailedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final transient List<@Nullable Object> results;
  private final StoreException failure;

  private ItemsFailedException(List<@Nullable Object> results, StoreException failure) {
    super("some items of a batch failed, the other items took effect: " + failure.getMessage(), failure);
    this.results = results;
    this.failure = failure;
  }

  /**
   * Returns the failure of a batch in which some items, or all, have no result.
   *
   * @param results the results in the order of the items; null for an item that failed
   * @param failure why items failed
   * @return an exception of this class, or the failure itself if no item has a result
   */
  public static StoreException of(List<? extends @Nullable Object> results, StoreException failure) {
    boolean any = results.stream().anyMatch(result -> result != null);
    return any ? new ItemsFailedException(Collections.unmodifiableList(new ArrayList<>(results)), failure) : failure;
  }

  /**
   * Returns the failure that holds for the failed items of two parts of a batch: one with an unknown effect, if there
   * is one, because nothing was done for an item only if the failure of the whole batch says so.
   *
   * @param failure the failure of one part, or null for none
   */
  public static StoreException either(@Nullable StoreException failure, StoreException other) {
    return failure == null || failure instanceof StoreAwayException || failure instanceof StoreFullException
        ? other
        : failure;
  }

  /**
   * Returns the results in the order of the items, with null for an item that failed. Each result has the type that the
   * call returns for an item; the result of a claim is a {@link ClaimResult}.
   */
  public List<@Nullable Object> results() {
    return results;
  }

  /** Returns why items failed. */
  public StoreException failure() {
    return failure;
  }
}
