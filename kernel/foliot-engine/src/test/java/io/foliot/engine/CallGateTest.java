package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Scheduler.FailedException;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreSeal;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class CallGateTest {
  private boolean isAway;
  private final CallGate gate = new CallGate(() -> isAway);
  private int calls;

  private CompletableFuture<String> call() {
    calls++;
    return CompletableFuture.completedFuture("done");
  }

  private static void assertRefused(CompletableFuture<String> answer, Class<? extends Exception> by) {
    assertThat(answer.exceptionNow()).isInstanceOf(by);
  }

  @Test
  void callsAreAcceptedFromTheStartToTheStop() {
    assertRefused(gate.read(this::call), OverloadedException.class);
    gate.open();
    assertThat(gate.write(this::call)).isCompletedWithValue("done");
    gate.stop();
    assertRefused(gate.read(this::call), OverloadedException.class);
    assertThat(calls).isEqualTo(1);
  }

  @Test
  void reportsAreAcceptedWhileDrainingButWritesAreNot() {
    gate.open();
    gate.seal(StoreSeal.of(StoreSeal.State.DRAINING, "b"));
    assertRefused(gate.write(this::call), OverloadedException.class);
    assertThat(gate.report(this::call)).isCompletedWithValue("done");
    assertThat(gate.read(this::call)).isCompletedWithValue("done");
    gate.seal(StoreSeal.of(StoreSeal.State.MOVED, "b"));
    assertRefused(gate.report(this::call), OverloadedException.class);
    gate.seal(null);
    assertThat(gate.write(this::call)).isCompletedWithValue("done");
  }

  @Test
  void callsAreRefusedAtOnceWhileTheStoreIsAway() {
    gate.open();
    isAway = true;
    assertRefused(gate.write(this::call), StoreAwayException.class);
    assertRefused(gate.read(this::call), StoreAwayException.class);
    assertRefused(gate.report(this::call), StoreAwayException.class);
    assertThat(calls).isZero();
    isAway = false;
    assertThat(gate.write(this::call)).isCompletedWithValue("done");
  }

  @Test
  void failedEnginesRefuseReads() {
    gate.open();
    gate.fail(new OutOfMemoryError("injected"));
    assertRefused(gate.read(this::call), FailedException.class);
  }

  @Test
  void throwingCallsBecomeFailedFutures() {
    gate.open();
    assertThat(gate.read(() -> {
      throw new IllegalArgumentException("no");
    }).exceptionNow()).hasMessage("no");
  }
}
