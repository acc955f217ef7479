package io.foliot.testkit;

import io.foliot.core.store.TaskStore;
import java.time.Duration;

/**
 * The tests of {@link TaskStoreContract} that do not set the clock. They are for stores such as database servers: a
 * test cannot set the clock of these stores. Where time must pass, the kit waits for a number of ticks.
 */
public abstract class ServerClockStoreContract extends FullContract {
  /** Opens a store that has no tasks and no documents. */
  protected abstract TaskStore open();

  /** Closes a store and opens it again on the same data. */
  protected abstract TaskStore reopen(TaskStore old);

  /** Waits until at least this much time has passed on the store's clock since the call. */
  protected abstract void passes(Duration time);

  /**
   * Returns the length of a tick, the unit in which the kit waits. It is several times the duration of a call to the
   * server, because some calls of the kit must end within one or two ticks.
   */
  protected abstract Duration tick();

  @Override
  final TaskStore openEmpty() {
    return open();
  }

  @Override
  final TaskStore openAgain(TaskStore old) {
    return reopen(old);
  }

  @Override
  final void pass(Duration time) {
    passes(time);
  }

  @Override
  final long tickMillis() {
    return tick().toMillis();
  }
}
