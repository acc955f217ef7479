package io.foliot.client;

/**
 * Thrown when a lease cannot be extended, or its token is no longer valid; the settle or extension has no effect. The
 * futures of an in-process {@link TaskSource} fail with this exception. The futures of calls to a server fail with a
 * {@link FoliotException}.
 */
public final class LeaseLostException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final boolean isCancelled;

  /**
   * Creates the exception.
   *
   * @param message the human-readable reason
   * @param isCancelled whether a cancel of the task is pending until the attempt ends
   */
  public LeaseLostException(String message, boolean isCancelled) {
    super(message);
    this.isCancelled = isCancelled;
  }

  /** Returns whether a cancel of the task is pending until the attempt ends. */
  public boolean isCancelled() {
    return isCancelled;
  }
}
