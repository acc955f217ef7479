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
 * Simulates recurring jobs. A failure contains its seed. To run one seed and print its events, or to run many seeds:
 *
 * <pre>
 * mvn verify -pl :foliot-sim -am -Dtest=JobSimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseed=17
 * mvn verify -pl :foliot-sim -am -Dtest=JobSimulationTest -Dsurefire.failIfNoSpecifiedTests=false -Dseeds=10000
 * </pre>
 */
@Tag("repeated")
final class JobSimulationTest {
  private static final int SEEDS = Integer.getInteger("seeds", 50);
  private static final int SEEDS_PER_BUG = 500;
  private static final int SEEDS_TWICE = 5;
  private static final int MAX_SHOWN = 5;

  private static String described(long seed, JobSimulation.Outcome outcome) {
    return "seed " + seed + ": " + outcome.unmet();
  }

  @Test
  void keepsEveryPromiseUnderEverySeed() {
    if (System.getProperty("seed") != null) {
      long seed = Long.getLong("seed", 0);
      JobSimulation.Outcome outcome = JobSimulation.run(seed, Bug.NONE, System.out::println);
      assertThat(outcome.isGood()).as(described(seed, outcome)).isTrue();
      return;
    }
    List<JobSimulation.Outcome> outcomes = Seeds.run(Seeds.FROM, SEEDS, JobSimulation::run);
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
   * Prints the counts of all cases. With 100 seeds or more, fails if a case was not reached. The cases NO_TARGETS and
   * UNKNOWN cannot occur: the jobs have no targets, and no shard is lost.
   */
  private static void ensureCovered(List<JobSimulation.Outcome> outcomes) {
    SortedMap<String, Long> covered = new TreeMap<>();
    outcomes.forEach(outcome -> outcome.counts().forEach((what, times) -> covered.merge(what, times, Long::sum)));
    System.out.println(outcomes.size() + " seeds: " + covered);
    if (outcomes.size() >= 100) {
      assertThat(covered.entrySet().stream().filter(entry -> entry.getValue() == 0).map(Map.Entry::getKey))
          .containsExactly("NO_TARGETS", "UNKNOWN");
      assertThat(covered.get("DELIVERIES")).isGreaterThan(100L * outcomes.size());
    }
  }

  @Test
  void jobsContinueAfterTheStoresClockWasAhead() {
    List<JobSimulation.Outcome> outcomes = Seeds.run(Seeds.FROM, Math.max(1, SEEDS / 5),
        JobSimulation::runWithClockSet);
    List<String> bad = new ArrayList<>();
    for (int i = 0; i < outcomes.size(); i++) {
      if (!outcomes.get(i).isGood() && bad.size() < MAX_SHOWN) {
        bad.add(described(Seeds.FROM + i, outcomes.get(i)));
      }
    }
    assertThat(bad).isEmpty();
  }

  @Test
  void theSameSeedGivesTheSameTrace() {
    List<Long> first = Seeds.run(0, SEEDS_TWICE, JobSimulation::run).stream().map(JobSimulation.Outcome::traceHash)
        .toList();
    assertThat(Seeds.run(0, SEEDS_TWICE, JobSimulation::run).stream().map(JobSimulation.Outcome::traceHash))
        .containsExactlyElementsOf(first);
    assertThat(first).doesNotHaveDuplicates();
  }

  static Stream<Bug> bugs() {
    return Stream.of(Bug.values()).filter(Bug::isOfJobs);
  }

  @Tag("long")
  @ParameterizedTest
  @MethodSource("bugs")
  void everyPlantedBugIsCaught(Bug bug) {
    for (long seed = 0; seed < SEEDS_PER_BUG; seed++) {
      if (bug.isSeenIn(JobSimulation.run(seed, bug, null))) {
        JobSimulation.Outcome without = JobSimulation.run(seed);
        assertThat(without.isGood()).as("without the bug: " + described(seed, without)).isTrue();
        return;
      }
    }
    throw new AssertionError("no seed of " + SEEDS_PER_BUG + " has caught " + bug);
  }
}
