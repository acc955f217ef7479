package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** Runs the contract kit against the JDK's executor, to show that the kit demands no more than the JDK provides. */
final class ThreadPoolScheduledExecutorTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    var executor = new ScheduledThreadPoolExecutor(4);
    // Without this policy, a task that is cancelled after a shutdown keeps the pool alive until the task's delay ends.
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}
