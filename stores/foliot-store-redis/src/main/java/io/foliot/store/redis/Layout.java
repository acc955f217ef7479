package io.foliot.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * The names of keys in Redis. All keys of a part have the same hash tag, so that a cluster keeps them on one server:
 * {@code {foliot:7}:task}, {@code {foliot:7}:due}. Keys that belong to no part have the tag of the namespace:
 * {@code {foliot}:slots}.
 */
final class Layout {
  /** Suffix of the key that the first script of a part creates, and that is never deleted. */
  private static final byte[] META = bytes(":meta");

  private final String namespace;

  Layout(String namespace) {
    this.namespace = namespace;
  }

  /** Returns the prefix of a part's keys. The scripts of the part are routed by this prefix. */
  byte[] part(int part) {
    return bytes("{" + namespace + ":" + part + "}");
  }

  /**
   * Returns the two keys that a call of a script on a part declares. The first is the prefix, which never exists as a
   * key. The second is a key that every part has. While a cluster moves a hash slot to another server, it refuses a
   * call with several keys if one of them is absent. So no script runs while the keys of its part are on two servers.
   */
  static List<byte[]> declared(byte[] part) {
    byte[] meta = Arrays.copyOf(part, part.length + META.length);
    System.arraycopy(META, 0, meta, part.length, META.length);
    return List.of(part, meta);
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

  /** Parses a whole number. Also accepts a fraction and an exponent, because Redis may write a score in this form. */
  static long number(byte[] text) {
    String digits = new String(text, StandardCharsets.US_ASCII);
    return digits.indexOf('e') < 0 && digits.indexOf('.') < 0
        ? Long.parseLong(digits)
        : (long) Double.parseDouble(digits);
  }
}
