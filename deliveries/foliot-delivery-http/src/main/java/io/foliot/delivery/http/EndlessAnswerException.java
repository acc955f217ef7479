package io.foliot.delivery.http;

import java.io.IOException;

/**
 * Thrown to a connection whose receiver sends more than an answer may have. It is an {@link IOException} so that it
 * closes.
 */
final class EndlessAnswerException extends IOException {
  private static final long serialVersionUID = 1;

  EndlessAnswerException(String message) {
    super(message);
  }
}
