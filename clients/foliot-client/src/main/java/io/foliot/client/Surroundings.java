package io.foliot.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The source of tasks, the clock and the retry policy that a worker uses.
 *
 * @param source the source of tasks
 * @param clock the clock for leases and pauses
 * @param retry the policy for the pauses after failed claims and declarations
 */
record Surroundings(TaskSource source, ClientClock clock, RetryPolicy retry) {
  /** Returns the surroundings of a worker that uses a server, with the clock and the retry policy of the client. */
  static Surroundings of(FoliotClient client) {
    Transport transport = client.async().transport();
    return new Surroundings(new HttpTaskSource(client), transport.clock(), transport.retry());
  }

  /** Returns the surroundings of a worker that uses a given source. */
  static Surroundings of(TaskSource source) {
    return new Surroundings(source, ClientClock.SYSTEM, RetryPolicy.standard());
  }

  /**
   * Returns the pause after a number of failures in a row.
   *
   * @param failures at least 1
   */
  Duration backoff(int failures) {
    return retry.backoff(failures, ThreadLocalRandom.current().nextDouble());
  }
}
