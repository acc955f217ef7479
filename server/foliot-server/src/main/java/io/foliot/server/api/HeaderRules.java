package io.foliot.server.api;

import io.foliot.api.Limits;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Rules for the content type and the headers of a task. */
final class HeaderRules {
  /** Longest content type, in characters. */
  private static final int MAX_CONTENT_TYPE = 256;
  /** Characters that the name of a header may have besides letters and digits (RFC 9110, "token"). */
  private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";
  private static final Set<String> RESERVED = Set.of("connection", "content-length", "content-type", "expect", "host",
      "http2-settings", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
      "transfer-encoding", "upgrade", "user-agent");

  private HeaderRules() {}

  static String contentType(String text) {
    boolean valid = text.length() <= MAX_CONTENT_TYPE && text.indexOf('/') > 0 && isPrintable(text);
    if (!valid) {
      throw JsonIn.invalidText("contentType", "a media type such as application/json", text);
    }
    return text;
  }

  static Map<String, String> headers(@Nullable Map<String, String> headers) {
    if (headers == null || headers.isEmpty()) {
      return Map.of();
    }
    if (headers.size() > Limits.MAX_HEADERS) {
      throw JsonIn.invalid("headers", "at most " + Limits.MAX_HEADERS + " headers", String.valueOf(headers.size()));
    }
    headers.forEach(HeaderRules::check);
    return headers;
  }

  private static void check(String name, String value) {
    String field = "headers." + JsonIn.shown(name);
    if (name.isEmpty() || !name.chars().allMatch(HeaderRules::isTokenCharacter)) {
      throw JsonIn.invalid(field, "a name such as \"x-tenant\" (RFC 9110 token)", "other characters");
    }
    String lower = name.toLowerCase(Locale.ROOT);
    if (RESERVED.contains(lower) || lower.startsWith("webhook-") || lower.startsWith("foliot-")) {
      throw JsonIn.invalid(field, "a header that neither HTTP nor Foliot sets", name);
    }
    if (!isPrintable(value)) {
      throw JsonIn.invalid(field, "printable ASCII", "other characters");
    }
  }

  private static boolean isTokenCharacter(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || TOKEN_MARKS.indexOf(c) >= 0;
  }

  private static boolean isPrintable(String text) {
    return text.chars().allMatch(c -> c >= 0x20 && c < 0x7F);
  }
}
