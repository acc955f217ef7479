package io.foliot.store.redis;

import java.nio.charset.StandardCharsets;

/**
 * The names of keys in Redis. All keys of a part have the same hash tag, so that a cluster keeps them on one server:
 * {@code {foliot:7}:task}, {@code {foliot:7}:due}. Keys that belong to no part have the tag of the namespace:
 * {@code {foliot}:slots}.
 */
final class Layout {
  private final String namespace;

  Layout(String namespace) {
    this.namespace = namespace;
  }

  /** Returns the prefix of a part's keys. The scripts of the part are routed by this prefix. */
  byte[] part(int part) {
    return bytes("{" + namespace + ":" + part + "}");
  }

  byte[] of(int part, String set) {
    return bytes("{" + namespace + ":" + part + "}" + set);
  }

  byte[] global(String name) {
    return bytes("{" + namespace + "}:" + name);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] bytes(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** Parses a whole number. Accepts also the fraction and the exponent with which Redis may write a score. */
  static long number(byte[] text) {
    String digits = new String(text, StandardCharsets.US_ASCII);
    return digits.indexOf('e') < 0 && digits.indexOf('.') < 0
        ? Long.parseLong(digits)
        : (long) Double.parseDouble(digits);
  }
}
