package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.HOURS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZL_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** Races a stop with other calls, with the firing of a timer and with the death of the driver. */
final class StopStress {
  private static final long DELAY_NANOS = 1000;

  private StopStress() {}

  private static void nothing() {}

  private static @Nullable Timeout scheduleOrNull(WheelTimer timer) {
    try {
      return timer.schedule(StopStress::nothing, DELAY_NANOS, NANOSECONDS);
    } catch (RejectedExecutionException e) {
      return null;
    }
  }

  /** Returns whether the stop has returned a timer, and the timer's state; {@code rejected} if the timer is null. */
  private static String endOf(@Nullable Timeout timeout, List<Timeout> unfired) {
    if (timeout == null) {
      return "rejected";
    }
    long times = unfired.stream().filter(timeout::equals).count();
    String state = timeout.isPending() ? "pending" : timeout.hasFired() ? "fired" : "cancelled";
    return times == 1 ? "returned, " + state : times == 0 ? "kept, " + state : "returned " + times + " times";
  }

  /** A running timer whose driver sleeps until the deadline of its only timeout. */
  private static final class Running {
    final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    final WheelTimer timer = driver.timer();
    final Timeout timeout = timer.schedule(StopStress::nothing, DELAY_NANOS, NANOSECONDS);

    Running() {
      driver.turn();
    }
  }

  @JCStressTest
  @Description("A stop while a timer is scheduled.")
  @Outcome(id = "rejected", expect = ACCEPTABLE, desc = "The stop comes first, or the driver had emptied the hand-off.")
  @Outcome(id = "returned, cancelled", expect = ACCEPTABLE, desc = "The timer is in the hand-off in time; the stop returns it.")
  @Outcome(expect = FORBIDDEN, desc = "The timer was accepted and is lost, or was rejected and is returned.")
  @State
  public static class StopAgainstSchedule {
    private final Running running = new Running();
    private @Nullable Timeout timeout;
    private List<Timeout> unfired = List.of();

    @Actor
    public void stopper() {
      unfired = running.timer.stop();
    }

    @Actor
    public void caller() {
      timeout = scheduleOrNull(running.timer);
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = endOf(timeout, unfired) + (timeout == null && unfired.size() > 1 ? ", and returned" : "");
    }
  }

  @JCStressTest
  @Description("A stop after a timer was scheduled, while another caller is adding a timer to the hand-off.")
  @Outcome(id = "returned, cancelled, rejected", expect = ACCEPTABLE, desc = "The other caller comes too late.")
  @Outcome(id = "returned, cancelled, returned, cancelled", expect = ACCEPTABLE, desc = "Both are in the hand-off.")
  @Outcome(expect = FORBIDDEN, desc = "The other caller had taken a place in the hand-off and not filled it yet. The "
      + "driver took the gap for the end, and the timers behind the gap are lost.")
  @State
  public static class StopAgainstTwoSchedules {
    private final Running running = new Running();
    private @Nullable Timeout timeout;
    private @Nullable Timeout other;
    private List<Timeout> unfired = List.of();

    @Actor
    public void stopper() {
      timeout = scheduleOrNull(running.timer);
      unfired = running.timer.stop();
    }

    @Actor
    public void caller() {
      other = scheduleOrNull(running.timer);
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(timeout, unfired);
      r.r2 = endOf(other, unfired);
    }
  }

  @JCStressTest
  @Description("A stop after a timer was scheduled, while another caller, whose timer came first, starts the real "
      + "thread of the driver.")
  @Outcome(id = "returned, cancelled, (rejected|returned, cancelled)", expect = ACCEPTABLE, desc = "The stop waits for "
      + "the driver whether or not its thread has begun.")
  @Outcome(expect = FORBIDDEN, desc = "The stop found the driver marked as running, although the driver's thread "
      + "had not started. So the stop did not wait, and returned before the driver had collected the timers.")
  @State
  public static class StopAgainstStart {
    private final WheelTimer timer = WheelTimer.builder().inline().threadFactory(Thread.ofPlatform()::unstarted)
        .build();
    private @Nullable Timeout timeout;
    private @Nullable Timeout other;
    private List<Timeout> unfired = List.of();

    private @Nullable Timeout schedule() {
      try {
        return timer.schedule(StopStress::nothing, 1, HOURS);
      } catch (RejectedExecutionException e) {
        return null;
      }
    }

    @Actor
    public void stopper() {
      timeout = schedule();
      unfired = timer.stop();
    }

    @Actor
    public void caller() {
      other = schedule();
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r1 = endOf(timeout, unfired);
      r.r2 = endOf(other, unfired);
    }
  }

  @JCStressTest
  @Description("A stop against a cancel.")
  @Outcome(id = "true, kept, cancelled", expect = ACCEPTABLE, desc = "The cancel comes first.")
  @Outcome(id = "false, returned, cancelled", expect = ACCEPTABLE, desc = "The stop comes first.")
  @Outcome(expect = FORBIDDEN, desc = "Both or neither have cancelled the timer.")
  @State
  public static class StopAgainstCancel {
    private final Running running = new Running();
    private List<Timeout> unfired = List.of();

    @Actor
    public void stopper() {
      unfired = running.timer.stop();
    }

    @Actor
    public void caller(ZL_Result r) {
      r.r1 = running.timeout.cancel();
    }

    @Arbiter
    public void end(ZL_Result r) {
      r.r2 = endOf(running.timeout, unfired);
    }
  }

