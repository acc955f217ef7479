package io.foliot.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The limits of requests, each with its reason, and the checks that enforce them. */
public final class Limits {
  /** Longest delay in milliseconds: 100 years of 365.25 days. A longer one is probably a mistake of units. */
  public static final long MAX_DELAY_MILLIS = 3_155_760_000_000L;
  /**
   * Shortest delay, in milliseconds, before the next firing that a receiver requests with a success. A shorter
   * requested delay is raised to this. Otherwise a receiver that requests a delay of 0 would be called in a busy loop.
   */
  public static final long MIN_NEXT_MILLIS = 100;
  /** Maximum number of characters of a queue's name, which is part of paths, metric labels and index keys. */
  public static final int MAX_QUEUE_NAME = 128;
  /** The rule of the name of a queue, as a regular expression. */
  static final String QUEUE_NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}";
  /** Prefix of the names of internal queues. */
  public static final String INTERNAL_QUEUES = "foliot.";
  /** Maximum number of bytes of a key in UTF-8; a key is part of an index key of every store. */
  public static final int MAX_KEY_BYTES = 256;
  /** Maximum number of bytes of a payload that any configuration may allow; the server's default is lower. */
  public static final int MAX_PAYLOAD_BYTES = 1 << 20;
  /** Maximum number of headers of a task; they are sent with every attempt and are part of every record. */
  public static final int MAX_HEADERS = 32;
  /** Maximum total length of all header names and values of a task, in characters. */
  public static final int MAX_HEADER_BYTES = 8 << 10;
  /**
   * Maximum number of items of one batch call. It also limits one commit of the store, so that no call delays other
   * calls for long.
   */
  public static final int MAX_BATCH = 10_000;

  private Limits() {}

  /**
   * Ensures that a rule holds.
   *
   * @throws IllegalArgumentException otherwise
   */
  public static void ensure(boolean holds, String rule, Object value) {
    if (!holds) {
      throw new IllegalArgumentException(rule + ": value=" + value);
    }
  }

  /**
   * Ensures that a duration is not negative and at most {@link #MAX_DELAY_MILLIS}.
   *
   * @throws IllegalArgumentException otherwise
   */
  public static void ensureDuration(String name, Duration value) {
    if (!isDuration(value)) {
      throw new IllegalArgumentException(name + " is from 0 to 100 years: value=" + value);
    }
  }

  /** Returns whether a duration is not negative and at most {@link #MAX_DELAY_MILLIS}. */
  static boolean isDuration(Duration value) {
    return !value.isNegative() && value.compareTo(Duration.ofMillis(MAX_DELAY_MILLIS)) <= 0;
  }

  /**
   * Returns the name of a queue if it is valid: 1 to 128 ASCII letters and digits and, after the first character, also
   * {@code . _ -}.
   *
   * @throws IllegalArgumentException otherwise
   */
  public static String ensureQueueName(String name) {
    if (!isQueueName(name)) {
      throw new IllegalArgumentException(
          "a queue's name has 1 to 128 of A-Z a-z 0-9 . _ - and begins with a letter or digit: queue="
              + shown(name));
    }
    return name;
  }

  /** Returns whether a text can be the name of a queue. See {@link #ensureQueueName}. */
  public static boolean isQueueName(String name) {
    boolean valid = !name.isEmpty() && name.length() <= MAX_QUEUE_NAME && isLetterOrDigit(name.charAt(0));
    for (int i = 1; valid && i < name.length(); i++) {
      char c = name.charAt(i);
      valid = isLetterOrDigit(c) || c == '.' || c == '_' || c == '-';
    }
    return valid;
  }

  private static boolean isLetterOrDigit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  /**
   * Returns a key if it is null or valid: 1 to 256 bytes of UTF-8 without ASCII control characters.
   *
   * @throws IllegalArgumentException otherwise
   */
  public static @Nullable String ensureKey(@Nullable String key) {
    if (key == null) {
      return null;
    }
    int bytes = 0;
    for (int i = 0; i < key.length(); i++) {
      char c = key.charAt(i);
      if (c < 0x20 || c == 0x7F) {
        throw new IllegalArgumentException("a key has no control characters: at=" + i);
      }
      if (Character.isSurrogate(c)) {
        boolean paired = Character.isHighSurrogate(c) && i + 1 < key.length()
            && Character.isLowSurrogate(key.charAt(i + 1));
        if (!paired) {
          throw new IllegalArgumentException("a key is Unicode text without lone surrogates: at=" + i);
        }
        i++;
        bytes += 4;
      } else {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
    }
    if (bytes == 0 || bytes > MAX_KEY_BYTES) {
      throw new IllegalArgumentException("a key has 1 to 256 bytes of UTF-8: bytes=" + bytes);
    }
    return key;
  }

  private static String shown(String text) {
    return text.length() > 64 ? text.substring(0, 64) + "..." : text;
  }
}
