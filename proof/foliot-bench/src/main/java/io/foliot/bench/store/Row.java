package io.foliot.bench.store;

/** A measurement that can be chosen by name, and that yields a table. */
interface Row {
  /** Returns the name of the row in the options. */
  String name();

  /** Returns whether the row is measured when no row is named. */
  default boolean isUsual() {
    return true;
  }

  Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception;

  /** Receives messages about the progress. */
  @FunctionalInterface
  interface Progress {
    void report(String what);
  }
}
