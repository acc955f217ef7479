package io.foliot.api;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The content of a task for its handler. The payload is opaque: Foliot never reads it.
 *
 * @param payload the bytes; shared, and must not be modified
 * @param contentType the media type of the payload
 * @param headers headers that are sent with each attempt besides the payload
 */
@SuppressWarnings("ArrayRecordComponent") // equality is by content
public record Body(byte[] payload, String contentType, Map<String, String> headers) {
  /** A body without any bytes. */
  public static final Body EMPTY = new Body(new byte[0], "application/octet-stream", Map.of());

  public Body {
    headers = Map.copyOf(headers);
  }

  /** Returns a body of JSON text, the usual case. */
  public static Body json(String text) {
    return new Body(text.getBytes(StandardCharsets.UTF_8), "application/json", Map.of());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Body that && Arrays.equals(payload, that.payload) && contentType.equals(that.contentType)
        && headers.equals(that.headers);
  }

  @Override
  public int hashCode() {
    return 31 * (31 * Arrays.hashCode(payload) + contentType.hashCode()) + headers.hashCode();
  }

  @Override
  public String toString() {
    return "Body[bytes=" + payload.length + ", contentType=" + contentType + ", headers=" + headers.keySet() + "]";
  }
}
