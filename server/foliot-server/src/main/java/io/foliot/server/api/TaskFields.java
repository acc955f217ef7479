package io.foliot.server.api;

import static io.foliot.server.api.ProblemKind.DELAY_OUT_OF_RANGE;
import static io.foliot.server.api.ProblemKind.MISSING_FIELD;

import io.foliot.api.Body;
import io.foliot.api.DurationText;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.api.Retry;
import io.foliot.core.Submission;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A reader that makes a {@link Submission} of the fields of a task. Used by one thread, once. */
final class TaskFields {
  /** The fields of a task whose key is in the path. */
  static final List<String> OF_KEY = List.of("delay", "dueAt", "payload", "payloadBase64", "contentType", "headers",
      "maxAttempts");
  /** The fields of a task. */
  static final List<String> OF_TASK = List.of("key", "delay", "dueAt", "payload", "payloadBase64", "contentType",
      "headers", "maxAttempts", "onConflict");
  /** The fields of an item of a batch. */
  static final List<String> OF_ITEM = List.of("key", "delay", "dueAt", "payload", "payloadBase64", "contentType",
      "headers", "maxAttempts", "onConflict", "idempotencyKey");

  private static final String JSON_TYPE = "application/json";
  private static final String BYTES_TYPE = "application/octet-stream";
  private static final String ADVICE = "keep large content elsewhere and send a reference to it";
  private static final Duration MAX_DELAY = Duration.ofMillis(Limits.MAX_DELAY_MILLIS);

  private final List<String> known;
  private final int maxPayloadBytes;

  private @Nullable String key;
  private @Nullable Duration delay;
  private @Nullable Instant dueAt;
  private byte @Nullable [] payload;
  private byte @Nullable [] payloadBytes;
  private @Nullable String contentType;
  private @Nullable Map<String, String> headers;
  private @Nullable Integer maxAttempts;
  private @Nullable OnConflict onConflict;
  private @Nullable String idempotencyKey;
  private @Nullable String traceParent;
  private @Nullable String traceState;

  TaskFields(List<String> known, int maxPayloadBytes) {
    this.known = known;
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /** Sets the trace context of the request. The task may continue this trace, see {@link TraceHeaders}. */
  TaskFields withTrace(@Nullable String parent, @Nullable String state) {
    traceParent = parent;
    traceState = state;
    return this;
  }

  /** Reads the object at the reader's position. */
  TaskFields read(JsonIn in) {
    in.object("a task", known, name -> readField(in, name));
    return this;
  }

  /** Reads the only object of the body. */
  TaskFields readOnly(JsonIn in) {
    in.only(known, name -> readField(in, name));
    return this;
  }

  private boolean readField(JsonIn in, String name) {
    switch (name) {
      case "delay" -> delay = in.duration(name);
      case "dueAt" -> dueAt = in.instant(name);
      case "payload" -> payload = in.raw();
      case "payloadBase64" -> payloadBytes = in.base64(name);
      case "contentType" -> contentType = in.text(name);
      case "headers" -> headers = in.textMap(name);
      case "maxAttempts" -> maxAttempts = in.integer(name, 1, Retry.MAX_ATTEMPTS);
      default -> {
        return readNamingField(in, name);
      }
    }
    return true;
  }

  // Some calls lack these fields, because the key is in the path, or the idempotency key is in a header.
  private boolean readNamingField(JsonIn in, String name) {
    if (!known.contains(name)) {
      if (name.equals("idempotencyKey")) {
        throw new Problem(ProblemKind.UNKNOWN_FIELD,
            "a single task has its idempotency key in the header Idempotency-Key; only items of a batch have the field")
            .with("field", name);
      }
      if (name.equals("key")) {
        throw new Problem(ProblemKind.UNKNOWN_FIELD, "the path already names the key; leave out the field")
            .with("field", name);
      }
      return false;
    }
    switch (name) {
      case "key" -> key = in.text(name);
      case "onConflict" -> onConflict = in.choice(name, OnConflict.class);
      case "idempotencyKey" -> idempotencyKey = in.text(name);
      default -> {
        return false;
      }
    }
    return true;
  }

  /** Sets the key, which is in the path instead of a field. */
  TaskFields withKey(String newKey) {
    key = newKey;
    return this;
  }

  /** Sets the idempotency key, which is in a header instead of a field. */
  TaskFields withIdempotencyKey(@Nullable String newIdempotencyKey) {
    idempotencyKey = newIdempotencyKey;
    return this;
  }

  /**
   * Returns the submission that the fields describe.
   *
   * @param now the current time, against which a due time is checked
   * @throws Problem if a value is out of range or the fields contradict each other
   */
  Submission submission(String queue, Instant now) {
    checkDue(now);
    Body body = body();
    ensureName("key", key);
    ensureName("idempotencyKey", idempotencyKey);
    try {
      return new Submission(queue, key, delay, dueAt, body, maxAttempts == null ? 0 : maxAttempts,
          onConflict == null ? OnConflict.RESET : onConflict, idempotencyKey);
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_REQUEST, String.valueOf(e.getMessage()));
    }
  }

