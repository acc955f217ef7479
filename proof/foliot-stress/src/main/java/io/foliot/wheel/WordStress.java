package io.foliot.wheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.ZZL_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Races the cancel, the reset and the firing of one node with each other. All tests can share one driver, because a
 * driver keeps no reference to a node that it only visits.
 */
final class WordStress {
  private static final long DUE_NANOS = 100;
  private static final long LATER_NANOS = 200;
  private static final long NEARER_NANOS = 50;

  private static final WheelDriver DRIVER = new WheelDriver(
      WheelTimer.builder().clock(PlayedDriver.create()).tick(Duration.ofNanos(1))
          .threadFactory(Thread.ofPlatform()::unstarted),
      (node, failure) -> {
        throw new AssertionError(failure);
      });

  private WordStress() {}

  /** A node that is no longer queued, and that records whether it has fired. */
  private static final class Node extends WheelNode {
    private boolean fired;

    Node() {
      super(DUE_NANOS);
      dequeue();
    }

    @Override
    int preload() {
      return 0;
    }

    @Override
    void expire() {
      fired = true;
    }

    /** Returns the state of the node, or two states if its word contradicts its record of the firing. */
    String end() {
      long end = word() & ~QUEUED;
      if (fired) {
        return end == FIRED ? "fired" : "fired, and not";
      }
      return end == CANCELLED
          ? "cancelled"
          : isArmed(end) ? "waits until " + deadlineNanos(end) : "not fired, and fired";
    }
  }

  /** Returns the result of a visit by the driver at a time. */
  private static String visit(Node node, long nowNanos) {
    boolean before = node.fired;
    long answer = DRIVER.visit(node, nowNanos);
    return node.fired != before ? "fires" : answer == NodeWheel.GONE ? "drops" : "carries on to " + answer;
  }

  @JCStressTest
  @Description("Two cancels: exactly one of them succeeds.")
  @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first actor comes first.")
  @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second actor comes first.")
  @Outcome(expect = FORBIDDEN, desc = "Both or neither have cancelled the node.")
  @State
  public static class CancelAgainstCancel {
    private final Node node = new Node();

    @Actor
    public void first(ZZ_Result r) {
      r.r1 = DRIVER.cancel(node);
    }

    @Actor
    public void second(ZZ_Result r) {
      r.r2 = DRIVER.cancel(node);
    }
  }

  @JCStressTest
  @Description("A cancel while the driver visits the node, which is due: one of the two ends the node.")
  @Outcome(id = "fires, false", expect = ACCEPTABLE, desc = "The driver comes first; the cancel finds the node fired.")
  @Outcome(id = "drops, true", expect = ACCEPTABLE, desc = "The cancel comes first; the driver finds the node cancelled.")
  @Outcome(expect = FORBIDDEN, desc = "The node was both fired and cancelled, or neither.")
  @State
  public static class CancelAgainstFire {
    private final Node node = new Node();

    @Actor
    public void driver(LL_Result r) {
      r.r1 = visit(node, DUE_NANOS);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r2 = DRIVER.cancel(node);
    }
  }

  @JCStressTest
  @Description("A cancel against a reset to a later time: the cancel wins in the end, in either order.")
  @Outcome(id = "true, true, cancelled", expect = ACCEPTABLE, desc = "The reset comes first.")
  @Outcome(id = "true, false, cancelled", expect = ACCEPTABLE, desc = "The cancel comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The cancel was undone, or returned false.")
  @State
  public static class CancelAgainstLaterReset {
    private final Node node = new Node();

    @Actor
    public void canceller(ZZL_Result r) {
      r.r1 = DRIVER.cancel(node);
    }

    @Actor
    public void resetter(ZZL_Result r) {
      r.r2 = DRIVER.reset(node, LATER_NANOS);
    }

    @Arbiter
    public void end(ZZL_Result r) {
      r.r3 = node.end();
    }
  }

