package io.foliot.server.api;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The parts of settings, headers and URLs that callers send and that no answer to a reader shows. */
final class Secrets {
  /** The text in place of a secret. */
  static final String MASK = "***";

  private static final Set<String> HEADERS = Set.of("authorization", "proxy-authorization", "cookie", "set-cookie");
  private static final List<String> WORDS = List.of("secret", "password", "passwd", "token", "credential", "api-key",
      "apikey", "api_key", "access-key", "signature", "session");
  /** Shortest segment of a path that may be a token, in characters. */
  private static final int TOKEN_LENGTH = 16;

  private Secrets() {}

  /** Returns whether the value of a setting or header with this name is a secret. */
  static boolean isSecret(String name) {
    String lower = name.toLowerCase(Locale.ROOT);
    return HEADERS.contains(lower) || WORDS.stream().anyMatch(lower::contains);
  }

  /**
   * Returns a URL with masks in place of the parts that may be tokens: the query, and the long segments of the path, as
   * receivers of webhooks use them.
   */
  static String withoutTokens(String url) {
    int query = url.indexOf('?');
    String path = query < 0 ? url : url.substring(0, query);
    int slashes = path.indexOf("://");
    int host = path.indexOf('/', slashes < 0 ? 0 : slashes + 3);
    StringBuilder shown = new StringBuilder(host < 0 ? path : path.substring(0, host));
    if (host >= 0) {
      for (String segment : path.substring(host + 1).split("/", -1)) {
        shown.append('/').append(segment.length() >= TOKEN_LENGTH ? MASK : segment);
      }
    }
    return query < 0 ? shown.toString() : shown.append('?').append(MASK).toString();
  }
}
