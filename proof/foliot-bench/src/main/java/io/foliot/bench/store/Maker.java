package io.foliot.bench.store;

/** Creates a new object for each round. */
@FunctionalInterface
interface Maker<T> {
  T make() throws Exception;
}
