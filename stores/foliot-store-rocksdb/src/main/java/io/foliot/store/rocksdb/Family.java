package io.foliot.store.rocksdb;

/**
 * The column families, each with the parts of its keys. The names are part of the format. Numbers are big-endian.
 *
 * <p>Entries of {@code index} and {@code parked} are deleted by SingleDelete only. RocksDB permits SingleDelete only if
 * no key is written twice without a delete in between, which is true of these families. An entry and its tombstone
 * therefore vanish as soon as they meet, mostly when a memtable is flushed.
 */
enum Family {
  /** Small values such as the format, counts and queue numbers. RocksDB requires a family named "default". */
  META(0, "default"),
  /** Live tasks: task id. */
  RECORDS(1, "records"),
  /** Large bodies of tasks, live or final: task id, then 0 for the task, 1 for its successor. */
  BODIES(2, "bodies"),
  /** The index of live tasks that are not parked: slot, wakeAt, task id. */
  INDEX(3, "index"),
  /** The index entries of parked tasks: queue number, wakeAt, task id. */
  PARKED(4, "parked"),
  /** The latest task of a key: queue number, key. */
  KEYS(5, "keys"),
  /** Final tasks: kind and number of the {@link Bucket}, task id. */
  HISTORY(6, "history"),
  /** The answers to requests with an idempotency key: bucket of expiry, queue number, key, idempotency key. */
  ANSWERS(7, "answers"),
  /** Configuration: kind, name. */
  DOCUMENTS(8, "documents");

  /** Index of the family in arrays of this process; not part of the format. */
  final int place;
  /** The name of the family in RocksDB. */
  final String text;

  Family(int place, String text) {
    this.place = place;
    this.text = text;
  }
}
