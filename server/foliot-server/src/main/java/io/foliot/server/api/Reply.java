package io.foliot.server.api;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/** An answer to a request: its status, headers and body. */
public final class Reply {
  /** Initial size of the buffer of a body, in bytes. Most answers fit without an enlargement. */
  private static final int USUAL_BYTES = 512;

  private final int status;
  private final byte[] body;
  private String contentType;
  private Consumer<Boolean> sent = isWritten -> {};
  private final Map<String, String> headers = new LinkedHashMap<>(2);

  private Reply(int status, String contentType, byte[] body) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
  }

  /** Returns an answer in JSON. */
  static Reply json(int status, Consumer<JsonGenerator> content) {
    return json(status, USUAL_BYTES, content);
  }

  /** Returns an answer in JSON, of about this many bytes. */
  static Reply json(int status, int likelyBytes, Consumer<JsonGenerator> content) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(likelyBytes);
    try (JsonGenerator json = Json.generator(out)) {
      content.accept(json);
    }
    return new Reply(status, "application/json", out.toByteArray());
  }

  /** Returns an answer of some other type. */
  static Reply of(int status, String contentType, byte[] body) {
    return new Reply(status, contentType, body);
  }

  /** Returns an answer of some other type, in UTF-8. */
  static Reply text(int status, String contentType, String body) {
    return new Reply(status, contentType, body.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns this reply with another content type. */
  Reply as(String newContentType) {
    contentType = newContentType;
    return this;
  }

  /** Adds a header. */
  Reply with(String name, String value) {
    headers.put(name, value);
    return this;
  }

  /**
   * Returns this reply with an action that runs when the reply has been written to its connection, with true, or the
   * write has failed, with false.
   */
  Reply whenSent(Consumer<Boolean> action) {
    sent = action;
    return this;
  }

  /** Runs the action of {@link #whenSent}. Must be called once, after the reply was written or the write failed. */
  public void sent(boolean isWritten) {
    sent.accept(isWritten);
  }

  /** Returns the HTTP status. */
  public int status() {
    return status;
  }

  /** Returns the body. */
  public byte[] body() {
    return body;
  }

  /** Returns the media type of the body. */
  public String contentType() {
    return contentType;
  }

  /** Returns the other headers. */
  public Map<String, String> headers() {
    return headers;
  }
}
