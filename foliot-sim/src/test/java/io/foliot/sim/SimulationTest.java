package io.foliot.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The real engine, simulated. A failure names its seed; to run that one alone, or many:
 *
 * <pre>
 * mvn verify -pl foliot-sim -am -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseed=17
 * mvn verify -pl foliot-sim -am -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseeds=10000
 * </pre>
 */
final class SimulationTest {
  private static final int SEEDS = Integer.getInteger("seeds", 100);
  private static final int SEEDS_PER_BUG = 60;

  @Test
  void keepsEveryPromiseUnderEverySeed() {
    long first = Long.getLong("seed", 0);
    long last = System.getProperty("seed") == null ? SEEDS - 1 : first;
    int crashes = 0;
    long deliveries = 0;
    int storeFailures = 0;
    for (long seed = first; seed <= last; seed++) {
      Simulation.Outcome outcome = Simulation.run(seed);
      assertThat(outcome.verdict().ok()).as("seed %d: %s", seed, outcome.verdict()).isTrue();
      crashes += outcome.crashes();
      deliveries += outcome.verdict().counts().deliveries();
      storeFailures += outcome.storeFailures();
    }
    if (last > first) {
      assertThat(crashes).as("nodes died").isPositive();
      assertThat(deliveries).as("tasks were delivered").isGreaterThan(100 * (last - first));
      assertThat(storeFailures).as("calls failed").isPositive();
    }
  }

  @Test
  void theSameSeedGivesTheSameTrace() {
    for (long seed = 0; seed < 10; seed++) {
      assertThat(Simulation.run(seed).traceHash()).as("seed %d", seed).isEqualTo(Simulation.run(seed).traceHash());
    }
  }

  @ParameterizedTest
  @EnumSource(value = SimStore.Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void everyPlantedBugIsCaught(SimStore.Bug bug) {
    for (long seed = 0; seed < SEEDS_PER_BUG; seed++) {
      if (!Simulation.run(seed, bug).verdict().ok()) {
        return;
      }
    }
    throw new AssertionError("no seed of " + SEEDS_PER_BUG + " has caught " + bug);
  }
}
