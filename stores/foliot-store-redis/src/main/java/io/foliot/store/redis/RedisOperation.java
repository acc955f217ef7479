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
  /** Returns the records that the item reads, and its step on the general path. */
  BatchStep<Q, R> general();

  /** Returns the hash from which the item's slot follows. */
  int hash16(Q item);

  /** Returns the script that reads for it. */
  default Script reader() {
    return Script.READ;
  }

  /** Returns whether records are read with their payloads, because answers show them. */
  default boolean withBodies() {
    return false;
  }

  /** Returns whether of each record the holder of its key is read as well. */
  default boolean withHolders() {
    return false;
  }

  /** Returns a generation that may be forgotten from now on, if the step itself does not show it. */
  default long shown(Q item) {
    return 0;
  }

  /** Returns the form in one script for the usual cases; null without such a script. */
  default @Nullable Hot<Q, R> hot() {
    return null;
  }

  /** A step in one script for many items, which answers for each that it was taken, or that it is no usual case. */
  interface Hot<Q, R> {
    /** Returns the script. */
    Script script();

    /** Returns whether it is a usual case, as far as the item shows. */
    boolean isUsual(Q item);

    /** Returns the object of the item, so that no script gets two for the same; null if the item does not show it. */
    @Nullable
    Object name(Q item);

    /** Returns about how many bytes the item has. */
    default int bytes(Q item) {
      return 0;
    }

    /** Appends the arguments after the first. */
    void arguments(List<Q> items, List<byte[]> to);

    /** Reads the answers; null for an item that was left alone. */
    void answers(List<Object> reply, List<Q> items, List<@Nullable R> to);
  }
}
