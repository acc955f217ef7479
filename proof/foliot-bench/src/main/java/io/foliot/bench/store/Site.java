package io.foliot.bench.store;

import io.foliot.core.store.TaskStore;

/** A server under test. One contender uses it at a time. */
interface Site extends AutoCloseable {
  /** Returns the name of the server, its version, and the settings that affect figures. */
  String describe() throws Exception;

  /** Opens an empty store of Foliot on this server. */
  TaskStore openStore() throws Exception;

  /** Makes the server do now the work that it would otherwise do in the middle of a measurement. */
  void settle() throws Exception;

  @Override
  void close();
}
