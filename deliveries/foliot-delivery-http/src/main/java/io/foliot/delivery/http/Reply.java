package io.foliot.delivery.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.DurationText;
import io.foliot.api.Limits;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Answer.Health;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.UnsupportedCharsetException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Collection;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The relevant part of a receiver's answer.
 *
 * @param status the status code
 * @param next the header {@code foliot-next}, or null
 * @param ack the header {@code foliot-ack}, or null
 * @param retryAfter the header {@code Retry-After}, or null
 * @param contentType the header {@code Content-Type}, or null
 * @param contentEncoding the header {@code Content-Encoding}, or null
 * @param body the beginning of the body; empty if the status is below 400
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Reply(int status, @Nullable String next, @Nullable String ack, @Nullable String retryAfter,
    @Nullable String contentType, @Nullable String contentEncoding, byte[] body) {
  /**
   * Longest wait that a receiver can request by Retry-After. A longer wait is assumed to be a mistake, and shortened to
   * this limit.
   */
  static final Duration MAX_RETRY_AFTER = Duration.ofHours(24);
  /** Maximum number of characters of an answer's body in a detail. */
  static final int DETAIL_LENGTH = 200;
  private static final int NOT_MODIFIED = 304;
  private static final Pattern CHARSET = Pattern.compile(";\\s*charset\\s*=\\s*\"?([^\\s;\"]+)",
      Pattern.CASE_INSENSITIVE);
  private static final Answer DONE = new Answer.Done("HTTP 200");
  private static final Duration MAX_NEXT = Duration.ofMillis(Limits.MAX_DELAY_MILLIS);
  private static final String REDACTED = "[redacted]";
  /**
   * A body may be cut in the middle of a secret. The part of the secret at the end of the text is masked if it has at
   * least this many characters.
   */
  private static final int MIN_CUT_SECRET = 4;

  /**
   * Returns the meaning of the answer for the task.
   *
   * @param wallMillis the current time, in milliseconds since 1970; a date in Retry-After is compared with it
   * @param secrets values that were sent and must not appear in a detail, even if the receiver repeats them
   */
  Answer answer(long wallMillis, Collection<String> secrets) {
    if (status >= 200 && status < 300) {
      return success();
    }
    if (status >= 300 && status < 400) {
      if (status == NOT_MODIFIED) {
        return new Answer.Retry(null, Health.WELL, "HTTP 304: expected 2xx; 304 answers conditional requests only");
      }
      return new Answer.Retry(null, Health.WELL,
          "HTTP " + status + ": redirects are not followed; set the url of the queue to the redirect's location");
    }
    String detail = detail(secrets);
    if (status == 410) {
      return new Answer.Fail(detail);
    }
    if (status == 429 || status == 503) {
      return new Answer.Retry(retryAfter(wallMillis), Health.OVERLOADED, detail);
    }
    return new Answer.Retry(null, status >= 500 ? Health.FAILING : Health.WELL, detail);
  }

  private Answer success() {
    if (status == 202 && ack != null && ack.strip().equalsIgnoreCase("later")) {
      return new Answer.Accepted("HTTP 202");
    }
    if (next == null) {
      return status == 200 ? DONE : new Answer.Done("HTTP " + status);
    }
    try {
      Duration wait = DurationText.parse(next.strip());
      if (wait.compareTo(MAX_NEXT) > 0) {
        return unclear("expected a duration of at most 100 years, but got \"" + HeaderText.shown(next) + '"');
      }
      return new Answer.Again(wait, "HTTP " + status);
    } catch (IllegalArgumentException e) {
      return unclear(HeaderText.shown(String.valueOf(e.getMessage())));
    }
  }

  /**
   * Returns the answer to a foliot-next that cannot be parsed, or is too long: another attempt. Ending the task
   * instead could lose the call that the receiver requested.
   */
  private Answer unclear(String problem) {
    return new Answer.Retry(null, Health.WELL, "HTTP " + status + "; foliot-next: " + problem);
  }

  private @Nullable Duration retryAfter(long wallMillis) {
    if (retryAfter == null) {
      return null;
    }
    String text = retryAfter.strip();
    Duration wait;
    if (!text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9')) {
      wait = text.length() > 9 ? MAX_RETRY_AFTER : Duration.ofSeconds(Long.parseLong(text));
    } else {
      try {
        Instant until = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
        wait = Duration.between(Instant.ofEpochMilli(wallMillis), until);
      } catch (DateTimeException | ArithmeticException e) {
        return null;
      }
    }
    return wait.isNegative() ? Duration.ZERO : wait.compareTo(MAX_RETRY_AFTER) > 0 ? MAX_RETRY_AFTER : wait;
  }

  private String detail(Collection<String> secrets) {
    String start = "HTTP " + status;
    if (!isText() || body.length == 0) {
      return start;
    }
    if (contentEncoding != null && !contentEncoding.strip().equalsIgnoreCase("identity")) {
      // No compression was requested, and only the beginning of the body is known.
      return start + "; the body is not shown: content-encoding=" + HeaderText.shown(contentEncoding);
    }
    String text = withoutCutCharacter(HeaderText.oneLine(new String(body, charset())));
    for (String secret : secrets) {
      text = withoutCutSecret(text.replace(secret, REDACTED), secret);
    }
    if (text.length() > DETAIL_LENGTH) {
      int end = Character.isHighSurrogate(text.charAt(DETAIL_LENGTH - 1)) ? DETAIL_LENGTH - 1 : DETAIL_LENGTH;
      text = text.substring(0, end) + "...";
    }
    return text.isEmpty() ? start : start + ": " + text;
  }

  /** Removes a replacement character at the end: the last character of a cut body may lack some of its bytes. */
  private static String withoutCutCharacter(String text) {
    return text.endsWith("\uFFFD") ? text.substring(0, text.length() - 1) : text;
  }

  /**
   * Masks the end of a text if it is the beginning of a secret, because the text may have been cut in the middle of the
   * secret.
   */
  private static String withoutCutSecret(String text, String secret) {
    for (int length = Math.min(secret.length(), text.length()); length >= MIN_CUT_SECRET; length--) {
      if (text.regionMatches(text.length() - length, secret, 0, length)) {
        return text.substring(0, text.length() - length) + REDACTED;
      }
    }
    return text;
  }

  /** Returns the charset of the body according to its type; UTF-8 if the type names none, or an unknown one. */
  private Charset charset() {
    Matcher named = CHARSET.matcher(contentType == null ? "" : contentType);
    try {
      return named.find() ? Charset.forName(named.group(1)) : UTF_8;
    } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
      return UTF_8;
    }
  }

  private boolean isText() {
    if (contentType == null) {
      return false;
    }
    String type = contentType.toLowerCase(Locale.ROOT);
    return type.startsWith("text/") || type.contains("json") || type.contains("xml");
  }
}
