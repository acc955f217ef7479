package io.foliot.client;

/**
 * The token of a lease is no longer valid, so a settle or an extension has no effect. The futures of an in-process
 * {@link TaskSource} fail with this exception. The futures of calls to a server fail with a {@link FoliotException}.
 */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean isCancelled;

  /**
   * Creates the exception.
   *
   * @param message the human-readable reason
   * @param isCancelled whether the task was cancelled, and its cancel waits for the end of the attempt
   */
  public LeaseLostException(String message, boolean isCancelled) {
    super(message);
    this.isCancelled = isCancelled;
  }

  /** Returns whether the task was cancelled, and its cancel waits for the end of the attempt. */
  public boolean isCancelled() {
    return isCancelled;
  }
}
