package io.foliot.wheel;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** Proves the kit itself: what the JDK's own executor does not pass is no part of the contract. */
final class ThreadPoolScheduledExecutorTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    var executor = new ScheduledThreadPoolExecutor(4);
    // Without it a cancelled task keeps a shut down pool alive until its delay is over.
    executor.setRemoveOnCancelPolicy(true);
    return executor;
  }
}
