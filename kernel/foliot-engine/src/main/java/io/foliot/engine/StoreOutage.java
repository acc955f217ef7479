package io.foliot.engine;

import io.foliot.core.DurationText;
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

  // guarded by this
  private int loopsAway;
  private long beganNanos;

  /** Creates the state of an engine whose store answers. */
  StoreOutage(System.Logger log) {
    this.log = log;
  }

  StoreOutage() {
    this(System.getLogger(StoreOutage.class.getName()));
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
