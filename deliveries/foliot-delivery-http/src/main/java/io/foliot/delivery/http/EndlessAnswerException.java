package io.foliot.delivery.http;

import java.io.IOException;

/**
 * Thrown when an answer has more bytes or more informational responses than the limit. The client closes a connection
 * that throws an {@link IOException}.
 */
final class EndlessAnswerException extends IOException {
  private static final long serialVersionUID = 1;

  EndlessAnswerException(String message) {
    super(message);
  }
}
