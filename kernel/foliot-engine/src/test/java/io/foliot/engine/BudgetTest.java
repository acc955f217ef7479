package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.engine.Budget.Share;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests how queues and destinations share a budget. */
final class BudgetTest {
  private static final long TOTAL = 6_400;
  private static final long RESERVE = 300;
  private static final long UNIT = 100;
  private static final Runnable AGAIN = () -> {};

  private final Budget budget = new Budget(TOTAL, RESERVE, UNIT);

  /** Acquires single units until none is given. Returns the number of units. */
  private int acquireAll(Share queue, Share destination) {
    int total = 0;
    for (int given = 1; given > 0; total += given) {
      given = budget.acquire(1, UNIT, queue, destination, AGAIN);
    }
    return total;
  }

  private static List<Share> shares(int count) {
    List<Share> shares = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      shares.add(new Share());
    }
    return shares;
  }

  @Test
  void aGreedyQueueLeavesRoomForOtherQueuesAndDestinations() {
    Share destination = new Share();
    assertThat(acquireAll(new Share(), destination)).as("a third of all units").isEqualTo(21);
    assertThat(acquireAll(new Share(), destination)).as("another queue of the destination").isEqualTo(7);
    assertThat(acquireAll(new Share(), new Share())).as("another destination").isEqualTo(12);
    assertThat(budget.acquire(1, UNIT, new Share(), null, AGAIN)).isEqualTo(1);
  }

  @Test
  void greedyHoldersEndUpWithEqualShares() {
    List<Share> holders = shares(15);
    int[] held = new int[15];
    for (boolean more = true; more;) {
      more = false;
      for (int i = 0; i < 15; i++) {
        int given = budget.acquire(1, UNIT, holders.get(i), null, AGAIN);
        held[i] += given;
        more |= given > 0;
      }
    }
    assertThat(held).containsOnly(4);
  }

  @Test
  void theReserveGoesInTurnToHoldersThatHaveNothing() {
    List<Share> holders = shares(6);
    budget.change(new Share(), null, 10 * TOTAL);
    for (int i = 0; i < 6; i++) {
      assertThat(budget.acquire(1, UNIT, holders.get(i), null, AGAIN)).isZero();
      assertThat(budget.acquireReserved(holders.get(i), null, i)).isEqualTo(i < 3);
    }
    assertThat(budget.acquireReserved(holders.get(0), null, 10)).as("this holder has a unit already").isFalse();
    budget.change(holders.get(1), null, -UNIT);
    assertThat(budget.acquireReserved(holders.get(5), null, 11)).as("holders 3 and 4 come first").isFalse();
    assertThat(budget.acquireReserved(holders.get(1), null, 12)).as("this holder comes last").isFalse();
    assertThat(budget.acquireReserved(holders.get(3), null, 13)).isTrue();
  }

  @Test
  void aHolderThatStopsItsRequestsLosesItsTurn() {
    List<Share> holders = shares(5);
    budget.change(new Share(), null, TOTAL);
    for (int i = 0; i < 5; i++) {
      assertThat(budget.acquireReserved(holders.get(i), null, 0)).isEqualTo(i < 3);
    }
    budget.change(holders.get(0), null, -UNIT);
    long laterNanos = TimeUnit.SECONDS.toNanos(2);
    assertThat(budget.acquireReserved(holders.get(4), null, laterNanos)).isTrue();
  }

  @Test
  void underestimatedPayloadsLeaveTheReserveUnused() {
    Share large = new Share();
    budget.acquire(20, 1, large, null, AGAIN);
    budget.change(large, null, 100 * TOTAL);
    assertThat(budget.acquireReserved(new Share(), null, 0)).isTrue();
  }

  @Test
  void aReleaseWakesCallersThatFoundNoRoom() {
    Share holder = new Share();
    List<String> woken = new ArrayList<>();
    int given = budget.acquire(100, UNIT, holder, null, () -> woken.add("a"));
    assertThat(given).isEqualTo(32);
    budget.giveBackUnused(holder, null, UNIT);
    assertThat(woken).isEmpty();
    budget.change(holder, null, -UNIT);
    assertThat(woken).containsExactly("a");
  }

  @Test
  void theUsedAmountIsBoundedAndReturnsToZero() {
    SplittableRandom random = new SplittableRandom(17);
    List<Share> queues = shares(40);
    List<Share> destinations = shares(7);
    List<long[]> held = new ArrayList<>(); // for each acquisition: the index of the queue, the amount
    for (int step = 0; step < 200_000; step++) {
      int at = random.nextInt(40);
      Share queue = queues.get(at);
      Share destination = destinations.get(at % 7);
      if (random.nextInt(5) < 3) {
        long each = 1 + random.nextLong(UNIT);
        int given = budget.acquire(1 + random.nextInt(20), each, queue, destination, AGAIN);
        for (int i = 0; i < given; i++) {
          held.add(new long[]{at, each});
        }
        if (given == 0 && budget.acquireReserved(queue, destination, step)) {
          held.add(new long[]{at, UNIT});
        }
      } else if (!held.isEmpty()) {
        long[] released = held.remove(random.nextInt(held.size()));
        int owner = (int) released[0];
        budget.change(queues.get(owner), destinations.get(owner % 7), -released[1]);
      }
      assertThat(budget.used()).isLessThanOrEqualTo(TOTAL + RESERVE);
      assertThat(budget.used()).isEqualTo(held.stream().mapToLong(one -> one[1]).sum());
    }
    for (long[] each : held) {
      budget.change(queues.get((int) each[0]), destinations.get((int) each[0] % 7), -each[1]);
    }
    assertThat(budget.used()).isZero();
    assertThat(acquireAll(new Share(), null)).isEqualTo(32);
  }

  @Test
  void destinationsThatHangLeaveAttemptsForOthers() {
    Budget attempts = new Budget(12_288, 4_096, 1);
    for (int i = 0; i < 4_000; i++) {
      Destination hangs = new Destination("hangs" + i, 1_000, attempts);
      assertThat(hangs.acquire(1_000, i, AGAIN)).as("destination " + i).isPositive();
    }
    assertThat(attempts.used()).isLessThanOrEqualTo(16_384);
    assertThat(new Destination("d", 1_000, attempts).acquire(10, 5_000, AGAIN)).isPositive();
  }
}
