package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;

/** The executor on the wheel, as it comes without any option, keeps the contract of the JDK's. */
final class WheelScheduledExecutorContractTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    return WheelScheduledExecutor.create();
  }
}
