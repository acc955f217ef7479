package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A low watermark never passes a visible entry, in any order of the steps of scans and writers. */
final class LowWatermarksTest {
  @Test
  void aScanRaisesTheWatermarkToItsFirstEntry() {
    LowWatermarks watermarks = new LowWatermarks(2);
    assertThat(watermarks.watermark(0)).isEqualTo(LowWatermarks.UNKNOWN);
    assertThat(watermarks.begin(0)).isTrue();
    watermarks.end(0, 50);
    assertThat(watermarks.watermark(0)).isEqualTo(50);
    assertThat(watermarks.watermark(1)).isEqualTo(LowWatermarks.UNKNOWN);
  }

  @Test
  void theWatermarkIsLoweredBeforeTheEntryIsVisible() {
    LowWatermarks watermarks = new LowWatermarks(1);
    watermarks.begin(0);
    watermarks.end(0, LowWatermarks.EMPTY);
    watermarks.lower(0, 7);
    assertThat(watermarks.watermark(0)).isEqualTo(7);
    watermarks.visible();
    assertThat(watermarks.watermark(0)).isEqualTo(7);
  }

  @Test
  void anEntryUnderWayWhenAScanBeginsLimitsTheWatermark() {
    LowWatermarks watermarks = new LowWatermarks(1);
    watermarks.lower(0, 10);
    watermarks.begin(0);
    watermarks.visible();
    watermarks.end(0, 99);
    assertThat(watermarks.watermark(0)).as("the scan's view may be older than the entry").isEqualTo(10);
  }

  @Test
  void anEntryWrittenDuringAScanLimitsTheWatermark() {
    LowWatermarks watermarks = new LowWatermarks(1);
    watermarks.begin(0);
    watermarks.lower(0, 10);
    watermarks.visible();
    watermarks.end(0, 99);
    assertThat(watermarks.watermark(0)).isEqualTo(10);
  }

  @Test
  void onlyOneScanAtATimeMayRaiseTheWatermark() {
    LowWatermarks watermarks = new LowWatermarks(1);
    assertThat(watermarks.begin(0)).isTrue();
    assertThat(watermarks.begin(0)).isFalse();
    watermarks.end(0, LowWatermarks.UNKNOWN);
    assertThat(watermarks.begin(0)).isTrue();
  }

  @Test
  void addedRangesKeepExistingWatermarks() {
    LowWatermarks watermarks = new LowWatermarks(1);
    watermarks.begin(0);
    watermarks.end(0, 5);
    watermarks.lower(0, 3);
    watermarks.growTo(10);
    assertThat(watermarks.watermark(0)).isEqualTo(3);
    assertThat(watermarks.watermark(9)).isEqualTo(LowWatermarks.UNKNOWN);
    assertThat(watermarks.watermark(1_000)).as("a range that was not added").isEqualTo(LowWatermarks.UNKNOWN);
    watermarks.lower(9, 4);
    watermarks.visible();
    watermarks.begin(9);
    watermarks.end(9, 8);
    assertThat(watermarks.watermark(9)).isEqualTo(8);
  }

  /** One scan. Steps of other scans and of the writer can run between its steps. */
  private static final class Scan {
    boolean isRegistered;
    List<Long> view = List.of();
    int step;
  }

  @Test
  void noVisibleEntryIsBeforeTheWatermarkInAnyOrderOfSteps() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      LowWatermarks watermarks = new LowWatermarks(1);
      TreeSet<Long> visible = new TreeSet<>();
      List<Long> underWay = new ArrayList<>();
      List<Scan> scans = List.of(new Scan(), new Scan(), new Scan());
      for (int step = 0; step < 60; step++) {
        switch (random.nextInt(5)) {
          case 0 -> {
            long wakeAt = random.nextInt(20);
            underWay.add(wakeAt);
            watermarks.lower(0, wakeAt);
          }
          case 1 -> {
            visible.addAll(underWay);
            underWay.clear();
            watermarks.visible();
          }
          case 2 -> visible.pollFirst();
          default -> step(scans.get(random.nextInt(scans.size())), watermarks, visible);
        }
        if (!visible.isEmpty()) {
          assertThat(watermarks.watermark(0)).as("seed %s, round %s, step %s", seed, round, step)
              .isLessThanOrEqualTo(visible.first());
        }
      }
    }
  }

  private static void step(Scan scan, LowWatermarks watermarks, SortedSet<Long> visible) {
    switch (scan.step++) {
      case 0 -> scan.isRegistered = watermarks.begin(0);
      case 1 -> {
        long watermark = watermarks.watermark(0);
        scan.view = visible.stream().filter(wakeAt -> wakeAt >= watermark).toList();
      }
      default -> {
        if (scan.isRegistered) {
          watermarks.end(0, scan.view.isEmpty() ? LowWatermarks.EMPTY : scan.view.getFirst());
        }
        scan.step = 0;
      }
    }
  }
}
