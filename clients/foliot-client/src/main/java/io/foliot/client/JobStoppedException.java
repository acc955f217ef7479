package io.foliot.client;

/**
 * The handler of a job must stop, because its lease is lost or its worker stops. A handler should not catch this
 * exception. After a stop of the worker, the shard begins elsewhere at once, from its checkpoint. After a lost lease,
 * it may have begun elsewhere already.
 */
public final class JobStoppedException extends RuntimeException {
  private final boolean leaseLost;

  JobStoppedException(String message, boolean leaseLost) {
    super(message);
    this.leaseLost = leaseLost;
  }

  /** Returns whether the lease is lost; if not, the worker stops. */
  public boolean isLeaseLost() {
    return leaseLost;
  }
}
