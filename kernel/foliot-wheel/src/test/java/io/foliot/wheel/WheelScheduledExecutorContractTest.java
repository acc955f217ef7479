package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Runs the contract kit against {@link WheelScheduledExecutor} with its defaults. */
final class WheelScheduledExecutorContractTest extends ScheduledExecutorContract {
  @Override
  protected ScheduledExecutorService create() {
    return WheelScheduledExecutor.create();
  }

  @Test
  void tasksThatAShutdownCancelsCountOnlyAsCancelled() {
    WheelScheduledExecutor executor = WheelScheduledExecutor.builder().executeExistingDelayedTasksAfterShutdown(false)
        .build();
    for (int i = 0; i < 3; i++) {
      ScheduledFuture<?> unused = executor.schedule(() -> {}, 1, TimeUnit.HOURS);
    }
    executor.shutdown();
    assertThat(executor.isTerminated()).isTrue();
    TimerCounters counters = executor.counters();
    assertThat(counters.scheduled()).isEqualTo(3);
    assertThat(counters.cancelled()).isEqualTo(3);
    assertThat(counters.fired()).isZero();
    assertThat(counters.lateness().count()).isZero();
  }
}
