package io.foliot.delivery.http;

import org.jspecify.annotations.Nullable;

/**
 * A strict parser of IP addresses: four decimal numbers without leading zeros, or IPv6 as in RFC 4291, without a zone.
 * Other forms that a C library accepts (octal, hexadecimal, one large number) are refused.
 */
final class IpLiteral {
  /** Number of 16-bit groups of an IPv6 address. */
  private static final int GROUPS = 8;

  private IpLiteral() {}

  /** Returns the 4 or 16 bytes of the address, or null if the text is not an address. */
  static byte @Nullable [] parse(String text) {
    return text.indexOf(':') >= 0 ? parseV6(text) : parseV4(text);
  }

  private static byte @Nullable [] parseV4(String text) {
    byte[] bytes = new byte[4];
    int at = 0;
    for (int i = 0; i < 4; i++) {
      int from = at;
      int value = 0;
      while (at < text.length() && isDigit(text.charAt(at)) && at - from < 3) {
        value = value * 10 + text.charAt(at++) - '0';
      }
      boolean leadingZero = at - from > 1 && text.charAt(from) == '0';
      if (at == from || value > 255 || leadingZero) {
        return null;
      }
      bytes[i] = (byte) value;
      if (i < 3 && (at == text.length() || text.charAt(at++) != '.')) {
        return null;
      }
    }
    return at == text.length() ? bytes : null;
  }

  private static byte @Nullable [] parseV6(String text) {
    int gap = text.indexOf("::");
    if (gap < 0) {
      byte[] all = groups(text);
      return all != null && all.length == 2 * GROUPS ? all : null;
    }
    if (text.indexOf("::", gap + 1) >= 0) {
      return null;
    }
    String before = text.substring(0, gap);
    byte[] head = groups(before);
    byte[] tail = groups(text.substring(gap + 2));
    if (head == null || tail == null || before.indexOf('.') >= 0 || head.length + tail.length > 2 * (GROUPS - 1)) {
      return null;
    }
    byte[] all = new byte[2 * GROUPS];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(tail, 0, all, all.length - tail.length, tail.length);
    return all;
  }

  /**
   * Returns the bytes of groups that are separated by single colons. The last group may be an IPv4 address. Returns
   * null if a group is malformed, or if there are more than {@link #GROUPS}.
   */
  private static byte @Nullable [] groups(String text) {
    if (text.isEmpty()) {
      return new byte[0];
    }
    String[] parts = text.split(":", -1);
    if (parts.length > GROUPS) {
      return null;
    }
    String last = parts[parts.length - 1];
    byte[] v4 = last.indexOf('.') >= 0 ? parseV4(last) : null;
    int groups = parts.length - (v4 == null ? 0 : 1);
    byte[] bytes = new byte[2 * groups + (v4 == null ? 0 : 4)];
    for (int i = 0; i < groups; i++) {
      int value = hexGroup(parts[i]);
      if (value < 0) {
        return null;
      }
      bytes[2 * i] = (byte) (value >> 8);
      bytes[2 * i + 1] = (byte) value;
    }
    if (v4 != null) {
      System.arraycopy(v4, 0, bytes, 2 * groups, 4);
    }
    return bytes;
  }

  private static int hexGroup(String text) {
    if (text.isEmpty() || text.length() > 4) {
      return -1;
    }
    int value = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      int digit = c < 128 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        return -1;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  private static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }
}
