package io.foliot.load;

import java.util.List;

/**
 * One measurement of {@code foliot bench}. Its report contains the figures, and the results of checks that the measured
 * work was done.
 */
interface Scenario {
  /** Returns the name of the scenario on the command line. */
  String name();

  /** Returns a line about what is measured. */
  String about();

  /** Returns this project's goal for the scenario, in words; empty if there is none. */
  default String wanted() {
    return "";
  }

  /** Returns whether the scenario runs in this process, and so cannot measure the server of {@code --url}. */
  default boolean isEmbedded() {
    return false;
  }

  /** Returns whether the scenario takes long, and therefore runs only if it is named. */
  default boolean isLong() {
    return false;
  }

  /**
   * Returns whether the scenario starts and stops a server of its own, and so cannot measure the server of
   * {@code --url}.
   */
  default boolean killsItsServer() {
    return false;
  }

  /**
   * Runs the scenario with the durations and numbers of the plan.
   *
   * @throws BenchException if the scenario cannot be completed
   */
  Report run(Bench bench);

  /** Returns all scenarios, in the order in which they are listed. */
  static List<Scenario> all() {
    return List.of(new FsyncScenario(), new SubmitLatencyScenario(), new SubmitScenario(), new BatchEngineScenario(),
        new BatchHttpScenario(), new TouchEngineScenario(), new TouchHttpScenario(), new CallbacksScenario(),
        new LatenessScenario(), new HerdScenario(), new PendingScenario(), new JobsScenario(), new WorkersScenario());
  }

  /** Returns the scenarios that run by default. */
  static List<Scenario> summary() {
    return all().stream().filter(scenario -> !scenario.isLong()).toList();
  }
}
