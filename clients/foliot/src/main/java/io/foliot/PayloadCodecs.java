package io.foliot;

import java.nio.charset.StandardCharsets;

/** The codecs that {@link Foliot#tasks(String, Class)} chooses from. */
final class PayloadCodecs {
  private PayloadCodecs() {}

  /**
   * Returns the codec of a type.
   *
   * @throws IllegalStateException if the type needs a JSON library and there is none
   */
  @SuppressWarnings("unchecked") // each cast follows a test of the class of T
  static <T> PayloadCodec<T> of(Class<T> type) {
    if (type == String.class) {
      return (PayloadCodec<T>) new Text();
    }
    if (type == byte[].class) {
      return (PayloadCodec<T>) new Bytes();
    }
    if (FoliotBuilder.isPresent("tools.jackson.databind.json.JsonMapper")) {
      return new Jackson3Codec<>(type);
    }
    if (FoliotBuilder.isPresent("com.fasterxml.jackson.databind.json.JsonMapper")) {
      return new Jackson2Codec<>(type);
    }
    throw new IllegalStateException("payloads of " + type.getName() + " need a JSON library, and there is none: add"
        + " tools.jackson.core:jackson-databind (or com.fasterxml.jackson.core:jackson-databind), or pass a"
        + " PayloadCodec");
  }

  private static final class Text implements PayloadCodec<String> {
    @Override
    public String contentType() {
      return "text/plain; charset=utf-8";
    }

    @Override
    public byte[] encode(String payload) {
      return payload.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String decode(byte[] bytes) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private static final class Bytes implements PayloadCodec<byte[]> {
    @Override
    public String contentType() {
      return "application/octet-stream";
    }

    @Override
    public byte[] encode(byte[] payload) {
      return payload.clone();
    }

    @Override
    public byte[] decode(byte[] bytes) {
      return bytes.clone();
    }
  }
}
