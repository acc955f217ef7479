package io.foliot.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Simulates a cluster of real engines. A failure contains its seed. To run one seed and print its events, or to run
 * many seeds:
 *
 * <pre>
 * mvn verify -pl :foliot-sim -am -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseed=17
 * mvn verify -pl :foliot-sim -am -Dtest=SimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseeds=10000 -Dfrom=0
 * </pre>
 */
@Tag("repeated")
final class SimulationTest {
  /** Number of seeds. On two processors, the default number takes ten seconds. */
  private static final int SEEDS = Integer.getInteger("seeds", 60);
  private static final int SEEDS_PER_BUG = 2_000;
  private static final int SEEDS_TWICE = 5;
  private static final int MAX_SHOWN = 5;

  private static String described(long seed, Simulation.Outcome outcome) {
    return "seed " + seed + ": " + outcome.unmet() + " " + outcome.verdict();
  }

  @Test
  void keepsEveryPromiseUnderEverySeed() {
    if (System.getProperty("seed") != null) {
      long seed = Long.getLong("seed", 0);
      Simulation.Outcome outcome = Simulation.run(seed, System.out::println);
      assertThat(outcome.isGood()).as(described(seed, outcome)).isTrue();
      return;
    }
    List<Simulation.Outcome> outcomes = Seeds.run(Seeds.FROM, SEEDS, Simulation::run);
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
   * Prints how often the seeds reached each case. With 1,000 seeds or more, fails if a case was not reached, and thus
   * not tested, or if there were too few deliveries.
   */
  private static void ensureCovered(List<Simulation.Outcome> outcomes) {
    SortedMap<String, Long> covered = new TreeMap<>();
    long deliveries = 0;
    for (Simulation.Outcome outcome : outcomes) {
      outcome.coverage().forEach((what, times) -> covered.merge(what, times, Long::sum));
      deliveries += outcome.verdict().counts().deliveries();
    }
    System.out.println(outcomes.size() + " seeds, " + deliveries + " deliveries, and " + covered);
    if (outcomes.size() >= 1_000) {
      assertThat(covered.entrySet().stream().filter(entry -> entry.getValue() == 0).map(Map.Entry::getKey)).isEmpty();
      assertThat(deliveries).isGreaterThan(100L * outcomes.size());
    }
  }

  @Test
  void theSameSeedGivesTheSameTrace() {
    List<Long> first = Seeds.run(0, SEEDS_TWICE, Simulation::run).stream().map(Simulation.Outcome::traceHash).toList();
    List<Long> second = Seeds.run(0, SEEDS_TWICE, Simulation::run).stream().map(Simulation.Outcome::traceHash).toList();
    assertThat(second).isEqualTo(first);
    assertThat(first).doesNotHaveDuplicates();
  }

  static Stream<Bug> bugs() {
    return Stream.of(Bug.values()).filter(bug -> bug != Bug.NONE && !bug.isOfJobs() && !bug.isOfFleet());
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("bugs")
  void everyPlantedBugIsCaught(Bug bug) {
    for (long seed = 0; seed < SEEDS_PER_BUG; seed++) {
      if (bug.isSeenIn(Simulation.run(seed, bug, null))) {
        Simulation.Outcome without = Simulation.run(seed);
        assertThat(without.isGood()).as("without the bug: " + described(seed, without)).isTrue();
        return;
      }
    }
    throw new AssertionError("no seed of " + SEEDS_PER_BUG + " has caught " + bug);
  }
}
