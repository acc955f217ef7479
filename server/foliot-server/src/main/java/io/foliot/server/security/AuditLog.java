package io.foliot.server.security;

import io.foliot.server.text.WellFormed;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * The log of changes and of refused callers, in the logger {@code foliot.audit}. Safe for use by any thread.
 */
public final class AuditLog {
  /** Name of the settings before a change, without secrets. */
  public static final String BEFORE = "before";
  /** Name of the settings after a change, without secrets. */
  public static final String AFTER = "after";

  private static final Logger log = LoggerFactory.getLogger("foliot.audit");
  /** Largest number of lines of a caller in a minute for acts that were refused. */
  private static final int REFUSED_LINES = 10;
  /** Largest number of lines of a caller in a minute for acts that do not need the action admin. */
  private static final int ORDINARY_LINES = 600;
  /** Longest name or reason in a line, in characters. */
  private static final int MAX_SHOWN = 256;
  /** Longest settings before or after a change in a line, in characters. */
  private static final int MAX_SETTINGS = 4_096;
  /** Largest number of callers whose lines are counted. Beyond it, the counts begin again. */
  private static final int MAX_CALLERS = 10_000;
  private static final long MINUTE_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Map<String, Lines> lines = new ConcurrentHashMap<>();
  // Counts refusals. Only the first, second, fourth, eighth and so on are logged, so that a caller that guesses keys
  // does not fill the disk.
  private final AtomicLong refusals = new AtomicLong();

  /** The lines of a caller in the current minute. Guarded by itself. */
  private static final class Lines {
    long begunNanos = System.nanoTime();
    int written;
    long omitted;

    /** Returns how many lines were omitted since the latest one, or -1 if this line is omitted as well. */
    synchronized long next(int limit) {
      long nowNanos = System.nanoTime();
      if (nowNanos - begunNanos >= MINUTE_NANOS) {
        begunNanos = nowNanos;
        written = 0;
      }
      if (written >= limit) {
        omitted++;
        return -1;
      }
      written++;
      long before = omitted;
      omitted = 0;
      return before;
    }
  }

  /** The kind of an act, which decides how many lines of it a caller may cause. */
  public enum Kind {
    /** An act that needs the action admin, and was not refused. Each one is logged. */
    ADMINISTRATIVE,
    /** A change that needs another action, such as one of a job. */
    ORDINARY,
    /** An act that was refused. */
    REFUSED
  }

  /**
   * Logs an act that changes settings or cancels work, with its outcome: it was done, was refused, or failed. The lines
   * of one caller are limited, so that it does not fill the disk; the next line has the number of omitted ones.
   */
  public void act(Kind kind, Caller caller, String remote, String act, Map<String, String> objects, String outcome) {
    long omitted = 0;
    if (kind != Kind.ADMINISTRATIVE) {
      if (lines.size() > MAX_CALLERS) {
        lines.clear();
      }
      omitted = lines.computeIfAbsent(kind + " " + caller.name(), key -> new Lines())
          .next(kind == Kind.REFUSED ? REFUSED_LINES : ORDINARY_LINES);
      if (omitted < 0) {
        return;
      }
    }
    Map<String, String> shown = new LinkedHashMap<>();
    objects.forEach((name, value) -> shown.put(name, printable(value,
        name.equals(BEFORE) || name.equals(AFTER) ? MAX_SETTINGS : MAX_SHOWN)));
    LoggingEventBuilder line = log.atInfo().addKeyValue("actor", caller.name()).addKeyValue("remote", remote)
        .addKeyValue("act", act).addKeyValue("objects", shown.toString()).addKeyValue("outcome", outcome);
    (omitted == 0 ? line : line.addKeyValue("omitted", omitted)).log("administrative act");
  }

  /** Logs that a request was refused because its key is missing or invalid, or its host or site is foreign. */
  public void refused(String remote, String reason) {
    long count = refusals.incrementAndGet();
    if (Long.bitCount(count) == 1) {
      log.atWarn().addKeyValue("remote", remote).addKeyValue("reason", printable(reason, MAX_SHOWN))
          .addKeyValue("refusals", count)
          .log("a request was refused");
    }
  }

  /**
   * Returns a text in which each character that a terminal or a log viewer could obey is a question mark: control
   * characters, line and paragraph separators, and marks that change the direction of text. A name in a path may
   * contain any character, but must not begin another line of the log, or hide a part of its line. A long text is cut.
   */
  private static String printable(String text, int max) {
    StringBuilder printable = new StringBuilder();
    WellFormed.of(text).codePoints().limit(max).forEach(c -> printable.appendCodePoint(switch (Character.getType(
        c)) {
      case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE, Character.UNASSIGNED ->
        '?';
      default -> c;
    }));
    return text.length() > max ? printable + "... (" + text.length() + " characters)" : printable.toString();
  }
}
