package io.foliot.client;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The parts of its environment that a worker uses.
 *
 * @param retry the rule for the pauses after failed claims and declarations
 */
record Surroundings(TaskSource source, ClientClock clock, RetryPolicy retry) {
  /** Returns the surroundings of a worker over a server, with the clock and the retry policy of its client. */
  static Surroundings of(FoliotClient client) {
    Transport transport = client.async().transport();
    return new Surroundings(new HttpTaskSource(client), transport.clock(), transport.retry());
  }

  /** Returns the surroundings of a worker over another source. */
  static Surroundings of(TaskSource source) {
    return new Surroundings(source, ClientClock.SYSTEM, RetryPolicy.standard());
  }

  /** Returns the pause after a number of failures in a row, from 1. */
  Duration backoff(int failures) {
    return retry.backoff(failures, ThreadLocalRandom.current().nextDouble());
  }
}
