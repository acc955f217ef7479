package io.foliot.store.jdbc;

/** The partitions of the index: one for each slot, then one for the parked tasks of each queue. */
final class IndexPartitions {
  /** First partition of parked tasks: the largest possible number of slots. */
  static final int PARKED = 1 << 16;

  private IndexPartitions() {}

  /** Returns the partition of the parked tasks of a queue. */
  static int parked(int queueNumber) {
    return PARKED + queueNumber;
  }
}
