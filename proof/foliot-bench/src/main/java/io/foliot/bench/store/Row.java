package io.foliot.bench.store;

/** Something to measure. */
interface Row {
  /** Returns its name in the options. */
  String name();

  /** Returns whether it is measured when no row is named. */
  default boolean isUsual() {
    return true;
  }

  /** Measures it. */
  Table measure(Sites sites, StoreOptions options, Progress progress) throws Exception;

  /** Receives the progress. */
  @FunctionalInterface
  interface Progress {
    void report(String what);
  }
}
