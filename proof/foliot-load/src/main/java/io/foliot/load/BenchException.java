package io.foliot.load;

/** Thrown when a scenario cannot be completed. The message gives the reason. */
final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BenchException(String message) {
    super(message);
  }

  BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