  private static void ensureName(String field, @Nullable String name) {
    try {
      Limits.ensureKey(name);
    } catch (IllegalArgumentException e) {
      throw new Problem(ProblemKind.INVALID_REQUEST, field + ": " + e.getMessage()).with("field", field);
    }
  }

  private void checkDue(Instant now) {
    if (delay == null && dueAt == null) {
      throw new Problem(MISSING_FIELD, "a task needs a due time: give it a delay (\"delay\": \"30m\") or a dueAt"
          + " (\"dueAt\": \"2026-11-21T09:30:00Z\")").with("field", "delay");
    }
    if (delay != null && dueAt != null) {
      throw JsonIn.conflicting("delay", "dueAt");
    }
    if (delay != null) {
      checkDelay("delay", delay);
    }
    if (dueAt != null) {
      if (dueAt.isAfter(now.plus(MAX_DELAY))) {
        throw new Problem(DELAY_OUT_OF_RANGE, "dueAt: expected an instant within 100 years, but got \"" + dueAt + '"')
            .with("field", "dueAt");
      }
      // A due time before 1970 becomes 1970, which every store can represent. The effect is the same: the task is due
      // at once.
      dueAt = dueAt.isBefore(Instant.EPOCH) ? Instant.EPOCH : dueAt;
    }
  }

  /** Ensures that a delay is from 0 to 100 years. */
  static void checkDelay(String field, Duration delay) {
    if (delay.isNegative()) {
      throw new Problem(DELAY_OUT_OF_RANGE, field + ": expected at least \"0s\", but got \"" + delay + '"')
          .with("field", field);
    }
    if (delay.compareTo(MAX_DELAY) > 0) {
      throw new Problem(DELAY_OUT_OF_RANGE, field + ": expected at most 100 years, but got \""
          + DurationText.format(delay) + "\"; check the unit").with("field", field);
    }
  }

  private @Nullable Body body() {
    if (payload != null && payloadBytes != null) {
      throw JsonIn.conflicting("payload", "payloadBase64");
    }
    byte[] bytes = payload != null ? payload : payloadBytes;
    if (bytes == null) {
      return bodyWithoutPayload();
    }
    if (bytes.length > maxPayloadBytes) {
      throw tooLarge("a payload", bytes.length, maxPayloadBytes);
    }
    String type = contentType != null ? contentType : payload != null ? JSON_TYPE : BYTES_TYPE;
    return new Body(bytes, HeaderRules.contentType(type), allHeaders());
  }

  private @Nullable Body bodyWithoutPayload() {
    boolean isBare = contentType == null && (headers == null || headers.isEmpty());
    if (isBare && (key != null || allHeaders().isEmpty())) {
      return null;
    }
    if (key != null) {
      String given = contentType == null ? "headers" : "contentType";
      throw new Problem(MISSING_FIELD, "payload: expected a payload beside " + given
          + ", but got none; a submit that has a key"
          + " and no payload keeps payload, headers and contentType of the key's live task (for an empty payload"
          + " send \"payloadBase64\": \"\")").with("field", "payload");
    }
    return new Body(new byte[0], HeaderRules.contentType(contentType == null ? BYTES_TYPE : contentType),
        allHeaders());
  }

  private Map<String, String> allHeaders() {
    return TraceHeaders.added(HeaderRules.headers(headers), traceParent, traceState);
  }

  private static Problem tooLarge(String what, long bytes, long limit) {
    return new Problem(ProblemKind.TOO_LARGE, what + " has at most " + limit + " bytes (limits.body of the server); "
        + ADVICE + ": bytes=" + bytes).with("limit", limit);
  }

  /** Returns the body of a call that submits one task. */
  static byte[] body(Request request, ApiLimits limits) {
    try {
      return request.json(limits.envelopeBytes());
    } catch (Problem problem) {
      if (problem.kind() == ProblemKind.TOO_LARGE) {
        throw new Problem(ProblemKind.TOO_LARGE,
            "a payload has at most " + limits.bodyBytes() + " bytes (limits.body of"
                + " the server), and the rest of the body at most " + (limits.envelopeBytes() - limits.bodyBytes())
                + "; "
                + ADVICE)
            .with("limit", limits.bodyBytes());
      }
      throw problem;
    }
  }
}
