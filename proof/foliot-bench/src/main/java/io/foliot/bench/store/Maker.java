package io.foliot.bench.store;

/** Makes something anew for each round. */
@FunctionalInterface
interface Maker<T> {
  T make() throws Exception;
}
