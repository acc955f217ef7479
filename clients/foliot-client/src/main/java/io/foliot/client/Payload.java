package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.Base64;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The payload of a task: JSON, or bytes of any content type. */
public final class Payload {
  private static final String JSON_TYPE = "application/json";
  private static final String BYTES_TYPE = "application/octet-stream";

  /** The text of a JSON value; null if the payload is not JSON. */
  private final @Nullable String json;

  private final byte[] bytes;
  private final String contentType;

  private Payload(@Nullable String json, byte[] bytes, String contentType) {
    this.json = json;
    this.bytes = bytes;
    this.contentType = contentType;
  }

  /**
   * Returns a payload of JSON, with the content type {@code application/json}.
   *
   * @throws IllegalArgumentException if the text is not exactly one JSON value
   */
  public static Payload json(String text) {
    Json.requireOneValue("payload", text);
    return new Payload(text, text.getBytes(UTF_8), JSON_TYPE);
  }

  /** Returns a payload of text, with the content type {@code text/plain; charset=utf-8}. */
  public static Payload text(String text) {
    return new Payload(null, Names.requireWellFormed("payload", text).getBytes(UTF_8), "text/plain; charset=utf-8");
  }

  /** Returns a payload of bytes with a content type, such as {@code application/octet-stream}. */
  public static Payload bytes(byte[] bytes, String contentType) {
    return new Payload(null, bytes.clone(), Names.requireName("contentType", contentType));
  }

  /** Returns the same payload with another content type, for example {@code application/cloudevents+json}. */
  public Payload withContentType(String newContentType) {
    return new Payload(json, bytes, Names.requireName("contentType", newContentType));
  }

  /** Returns the payload of a task in an answer, or null if the task has none. */
  static @Nullable Payload of(JsonObject task) {
    String type = task.textOrNull("contentType");
    byte[] bytes = task.base64OrNull("payloadBase64");
    if (bytes != null) {
      return new Payload(null, bytes, type == null ? BYTES_TYPE : type);
    }
    if (!task.has("payload")) {
      return null;
    }
    String json = task.json("payload");
    return new Payload(json, json.getBytes(UTF_8), type == null ? JSON_TYPE : type);
  }

  void write(JsonGenerator generator) {
    if (json == null) {
      generator.writeStringProperty("payloadBase64", Base64.getEncoder().encodeToString(bytes));
    } else {
      Json.writeJson(generator, "payload", json);
    }
    if (json == null || !contentType.equals(JSON_TYPE)) {
      generator.writeStringProperty("contentType", contentType);
    }
  }

  /** Returns whether the payload is sent as JSON. */
  public boolean isJson() {
    return json != null;
  }

  boolean isEmpty() {
    return bytes.length == 0;
  }

  /** Returns a copy of the bytes; for a payload of JSON, its text in UTF-8. */
  public byte[] toBytes() {
    return bytes.clone();
  }

  /** Returns the bytes decoded as UTF-8. */
  public String toText() {
    return new String(bytes, UTF_8);
  }

  /** Returns the content type. */
  public String contentType() {
    return contentType;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Payload payload && isJson() == payload.isJson() && contentType.equals(payload.contentType)
        && Arrays.equals(bytes, payload.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Returns a text without the content of the payload, which may be a secret or long. */
  @Override
  public String toString() {
    return "Payload[contentType=" + contentType + ", length=" + bytes.length + "]";
  }
}
