package io.foliot.store.redis;

/** How many parts the tasks are spread over, as far as this process knows. Any thread. */
final class Parts {
  private volatile int bits;

  Parts(int bits) {
    this.bits = bits;
  }

  /** The number, as a power of two. */
  int bits() {
    return bits;
  }

  int count() {
    return 1 << bits;
  }

  /** The part of a task. */
  int of(int hash16) {
    return hash16 & 0xFFFF & ((1 << bits) - 1);
  }

  /** A part knows of more. */
  synchronized void learn(int newBits) {
    bits = Math.max(bits, newBits);
  }
}
