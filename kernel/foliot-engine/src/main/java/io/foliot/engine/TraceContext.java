package io.foliot.engine;

import io.foliot.core.Token;
import io.foliot.core.store.TaskRecord;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The trace context (W3C) of attempts. A firing has a trace of its own or the trace of the caller. Each attempt is a
 * span.
 */
final class TraceContext {
  private static final String HEADER = "traceparent";
  private static final Pattern OF_CALLER = Pattern
      .compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})");
  private static final String SAMPLED = "01";

  private TraceContext() {}

  /**
   * Returns the traceparent of an attempt. A task whose headers have a valid traceparent continues that trace.
   *
   * @param random any number; it becomes the span, with the lowest bit set
   */
  static String of(TaskRecord task, long random) {
    String trace = new Token(task.id().high() ^ task.generation(), task.id().low()).toString();
    String flags = SAMPLED;
    for (Map.Entry<String, String> header : task.body().headers().entrySet()) {
      Matcher caller = OF_CALLER.matcher(header.getValue());
      if (header.getKey().equalsIgnoreCase(HEADER) && caller.matches()) {
        trace = caller.group(1);
        flags = caller.group(2);
      }
    }
    String span = Long.toHexString(random | 1L);
    return "00-" + trace + "-" + "0".repeat(16 - span.length()) + span + "-" + flags;
  }
}
