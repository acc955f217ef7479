package io.foliot.engine;

import io.foliot.api.DurationText;
import io.foliot.core.store.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Logs the outages of the store. An outage is a time in which the store does not serve all loops of an engine.
 * Thread-safe.
 *
 * <p>Guarantees: an outage has one log line at its beginning and one at its end, however many calls fail meanwhile. It
 * begins when the store stops serving one of the loops, and ends when the store serves all loops again. A failure that
 * a store reports is logged without a stack trace, which would show the caller and not the cause. Any other failure is
 * logged with its stack trace.
 */
final class StoreOutage {
  private final System.Logger log;
  private final int loops;

  // guarded by this
  private int loopsAway;
  private long beganNanos;
  private int loopsUnanswered;

  // any thread: when the last loop got no answer any more; 0 while the store answers one of them
  private volatile long unansweredNanos;

  /** Creates the state of an engine with this number of loops whose store answers. */
  StoreOutage(int loops, System.Logger log) {
    this.loops = loops;
    this.log = log;
  }

  StoreOutage(int loops) {
    this(loops, System.getLogger(StoreOutage.class.getName()));
  }

  /** Records that a loop gets no answers any more. */
  synchronized void unanswered(long nowNanos) {
    loopsUnanswered++;
    if (loopsUnanswered == loops) {
      unansweredNanos = nowNanos == 0 ? 1 : nowNanos;
    }
  }

  /** Records that a loop gets answers again. */
  synchronized void answered() {
    loopsUnanswered--;
    unansweredNanos = 0;
  }

  /**
   * Returns whether the store has not answered any loop for {@link StoreHealth#SILENCE_NANOS}. A call would then only
   * wait. A store that answers reads and refuses writes is not away: it answers each write.
   */
  boolean isAway(long nowNanos) {
    long since = unansweredNanos;
    return since != 0 && nowNanos - since >= StoreHealth.SILENCE_NANOS;
  }

  /** Records that a loop is no longer served. */
  synchronized void began(String symptom, @Nullable Throwable failure, long nowNanos) {
    loopsAway++;
    if (loopsAway > 1) {
      return;
    }
    beganNanos = nowNanos;
    Throwable cause = failure == null ? null : GroupCommit.unwrapped(failure);
    String line = "the store does not answer; trying again until it does: " + symptom
        + (cause == null ? "" : ", reason=" + cause.getMessage());
    if (cause == null || cause instanceof StoreException) {
      log.log(System.Logger.Level.WARNING, line);
    } else {
      log.log(System.Logger.Level.WARNING, line, cause);
    }
  }

  /** Records that a loop is served again. */
  synchronized void ended(long nowNanos) {
    loopsAway--;
    if (loopsAway == 0) {
      log.log(System.Logger.Level.INFO, "the store answers again: awayFor="
          + DurationText.rough(Duration.ofNanos(nowNanos - beganNanos)));
    }
  }
}
