package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The hand is never behind a visible entry, however the steps of scans and writers interleave. */
final class LowWatermarksTest {
  @Test
  void aScanRaisesTheHandToWhatItSawFirst() {
    LowWatermarks hands = new LowWatermarks(2);
    assertThat(hands.hand(0)).isEqualTo(LowWatermarks.UNKNOWN);
    assertThat(hands.begin(0)).isTrue();
    hands.learned(0, 50);
    assertThat(hands.hand(0)).isEqualTo(50);
    assertThat(hands.hand(1)).isEqualTo(LowWatermarks.UNKNOWN);
  }

  @Test
  void aWriteLowersTheHandBeforeItCanBeSeen() {
    LowWatermarks hands = new LowWatermarks(1);
    hands.begin(0);
    hands.learned(0, LowWatermarks.EMPTY);
    hands.lower(0, 7);
    assertThat(hands.hand(0)).isEqualTo(7);
    hands.visible();
    assertThat(hands.hand(0)).isEqualTo(7);
  }

  @Test
  void anEntryUnderWayWhenTheScanBeganHoldsTheHand() {
    LowWatermarks hands = new LowWatermarks(1);
    hands.lower(0, 10);
    hands.begin(0);
    hands.visible();
    hands.learned(0, 99);
    assertThat(hands.hand(0)).as("the scan's view may be older than the entry").isEqualTo(10);
  }

  @Test
  void anEntryWrittenWhileTheScanRanHoldsTheHand() {
    LowWatermarks hands = new LowWatermarks(1);
    hands.begin(0);
    hands.lower(0, 10);
    hands.visible();
    hands.learned(0, 99);
    assertThat(hands.hand(0)).isEqualTo(10);
  }

  @Test
  void onlyOneScanLearnsAtATime() {
    LowWatermarks hands = new LowWatermarks(1);
    assertThat(hands.begin(0)).isTrue();
    assertThat(hands.begin(0)).isFalse();
    hands.learned(0, LowWatermarks.UNKNOWN);
    assertThat(hands.begin(0)).isTrue();
  }

  @Test
  void addedRangesKeepTheHandsOfExistingOnes() {
    LowWatermarks hands = new LowWatermarks(1);
    hands.begin(0);
    hands.learned(0, 5);
    hands.lower(0, 3);
    hands.growTo(10);
    assertThat(hands.hand(0)).isEqualTo(3);
    assertThat(hands.hand(9)).isEqualTo(LowWatermarks.UNKNOWN);
    assertThat(hands.hand(1_000)).as("a range for which no room was made").isEqualTo(LowWatermarks.UNKNOWN);
    hands.lower(9, 4);
    hands.visible();
    hands.begin(9);
    hands.learned(9, 8);
    assertThat(hands.hand(9)).isEqualTo(8);
  }

  /** The steps of one scan, between which other steps can run. */
  private static final class Scan {
    boolean learns;
    List<Long> view = List.of();
    int step;
  }

  @Test
  void noVisibleEntryIsBeforeTheHandInAnyOrderOfSteps() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      LowWatermarks hands = new LowWatermarks(1);
      TreeSet<Long> visible = new TreeSet<>();
      List<Long> underWay = new ArrayList<>();
      List<Scan> scans = List.of(new Scan(), new Scan(), new Scan());
      for (int step = 0; step < 60; step++) {
        switch (random.nextInt(5)) {
          case 0 -> {
            long wakeAt = random.nextInt(20);
            underWay.add(wakeAt);
            hands.lower(0, wakeAt);
          }
          case 1 -> {
            visible.addAll(underWay);
            underWay.clear();
            hands.visible();
          }
          case 2 -> visible.pollFirst();
          default -> step(scans.get(random.nextInt(scans.size())), hands, visible);
        }
        if (!visible.isEmpty()) {
          assertThat(hands.hand(0)).as("seed %s, round %s, step %s", seed, round, step)
              .isLessThanOrEqualTo(visible.first());
        }
      }
    }
  }

  private static void step(Scan scan, LowWatermarks hands, SortedSet<Long> visible) {
    switch (scan.step++) {
      case 0 -> scan.learns = hands.begin(0);
      case 1 -> {
        long hand = hands.hand(0);
        scan.view = visible.stream().filter(wakeAt -> wakeAt >= hand).toList();
      }
      default -> {
        if (scan.learns) {
          hands.learned(0, scan.view.isEmpty() ? LowWatermarks.EMPTY : scan.view.getFirst());
        }
        scan.step = 0;
      }
    }
  }
}
