package io.foliot.store.jdbc;

/** The partitions of the index: one for each slot, then one for the parked tasks of each queue. */
final class IndexPartitions {
  /** Largest possible number of slots; the partitions from this number on hold parked tasks. */
  static final int PARKED = 1 << 16;

  private IndexPartitions() {}

  static int parked(int queueNumber) {
    return PARKED + queueNumber;
  }
}
