package io.foliot.bench.store;

/** One that does the work of a row: a scheduler, or bare commands to the same server. */
interface Contender {
  /** Returns its name in the table. */
  String name();

  /**
   * Prepares, works, and checks that the work was done; only the work is measured. It begins with nothing on the
   * server, and leaves nothing running.
   *
   * @throws IllegalStateException if the work was not done, or not as it should be
   * @throws Exception if the contender fails
   */
  Rate round(Work work) throws Exception;
}
