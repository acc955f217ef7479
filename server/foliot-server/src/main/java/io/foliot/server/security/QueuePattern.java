package io.foliot.server.security;

/**
 * A pattern of the queues that an API key covers: a name, or the beginning of names and a star.
 *
 * @param text {@code orders}, {@code orders.*}, or {@code *} for all; at most 128 characters
 */
public record QueuePattern(String text) {
  /** All queues. */
  public static final QueuePattern ALL = new QueuePattern("*");

  public QueuePattern {
    int star = text.indexOf('*');
    if (text.isEmpty() || text.length() > 128 || (star >= 0 && star < text.length() - 1)) {
      throw new IllegalArgumentException(
          "a pattern of queues is a name, or the beginning of a name and a star at the end; at most 128 characters:"
              + " pattern=" + text);
    }
  }

  /** Returns whether the pattern matches every queue. */
  public boolean isAll() {
    return text.equals("*");
  }

  /** Returns whether the pattern matches a queue. */
  public boolean matches(String queue) {
    return text.endsWith("*") ? queue.startsWith(text.substring(0, text.length() - 1)) : queue.equals(text);
  }
}
