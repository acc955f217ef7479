package io.foliot.store.redis;

/** A part knows of more parts than the caller did; nothing was done. */
final class MovedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int bits;

  MovedException(int bits) {
    super("the number of slots has grown: slots=2^" + bits, null, false, false);
    this.bits = bits;
  }

  /** Returns how many parts there are, as a power of two. */
  int bits() {
    return bits;
  }
}
