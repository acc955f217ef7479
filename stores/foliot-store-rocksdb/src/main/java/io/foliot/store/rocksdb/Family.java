package io.foliot.store.rocksdb;

/**
 * The column families, with the form of their keys. The names are part of the format. Numbers are big-endian.
 *
 * <p>{@code index} and {@code parked} are deleted from by SingleDelete only: no key of theirs is ever written twice
 * without a delete between, so that an entry and its tombstone vanish as soon as they meet, mostly when a memtable is
 * flushed.
 */
enum Family {
  /** Format, counts, queue numbers, floors. RocksDB demands a family of this name. */
  META(0, "default"),
  /** Live tasks: task id. */
  RECORDS(1, "records"),
  /** The bodies of large tasks, live or kept: task id, and which of two. */
  BODIES(2, "bodies"),
  /** The index of live tasks: slot, wakeAt, task id. */
  INDEX(3, "index"),
  /** Live tasks set aside: queue number, wakeAt, task id. */
  PARKED(4, "parked"),
  /** The latest task of a key: queue number, key. */
  KEYS(5, "keys"),
  /** Final tasks: class, bucket of expiry, task id. */
  HISTORY(6, "history"),
  /** The answers to requests with an idempotency key: bucket of expiry, queue number, key, idempotency key. */
  ANSWERS(7, "answers"),
  /** Configuration: kind, name. */
  DOCUMENTS(8, "documents");

  /** Its index in arrays of this process; not part of the format. */
  final int place;
  final String text;

  Family(int place, String text) {
    this.place = place;
    this.text = text;
  }
}
