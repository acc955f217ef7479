package io.foliot.worker.script;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.Consumer;

/**
 * A reader of all output of a script that keeps the end. One thread reads the output; any thread may ask for the end.
 */
final class OutputTail {
  /**
   * Bytes that are kept: enough for a stack trace and the lines before it, and little memory even for many scripts at
   * once.
   */
  static final int MAX_BYTES = 64 << 10;

  private static final int CHUNK = 8 << 10;
  /** Characters after which an unfinished line is logged: the log of a shard keeps no more. */
  private static final int MAX_LINE = 4 << 10;

  private final Consumer<String> log;

  // Guarded by this.
  private final byte[] ring = new byte[MAX_BYTES];
  private long total;

  // The reading thread only.
  private final StringBuilder line = new StringBuilder();

  /** @param log receives the lines as they arrive, several in one text */
  OutputTail(Consumer<String> log) {
    this.log = log;
  }

  /** Reads until the output ends. */
  void readAll(InputStream output) throws IOException {
    byte[] chunk = new byte[CHUNK];
    for (int read = output.read(chunk); read >= 0; read = output.read(chunk)) {
      add(chunk, read);
    }
    log(line.length());
  }

  private void add(byte[] chunk, int length) {
    synchronized (this) {
      for (int i = 0; i < length; i++) {
        ring[(int) ((total + i) % MAX_BYTES)] = chunk[i];
      }
      total += length;
    }
    line.append(text(chunk, length));
    int end = line.lastIndexOf("\n");
    if (end >= 0) {
      log(end);
      line.delete(0, 1);
    } else if (line.length() > MAX_LINE) {
      log(line.length());
    }
  }

  private void log(int end) {
    if (end > 0) {
      log.accept(line.substring(Math.max(0, end - MAX_LINE), end));
      line.delete(0, end);
    }
  }

  /** Returns bytes as text. Bytes that are not UTF-8 are replaced, and so is NUL, which some stores cannot keep. */
  private static String text(byte[] bytes, int length) {
    return new String(bytes, 0, length, UTF_8).replace('\0', '\ufffd');
  }

  /** Returns how many bytes were read in all. */
  synchronized long total() {
    return total;
  }

  /** Returns the end of the output, as text. */
  synchronized String tail() {
    int length = (int) Math.min(total, MAX_BYTES);
    byte[] tail = new byte[length];
    for (int i = 0; i < length; i++) {
      tail[i] = ring[(int) ((total - length + i) % MAX_BYTES)];
    }
    return text(tail, length);
  }

  /** Returns the last line that is not blank, without white space at its ends, or an empty text. */
  String lastLine() {
    return tail().lines().filter(text -> !text.isBlank()).reduce("", (before, last) -> last).strip();
  }
}
