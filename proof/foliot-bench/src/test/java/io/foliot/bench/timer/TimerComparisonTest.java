package io.foliot.bench.timer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.bench.timer.Expiry.Shape;
import io.foliot.bench.timer.Results.Column;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class TimerComparisonTest {
  private static final int TIMERS = 1000;
  private static final long WINDOW_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LOST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final Expiry.Load HALF_CANCELLED = new Expiry.Load(TIMERS, 50, Shape.UNIFORM, WINDOW_NANOS);

  /** A correct peer. Each subclass breaks it in one way. */
  private static class Forwarding implements Peer {
    private final Peer peer = Contender.WHEEL_TIMER.create();
    private int scheduled;

    /** Returns whether this call of {@code schedule} is number {@code TIMERS}, the one that the subclass breaks. */
    final boolean isChosen() {
      return scheduled++ == TIMERS - 1;
    }

    @Override
    public Object schedule(Runnable task, long delayNanos) {
      return peer.schedule(task, delayNanos);
    }

    @Override
    public void cancel(Object handle) {
      peer.cancel(handle);
    }

    @Override
    public void close() {
      peer.close();
    }
  }

  /** Never fires one timer. */
  private static final class Losing extends Forwarding {
    @Override
    public Object schedule(Runnable task, long delayNanos) {
      return super.schedule(isChosen() ? () -> {} : task, delayNanos);
    }
  }

  /** Fires one timer within its call of {@code schedule}: before the deadline, however busy the machine is. */
  private static final class Early extends Forwarding {
    @Override
    public Object schedule(Runnable task, long delayNanos) {
      if (!isChosen()) {
        return super.schedule(task, delayNanos);
      }
      task.run();
      return super.schedule(() -> {}, delayNanos);
    }
  }

  /** Fires one timer twice. */
  private static final class Repeating extends Forwarding {
    @Override
    public Object schedule(Runnable task, long delayNanos) {
      boolean chosen = isChosen();
      return super.schedule(() -> {
        task.run();
        if (chosen) {
          task.run();
        }
      }, delayNanos);
    }
  }

  /** Ignores the first cancel. */
  private static final class IgnoringACancel extends Forwarding {
    private int cancels;

    @Override
    public void cancel(Object handle) {
      if (cancels++ != 0) {
        super.cancel(handle);
      }
    }
  }

  @Test
  void anExactTimerPasses() {
    Expiry expiry = Expiry.measure(Forwarding::new, HALF_CANCELLED);

    assertThat(expiry.earliestNanos()).isNotNegative().isLessThanOrEqualTo(expiry.p50Nanos());
    assertThat(expiry.p99Nanos()).isBetween(expiry.p50Nanos(), expiry.maxNanos());
  }

  @Test
  void aLostTimerIsCaught() {
    assertThatThrownBy(() -> Expiry.measure(Losing::new, HALF_CANCELLED, LOST_NANOS))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("must fire");
  }

  @Test
  void aTimerThatFiresEarlyIsCaught() {
    assertThatThrownBy(() -> Expiry.measure(Early::new, HALF_CANCELLED))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("early");
  }

  @Test
  void aTimerThatFiresTwiceIsCaught() {
    assertThatThrownBy(() -> Expiry.measure(Repeating::new, HALF_CANCELLED))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("once");
  }

  @Test
  void aCancelledTimerThatFiresIsCaught() {
    assertThatThrownBy(() -> Expiry.measure(IgnoringACancel::new, HALF_CANCELLED))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("cancelled");
  }

  @Test
  void aTimerThatFiresWhileCallsAreMeasuredIsCaught() {
    final class Hasty extends Forwarding {
      @Override
      public Object schedule(Runnable task, long delayNanos) {
        if (isChosen()) {
          task.run();
        }
        return super.schedule(task, delayNanos);
      }
    }

    assertThatThrownBy(() -> CallCosts.measure(Hasty::new, new CallCosts.Load(TIMERS, 1, 100, 1)))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("fired=1");
  }

  @Test
  void aCallThatFailsIsCaught() {
    final class Failing extends Forwarding {
      @Override
      public void cancel(Object handle) {
        Peer.ensureWaited(false);
      }
    }

    assertThatThrownBy(() -> CallCosts.measure(Failing::new, new CallCosts.Load(TIMERS, 2, 100, 1)))
        .isInstanceOf(IllegalStateException.class).rootCause().hasMessageContaining("refused");
  }

  @ParameterizedTest
  @MethodSource("available")
  void everyContenderPasses(Contender contender) {
    assertThatCode(() -> {
      Expiry.measure(contender.maker(), HALF_CANCELLED);
      CallCosts costs = CallCosts.measure(contender.maker(), new CallCosts.Load(TIMERS, 2, 100, WINDOW_NANOS / 10));
      assertThat(costs.nanos()).containsOnlyKeys(CallCosts.Call.values());
    }).doesNotThrowAnyException();
  }

  static Stream<Contender> available() {
    return Stream.of(Contender.values()).filter(Contender::isAvailable);
  }

  @Test
  void timersFireInEveryShapeOfDeadlines() {
    for (Shape shape : List.of(Shape.SKEWED, Shape.ONE_TICK)) {
      Expiry expiry = Expiry.measure(Forwarding::new, new Expiry.Load(TIMERS, 95, shape, WINDOW_NANOS));
      assertThat(expiry.maxNanos()).isNotNegative();
    }
  }

  @Test
  void theHeapOfATimerIsMeasured() {
    assertThat(Footprint.bytesPerTimer(Contender.WHEEL_TIMER.maker(), 100 * TIMERS)).isBetween(24.0, 200.0);
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void theWakeUpsOfIdleTimersAreCounted() {
    List<IdleWakeUps> wakeUps = IdleWakeUps
        .measure(List.of(Contender.WHEEL_TIMER.maker(), Contender.NETTY.maker()), 4 * WINDOW_NANOS);

    assertThat(wakeUps.get(0).oneAhead()).isLessThan(20);
    assertThat(wakeUps.get(1).oneAhead()).isGreaterThan(100);
  }

  @Test
  void tablesShowMediansAndMultiplesOfTheBest() {
    Results results = new Results();
    Column column = new Column("Calls", "cancel", true);
    List.of(30.0, 10.0, 20.0).forEach(figure -> results.add(column, Contender.WHEEL_TIMER, figure));
    results.add(column, Contender.NETTY, 50);

    assertThat(results.markdown())
        .contains("| Foliot WheelTimer, inline | 20 (1.0x) |", "| Netty HashedWheelTimer, 1 ms | 50 (2.5x) |");
    assertThat(results.json()).contains("\"median\": 20.000, \"values\": [30.000, 10.000, 20.000]");
  }

  @Test
  void argumentsAreParsed() {
    ComparisonOptions options = ComparisonOptions.parse("--peers", "netty,wheel-timer", "--quick", "--rounds", "2");

    assertThat(options.contenders()).containsExactly(Contender.NETTY, Contender.WHEEL_TIMER);
    assertThat(options.live()).containsExactly(100_000);
    assertThat(options.rounds()).isEqualTo(2);
    assertThatIllegalArgumentException().isThrownBy(() -> ComparisonOptions.parse("--fast"))
        .withMessageContaining("--quick");
  }
}
