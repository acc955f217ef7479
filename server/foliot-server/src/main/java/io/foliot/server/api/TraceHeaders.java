package io.foliot.server.api;

import io.foliot.api.Limits;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The W3C trace context of a request that submits a task. The task continues the trace of the request, unless
 * {@link #added} adds nothing, or the submit has a key and no payload. Such a submit keeps the headers of the live task
 * of its key. An invalid header of the request is ignored, as the specification demands.
 */
final class TraceHeaders {
  static final String PARENT = "traceparent";
  static final String STATE = "tracestate";

  private static final Pattern VALID_PARENT = Pattern.compile("[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}");
  private static final Pattern VALID_STATE = Pattern.compile("[\\x20-\\x7e]{1,512}");

  private TraceHeaders() {}

  /**
   * Returns the headers of a task, and adds the trace of the request that submits the task. Adds nothing if the request
   * has no valid {@code traceparent}, if the task sets one itself, or if the task has no room for two more headers.
   *
   * @param own the headers that the task sets
   * @param parent the header traceparent of the request, or null
   * @param state the header tracestate of the request, or null
   */
  static Map<String, String> added(Map<String, String> own, @Nullable String parent, @Nullable String state) {
    boolean hasOwn = own.keySet().stream().anyMatch(PARENT::equalsIgnoreCase);
    if (parent == null || hasOwn || !VALID_PARENT.matcher(parent).matches() || own.size() + 2 > Limits.MAX_HEADERS) {
      return own;
    }
    Map<String, String> all = new HashMap<>(own);
    all.put(PARENT, parent);
    if (state != null && VALID_STATE.matcher(state).matches()
        && own.keySet().stream().noneMatch(STATE::equalsIgnoreCase)) {
      all.put(STATE, state);
    }
    return all;
  }
}
