package io.foliot.worker.script;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.util.function.Consumer;

/**
 * Reads all output of a script, and keeps its last {@link #MAX_BYTES} bytes. One thread calls {@link #readAll}; any
 * thread may call {@link #total}, {@link #tail} and {@link #lastLine}.
 */
final class OutputTail {
  /** Number of bytes that are kept: enough for a stack trace and the lines before it. */
  static final int MAX_BYTES = 64 << 10;

  /** Maximum number of bytes of one read. */
  private static final int CHUNK = 8 << 10;
  /** Pauses between two looks for new output. The longest one is how late a line may appear in the log. */
  private static final long SHORTEST_PAUSE_NANOS = 1_000_000;
  private static final long LONGEST_PAUSE_NANOS = 50_000_000;
  /**
   * Maximum length of an unfinished line in characters; a longer line is logged in parts. The log of a shard keeps this
   * many characters.
   */
  private static final int MAX_LINE = 4 << 10;

  /** The end of the process that writes the output. */
  interface End {
    boolean await(long nanos) throws InterruptedException;
  }

  private final Consumer<String> log;

  // Guarded by this.
  private final byte[] ring = new byte[MAX_BYTES];
  private long total;

  // Used by the reading thread only.
  private final CharsetDecoder decoder = UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPLACE)
      .onUnmappableCharacter(CodingErrorAction.REPLACE);
  /**
   * Bytes that are not decoded yet. Between two reads, these are at most the first bytes of one incomplete character. A
   * character has up to four bytes.
   */
  private final ByteBuffer undecoded = ByteBuffer.allocate(CHUNK + Integer.BYTES);
  private final CharBuffer decoded = CharBuffer.allocate(CHUNK + Integer.BYTES);
  private final StringBuilder line = new StringBuilder();

  /**
   * @param log receives the output as it arrives. Each text is one or more lines, or a part of a long line. A text of
   *     more than {@link #MAX_LINE} characters is cut to its last {@link #MAX_LINE} characters
   */
  OutputTail(Consumer<String> log) {
    this.log = log;
  }

  /**
   * Reads until the writer has ended, and what it has written is read. A read never waits for output: a process that
   * the writer has left running may hold the output open for ever.
   *
   * @param ended waits at most the given time for the end of the writer, and returns whether it has ended
   */
  void readAll(InputStream output, End ended) throws IOException, InterruptedException {
    byte[] chunk = new byte[CHUNK];
    long pauseNanos = SHORTEST_PAUSE_NANOS;
    boolean isOver = false;
    while (true) {
      int available = output.available();
      if (available > 0) {
        int read = output.read(chunk, 0, Math.min(available, CHUNK));
        if (read < 0) {
          break;
        }
        add(chunk, read);
        pauseNanos = SHORTEST_PAUSE_NANOS;
      } else if (isOver) {
        break;
      } else {
        isOver = ended.await(pauseNanos);
        pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
      }
    }
    decode(true);
    log(line.length());
  }

  private void add(byte[] chunk, int length) {
    synchronized (this) {
      for (int i = 0; i < length; i++) {
        ring[(int) ((total + i) % MAX_BYTES)] = chunk[i];
      }
      total += length;
    }
    undecoded.put(chunk, 0, length);
    decode(false);
    int end = line.lastIndexOf("\n");
    if (end >= 0) {
      log(end);
      line.delete(0, 1);
    } else if (line.length() > MAX_LINE) {
      log(line.length());
    }
  }

  private void decode(boolean isEnd) {
    undecoded.flip();
    decoder.decode(undecoded, decoded, isEnd);
    undecoded.compact();
    decoded.flip();
    line.append(withoutNul(decoded.toString()));
    decoded.clear();
  }

  private void log(int end) {
    if (end > 0) {
      log.accept(line.substring(Math.max(0, end - MAX_LINE), end));
      line.delete(0, end);
    }
  }

  /** Replaces NUL characters, which some stores cannot keep. */
  private static String withoutNul(String text) {
    return text.replace('\0', '\ufffd');
  }

  /** Returns the number of bytes that were read. */
  synchronized long total() {
    return total;
  }

  /** Returns the last {@link #MAX_BYTES} bytes of the output, as text. */
  synchronized String tail() {
    int length = (int) Math.min(total, MAX_BYTES);
    byte[] tail = new byte[length];
    for (int i = 0; i < length; i++) {
      tail[i] = ring[(int) ((total - length + i) % MAX_BYTES)];
    }
    return withoutNul(new String(tail, UTF_8));
  }

  /** Returns the last line of {@link #tail} that is not blank, stripped of white space, or an empty text. */
  String lastLine() {
    return tail().lines().filter(text -> !text.isBlank()).reduce("", (before, last) -> last).strip();
  }
}
