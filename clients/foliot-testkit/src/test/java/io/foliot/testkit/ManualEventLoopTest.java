package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.EventLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class ManualEventLoopTest {
  private static final long SECOND_NANOS = 1_000_000_000;

  private final SettableClock clock = new SettableClock();
  private final ManualEventLoop loop = new ManualEventLoop(clock);
  private final long startNanos = clock.monotonicNanos();
  private final List<Long> turns = new ArrayList<>();

  /** Returns a duty that records the time of each call, in ms since the start, and requests a turn after a pause. */
  private EventLoop.Duty every(Duration pause) {
    return () -> {
      turns.add((clock.monotonicNanos() - startNanos) / 1_000_000);
      return clock.monotonicNanos() + pause.toNanos();
    };
  }

  @Test
  void theFirstTurnIsDueAtTheStartAndRunsWhenDriven() {
    assertThat(loop.isDue()).isFalse();
    assertThat(loop.untilDue()).isNull();
    loop.start(every(Duration.ofMillis(100)));
    assertThat(turns).isEmpty();
    assertThat(loop.isDue()).isTrue();
    assertThat(loop.runDue()).isTrue();
    assertThat(loop.runDue()).isFalse();
    assertThat(turns).containsExactly(0L);
    assertThat(loop.untilDue()).isEqualTo(Duration.ofMillis(100));
  }

  @Test
  void turnsRunAtTheRequestedInstants() {
    loop.start(every(Duration.ofMillis(100)));
    loop.advance(Duration.ofMillis(350));
    assertThat(turns).containsExactly(0L, 100L, 200L, 300L);
    assertThat(clock.monotonicNanos() - startNanos).isEqualTo(350_000_000);
    loop.advance(Duration.ofMillis(50));
    assertThat(turns).endsWith(400L);
  }

  @Test
  void aWakeMakesATurnDueNow() {
    loop.start(every(Duration.ofHours(1)));
    loop.runUntilIdle();
    loop.wake();
    loop.wake();
    assertThat(loop.runUntilIdle()).isEqualTo(1);
    assertThat(turns).containsExactly(0L, 0L);
  }

  @Test
  void aWakeInsideATurnIsNotLost() {
    AtomicBoolean once = new AtomicBoolean();
    loop.start(() -> {
      turns.add(0L);
      if (once.compareAndSet(false, true)) {
        loop.wake();
      }
      return clock.monotonicNanos() + SECOND_NANOS;
    });
    assertThat(loop.runUntilIdle()).isEqualTo(2);
  }

  @Test
  void aStepOfTheWallClockMakesNoTurnDue() {
    loop.start(every(Duration.ofMillis(100)));
    loop.runUntilIdle();
    clock.stepWall(Duration.ofHours(1));
    assertThat(loop.runUntilIdle()).isZero();
  }

  @Test
  void aLoopThatNeverSleepsIsAnError() {
    loop.start(clock::monotonicNanos);
    assertThatThrownBy(loop::runUntilIdle).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("requests a turn at once: turns=");
  }

  @Test
  void aLoopThatRequestsNoTurnGetsNone() {
    loop.start(() -> {
      turns.add(0L);
      return Long.MAX_VALUE;
    });
    loop.advance(Duration.ofDays(365));
    assertThat(turns).hasSize(1);
  }

  @Test
  void aLoopIsStartedOnce() {
    loop.start(every(Duration.ofMillis(1)));
    assertThatThrownBy(() -> loop.start(() -> 0)).isInstanceOf(IllegalStateException.class);
    loop.close();
    assertThatThrownBy(() -> loop.start(() -> 0)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aClosedLoopRunsNoTurn() {
    loop.start(every(Duration.ofMillis(1)));
    loop.close();
    loop.wake();
    loop.advance(Duration.ofSeconds(1));
    assertThat(turns).isEmpty();
    assertThat(loop.isClosed()).isTrue();
    assertThatThrownBy(loop::turn).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aDutyMayCloseItsLoop() {
    loop.start(() -> {
      turns.add(0L);
      loop.close();
      return clock.monotonicNanos();
    });
    assertThat(loop.runUntilIdle()).isEqualTo(1);
  }

  @Test
  void closeWaitsForATurnOnAnotherThread() throws Exception {
    CountDownLatch inTurn = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicBoolean ended = new AtomicBoolean();
    loop.start(() -> {
      inTurn.countDown();
      try {
        assertThat(mayEnd.await(10, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      ended.set(true);
      return Long.MAX_VALUE;
    });
    Thread turner = new Thread(loop::turn);
    turner.start();
    assertThat(inTurn.await(10, TimeUnit.SECONDS)).isTrue();
    AtomicBoolean endedBeforeClose = new AtomicBoolean();
    Thread closer = new Thread(() -> {
      loop.close();
      endedBeforeClose.set(ended.get());
    });
    closer.start();
    while (!loop.isClosed()) {
      Thread.onSpinWait();
    }
    mayEnd.countDown();
    closer.join(10_000);
    turner.join(10_000);
    assertThat(endedBeforeClose).isTrue();
  }

  @Test
  void aTurnInsideATurnIsRefused() {
    loop.start(() -> {
      assertThatThrownBy(loop::turn).isInstanceOf(IllegalStateException.class);
      turns.add(0L);
      return Long.MAX_VALUE;
    });
    loop.turn();
    assertThat(turns).hasSize(1);
  }

  @Test
  void anExceptionOfATurnReachesTheTestAndTheLoopContinues() {
    AtomicBoolean once = new AtomicBoolean();
    loop.start(() -> {
      if (once.compareAndSet(false, true)) {
        throw new IllegalStateException("poison");
      }
      turns.add(0L);
      return Long.MAX_VALUE;
    });
    assertThatThrownBy(loop::runUntilIdle).hasMessage("poison");
    assertThat(loop.runUntilIdle()).isEqualTo(1);
  }

  @Test
  void loopsThatShareAClockTakeTurnsInOrder() {
    ManualLoops loops = new ManualLoops(clock);
    List<String> seen = new ArrayList<>();
    for (String name : List.of("a", "b")) {
      ManualEventLoop one = loops.newLoop();
      one.start(() -> {
        seen.add(name + (clock.monotonicNanos() - startNanos) / 1_000_000);
        return clock.monotonicNanos() + (name.equals("a") ? 20_000_000 : 30_000_000);
      });
    }
    loops.advance(Duration.ofMillis(60));
    assertThat(seen).containsExactly("a0", "b0", "a20", "b30", "a40", "a60", "b60");
  }

  @Test
  void loopsThatWakeEachOtherBecomeIdle() {
    ManualLoops loops = new ManualLoops(clock);
    ManualEventLoop first = loops.newLoop();
    ManualEventLoop second = loops.newLoop();
    first.start(() -> {
      turns.add(1L);
      if (turns.size() < 10) {
        second.wake();
      }
      return Long.MAX_VALUE;
    });
    second.start(() -> {
      turns.add(2L);
      first.wake();
      return Long.MAX_VALUE;
    });
    assertThat(loops.runUntilIdle()).isEqualTo(turns.size()).isLessThan(20);
  }

  @Test
  void runUntilAdvancesTheClockUntilAConditionHolds() {
    ManualLoops loops = new ManualLoops(clock);
    loops.newLoop().start(every(Duration.ofMillis(100)));
    loops.runUntil(() -> turns.size() == 5, Duration.ofSeconds(1));
    assertThat(turns).endsWith(400L);
    assertThatThrownBy(() -> loops.runUntil(() -> false, Duration.ofSeconds(1)))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("did not come true");
    assertThat(clock.monotonicNanos() - startNanos).isLessThanOrEqualTo(2 * SECOND_NANOS);
  }
}
