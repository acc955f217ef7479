package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;

/** Runs the kit against the executor on the wheel, with its default options. */
final class WheelScheduledExecutorContractTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    return WheelScheduledExecutor.create();
  }
}
