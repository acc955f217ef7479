package io.foliot.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.helidon.http.DirectHandler;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import java.io.ByteArrayOutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A check of the form of requests, on the bytes of a connection as they arrive. It refuses forms that Helidon 4.5.0
 * accepts, and that a proxy may read in another way: a method in lower case, a header without a name, both a length and
 * chunks, two lengths, a chunk whose size is not hexadecimal, and a chunk that does not end with a line break. It
 * follows the requests of a connection by their lengths; the content of bodies is skipped.
 *
 * <p>If the check meets bytes that Helidon itself refuses, or whose end it cannot know, it checks nothing more on this
 * connection, which Helidon then closes. Used by the thread of the connection only.
 */
final class RequestCheck {

  /** The next bytes that are expected. */
  private enum Expected {
    FIRST_LINE, HEADER, BODY, CHUNK_SIZE, CHUNK, CHUNK_END, LAST_LINE, UNKNOWN
  }

  private final int maxLine;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private Expected expected = Expected.FIRST_LINE;
  private boolean isChunked;
  private long length;
  private long left;

  /** @param maxLine the longest line that is checked, in bytes; Helidon refuses a longer one */
  RequestCheck(int maxLine) {
    this.maxLine = maxLine;
  }

  /** A violation. The bytes before {@code at} are in order. */
  record Violation(int at, String reason) {
    RequestException exception() {
      return RequestException.builder().type(DirectHandler.EventType.BAD_REQUEST).status(Status.BAD_REQUEST_400)
          .setKeepAlive(false).message(reason).safeMessage(true).build();
    }
  }

  /** Reads the next bytes of a connection, and returns the first violation, or null. */
  @Nullable
  Violation read(byte[] bytes) {
    int at = 0;
    while (at < bytes.length && expected != Expected.UNKNOWN) {
      if (expected == Expected.BODY || expected == Expected.CHUNK) {
        int skipped = (int) Math.min(left, bytes.length - at);
        left -= skipped;
        at += skipped;
        if (left == 0) {
          expected = expected == Expected.BODY ? Expected.FIRST_LINE : Expected.CHUNK_END;
        }
        continue;
      }
      int begin = at;
      while (at < bytes.length && bytes[at] != '\n') {
        at++;
      }
      boolean isComplete = at < bytes.length;
      at += isComplete ? 1 : 0;
      line.write(bytes, begin, at - begin);
      if (line.size() > maxLine) {
        expected = Expected.UNKNOWN;
      } else if (isComplete) {
        String text = line.toString(ISO_8859_1);
        line.reset();
        String reason = next(text);
        if (reason != null) {
          expected = Expected.UNKNOWN;
          return new Violation(begin, reason);
        }
      } else if (expected == Expected.CHUNK_END && line.size() > 1) {
        expected = Expected.UNKNOWN;
        return new Violation(begin, "a chunk must end with a line break");
      }
    }
    return null;
  }

  /** Reads a line with its end. Returns the reason of a violation, or null. */
  private @Nullable String next(String text) {
    return switch (expected) {
      case FIRST_LINE -> firstLine(text);
      case HEADER -> header(text);
      case CHUNK_SIZE -> chunkSize(text);
      case CHUNK_END -> {
        expected = Expected.CHUNK_SIZE;
        yield text.equals("\r\n") ? null : "a chunk must end with a line break";
      }
      case LAST_LINE -> {
        expected = Expected.FIRST_LINE;
        yield text.equals("\r\n") ? null : "the last chunk must be followed by an empty line";
      }
      case BODY, CHUNK, UNKNOWN -> throw new IllegalStateException("not a line: " + expected);
    };
  }

  private @Nullable String firstLine(String text) {
    isChunked = false;
    length = -1;
    expected = Expected.HEADER;
    for (int i = 0; i < text.length() && text.charAt(i) != ' '; i++) {
      if (Character.isLowerCase(text.charAt(i))) {
        return "the method must be in upper case";
      }
    }
    return null;
  }

  private @Nullable String header(String text) {
    if (text.equals("\r\n")) {
      left = length;
      expected = isChunked ? Expected.CHUNK_SIZE : length > 0 ? Expected.BODY : Expected.FIRST_LINE;
      return isChunked && length >= 0 ? "a request has either Content-Length or Transfer-Encoding" : null;
    }
    int colon = text.indexOf(':');
    if (colon <= 0) {
      return "a header must have a name and a colon";
    }
    String value = text.substring(colon + 1).strip();
    switch (text.substring(0, colon).toLowerCase(Locale.ROOT)) {
      case "content-length" -> {
        if (length >= 0) {
          return "Content-Length must occur only once";
        }
        if (value.isEmpty() || value.length() > 18 || !value.chars().allMatch(c -> c >= '0' && c <= '9')) {
          return "Content-Length must be a number of bytes";
        }
        length = Long.parseLong(value);
      }
      case "transfer-encoding" -> {
        if (isChunked || !value.equalsIgnoreCase("chunked")) {
          return "Transfer-Encoding must be chunked";
        }
        isChunked = true;
      }
      default -> {
        // The other headers do not change where the request ends.
      }
    }
    return null;
  }

  private @Nullable String chunkSize(String text) {
    int end = 0;
    while (end < text.length() && Character.digit(text.charAt(end), 16) >= 0 && text.charAt(end) < 0x80) {
      end++;
    }
    if (end == 0 || end > 15 || !text.substring(end).equals("\r\n")) {
      return "the size of a chunk must be a hexadecimal number, without an extension";
    }
    left = Long.parseLong(text.substring(0, end), 16);
    expected = left == 0 ? Expected.LAST_LINE : Expected.CHUNK;
    return null;
  }
}
