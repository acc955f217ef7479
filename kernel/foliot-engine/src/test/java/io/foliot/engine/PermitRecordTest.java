package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.engine.PermitRecord.Holder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Tests nodes that move permits by compare-and-set. Some of them start from an outdated record. */
final class PermitRecordTest {
  private static final int SEEDS = 200;
  private static final int STEPS = 400;
  /** Validity of a node's permits after a write. */
  private static final long VALID_MILLIS = 5_000;

  private static Holder mine(PermitRecord record, int node) {
    Holder found = record.holder(node);
    return found == null ? new Holder(node, "n" + node, 0, 0, 0, 0) : found;
  }

  /** Returns the record that a node writes, based on the record that it has read. */
  private static PermitRecord moved(PermitRecord read, int node, int demand, int inUse, int limit, long now) {
    Holder mine = mine(read, node);
    Holder target = read.next(
        new Holder(node, mine.node(), mine.permits(), mine.rateParts(), demand, mine.untilMillis()), limit, true, now);
    int taken = Math.max(target.permits(), Math.min(inUse, mine.permits()));
    return read.with(new Holder(node, mine.node(), taken, target.rateParts(), demand, now + VALID_MILLIS));
  }

  private static int sum(PermitRecord record) {
    return record.holders().stream().mapToInt(Holder::permits).sum();
  }

  @TestFactory
  Stream<DynamicTest> permitsNeverExceedTheLimitAndBecomeFairShares() {
    return IntStream.range(0, SEEDS).mapToObj(seed -> DynamicTest.dynamicTest("seed " + seed, () -> run(seed)));
  }

  private static void run(int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int nodes = 1 + random.nextInt(5);
    int limit = 1 + random.nextInt(20);
    int[] demand = new int[nodes];
    PermitRecord record = PermitRecord.EMPTY;
    List<PermitRecord> read = new ArrayList<>();
    for (int node = 0; node < nodes; node++) {
      read.add(record);
    }
    long now = 1_000;
    for (int step = 0; step < STEPS; step++) {
      now += random.nextInt(50);
      int node = random.nextInt(nodes);
      switch (random.nextInt(3)) {
        case 0 -> demand[node] = random.nextInt(12) * random.nextInt(2);
        case 1 -> read.set(node, record);
        default -> {
          PermitRecord before = read.get(node);
          int inUse = random.nextInt(1 + mine(before, node).permits());
          PermitRecord after = moved(before, node, Math.max(inUse, demand[node]), inUse, limit, now);
          record = before == record ? after : record;
        }
      }
      assertThat(sum(record)).isLessThanOrEqualTo(limit);
      assertThat(record.holders().stream().mapToInt(Holder::rateParts).sum())
          .isLessThanOrEqualTo(PermitRecord.RATE_PARTS);
    }
    now = Math.ceilDiv(now, 1_000L) * 1_000;
    for (int round = 0; round < 10; round++) {
      for (int node = 0; node < nodes; node++) {
        record = moved(record, node, demand[node], 0, limit, now);
      }
    }
    int all = IntStream.of(demand).sum();
    assertThat(sum(record)).isBetween(Math.min(limit, all), limit);
    int demanding = (int) IntStream.of(demand).filter(each -> each > 0).count();
    for (int node = 0; node < nodes; node++) {
      assertThat(mine(record, node).permits()).as("node %s of %s", node, record)
          .isGreaterThanOrEqualTo(Math.min(demand[node], demanding == 0 ? 0 : limit / demanding));
    }
    assertThat(PermitRecord.decode(record.encode())).isEqualTo(record);
  }

  @Test
  void aSinglePermitGoesToEachNodeInTurn() {
    List<Integer> turns = new ArrayList<>();
    PermitRecord record = PermitRecord.EMPTY;
    for (long now = 0; now < 6_000; now += 100) {
      for (int node = 0; node < 3; node++) {
        record = moved(record, node, 5, 0, 1, now);
        assertThat(sum(record)).isLessThanOrEqualTo(1);
      }
      if (now % 1_000 == 900) {
        turns.add(
            (int) record.holders().stream().filter(each -> each.permits() == 1).findFirst().orElseThrow().instance());
      }
    }
    assertThat(turns).containsExactly(0, 1, 2, 0, 1, 2);
  }

  @Test
  void permitsOfAnEndedProcessStayTakenUntilItsAttemptsAreChecked() {
    Holder gone = new Holder(1, "gone", 3, 500, 9, 1_000);
    PermitRecord record = PermitRecord.EMPTY.with(gone);
    PermitRecord before = moved(record, 2, 10, 0, 4, 20_000);
    assertThat(mine(before, 2).permits()).isEqualTo(1);
    PermitRecord checked = before.without(List.of(gone), 2);
    Holder kept = Objects.requireNonNull(checked.holder(PermitRecord.NOBODY));
    assertThat(kept.permits()).isEqualTo(2);
    assertThat(kept.rateParts()).isZero();
    assertThat(checked.holder(1)).as("a node that was only suspended cannot use these permits").isNull();
    PermitRecord after = moved(checked, 2, 10, 0, 4, 21_000);
    assertThat(mine(after, 2).permits()).isEqualTo(2);
    assertThat(mine(after, 2).rateParts()).isEqualTo(PermitRecord.RATE_PARTS);
    assertThat(after.without(List.of(kept), 0).holder(PermitRecord.NOBODY)).isNull();
  }

  @Test
  void attemptsOfDeadProcessesAreCountedUntilTheLatestEnd() {
    Holder early = new Holder(1, "a", 1, 0, 0, 10_000);
    Holder late = new Holder(2, "b", 1, 0, 0, 15_000);
    PermitRecord record = PermitRecord.EMPTY.with(early).with(late).without(List.of(early, late), 1);
    assertThat(record.holders()).hasSize(1)
        .allSatisfy(holder -> assertThat(holder.untilMillis()).as("the later end").isEqualTo(15_000));
  }

  @Test
  void morePermitsDoNotShortenTheTimeOfKeptPermits() {
    Holder kept = new Holder(PermitRecord.NOBODY, "", 2, 0, 0, 30_000);
    Holder gone = new Holder(1, "a", 1, 0, 0, 10_000);
    PermitRecord record = PermitRecord.EMPTY.with(kept).with(gone).without(List.of(gone), 1);
    assertThat(record.holders()).containsExactly(new Holder(PermitRecord.NOBODY, "", 3, 0, 0, 30_000));
  }
}
