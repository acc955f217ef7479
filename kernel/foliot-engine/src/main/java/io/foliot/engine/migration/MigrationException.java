package io.foliot.engine.migration;

import io.foliot.core.store.StoreSeal;
import org.jspecify.annotations.Nullable;

/** Thrown when a migration cannot continue, for a reason that can be removed. */
public final class MigrationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient @Nullable StoreSeal seal;

  /**
   * Creates an exception.
   *
   * @param message the problem and its remedy
   */
  public MigrationException(String message) {
    super(message);
    seal = null;
  }

  /** Creates the exception for a target that has the seal of another migration. */
  MigrationException(StoreSeal seal) {
    super("the target is sealed: state=" + seal.state() + ", other=" + seal.other());
    this.seal = seal;
  }

  /** Returns the seal of the target, if the seal is the reason; else null. */
  public @Nullable StoreSeal seal() {
    return seal;
  }
}
