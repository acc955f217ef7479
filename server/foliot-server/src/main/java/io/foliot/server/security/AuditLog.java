package io.foliot.server.security;

import io.foliot.server.text.WellFormed;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of administrative acts and of refused callers, in the logger {@code foliot.audit}. Safe for use by any
 * thread.
 */
public final class AuditLog {
  private static final Logger log = LoggerFactory.getLogger("foliot.audit");
  // Counts refusals. Only the first, second, fourth, eighth and so on are logged, so that a caller that guesses keys
  // does not fill the disk.
  private final AtomicLong refusals = new AtomicLong();

  /** Logs an administrative act, with its outcome: it was done, was refused, or failed. */
  public void act(Caller caller, String remote, String act, Map<String, String> objects, String outcome) {
    log.atInfo().addKeyValue("actor", caller.name()).addKeyValue("remote", remote).addKeyValue("act", act)
        .addKeyValue("objects", printable(objects.toString())).addKeyValue("outcome", outcome)
        .log("administrative act");
  }

  /** Logs that a request was refused because its key is missing or invalid, or its host or site is foreign. */
  public void refused(String remote, String reason) {
    long count = refusals.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      log.atWarn().addKeyValue("remote", remote).addKeyValue("reason", printable(reason)).addKeyValue("refusals", count)
          .log("a request was refused");
    }
  }

  // A name in a path may contain any character, but must not begin another line of the log.
  private static String printable(String text) {
    StringBuilder printable = new StringBuilder(WellFormed.of(text));
    for (int i = 0; i < printable.length(); i++) {
      if (Character.isISOControl(printable.charAt(i))) {
        printable.setCharAt(i, '?');
      }
    }
    return printable.toString();
  }
}
