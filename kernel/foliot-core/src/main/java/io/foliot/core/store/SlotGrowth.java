package io.foliot.core.store;

import java.util.function.Consumer;

/** Doubling of the number of slots while the store is in use. A capability: see {@link TaskStore#capability}. */
public interface SlotGrowth {
  /**
   * Doubles the number of slots, or completes a doubling that an earlier call did not complete. Blocks until the
   * doubling is complete. After a failure, or after the end of the process, the call may be repeated. Several
   * callers may call it at the same time.
   *
   * @param progress receives the progress after each old slot
   * @return the progress at the end of the call
   * @throws StoreException if the store does not answer; the caller may call again
   * @throws IllegalStateException if the store has as many slots as it can have
   */
  Progress doubleSlots(Consumer<Progress> progress);

  /**
   * The progress of a doubling.
   *
   * @param slots number of slots after the doubling
   * @param drained number of old slots that no longer contain a task of a new slot
   * @param moved number of tasks that this call has moved to their new slot
   */
  record Progress(int slots, int drained, long moved) {
    /** Returns whether the doubling is complete. */
    public boolean isDone() {
      return drained == slots / 2;
    }
  }
}
