package io.foliot.core.store;

/**
 * The worker and the node that made an attempt. The detail of an attempt begins with them, so that stores need no field
 * for them: {@code US worker US node US message}, where US is the control character U+001F. Names have no control
 * characters.
 *
 * @param worker the name of the worker that reported the end, cut to {@value #MAX_WORKER} characters; empty if no
 *     worker with a name made the attempt, or if it reported to another node than it had claimed from
 * @param node the node that made the attempt or gave it to the worker, cut to {@value #MAX_NODE} characters; empty if
 *     it is not known
 */
public record AttemptMaker(String worker, String node) {
  /** An unknown maker. */
  public static final AttemptMaker NONE = new AttemptMaker("", "");

  private static final char SEPARATOR = '\u001f';
  private static final int MAX_WORKER = 60;
  private static final int MAX_NODE = 64;

  public AttemptMaker {
    worker = worker.length() > MAX_WORKER ? worker.substring(0, MAX_WORKER) : worker;
    node = node.length() > MAX_NODE ? node.substring(0, MAX_NODE) : node;
  }

  /** Returns the beginning of the details of this maker's attempts; empty for an unknown maker. */
  public String prefix() {
    return equals(NONE) ? "" : SEPARATOR + worker + SEPARATOR + node + SEPARATOR;
  }

  /**
   * Returns the detail of an attempt.
   *
   * @param prefix the {@link #prefix} of its maker
   * @param message the receiver's message
   */
  public static String detail(String prefix, String message) {
    // A message of a receiver must not look like a maker.
    String begin = prefix.isEmpty() && !message.isEmpty() && message.charAt(0) == SEPARATOR
        ? "" + SEPARATOR + SEPARATOR + SEPARATOR
        : prefix;
    return message.isEmpty() ? begin : begin.isEmpty() ? message : begin + message;
  }

  /** Returns the maker in a detail, or {@link #NONE}. */
  static AttemptMaker of(String detail) {
    int end = length(detail);
    if (end == 0) {
      return NONE;
    }
    int middle = detail.indexOf(SEPARATOR, 1);
    return new AttemptMaker(detail.substring(1, middle), detail.substring(middle + 1, end - 1));
  }

  /** Returns the length of the maker at the beginning of a detail; 0 if it has none. */
  static int length(String detail) {
    if (detail.isEmpty() || detail.charAt(0) != SEPARATOR) {
      return 0;
    }
    int middle = detail.indexOf(SEPARATOR, 1);
    int end = middle < 0 ? -1 : detail.indexOf(SEPARATOR, middle + 1);
    return end < 0 || middle > MAX_WORKER + 1 || end - middle > MAX_NODE + 1 ? 0 : end + 1;
  }
}
