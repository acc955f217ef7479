package io.foliot.server.api;

import io.foliot.server.text.WellFormed;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/**
 * An answer that names a mistake and its remedy, in the form of RFC 9457. A problem is thrown where the mistake is
 * found, and has no stack trace.
 */
public final class Problem extends RuntimeException {
  private static final long serialVersionUID = 1;
  private static final int BAD_REQUEST = 400;

  private final ProblemKind kind;
  private int status;
  private final transient Map<String, Object> members = new LinkedHashMap<>();
  private final transient Map<String, String> headers = new LinkedHashMap<>();

  /**
   * Creates a problem.
   *
   * @param detail the cause in this case, and the remedy
   */
  public Problem(ProblemKind kind, String detail) {
    super(detail, null, false, false);
    this.kind = kind;
    status = kind.status();
  }

  /** Adds a member that programs can read: a text, a number, or a list of texts. */
  public Problem with(String member, Object value) {
    members.put(member, value);
    return this;
  }

  /** Sets the status to 400, for an unknown name in the body of the request. A 404 would refer to the path. */
  Problem inBody() {
    status = BAD_REQUEST;
    return this;
  }

  /** Adds a header to the answer. */
  Problem withHeader(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /** Returns the kind of this problem. */
  public ProblemKind kind() {
    return kind;
  }

  /** Returns the cause and the remedy, for people. */
  public String detail() {
    return String.valueOf(getMessage());
  }

  /** Returns the headers that the answer needs. */
  Map<String, String> headers() {
    return headers;
  }

  /** Writes this problem as a JSON object. */
  void write(JsonGenerator json) {
    json.writeStartObject();
    json.writeStringProperty("type", kind.type());
    json.writeStringProperty("title", kind.title());
    json.writeNumberProperty("status", status);
    json.writeStringProperty("detail", WellFormed.of(detail()));
    members.forEach((name, value) -> {
      switch (value) {
        case Long number -> json.writeNumberProperty(name, number);
        case Integer number -> json.writeNumberProperty(name, number);
        case List<?> texts -> {
          json.writeArrayPropertyStart(name);
          texts.forEach(text -> json.writeString(WellFormed.of(text.toString())));
          json.writeEndArray();
        }
        default -> json.writeStringProperty(name, WellFormed.of(value.toString()));
      }
    });
    json.writeEndObject();
  }

  /** Returns this problem as an answer. */
  public Reply reply() {
    Reply reply = Reply.json(status, this::write).as("application/problem+json");
    headers.forEach(reply::with);
    return reply;
  }
}
