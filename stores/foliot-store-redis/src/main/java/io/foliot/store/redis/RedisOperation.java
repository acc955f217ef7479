package io.foliot.store.redis;

import io.foliot.core.store.batch.BatchStep;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A kind of call that changes tasks. Every kind has a general path, and some have a fast path.
 *
 * @param <Q> the type of requests
 * @param <R> the type of answers
 */
interface RedisOperation<Q, R> {
  /** Returns the step of the general path. The step also names the records that an item needs. */
  BatchStep<Q, R> general();

  /** Returns the 16-bit hash of the item's task or key. The hash determines the part of the item. */
  int hash16(Q item);

  /** Returns the script that reads records for the general path. */
  default Script reader() {
    return Script.READ;
  }

  /** Returns whether records are read with their payloads, because answers contain them. */
  default boolean withBodies() {
    return false;
  }

  /** Returns whether each record is read together with the task that has the record's key now. */
  default boolean withHolders() {
    return false;
  }

  /** Returns the lowest generation that the part may give out after the step, or 0 if the step sets no limit. */
  default long minGeneration(Q item) {
    return 0;
  }

  /** Returns the fast path, or null if there is none. */
  default @Nullable Hot<Q, R> hot() {
    return null;
  }

  /**
   * The fast path of a step: one script for many items. For each item, the script returns the result, or that the item
   * needs the general path.
   */
  interface Hot<Q, R> {
    /** Returns the script. */
    Script script();

    /** Returns whether the fast path may handle the item. The script may still decide against it. */
    boolean isUsual(Q item);

    /**
     * Returns an object that identifies the task or key of the item, or null if the task is unknown. A script gets at
     * most one item of each name.
     */
    @Nullable
    Object name(Q item);

    /** Returns the approximate size of the item's payload in bytes. */
    default int bytes(Q item) {
      return 0;
    }

    /** Appends all arguments of the script except the first. */
    void arguments(List<Q> items, List<byte[]> to);

    /** Appends the result of each item, or null for an item that needs the general path, in the order of the items. */
    void answers(List<Object> reply, List<Q> items, List<@Nullable R> to);
  }
}
