package io.foliot.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Simulates workers. The message of a failure names the seed. To run one seed and print its events, or to run many
 * seeds:
 *
 * <pre>
 * mvn verify -pl :foliot-sim -am -Dtest=FleetSimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseed=17
 * mvn verify -pl :foliot-sim -am -Dtest=FleetSimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseeds=10000
 * </pre>
 */
@Tag("repeated")
final class FleetSimulationTest {
  private static final int SEEDS = Integer.getInteger("seeds", 60);
  /** Number of seeds that together reach every case. */
  private static final int SEEDS_FOR_COVERAGE = 100;
  private static final int SEEDS_PER_BUG = 300;
  private static final int SEEDS_TWICE = 4;
  private static final int MAX_SHOWN = 5;

  private static String described(long seed, FleetSimulation.Outcome outcome) {
    return "seed " + seed + ": " + outcome.unmet();
  }

  @Test
  void keepsEveryPromiseUnderEverySeed() {
    if (System.getProperty("seed") != null) {
      long seed = Long.getLong("seed", 0);
      FleetSimulation.Outcome outcome = FleetSimulation.run(seed, Bug.NONE, System.out::println);
      assertThat(outcome.isGood()).as(described(seed, outcome)).isTrue();
      return;
    }
    List<FleetSimulation.Outcome> outcomes = Seeds.run(Seeds.FROM, SEEDS, FleetSimulation::run);
    List<String> bad = new ArrayList<>();
    for (int i = 0; i < outcomes.size(); i++) {
      if (!outcomes.get(i).isGood() && bad.size() < MAX_SHOWN) {
        bad.add(described(Seeds.FROM + i, outcomes.get(i)));
      }
    }
    assertThat(bad).isEmpty();
    ensureCovered(outcomes);
  }

  /**
   * Prints how often the seeds reached each case. With {@value #SEEDS_FOR_COVERAGE} seeds or more, fails if a case was
   * not reached, and thus not tested, or if the store accepted too few ends of attempts that workers reported.
   */
  private static void ensureCovered(List<FleetSimulation.Outcome> outcomes) {
    SortedMap<String, Long> covered = new TreeMap<>();
    outcomes.forEach(outcome -> outcome.counts().forEach((what, times) -> covered.merge(what, times, Long::sum)));
    System.out.println(outcomes.size() + " seeds: " + covered);
    if (outcomes.size() >= SEEDS_FOR_COVERAGE) {
      assertThat(covered.entrySet().stream().filter(entry -> entry.getValue() == 0).map(Map.Entry::getKey)).isEmpty();
      assertThat(covered.get(FleetCase.REPORT_TAKEN.name())).isGreaterThan(50L * outcomes.size());
    }
  }

  @Test
  void theSameSeedGivesTheSameTrace() {
    List<Long> first = Seeds.run(0, SEEDS_TWICE, FleetSimulation::run).stream()
        .map(FleetSimulation.Outcome::traceHash).toList();
    assertThat(Seeds.run(0, SEEDS_TWICE, FleetSimulation::run).stream().map(FleetSimulation.Outcome::traceHash))
        .containsExactlyElementsOf(first);
    assertThat(first).doesNotHaveDuplicates();
  }

  static Stream<Bug> bugs() {
    return Stream.of(Bug.values()).filter(Bug::isOfFleet);
  }

  @Test
  void eachCheckHasABugThatItCatches() {
    Set<FleetSimulation.Check> checks = EnumSet.noneOf(FleetSimulation.Check.class);
    bugs().forEach(bug -> checks.add(bug.fleetCheck()));
    assertThat(checks).containsExactlyInAnyOrder(FleetSimulation.Check.values());
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("bugs")
  void everyPlantedBugIsCaught(Bug bug) {
    for (long seed = 0; seed < SEEDS_PER_BUG; seed++) {
      if (bug.isSeenIn(FleetSimulation.run(seed, bug, null))) {
        FleetSimulation.Outcome without = FleetSimulation.run(seed);
        assertThat(without.isGood()).as("without the bug: " + described(seed, without)).isTrue();
        return;
      }
    }
    throw new AssertionError("no seed of " + SEEDS_PER_BUG + " has caught " + bug);
  }
}
