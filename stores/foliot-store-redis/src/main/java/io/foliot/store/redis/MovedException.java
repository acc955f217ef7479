package io.foliot.store.redis;

/**
 * Thrown if a call names fewer parts than the store has now, because the number of slots has grown. The call had no
 * effect.
 */
final class MovedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int bits;

  MovedException(int bits) {
    super("the number of slots has grown: slots=2^" + bits, null, false, false);
    this.bits = bits;
  }

  /** Returns the binary logarithm of the number of parts that the store has now. */
  int bits() {
    return bits;
  }
}
