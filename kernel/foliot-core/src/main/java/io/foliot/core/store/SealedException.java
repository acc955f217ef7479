package io.foliot.core.store;

/**
 * Thrown when the store is sealed: its tasks were moved or are being moved to another store, or the tasks of another
 * store are being moved into it. The call has changed nothing.
 */
public final class SealedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final transient StoreSeal seal;

  /** Creates an exception with the seal that was found. */
  public SealedException(StoreSeal seal) {
    super("the store is sealed: state=" + seal.state() + ", other=" + seal.other(), null);
    this.seal = seal;
  }

  /** Returns the seal. */
  public StoreSeal seal() {
    return seal;
  }
}
