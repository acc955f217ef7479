package io.foliot.delivery.http;

import java.io.IOException;

/**
 * Thrown when an answer has too many bytes or too many informational responses. The client then closes the connection,
 * as for any {@link IOException} while it reads.
 */
final class EndlessAnswerException extends IOException {
  private static final long serialVersionUID = 1;

  EndlessAnswerException(String message) {
    super(message);
  }
}
