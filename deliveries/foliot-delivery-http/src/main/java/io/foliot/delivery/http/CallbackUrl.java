package io.foliot.delivery.http;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The URL of a callback. It is parsed once, strictly, and passed on in parts, so that no later code can parse the same
 * text differently.
 *
 * @param secure whether the scheme is https
 * @param host the name in lower case, or the address without brackets
 * @param port the port; the default of the scheme if the text has none
 * @param path the path and the query, beginning with a slash
 */
record CallbackUrl(boolean secure, String host, int port, String path) {
  /** Longest URL that servers and proxies accept; a request line of 8 KiB is refused by most. */
  static final int MAX_LENGTH = 2_048;
  private static final int MAX_HOST_LENGTH = 253;
  private static final int MAX_LABEL_LENGTH = 63;

  /**
   * Parses a URL.
   *
   * @throws IllegalArgumentException if a callback cannot be sent to it
   */
  static CallbackUrl parse(String text) {
    if (text.length() > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "delivery.url has at most " + MAX_LENGTH + " characters: characters=" + text.length());
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c <= ' ' || c >= 0x7F || c == '\\' || c == '"' || c == '<' || c == '>') {
        throw malformed("has a character that must be percent-encoded (in a host name: use its xn-- form): at=" + i);
      }
    }
    boolean secure = text.regionMatches(true, 0, "https://", 0, 8);
    if (!secure && !text.regionMatches(true, 0, "http://", 0, 7)) {
      throw malformed("begins with http:// or https://");
    }
    int from = secure ? 8 : 7;
    int end = from;
    while (end < text.length() && "/?#".indexOf(text.charAt(end)) < 0) {
      end++;
    }
    String authority = text.substring(from, end);
    if (authority.indexOf('@') >= 0) {
      throw malformed("has no user name or password; sign with delivery.secret, or send an authorization header");
    }
    if (text.indexOf('#') >= 0) {
      throw malformed("has no fragment: it would never reach the receiver");
    }
    String rest = text.substring(end);
    int colon = authority.endsWith("]") ? -1 : authority.lastIndexOf(':');
    String host = ensureHost(colon < 0 ? authority : authority.substring(0, colon));
    int port = colon < 0 ? (secure ? 443 : 80) : port(authority.substring(colon + 1));
    return new CallbackUrl(secure, host, port, rest.startsWith("/") ? rest : "/" + rest);
  }

  private static IllegalArgumentException malformed(String why) {
    return new IllegalArgumentException("delivery.url " + why);
  }

  private static int port(String digits) {
    boolean number = !digits.isEmpty() && digits.length() <= 5 && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    int port = number ? Integer.parseInt(digits) : 0;
    if (port < 1 || port > 65_535) {
      throw malformed("has a port from 1 to 65535: port=" + digits);
    }
    return port;
  }

  private static String ensureHost(String text) {
    if (text.isEmpty()) {
      throw malformed("names a host");
    }
    if (text.startsWith("[")) {
      String inner = text.endsWith("]") ? text.substring(1, text.length() - 1) : "";
      if (inner.indexOf(':') < 0 || IpLiteral.parse(inner) == null) {
        throw malformed("has an IPv6 address in brackets, without a zone: host=" + text);
      }
      return inner.toLowerCase(Locale.ROOT);
    }
    String host = text.toLowerCase(Locale.ROOT);
    if (host.indexOf(':') >= 0) {
      throw malformed("has an IPv6 address in brackets: host=" + text);
    }
    if (host.length() > MAX_HOST_LENGTH) {
      throw malformed("names a host of at most 253 characters: characters=" + host.length());
    }
    String[] labels = host.split("\\.", -1);
    for (String label : labels) {
      ensureLabel(label, text);
    }
    if (isNumber(labels[labels.length - 1]) && IpLiteral.parse(host) == null) {
      throw malformed("has an IPv4 address as four decimal numbers, without leading zeros: host=" + text);
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
      throw malformed("names a host by letters, digits, - _ and single dots, without a dot at the end: host=" + host);
    }
  }

  /** Returns whether a C library would read the last label as a number, and thus the host as an address. */
  private static boolean isNumber(String label) {
    if (label.startsWith("0x")) {
      return label.chars().skip(2).allMatch(c -> Character.digit(c, 16) >= 0);
    }
    return label.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** Returns the bytes of the host if it is an address, or null if it is a name. */
  byte @Nullable [] literal() {
    return IpLiteral.parse(host);
  }

  /** Returns the port for a Host header: -1 for the default of the scheme. */
  int shownPort() {
    return port == (secure ? 443 : 80) ? -1 : port;
  }

  /** Returns the destination: scheme, host and port, which fail together. */
  String destination() {
    return (secure ? "https://" : "http://") + hostAndPort();
  }

  /** Returns host and port for messages, without the path, which may contain a secret. */
  String hostAndPort() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
