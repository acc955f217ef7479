package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;

/** Runs the contract kit against {@link WheelScheduledExecutor} with its defaults. */
final class WheelScheduledExecutorContractTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    return WheelScheduledExecutor.create();
  }
}
