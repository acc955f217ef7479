package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.JobHeaders;
import java.util.Set;

/** Cleans text that is sent in a request's header, and text of a receiver's answer. */
final class HeaderText {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();
  /** Maximum number of characters of foreign text in a message. */
  private static final int SHOWN = 64;

  /**
   * Headers of a task that are not sent, because they frame the message, belong to one connection, or are set by the
   * callback itself.
   */
  private static final Set<String> RESERVED = Set.of("host", "content-length", "transfer-encoding", "connection",
      "keep-alive", "proxy-connection", "proxy-authorization", "te", "trailer", "upgrade", "expect", "http2-settings",
      "content-type", "user-agent", "traceparent");

  private HeaderText() {}

  /**
   * Returns whether a header of a task's body is sent. The name of the header, in lower case, must be an HTTP token
   * that is not reserved. Headers of a job, which callers cannot submit, are sent too.
   */
  static boolean isFree(String lowerName) {
    return isToken(lowerName) && !RESERVED.contains(lowerName) && !lowerName.startsWith("webhook-")
        && (!lowerName.startsWith("foliot-") || JobHeaders.isDelivered(lowerName));
  }

  private static boolean isToken(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean letterOrDigit = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!letterOrDigit && "!#$%&'*+-.^_`|~".indexOf(c) < 0) {
        return false;
      }
    }
    return !name.isEmpty();
  }

  /**
   * Returns a value for a header: control characters become spaces, and non-ASCII characters are percent-encoded as
   * UTF-8.
   */
  static String value(String text) {
    int i = 0;
    while (i < text.length() && text.charAt(i) >= ' ' && text.charAt(i) < 0x7F) {
      i++;
    }
    if (i == text.length()) {
      return text;
    }
    StringBuilder clean = new StringBuilder(text.length() + 16).append(text, 0, i);
    for (byte b : text.substring(i).getBytes(UTF_8)) {
      append(clean, b < 0 ? b : b < ' ' || b == 0x7F ? (byte) ' ' : b, b < 0);
    }
    return clean.toString();
  }

  /**
   * Returns a task's key for a header. Unlike in {@link #value}, spaces, control characters and percent signs are
   * percent-encoded as well, so that decoding always returns the key.
   */
  static String key(String key) {
    int i = 0;
    while (i < key.length() && isPlain(key.charAt(i))) {
      i++;
    }
    if (i == key.length()) {
      return key;
    }
    StringBuilder encoded = new StringBuilder(key.length() + 16).append(key, 0, i);
    for (byte b : key.substring(i).getBytes(UTF_8)) {
      append(encoded, b, b < 0 || !isPlain((char) b));
    }
    return encoded.toString();
  }

  private static boolean isPlain(char c) {
    return c > ' ' && c < 0x7F && c != '%';
  }

  private static void append(StringBuilder text, byte b, boolean encode) {
    if (encode) {
      text.append('%').append(HEX[b >> 4 & 0xF]).append(HEX[b & 0xF]);
    } else {
      text.append((char) b);
    }
  }

  /** Returns foreign text for a message: the {@link #oneLine} of its beginning, and {@code ...} if cut. */
  static String shown(String text) {
    String head = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
    return oneLine(head);
  }

  /**
   * Returns the text on one line, without spaces at its ends. One space replaces each run of spaces, line breaks,
   * control characters, format characters (which can reverse text) and lone surrogates.
   */
  static String oneLine(String text) {
    StringBuilder line = new StringBuilder(text.length());
    text.codePoints().forEach(c -> {
      int type = Character.getType(c);
      boolean visible = c != ' ' && type != Character.CONTROL && type != Character.FORMAT && type != Character.SURROGATE
          && type != Character.LINE_SEPARATOR && type != Character.PARAGRAPH_SEPARATOR;
      if (visible) {
        line.appendCodePoint(c);
      } else if (!line.isEmpty() && line.charAt(line.length() - 1) != ' ') {
        line.append(' ');
      }
    });
    return line.toString().strip();
  }
}
