package io.foliot.client;

/** No connection to the server came about, so nothing was asked and nothing was done. */
public final class UnreachableException extends RuntimeException {
  UnreachableException(String call, Throwable cause) {
    super("the server could not be reached, so nothing was done: " + call + ", cause=" + cause, cause);
  }
}
