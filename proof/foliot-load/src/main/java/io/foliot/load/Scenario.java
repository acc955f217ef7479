package io.foliot.load;

import java.util.List;

/**
 * One thing to measure. It says how fast the work went and proves that the work was done: every figure of a report
 * is reported with checks of what was acknowledged, kept and delivered.
 */
interface Scenario {
  /** Returns its name on the command line. */
  String name();

  /** Returns what it measures, in a line. */
  String about();

  /** The goal that this project has set itself for it, in words; empty if there is none. */
  default String wanted() {
    return "";
  }

  /** Returns whether it works on an engine in this process, so that no server can be named for it. */
  default boolean isEmbedded() {
    return false;
  }

  /** Returns whether it takes many minutes, so that it runs only if it is named. */
  default boolean isLong() {
    return false;
  }

  /** Returns whether it kills its server, so that none can be named for it. */
  default boolean killsItsServer() {
    return false;
  }

  /**
   * Runs it, within bounds of time and number that follow from the plan.
   *
   * @throws BenchException if it could not be run to its end
   */
  Report run(Bench bench);

  /** All there are, in the order in which people are shown them. */
  static List<Scenario> all() {
    return List.of(new FsyncScenario(), new SubmitLatencyScenario(), new SubmitScenario(), new BatchEngineScenario(),
        new BatchHttpScenario(), new TouchEngineScenario(), new TouchHttpScenario(), new CallbacksScenario(),
        new LatenessScenario(), new HerdScenario(), new PendingScenario(), new JobsScenario(), new WorkersScenario());
  }

  /** The scenarios that run by default: two to three minutes. */
  static List<Scenario> summary() {
    return all().stream().filter(scenario -> !scenario.isLong()).toList();
  }
}
