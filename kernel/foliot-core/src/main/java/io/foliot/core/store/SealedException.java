package io.foliot.core.store;

/** The store is sealed: its tasks are moved to another store, or those of another store into it. Nothing was done. */
public final class SealedException extends StoreException {
  private static final long serialVersionUID = 1;

  private final transient StoreSeal seal;

  /** With the seal that was found. */
  public SealedException(StoreSeal seal) {
    super("the store is sealed: state=" + seal.state() + ", other=" + seal.other(), null);
    this.seal = seal;
  }

  /** Returns the seal. */
  public StoreSeal seal() {
    return seal;
  }
}
