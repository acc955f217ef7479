package io.foliot.testkit;

import io.foliot.core.store.TaskStore;
import java.time.Duration;

/**
 * The part of {@link TaskStoreContract} that holds for stores with a clock that no test can set, such as database
 * servers: the kit waits where time must pass, a tick at a time.
 */
public abstract class ServerClockStoreContract extends StormContract {
  /** Opens a store without tasks and documents. */
  protected abstract TaskStore open();

  /** Closes a store and opens it again on the same data. */
  protected abstract TaskStore reopen(TaskStore old);

  /** Waits until this much time has passed on the store's clock. */
  protected abstract void passes(Duration time);

  /**
   * Returns the unit of waiting. Some calls of the kit must end within one or two of it: several times the duration of
   * a call to the server.
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
