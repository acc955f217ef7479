package io.foliot.store.redis;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.TaskOperations;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One kind of call that changes tasks, item by item.
 *
 * @param <Q> what is asked for
 * @param <R> what is answered
 */
interface Step<Q, R> {
  /** The hash from which the item's slot follows. */
  int hash16(Q item);

  /** Names what the item reads. */
  void wants(Q item, Wanted wanted);

  /** The queue, if the item itself says it. */
  default @Nullable String queue(Q item) {
    return null;
  }

  /** The script that reads for it. */
  default Script reader() {
    return Script.READ;
  }

  /** Takes the step for items of one task, or of one key. */
  List<R> apply(TaskOperations operations, List<Q> items, long nowMicros);

  /** What an item is answered about a record of a newer version, which is left alone; null if it fails. */
  default @Nullable R ofNewerVersion(Q item, long nowMicros) {
    return null;
  }

  /** Whether records are read with what they carry, because answers show it. */
  default boolean withBodies() {
    return false;
  }

  /** Whether of each record the holder of its key is read as well. */
  default boolean withHolders() {
    return false;
  }

  /** A generation that may be forgotten from now on, if the step itself does not show it. */
  default long shown(Q item) {
    return 0;
  }

  /** The same in one script, for the usual cases; null if there is none. */
  default @Nullable Hot<Q, R> hot() {
    return null;
  }

  /** What an item may read. */
  interface Wanted {
    /** A record. */
    void id(TaskId id);

    /** The record that a key points to. */
    void key(String queue, String key);

    /** What was answered to a request. */
    void answer(String queue, @Nullable String key, String idempotencyKey);

    /** What a caller named. */
    default void ref(TaskRef ref) {
      switch (ref) {
        case TaskRef.ById byId -> id(byId.id());
        case TaskRef.ByKey byKey -> key(byKey.queue(), byKey.key());
      }
    }
  }

  /** A step in one script for many items, which answers for each that it was taken, or that it is no usual case. */
  interface Hot<Q, R> {
    /** The script. */
    Script script();

    /** Whether it is a usual case, as far as the item shows. */
    boolean isUsual(Q item);

    /** What the item acts on, so that no script gets two for the same; null if the item does not show it. */
    @Nullable
    Object name(Q item);

    /** About how many bytes the item is. */
    default int bytes(Q item) {
      return 0;
    }

    /** The arguments behind the first. */
    void arguments(List<Q> items, List<byte[]> to);

    /** Reads the answers; null for an item that was left alone. */
    void answers(List<Object> reply, List<Q> items, List<@Nullable R> to);
  }
}
