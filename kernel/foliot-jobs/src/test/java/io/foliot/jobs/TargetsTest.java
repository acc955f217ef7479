package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.core.Address;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests that stored targets are read as they were written, and that evenly divided shards take few bytes. */
final class TargetsTest {
  private static final int ROUNDS = 2_000;
  private static final List<Allocation> RULES = List.of(Allocation.AVERAGE, Allocation.ODD_EVEN, Allocation.HASH,
      Allocation.ROUND_ROBIN);

  /**
   * Returns targets in groups of equal size. Each group is divided by a random rule, or has random numbers.
   *
   * @param shards the number of shards, a multiple of {@code groups}
   */
  static Targets random(Random random, int groups, int shards) {
    Address.Kind[] kinds = {Address.Kind.SEAT, Address.Kind.ZONE_SEAT, Address.Kind.ZONE, Address.Kind.ONLY};
    List<Targets.Group> made = new ArrayList<>();
    int size = shards / groups;
    for (int group = 0; group < groups; group++) {
      int workers = 1 + random.nextInt(40);
      Allocation rule = RULES.get(random.nextInt(RULES.size()));
      List<Integer> numbers = random.nextInt(4) == 0
          ? random.ints(size, 0, Address.MAX_NUMBER + 1).boxed().toList()
          : ShardAllocation.seats(rule, "job" + random.nextInt(), size, Workers.of(workers).seats());
      made.add(new Targets.Group(groups == 1 ? "" : "zone " + group, kinds[random.nextInt(4)], numbers));
    }
    return new Targets(made);
  }

  private static Bytes written(Targets targets) {
    Bytes out = new Bytes(16);
    targets.write(out);
    return out;
  }

  @Test
  void writtenTargetsAreReadBack() {
    Random random = new Random(1);
    for (int round = 0; round < ROUNDS; round++) {
      int groups = 1 + random.nextInt(3);
      Targets targets = random(random, groups, groups * (1 + random.nextInt(70)));
      byte[] bytes = written(targets).toArray();
      assertThat(Targets.read(new BytesReader(bytes))).as("round %s", round).isEqualTo(targets);
      assertThat(targets.bytes()).isEqualTo(bytes.length);
    }
    assertThat(written(Targets.NONE).length()).isEqualTo(1);
  }

  @Test
  void shardsThatAreDividedEvenlyTakeTwoBytesAWorker() {
    for (Allocation rule : List.of(Allocation.AVERAGE, Allocation.ODD_EVEN, Allocation.ROUND_ROBIN)) {
      List<Integer> seats = ShardAllocation.seats(rule, "job", Job.MAX_SHARDS, Workers.of(100).seats());
      Targets targets = new Targets(List.of(new Targets.Group("", Address.Kind.SEAT, seats)));
      assertThat(targets.bytes()).as("%s", rule).isLessThan(220);
    }
  }

  @Test
  void hashTakesElevenBitsAShardAndTwoBytesAWorker() {
    List<Integer> seats = ShardAllocation.seats(Allocation.HASH, "job", Job.MAX_SHARDS,
        Workers.of(Address.PLACES).seats());
    Targets targets = new Targets(List.of(new Targets.Group("", Address.Kind.SEAT, seats)));
    assertThat(targets.bytes()).isLessThan(Job.MAX_SHARDS * 11 / 8 + 2 * (Address.MAX_NUMBER + 1) + 16);
  }

  @Test
  void eachShardHasTheAddressOfItsPlace() {
    Targets targets = new Targets(List.of(new Targets.Group("a", Address.Kind.ZONE_SEAT, List.of(3, 4)),
        new Targets.Group("b", Address.Kind.ZONE, List.of(1, 1))));
    assertThat(targets.shards()).isEqualTo(4);
    assertThat(IntStream.range(0, 4).mapToObj(targets::address)).containsExactly(
        new Address(Address.Kind.ZONE_SEAT, 3), new Address(Address.Kind.ZONE_SEAT, 4),
        new Address(Address.Kind.ZONE, 1), new Address(Address.Kind.ZONE, 1));
    assertThat(IntStream.range(0, 4).map(targets::numberInZone)).containsExactly(0, 1, 0, 1);
    assertThat(Targets.NONE.address(7)).isEqualTo(Address.ANYWHERE);
  }
}
