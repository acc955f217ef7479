package io.foliot.store.jdbc;

/** Where index entries stand: one index serves the slots, and behind them the parked tasks of each queue. */
final class IndexPartitions {
  /** The most slots there can be; parts from here on are of parked tasks. */
  static final int PARKED = 1 << 16;

  private IndexPartitions() {}

  static int parked(int queueNumber) {
    return PARKED + queueNumber;
  }
}
