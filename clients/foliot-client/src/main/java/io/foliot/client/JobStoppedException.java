package io.foliot.client;

/**
 * Thrown when the handler of a job must stop, because its lease is lost or its worker stops. A handler should not catch
 * this exception. If the worker stops, the shard can begin on another worker at once, from its checkpoint. If the lease
 * is lost, the shard may already have begun on another worker.
 */
public final class JobStoppedException extends RuntimeException {
  private final boolean leaseLost;

  JobStoppedException(String message, boolean leaseLost) {
    super(message);
    this.leaseLost = leaseLost;
  }

  /** Returns true if the lease is lost, and false if the worker stops. */
  public boolean isLeaseLost() {
    return leaseLost;
  }
}
