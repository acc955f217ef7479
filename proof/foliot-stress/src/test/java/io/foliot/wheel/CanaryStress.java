package io.foliot.wheel;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Description;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A deliberate bug, which the run must find. */
final class CanaryStress {
  private CanaryStress() {}

  @JCStressTest
  @Description("Two cancels that read the flag first and then write it.")
  @Outcome(id = "true, false", expect = ACCEPTABLE, desc = "The first actor comes first.")
  @Outcome(id = "false, true", expect = ACCEPTABLE, desc = "The second actor comes first.")
  @Outcome(id = "true, true", expect = FORBIDDEN, desc = "Both have read before either wrote: both cancels succeed.")
  @State
  public static class CheckThenActCancel {
    private volatile boolean cancelled;

    private boolean cancel() {
      if (cancelled) {
        return false;
      }
      PlayedDriver.spin();
      cancelled = true;
      return true;
    }

    @Actor
    public void first(ZZ_Result r) {
      r.r1 = cancel();
    }

    @Actor
    public void second(ZZ_Result r) {
      r.r2 = cancel();
    }
  }
}
