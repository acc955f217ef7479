package io.foliot.load;

/** A scenario could not be run to its end; the message says why. */
final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BenchException(String message) {
    super(message);
  }

  BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
