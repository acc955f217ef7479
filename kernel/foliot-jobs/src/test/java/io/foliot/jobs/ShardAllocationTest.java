package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.core.coordination.Fleet.Seat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Properties of the rules that divide shards among workers, mostly with random workers. */
final class ShardAllocationTest {
  private static final List<Allocation> DIVIDING = List.of(Allocation.AVERAGE, Allocation.ODD_EVEN, Allocation.HASH,
      Allocation.ROUND_ROBIN);
  private static final int ROUNDS = 300;

  private static List<Seat> workers(Random random, int count) {
    List<Seat> workers = new ArrayList<>();
    int number = 0;
    for (int i = 0; i < count; i++) {
      number += 1 + random.nextInt(3);
      workers.add(new Seat(number, "worker-" + random.nextLong(), "a", Set.of("q"), "node", true, true));
    }
    return workers;
  }

  private static Map<Integer, Integer> counts(List<Integer> seats) {
    Map<Integer, Integer> counts = new HashMap<>();
    seats.forEach(seat -> counts.merge(seat, 1, Integer::sum));
    return counts;
  }

  @Test
  void eachShardHasOneSeatOfAWorker() {
    Random random = new Random(1);
    for (int round = 0; round < ROUNDS; round++) {
      List<Seat> workers = workers(random, 1 + random.nextInt(20));
      int shards = 1 + random.nextInt(100);
      for (Allocation rule : DIVIDING) {
        List<Integer> seats = ShardAllocation.seats(rule, "job-" + round, shards, workers);
        assertThat(seats).hasSize(shards);
        assertThat(workers.stream().map(Seat::number).toList()).containsAll(seats);
      }
    }
  }

  @Test
  void theOrderOfTheWorkersDoesNotMatter() {
    Random random = new Random(2);
    for (int round = 0; round < ROUNDS; round++) {
      List<Seat> workers = workers(random, 1 + random.nextInt(20));
      List<Seat> shuffled = new ArrayList<>(workers);
      Collections.shuffle(shuffled, random);
      for (Allocation rule : DIVIDING) {
        assertThat(ShardAllocation.seats(rule, "job-" + round, 50, shuffled)).as("%s", rule)
            .isEqualTo(ShardAllocation.seats(rule, "job-" + round, 50, workers));
      }
    }
  }

  @Test
  void workersDifferByAtMostOneShardUnderEvenRules() {
    Random random = new Random(3);
    for (int round = 0; round < ROUNDS; round++) {
      List<Seat> workers = workers(random, 1 + random.nextInt(20));
      int shards = 1 + random.nextInt(200);
      for (Allocation rule : List.of(Allocation.AVERAGE, Allocation.ODD_EVEN, Allocation.ROUND_ROBIN)) {
        Map<Integer, Integer> counts = counts(ShardAllocation.seats(rule, "job-" + round, shards, workers));
        int least = counts.size() < workers.size() ? 0 : Collections.min(counts.values());
        assertThat(Collections.max(counts.values()) - least).as("%s", rule).isLessThanOrEqualTo(1);
      }
    }
  }

  @Test
  void hashMovesOnlyTheShardsOfAWorkerThatLeaves() {
    Random random = new Random(4);
    for (int round = 0; round < ROUNDS; round++) {
      List<Seat> all = workers(random, 2 + random.nextInt(20));
      Seat leaving = all.get(random.nextInt(all.size()));
      List<Seat> rest = all.stream().filter(seat -> !seat.equals(leaving)).toList();
      List<Integer> before = ShardAllocation.seats(Allocation.HASH, "job", 200, all);
      List<Integer> after = ShardAllocation.seats(Allocation.HASH, "job", 200, rest);
      for (int shard = 0; shard < 200; shard++) {
        // With before and after swapped, the worker joins. So a join moves only the shards that the new worker gets.
        if (before.get(shard) != leaving.number()) {
          assertThat(after.get(shard)).isEqualTo(before.get(shard));
        }
      }
    }
  }

  @Test
  void hashDividesAboutEvenly() {
    List<Integer> seats = ShardAllocation.seats(Allocation.HASH, "job", 10_000, workers(new Random(5), 10));
    assertThat(counts(seats).values()).allMatch(count -> count > 850 && count < 1_150);
  }

  @Test
  void averageGivesExtraShardsToTheFirstWorkers() {
    List<Seat> three = Workers.of(3).seats();
    assertThat(ShardAllocation.seats(Allocation.AVERAGE, "job", 9, three)).containsExactly(0, 0, 0, 1, 1, 1, 2, 2, 2);
    assertThat(ShardAllocation.seats(Allocation.AVERAGE, "job", 8, three)).containsExactly(0, 0, 1, 1, 2, 2, 0, 1);
    assertThat(ShardAllocation.seats(Allocation.AVERAGE, "job", 10, three))
        .containsExactly(0, 0, 0, 1, 1, 1, 2, 2, 2, 0);
    assertThat(ShardAllocation.seats(Allocation.AVERAGE, "job", 2, three)).containsExactly(0, 1);
  }

  @Test
  void oddEvenReversesTheWorkersForAnEvenHash() {
    List<Seat> three = Workers.of(3).seats();
    assertThat("a".hashCode() % 2).isEqualTo(1);
    assertThat(ShardAllocation.seats(Allocation.ODD_EVEN, "a", 2, three)).containsExactly(0, 1);
    assertThat("b".hashCode() % 2).isZero();
    assertThat(ShardAllocation.seats(Allocation.ODD_EVEN, "b", 2, three)).containsExactly(2, 1);
  }

  @Test
  void roundRobinBeginsAtAWorkerChosenByTheName() {
    List<Seat> three = Workers.of(3).seats();
    assertThat(ShardAllocation.seats(Allocation.ROUND_ROBIN, "a", 4, three)).containsExactly(1, 2, 0, 1);
    assertThat(ShardAllocation.seats(Allocation.ROUND_ROBIN, "b", 4, three)).containsExactly(2, 0, 1, 2);
    assertThat(ShardAllocation.seats(Allocation.ROUND_ROBIN, "x".repeat(30), 3, three)).containsOnlyOnce(0, 1, 2);
  }

  @Test
  void theSeatsOfHashNeverChangeBetweenReleases() {
    List<Seat> three = Workers.of(3).seats();
    assertThat(ShardAllocation.seats(Allocation.HASH, "job", 10, three))
        .containsExactly(2, 0, 1, 1, 2, 0, 2, 0, 2, 2);
  }
}
