package io.foliot.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How an attempt has ended. */
public sealed interface Settlement {
  /** The attempt has succeeded. */
  record Ack() implements Settlement {}

  /**
   * The attempt has failed.
   *
   * @param reason for people
   * @param delay until the next attempt; null for the queue's backoff
   */
  record Nack(String reason, @Nullable Duration delay) implements Settlement {
    public Nack {
      if (delay != null) {
        DurationText.requireNotNegative("delay", delay);
      }
    }
  }

  /** The attempt has succeeded. */
  static Settlement ack() {
    return new Ack();
  }

  /** The attempt has failed; the next one comes after the queue's backoff. */
  static Settlement nack(String reason) {
    return new Nack(reason, null);
  }

  /** The attempt has failed; the next one comes after a delay. */
  static Settlement nack(String reason, Duration delay) {
    return new Nack(reason, delay);
  }
}
