package io.foliot.wheel;

import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JL_Result;
import org.openjdk.jcstress.infra.results.L_Result;

/** Races a driver that is about to sleep with callers that set an earlier deadline: the driver wakes in time. */
final class ParkingStress {
  private static final long FAR_NANOS = 1000;
  private static final long MIDDLE_NANOS = 500;
  private static final long NEAR_NANOS = 100;

  private ParkingStress() {}

  private static void nothing() {}

  /**
   * Returns how the driver has noticed a deadline, after both actors: {@code seen} if it read the deadline before it
   * slept, {@code woken} if a caller has unparked it, or else the time until which it sleeps.
   */
  private static String noticed(PlayedDriver driver, long deadlineNanos) {
    if (driver.sleepsUntilNanos() <= deadlineNanos) {
      return "seen";
    }
    driver.settle();
    return driver.sleepsUntilNanos() <= deadlineNanos ? "woken" : "sleeps until " + driver.sleepsUntilNanos();
  }

  @JCStressTest
  @Description("A timer is scheduled while the driver is about to sleep until a later one.")
  @Outcome(id = "seen", expect = ACCEPTABLE, desc = "The hand-off was written before the driver read it.")
  @Outcome(id = "woken", expect = ACCEPTABLE, desc = "wakeAt was written before the caller read it; the caller unparks.")
  @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the wake-up is lost.")
  @State
  public static class ScheduleAgainstParking {
    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelTimer timer = driver.timer();

    public ScheduleAgainstParking() {
      Timeout later = timer.schedule(ParkingStress::nothing, FAR_NANOS, NANOSECONDS);
      assert later.isPending();
    }

    @Actor
    public void driver() {
      driver.turn();
    }

    @Actor
    public void caller() {
      Timeout near = timer.schedule(ParkingStress::nothing, NEAR_NANOS, NANOSECONDS);
      assert near.isPending();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = noticed(driver, NEAR_NANOS);
    }
  }

  @JCStressTest
  @Description("Two timers are scheduled while the driver sleeps: the caller that takes wakeAt unparks for both.")
  @Outcome(id = "seen|woken", expect = ACCEPTABLE, desc = "The driver wakes in time for the earlier timer.")
  @Outcome(expect = FORBIDDEN, desc = "The later timer took the wake-up, and the driver did not see the earlier timer.")
  @State
  public static class TwoSchedulesAgainstSleep {
    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelTimer timer = driver.timer();

    public TwoSchedulesAgainstSleep() {
      Timeout later = timer.schedule(ParkingStress::nothing, FAR_NANOS, NANOSECONDS);
      assert later.isPending();
      driver.turn();
    }

    @Actor
    public void middle() {
      Timeout middle = timer.schedule(ParkingStress::nothing, MIDDLE_NANOS, NANOSECONDS);
      assert middle.isPending();
      driver.settle();
    }

    @Actor
    public void near() {
      Timeout near = timer.schedule(ParkingStress::nothing, NEAR_NANOS, NANOSECONDS);
      assert near.isPending();
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = noticed(driver, NEAR_NANOS);
    }
  }

  @JCStressTest
  @Description("A timer is reset to an earlier time while the driver is about to sleep until its old deadline.")
  @Outcome(id = "seen", expect = ACCEPTABLE, desc = "The hand-off was written before the driver read it.")
  @Outcome(id = "woken", expect = ACCEPTABLE, desc = "wakeAt was written before the caller read it; the caller unparks.")
  @Outcome(expect = FORBIDDEN, desc = "Neither saw the other: the wake-up is lost.")
  @State
  public static class NearerResetAgainstParking {
    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelTimer timer = driver.timer();
    private final Timeout timeout = timer.schedule(ParkingStress::nothing, FAR_NANOS, NANOSECONDS);

    public NearerResetAgainstParking() {
      driver.turn();
      driver.unpark(Thread.currentThread());
    }

    @Actor
    public void driver() {
      driver.turn();
    }

    @Actor
    public void caller() {
      boolean reset = timeout.reset(NEAR_NANOS, NANOSECONDS);
      assert reset;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = noticed(driver, NEAR_NANOS);
    }
  }

  @JCStressTest
  @Description("A timer is reset to an earlier time right after its schedule, while the driver takes it and sleeps.")
  @Outcome(id = "seen", expect = ACCEPTABLE, desc = "The driver read the new deadline, or read the hand-off again.")
  @Outcome(id = "woken", expect = ACCEPTABLE, desc = "The driver took the old deadline, slept, and was unparked.")
  @Outcome(expect = FORBIDDEN, desc = "The reset relied on a hand-off that the driver had already drained.")
  @State
  public static class NearerResetOfQueuedAgainstParking {
    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelTimer timer = driver.timer();
    private final Timeout timeout = timer.schedule(ParkingStress::nothing, FAR_NANOS, NANOSECONDS);

    @Actor
    public void driver() {
      driver.turn();
    }

    @Actor
    public void caller() {
      boolean reset = timeout.reset(NEAR_NANOS, NANOSECONDS);
      assert reset;
    }

    @Arbiter
    public void end(L_Result r) {
      r.r1 = noticed(driver, NEAR_NANOS);
    }
  }

  @JCStressTest
  @Description("Two resets to earlier times while the driver sleeps until another timer between them. After its reset, "
      + "the second actor runs the driver if the driver has been unparked.")
  @Outcome(id = "100, (seen|woken)", expect = ACCEPTABLE, desc = "The nearer reset came last; the driver wakes in time.")
  @Outcome(id = "500, (seen|woken)", expect = ACCEPTABLE, desc = "The farther reset came last; the driver wakes in time.")
  @Outcome(expect = FORBIDDEN, desc = "The nearer reset found the node marked as queued but not yet in the hand-off. "
      + "It woke the driver, which found nothing and slept again. Then the farther reset handed the node off, and did "
      + "not wake the driver.")
  @State
  public static class TwoNearerResetsAgainstSleep {
    private static final long BETWEEN_NANOS = 300;

    private final PlayedDriver driver = PlayedDriver.create();
    private final WheelTimer timer = driver.timer();
    private final Timeout between = timer.schedule(ParkingStress::nothing, BETWEEN_NANOS, NANOSECONDS);
    private final Timeout timeout = timer.schedule(ParkingStress::nothing, FAR_NANOS, NANOSECONDS);

    public TwoNearerResetsAgainstSleep() {
      assert between.isPending();
      driver.turn();
    }

    @Actor
    public void middle() {
      boolean reset = timeout.reset(MIDDLE_NANOS, NANOSECONDS);
      assert reset;
    }

    @Actor
    public void near() {
      boolean reset = timeout.reset(NEAR_NANOS, NANOSECONDS);
      assert reset;
      driver.settle();
    }

    @Arbiter
    public void end(JL_Result r) {
      r.r1 = WheelNode.deadlineNanos(((WheelTimeout) timeout).word());
      r.r2 = noticed(driver, r.r1);
    }
  }
}
