package io.foliot.core.store;

import org.jspecify.annotations.Nullable;

/**
 * Marks a store whose tasks must not be claimed. Its tasks were moved, or are being moved, to another store; or the
 * tasks of another store are being moved into this store. The seal is the document {@value #NAME} of the kind {@link
 * DocumentKind#CLUSTER}. Engines read the document when they start, and then every second if the store is shared.
 *
 * @param state the phase of the migration
 * @param other the other store, for display; without secrets
 * @param cursor in a store that is being filled: the position in the other store at which the migration continues, or
 *     null for the beginning
 * @param tasks in a store that is being filled: the number of tasks moved so far
 */
public record StoreSeal(State state, String other, @Nullable String cursor, long tasks) {
  /** The name of the document. */
  public static final String NAME = "seal";

  /** The phase of the migration. */
  public enum State {
    /**
     * No task is claimed. Calls that change tasks are refused, except that attempts may still be settled and their
     * leases extended.
     */
    DRAINING,
    /** No task of this store changes any more: its tasks are in the other store, or are being moved there. */
    MOVED,
    /** Tasks of the other store are being added, and none may fire before all are there. */
    FILLING
  }

  /** Creates a seal of a store that is not being filled. */
  public static StoreSeal of(State state, String other) {
    return new StoreSeal(state, other, null, 0);
  }

  /** Returns the message for a refused call. The message does not name the other store. */
  public String refusal() {
    return switch (state) {
      case DRAINING -> "the tasks of this store are being moved to another store; call a server of that store";
      case MOVED -> "the tasks of this store were moved to another store; call a server of that store";
      case FILLING -> "tasks are being moved into this store, and not all are here yet";
    };
  }
}