  @JCStressTest
  @Description("A cancel against a reset to an earlier time of a node in the hand-off: the cancel wins in the end.")
  @Outcome(id = "true, true, cancelled", expect = ACCEPTABLE, desc = "The reset comes first.")
  @Outcome(id = "true, false, cancelled", expect = ACCEPTABLE, desc = "The cancel comes first.")
  @Outcome(expect = FORBIDDEN, desc = "The cancel was undone, or returned false.")
  @State
  public static class CancelAgainstNearerReset {
    private final Node node = new Node();

    public CancelAgainstNearerReset() {
      boolean queued = node.replace(node.word(), node.word() | WheelNode.QUEUED);
      assert queued;
    }

    @Actor
    public void canceller(ZZL_Result r) {
      r.r1 = DRIVER.cancel(node);
    }

    @Actor
    public void resetter(ZZL_Result r) {
      r.r2 = DRIVER.reset(node, NEARER_NANOS);
    }

    @Arbiter
    public void end(ZZL_Result r) {
      r.r3 = node.end();
    }
  }

  @JCStressTest
  @Description("A reset to a later time while the driver visits the due node: it fires now, or not before the new time.")
  @Outcome(id = "fires, false", expect = ACCEPTABLE, desc = "The driver comes first; the reset finds the node fired.")
  @Outcome(id = "carries on to 200, true", expect = ACCEPTABLE, desc = "The reset comes first; the driver reads the new time.")
  @Outcome(expect = FORBIDDEN, desc = "The node has fired before the time to which it was reset.")
  @State
  public static class LaterResetAgainstFire {
    private final Node node = new Node();

    @Actor
    public void driver(LL_Result r) {
      r.r1 = visit(node, DUE_NANOS);
    }

    @Actor
    public void caller(LL_Result r) {
      r.r2 = DRIVER.reset(node, LATER_NANOS);
    }
  }

  @JCStressTest
  @Description("Two resets to later times: the last one counts, and both succeed.")
  @Outcome(id = "true, true, waits until 200", expect = ACCEPTABLE, desc = "The second actor comes first.")
  @Outcome(id = "true, true, waits until 201", expect = ACCEPTABLE, desc = "The first actor comes first.")
  @Outcome(expect = FORBIDDEN, desc = "One reset was refused or lost.")
  @State
  public static class LaterResetAgainstLaterReset {
    private final Node node = new Node();

    public LaterResetAgainstLaterReset() {
      boolean queued = node.replace(node.word(), node.word() | WheelNode.QUEUED);
      assert queued;
    }

    @Actor
    public void first(ZZL_Result r) {
      r.r1 = DRIVER.reset(node, LATER_NANOS);
    }

    @Actor
    public void second(ZZL_Result r) {
      r.r2 = DRIVER.reset(node, LATER_NANOS + 1);
    }

    @Arbiter
    public void end(ZZL_Result r) {
      r.r3 = node.end();
    }
  }

  @JCStressTest
  @Description("A reset to an earlier time while the driver takes the node: a queued node is not queued again.")
  @Outcome(id = "placed at 50, queued before", expect = ACCEPTABLE, desc = "The reset comes first; the driver reads the new time.")
  @Outcome(id = "placed at 100, hands off again", expect = ACCEPTABLE, desc = "The driver comes first; the reset sees that.")
  @Outcome(expect = FORBIDDEN, desc = "The driver uses the old time and never reads the new one.")
  @State
  public static class NearerResetAgainstTake {
    private final Node node = new Node();

    public NearerResetAgainstTake() {
      boolean queued = node.replace(node.word(), node.word() | WheelNode.QUEUED);
      assert queued;
    }

    @Actor
    public void driver(LL_Result r) {
      r.r1 = "placed at " + WheelNode.deadlineNanos(node.dequeue());
    }

    @Actor
    public void caller(LL_Result r) {
      long word;
      do {
        word = node.word();
      } while (!node.replace(word, WheelNode.armed(NEARER_NANOS) | WheelNode.QUEUED));
      r.r2 = WheelNode.isQueued(word) ? "queued before" : "hands off again";
    }
  }
}
