package io.foliot.engine;

import io.foliot.core.DurationText;
import io.foliot.core.store.StoreException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The time in which the store does not serve the loops of an engine, as the log reports it. Any thread.
 *
 * <p>Guarantees: an outage has one line when the first loop sees it, and one when the last loop is served again,
 * however many calls fail meanwhile. A failure that a store reports has no stack trace, because that would show the
 * caller, not the cause; any other failure has one.
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
  synchronized void began(String why, @Nullable Throwable failure, long nowNanos) {
    loopsAway++;
    if (loopsAway > 1) {
      return;
    }
    beganNanos = nowNanos;
    Throwable cause = failure == null ? null : GroupCommit.unwrapped(failure);
    String line = "the store does not answer; trying again until it does: " + why
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
