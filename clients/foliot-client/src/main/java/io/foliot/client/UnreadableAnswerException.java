package io.foliot.client;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when text from a server does not have the form that the API defines. If the text is the answer to a successful
 * call, this exception becomes the cause of an {@link UnknownOutcomeException}.
 */
final class UnreadableAnswerException extends RuntimeException {
  UnreadableAnswerException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  UnreadableAnswerException(String message) {
    this(message, null);
  }
}
