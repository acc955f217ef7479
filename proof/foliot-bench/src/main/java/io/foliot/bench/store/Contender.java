package io.foliot.bench.store;

/** A participant in a row of the comparison: a scheduler, or bare commands to the same server. */
interface Contender {
  /** Returns the contender's name in the table. */
  String name();

  /**
   * Prepares the work, does it, and checks that it was done. Only the work itself is measured. A round begins with an
   * empty server and leaves nothing running.
   *
   * @throws IllegalStateException if the work was not done correctly
   * @throws Exception if the contender fails
   */
  Rate round(Work work) throws Exception;
}
