package io.foliot.delivery.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a callback. The text is parsed once, strictly, and passed on in parts, so that no later code can parse it
 * differently.
 *
 * @param secure whether the scheme is https
 * @param host the host name or the IP address, in lower case, without brackets
 * @param port the port; the default port of the scheme if the URL has none
 * @param path the path and the query, beginning with a slash
 */
record CallbackUrl(boolean secure, String host, int port, String path) {
  /** Length of the longest URL, in characters. Common servers and proxies accept this length; many refuse 8 KiB. */
  static final int MAX_LENGTH = 2_048;
  /** Length of the longest host name of DNS, in characters. */
  private static final int MAX_HOST_LENGTH = 253;
  /** Length of the longest label of a host name, in characters. */
  private static final int MAX_LABEL_LENGTH = 63;

  /**
   * Parses a URL.
   *
   * @throws IllegalArgumentException if the URL is malformed, too long, or has a part that a callback cannot have
   */
  static CallbackUrl parse(String text) {
    if (text.length() > MAX_LENGTH) {
      throw malformed("at most " + MAX_LENGTH + " characters", text.length() + " characters");
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c >= 0x7F || c == '\\' || c == '"' || c == '<' || c == '>') {
        throw malformed("printable ASCII without \\ \" < > (percent-encode other characters; for a host name, use its"
            + " xn-- form)", "another character at index " + i);
      }
    }
    boolean secure = text.regionMatches(true, 0, "https://", 0, 8);
    if (!secure && !text.regionMatches(true, 0, "http://", 0, 7)) {
      throw malformed("a URL that begins with http:// or https://", "another beginning");
    }
    int from = secure ? 8 : 7;
    int end = from;
    while (end < text.length() && "/?#".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    String authority = text.substring(from, end);
    if (authority.indexOf('@') >= 0) {
      throw malformed("no user name or password (sign with delivery.secret, or send an authorization header)",
          "an @ before the path");
    }
    if (text.indexOf('#') >= 0) {
      throw malformed("no fragment, because a fragment is not sent to the receiver", "a #");
    }
    String rest = text.substring(end);
    int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
    String host = ensureHost(colon < 0 ? authority : authority.substring(0, colon));
    int port = colon < 0 ? (secure ? 443 : 80) : port(authority.substring(colon + 1));
    return new CallbackUrl(secure, host, port, rest.startsWith("/") ? rest : "/" + rest);
  }

  private static IllegalArgumentException malformed(String expected, String got) {
    return new IllegalArgumentException("delivery.url: expected " + expected + ", but got " + got);
  }

  private static String quoted(String text) {
    return '"' + text + '"';
  }

  private static int port(String digits) {
    boolean number = !digits.isEmpty() && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    int port = number ? Integer.parseInt(digits) : 0;
    if (port < 1 || port > 65_535) {
      throw malformed("a port from 1 to 65535", quoted(digits));
    }
    return port;
  }

  private static String ensureHost(String text) {
    if (text.isEmpty()) {
      throw malformed("a host", "none");
    }
    if (text.startsWith("[")) {
      String inner = text.endsWith("]") ? text.substring(1, text.length() - 1) : "";
      if (inner.indexOf(':') < 0 || IpLiteral.parse(inner) == null) {
        throw malformed("an IPv6 address in brackets, without a zone", quoted(text));
      }
      return inner.toLowerCase(Locale.ROOT);
    }
    String host = text.toLowerCase(Locale.ROOT);
    if (host.indexOf(':') >= 0) {
      throw malformed("brackets around an IPv6 address", quoted(text));
    }
    if (host.length() > MAX_HOST_LENGTH) {
      throw malformed("a host of at most 253 characters", host.length() + " characters");
    }
    String[] labels = host.split("\\.", -1);
    for (String label : labels) {
      ensureLabel(label, text);
    }
    if (isNumber(labels[labels.length - 1]) && IpLiteral.parse(host) == null) {
      throw malformed("an IPv4 address as four decimal numbers without leading zeros", quoted(text));
    }
    return host;
  }

  private static void ensureLabel(String label, String host) {
    boolean valid = !label.isEmpty() && label.length() <= MAX_LABEL_LENGTH && label.charAt(0) != '-';
    for (int i = 0; valid && i < label.length(); i++) {
      char c = label.charAt(i);
      valid = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    }
    if (!valid) {
      throw malformed("a host of letters, digits, - _ and single dots, without a dot at the end", quoted(host));
    }
  }

  /**
   * Returns whether a C library would parse this label as a number. It would parse a host that ends with such a label
   * as an IP address.
   */
  private static boolean isNumber(String label) {
    if (label.startsWith("0x")) {
      return label.chars().skip(2).allMatch(c -> Character.digit(c, 16) >= 0);
    }
    return label.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** Returns the 4 or 16 bytes of the host if it is an IP address, or null if it is a name. */
  byte @Nullable [] literal() {
    return IpLiteral.parse(host);
  }

  /** Returns the port for a Host header, or -1 if the port is the default of the scheme. */
  int shownPort() {
    return port == (secure ? 443 : 80) ? -1 : port;
  }

  /** Returns the destination: scheme, host and port. */
  String destination() {
    return (secure ? "https://" : "http://") + hostAndPort();
  }

  /** Returns host and port for messages, without the path, which may contain a secret. */
  String hostAndPort() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
