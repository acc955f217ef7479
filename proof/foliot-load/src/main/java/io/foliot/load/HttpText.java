package io.foliot.load;

/** Finds the parts of an HTTP/1.1 message in its bytes. */
final class HttpText {
  private static final String CONTENT_LENGTH = "content-length:";

  private HttpText() {}

  /** Returns the index after the empty line that ends the head, or -1 if the head is not complete. */
  static int headEnd(byte[] bytes, int from, int to) {
    for (int i = from; i + 3 < to; i++) {
      if (bytes[i] == '\r' && bytes[i + 1] == '\n' && bytes[i + 2] == '\r' && bytes[i + 3] == '\n') {
        return i + 4;
      }
    }
    return -1;
  }

  /** Returns the value of the header Content-Length, or -1 if the head does not contain that header. */
  static int contentLength(byte[] bytes, int from, int headEnd) {
    for (int i = from; i + CONTENT_LENGTH.length() < headEnd; i++) {
      if (bytes[i] == '\n' && isContentLength(bytes, i + 1)) {
        return number(bytes, i + 1 + CONTENT_LENGTH.length());
      }
    }
    return -1;
  }

  private static boolean isContentLength(byte[] bytes, int at) {
    for (int i = 0; i < CONTENT_LENGTH.length(); i++) {
      if (Character.toLowerCase(bytes[at + i]) != CONTENT_LENGTH.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private static int number(byte[] bytes, int at) {
    int value = 0;
    for (int i = at; bytes[i] != '\r'; i++) {
      value = bytes[i] == ' ' ? value : value * 10 + bytes[i] - '0';
    }
    return value;
  }

  /** Returns the number in {@code count} digits at a position, or -1 if not all of these bytes are digits. */
  static int digits(byte[] bytes, int at, int count) {
    int value = 0;
    for (int i = at; i < at + count; i++) {
      if (i >= bytes.length || bytes[i] < '0' || bytes[i] > '9') {
        return -1;
      }
      value = value * 10 + bytes[i] - '0';
    }
    return value;
  }

  /** Writes a number in {@code count} digits at a position, with leading zeros. */
  static void putDigits(byte[] bytes, int at, int count, int value) {
    int rest = value;
    for (int i = at + count - 1; i >= at; i--) {
      bytes[i] = (byte) ('0' + rest % 10);
      rest /= 10;
    }
  }

  /** Returns how often a text occurs in a part of the bytes. Fast if the first byte of the text is rare in the part. */
  static int count(byte[] bytes, int from, int to, byte[] text) {
    int count = 0;
    int last = to - text.length;
    for (int i = from; i <= last; i++) {
      if (bytes[i] == text[0] && startsWith(bytes, i, text)) {
        count++;
        i += text.length - 1;
      }
    }
    return count;
  }

  private static boolean startsWith(byte[] bytes, int at, byte[] text) {
    for (int i = 1; i < text.length; i++) {
      if (bytes[at + i] != text[i]) {
        return false;
      }
    }
    return true;
  }
}
