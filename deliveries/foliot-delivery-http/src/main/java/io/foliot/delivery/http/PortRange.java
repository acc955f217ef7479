package io.foliot.delivery.http;

/**
 * A range of ports that callbacks may reach.
 *
 * @param first the lowest port, at least 1
 * @param last the highest port, at most 65535
 */
public record PortRange(int first, int last) {
  public PortRange {
    if (first < 1 || last > 65_535 || first > last) {
      throw new IllegalArgumentException("a range of ports is written like 443 or 1024-65535: first=" + first
          + ", last=" + last);
    }
  }

  /**
   * Parses {@code 443} or {@code 1024-65535}.
   *
   * @throws IllegalArgumentException if the text has neither form, or a port is not from 1 to 65535
   */
  public static PortRange parse(String text) {
    int hyphen = text.indexOf('-');
    return hyphen < 0
        ? new PortRange(port(text), port(text))
        : new PortRange(port(text.substring(0, hyphen)), port(text.substring(hyphen + 1)));
  }

  private static int port(String digits) {
    boolean isNumber = !digits.isEmpty() && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    return isNumber ? Integer.parseInt(digits) : 0;
  }

  boolean contains(int port) {
    return port >= first && port <= last;
  }

  @Override
  public String toString() {
    return first == last ? Integer.toString(first) : first + "-" + last;
  }
}
