package io.foliot.delivery.http;

import java.io.IOException;

/**
 * The failure of a connection whose receiver sends more than an answer may have. The client closes a connection that
 * throws an {@link IOException}.
 */
final class EndlessAnswerException extends IOException {
  private static final long serialVersionUID = 1;

  EndlessAnswerException(String message) {
    super(message);
  }
}
