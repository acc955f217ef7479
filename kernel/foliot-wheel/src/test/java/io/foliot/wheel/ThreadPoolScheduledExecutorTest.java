package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/**
 * Runs the contract kit against the JDK's executor, because a test that this executor fails is not part of the
 * contract.
 */
final class ThreadPoolScheduledExecutorTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    var executor = new ScheduledThreadPoolExecutor(4);
    // Without this policy, a cancelled task keeps a pool that was shut down alive until its delay ends.
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}
