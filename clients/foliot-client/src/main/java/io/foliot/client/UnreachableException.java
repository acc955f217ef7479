package io.foliot.client;

/** Thrown when no connection to the server was possible, so the call had no effect. */
public final class UnreachableException extends RuntimeException {
  UnreachableException(String call, Throwable cause) {
    super("the server could not be reached, so nothing was done: " + call + ", cause=" + cause, cause);
  }
}
