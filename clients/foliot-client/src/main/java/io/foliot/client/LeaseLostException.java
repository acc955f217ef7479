package io.foliot.client;

/**
 * The token of a lease is no longer valid, so a report has no effect. Thrown by a {@link TaskSource} that is no server.
 */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean isCancelled;

  /**
   * Creates the exception.
   *
   * @param message the reason, for people
   * @param isCancelled whether the task was cancelled, and waits for the end of the attempt
   */
  public LeaseLostException(String message, boolean isCancelled) {
    super(message);
    this.isCancelled = isCancelled;
  }

  /** Returns whether the task was cancelled, and waits for the end of the attempt. */
  public boolean isCancelled() {
    return isCancelled;
  }
}
