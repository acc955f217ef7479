package io.foliot.client;

/**
 * The handler of a job is to stop: its lease is lost, or its worker stops. A handler lets it pass. After a stop of the
 * worker the shard begins elsewhere at once, with its checkpoint; after a lost lease it may have begun already.
 */
public final class JobStoppedException extends RuntimeException {
  private final boolean leaseLost;

  JobStoppedException(String message, boolean leaseLost) {
    super(message);
    this.leaseLost = leaseLost;
  }

  /** Returns whether the lease is lost; else the worker stops. */
  public boolean isLeaseLost() {
    return leaseLost;
  }
}