  @JCStressTest
  @Description("A stop against a reset to an earlier time, which hands the node off once more.")
  @Outcome(id = "true, returned, cancelled", expect = ACCEPTABLE, desc = "The reset comes first; the stop returns the timer once.")
  @Outcome(id = "false, returned, cancelled", expect = ACCEPTABLE, desc = "The stop comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The timer is lost, or returned twice: from the wheel and from the hand-off.")
  @State
  public static class StopAgainstNearerReset {
    private final Running running = new Running();
    private List<Timeout> unfired = List.of();

    @Actor
    public void stopper() {
      unfired = running.timer.stop();
    }

    @Actor
    public void caller(ZL_Result r) {
      r.r1 = running.timeout.reset(DELAY_NANOS / 2, NANOSECONDS);
    }

    @Arbiter
    public void end(ZL_Result r) {
      r.r2 = endOf(running.timeout, unfired);
    }
  }

  @JCStressTest
  @Description("A stop while the driver fires a timer that is due.")
  @Outcome(id = "1, kept, fired", expect = ACCEPTABLE, desc = "The driver comes first; the stop waits for it.")
  @Outcome(id = "0, returned, cancelled", expect = ACCEPTABLE, desc = "The stop comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The timer has fired and is returned, or neither, or the stop did not wait.")
  @State
  public static class StopAgainstFire {
    private final PlayedDriver driver = PlayedDriver.thatTurnsWhenUnparked();
    private final WheelTimer timer = driver.timer();
    private int fired;
    private final Timeout timeout = timer.schedule(() -> fired++, DELAY_NANOS, NANOSECONDS);
    private List<Timeout> unfired = List.of();

    public StopAgainstFire() {
      driver.turn();
      driver.setNanos(DELAY_NANOS);
    }

    @Actor
    public void driver() {
      driver.turn();
    }

    @Actor
    public void stopper(LL_Result r) {
      unfired = timer.stop();
      r.r1 = fired;
    }

    @Arbiter
    public void end(LL_Result r) {
      r.r2 = endOf(timeout, unfired);
    }
  }

  /** A thread whose first start fails. */
  private static final class StartsLater extends Thread {
    private boolean failed;

    StartsLater(Runnable run) {
      super(run);
    }

    @Override
    public void start() {
      if (failed) {
        super.start();
      } else {
        failed = true;
        throw new OutOfMemoryError("simulated");
      }
    }
  }

  @JCStressTest
  @Description("Two timers at once, with a driver whose real thread cannot be started at first.")
  @Outcome(id = "rejected, returned, cancelled", expect = ACCEPTABLE, desc = "The first call fails, and the second starts the thread.")
  @Outcome(id = "returned, cancelled, rejected", expect = ACCEPTABLE, desc = "The second call fails, and the first starts the thread.")
  @Outcome(expect = FORBIDDEN, desc = "A timer was accepted by a driver that did not start, or the driver is lost.")
  @State
  public static class FailingStartAgainstSchedule {
    private final WheelTimer timer = WheelTimer.builder().inline().threadFactory(StartsLater::new).build();
    private @Nullable Timeout timeout;
    private @Nullable Timeout other;

    private @Nullable Timeout schedule() {
      try {
        return timer.schedule(StopStress::nothing, 1, HOURS);
      } catch (RejectedExecutionException e) {
        return null;
      }
    }

    @Actor
    public void first() {
      timeout = schedule();
    }

    @Actor
    public void second() {
      other = schedule();
    }

    @Arbiter
    public void end(LL_Result r) {
      List<Timeout> unfired = timer.stop();
      r.r1 = endOf(timeout, unfired);
      r.r2 = endOf(other, unfired);
    }
  }

  @JCStressTest
  @Description("A driver dies while a timer is scheduled; a stop follows.")
  @Outcome(id = "returned, cancelled, rejected", expect = ACCEPTABLE, desc = "The driver died first.")
  @Outcome(id = "returned, cancelled, returned, cancelled", expect = ACCEPTABLE, desc = "The timer was accepted first.")
  @Outcome(expect = FORBIDDEN, desc = "A timer is lost, or was rejected and is returned.")
  @State
  public static class DeathAgainstSchedule {
    private final Running running = new Running();
    private @Nullable Timeout timeout;

    @Actor
    public void driver() {
      running.driver.die();
    }

    @Actor
    public void caller() {
      timeout = scheduleOrNull(running.timer);
    }

    @Arbiter
    public void end(LL_Result r) {
      List<Timeout> unfired = running.timer.stop();
      r.r1 = endOf(running.timeout, unfired);
      r.r2 = endOf(timeout, unfired);
    }
  }

  @JCStressTest
  @Description("A driver dies during a stop.")
  @Outcome(id = "returned, cancelled", expect = ACCEPTABLE, desc = "In either order, the stop returns the timer.")
  @Outcome(expect = FORBIDDEN, desc = "The stop relied on a driver that had died.")
  @State
  public static class DeathAgainstStop {
    private final Running running = new Running();
    private List<Timeout> unfired = List.of();

    @Actor
    public void driver() {
      running.driver.die();
    }

    @Actor
    public void stopper() {
      unfired = running.timer.stop();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = endOf(running.timeout, unfired);
    }
  }

  @JCStressTest
  @Description("Two stops: exactly one of them returns the timers.")
  @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first actor comes first.")
  @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second actor comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The timer was returned by both or by neither.")
  @State
  public static class StopAgainstStop {
    private final Running running = new Running();

    @Actor
    public void first(ZZ_Result r) {
      r.r1 = running.timer.stop().contains(running.timeout);
    }

    @Actor
    public void second(ZZ_Result r) {
      r.r2 = running.timer.stop().contains(running.timeout);
    }
  }
}
