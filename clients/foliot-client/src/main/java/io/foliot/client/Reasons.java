package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.TaskNote;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The reasons of settlements, in the form that the server accepts. */
final class Reasons {
  /** Maximum number of characters of a reason that are sent. */
  private static final int MAX_REASON = 1000;

  private Reasons() {}

  /**
   * Returns the settlement with its reason cut to {@link #MAX_REASON} characters, and with unpaired surrogates replaced
   * by question marks.
   */
  static Settlement sendable(Settlement settlement) {
    return switch (settlement) {
      case Settlement.Noted(Settlement end, TaskNote note) -> sendable(end).noting(note);
      case Settlement.Nack(String reason, Duration delay) -> new Settlement.Nack(sendable(reason), delay);
      case Settlement.Fail(String reason) -> new Settlement.Fail(sendable(reason));
      case Settlement.NotBegun(String reason) -> new Settlement.NotBegun(sendable(reason));
      case Settlement.Ack ack -> ack;
      case Settlement.Again again -> again;
      case Settlement.RunAgain runAgain -> runAgain;
      case Settlement.EndJob endJob -> endJob;
    };
  }

  private static @Nullable String sendable(@Nullable String reason) {
    if (reason == null) {
      return null;
    }
    String cut = reason.length() > MAX_REASON ? reason.substring(0, MAX_REASON) : reason;
    return new String(cut.getBytes(UTF_8), UTF_8);
  }
}
