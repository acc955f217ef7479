package io.foliot.store.redis;

import io.foliot.core.store.batch.BatchStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One kind of call that changes tasks, on Redis.
 *
 * @param <Q> the type of requests
 * @param <R> the type of answers
 */
interface RedisOperation<Q, R> {
  /** Returns the step of the general path, which also names the records that an item reads. */
  BatchStep<Q, R> general();

  /** Returns the hash from which the item's slot follows. */
  int hash16(Q item);

  /** Returns the script that reads records for the general path. */
  default Script reader() {
    return Script.READ;
  }

  /** Returns whether records are read with their payloads, because answers show them. */
  default boolean withBodies() {
    return false;
  }

  /** Returns whether the task that holds a record's key is read with each record. */
  default boolean withHolders() {
    return false;
  }

  /** Returns a lower bound for the generations that the part gives out after the step, or 0 for none. */
  default long shown(Q item) {
    return 0;
  }

  /** Returns the fast path, or null if there is none. */
  default @Nullable Hot<Q, R> hot() {
    return null;
  }

  /**
   * The fast path of a step: one script for many items. Its answer has, for each item, the result, or a mark that the
   * item needs the general path.
   */
  interface Hot<Q, R> {
    /** Returns the script. */
    Script script();

    /** Returns whether the fast path may handle the item, as far as the item itself shows. */
    boolean isUsual(Q item);

    /**
     * Returns an object that identifies the task or key of the item, so that a script gets at most one item for each;
     * null if the item does not show it.
     */
    @Nullable
    Object name(Q item);

    /** Returns the approximate size of the item's payload in bytes. */
    default int bytes(Q item) {
      return 0;
    }

    /** Appends the arguments of the script after the first one. */
    void arguments(List<Q> items, List<byte[]> to);

    /** Appends the result of each item, or null for an item that needs the general path. */
    void answers(List<Object> reply, List<Q> items, List<@Nullable R> to);
  }
}
