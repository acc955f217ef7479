package io.foliot.delivery.http;

import java.io.IOException;

/**
 * Thrown when an answer exceeds the limit of its bytes or of its informational responses. The client closes a
 * connection if an {@link IOException} is thrown while it reads from the connection.
 */
final class EndlessAnswerException extends IOException {
  private static final long serialVersionUID = 1;

  EndlessAnswerException(String message) {
    super(message);
  }
}
