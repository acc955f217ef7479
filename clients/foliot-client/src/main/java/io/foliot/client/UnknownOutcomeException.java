package io.foliot.client;

/**
 * Thrown when there is no usable answer, for example because of a timeout, a broken connection, an interrupt, an error
 * of a gateway, or an internal error of the server. The server may or may not have carried out the call, so do not
 * treat the call as failed. Repeat the call if that is safe, or read the task. A submit is safe to repeat with the same
 * {@linkplain NewTask.Builder#idempotencyKey idempotency key}.
 */
public final class UnknownOutcomeException extends RuntimeException {
  UnknownOutcomeException(String call, String reason, Throwable cause) {
    super("it is not known whether the server carried out " + call + ": " + reason, cause);
  }
}
