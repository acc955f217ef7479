package io.foliot.client;

import org.jspecify.annotations.Nullable;

/** Thrown when an answer does not conform to the API. Becomes the cause of an {@link UnknownOutcomeException}. */
final class UnreadableAnswerException extends RuntimeException {
  UnreadableAnswerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  UnreadableAnswerException(String message) {
    this(message, null);
  }
}
