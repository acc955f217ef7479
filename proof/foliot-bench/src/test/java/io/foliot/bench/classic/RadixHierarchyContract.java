package io.foliot.bench.classic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.bench.classic.RadixHierarchy.Turning;
import io.foliot.wheel.TimerQueue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The tests of {@link TickByTickContract} and worked examples. A subclass chooses the {@link Turning}. */
abstract class RadixHierarchyContract extends TickByTickContract {
  /** Bound of an example: two days of ticks of one second, longer than any example takes. */
  private static final int TICKS_MAX = 2 * 24 * 3600;

  /** End of the long advances. All deadlines are below 2^19 + 18 ticks. */
  private static final int JUMP_TICKS = 1 << 20;

  private final Turning turning;

  RadixHierarchyContract(Turning turning) {
    this.turning = turning;
  }

  /** Creates a hierarchy of small, different radices, so that the inherited tests reach each level and the buffer. */
  @Override
  protected TimerQueue create(long startTick) {
    return new RadixHierarchy(startTick, turning, 3, 5, 4, 6);
  }

  @Override
  protected boolean wakesAsModelled() {
    return false;
  }

  /**
   * Advances tick by tick until the timer is handed out. Returns the places where the timer has been, each with the
   * tick at which the timer came there.
   */
  private static List<String> wayOf(RadixHierarchy hierarchy, long handle) {
    List<String> way = new ArrayList<>();
    String before = "";
    for (int tick = 0; tick < TICKS_MAX && !hierarchy.isEmpty(); tick++) {
      String where = hierarchy.where(handle);
      if (!where.equals(before)) {
        way.add(hierarchy.currentTick() + ": " + where);
        before = where;
      }
      hierarchy.advance(hierarchy.currentTick() + 1, Integer.MAX_VALUE, (fired, deadline, payload) -> {
        assertThat(fired).isEqualTo(handle);
        assertThat(hierarchy.currentTick()).isEqualTo(deadline);
        way.add(deadline + ": fires");
      });
    }
    return way;
  }

  private List<String> wayOfDelay(long delay) {
    RadixHierarchy hierarchy = new RadixHierarchy(0, turning, 8, 8, 8);
    return wayOf(hierarchy, hierarchy.schedule(delay, 0));
  }

  @Test
  void aDelayOf5StaysOnTheLowestLevel() {
    assertThat(wayOfDelay(5)).containsExactly("0: level 0 slot 5", "5: fires");
  }

  @Test
  void aDelayOf50MovesDownOnce() {
    assertThat(wayOfDelay(50)).containsExactly("0: level 1 slot 6", "48: level 0 slot 2", "50: fires");
  }

  @Test
  void aDelayOf250MovesDownTwice() {
    assertThat(wayOfDelay(250)).containsExactly(
        "0: level 2 slot 3", "192: level 1 slot 7", "248: level 0 slot 2", "250: fires");
  }

  @Test
  void aDelayOf600LeavesTheBufferWhenTheTopHandHasMovedTwice() {
    assertThat(wayOfDelay(600)).containsExactly(
        "0: overflow", "128: level 2 slot 1", "576: level 1 slot 3", "600: fires");
  }

  @Test
  void severalTimersFireAtExactlyTheirDeadlines() {
    RadixHierarchy hierarchy = new RadixHierarchy(0, turning, 8, 8, 8);
    for (long delay : new long[]{600, 5, 250, 50}) {
      hierarchy.schedule(delay, delay);
    }
    List<Long> ticks = new ArrayList<>();
    for (long tick = 1; tick <= 700; tick++) {
      hierarchy.advance(tick, Integer.MAX_VALUE, (handle, deadline, payload) -> ticks.add(hierarchy.currentTick()));
    }
    assertThat(ticks).containsExactly(5L, 50L, 250L, 600L);
  }

  @Test
  void aTimerOfADayClockMovesFromHoursToMinutesToSeconds() {
    RadixHierarchy clock = new RadixHierarchy(0, turning, 24, 60, 60);
    assertThat(wayOf(clock, clock.schedule(time(10, 24, 30), 0))).containsExactly(
        time(0, 0, 0) + ": level 2 slot 10",
        time(10, 0, 0) + ": level 1 slot 24",
        time(10, 24, 0) + ": level 0 slot 30",
        time(10, 24, 30) + ": fires");
  }

  /** The example of Varghese and Lauck: at 10:24:30, a timer of 50 minutes and 45 seconds is in the slot of hour 11. */
  @Test
  void aDelayBelowAnHourMayBeginOnTheLevelOfTheHours() {
    RadixHierarchy clock = new RadixHierarchy(time(10, 24, 30), turning, 24, 60, 60);
    assertThat(wayOf(clock, clock.schedule(clock.currentTick() + time(0, 50, 45), 0))).containsExactly(
        time(10, 24, 30) + ": level 2 slot 11",
        time(11, 0, 0) + ": level 1 slot 15",
        time(11, 15, 0) + ": level 0 slot 15",
        time(11, 15, 15) + ": fires");
  }

  @Test
  void aTimerOfTomorrowStaysInItsSlotAcrossMidnight() {
    RadixHierarchy clock = new RadixHierarchy(time(22, 30, 0), turning, 24, 60, 60);
    assertThat(wayOf(clock, clock.schedule(time(24 + 1, 0, 5), 0))).containsExactly(
        time(22, 30, 0) + ": level 2 slot 1",
        time(25, 0, 0) + ": level 0 slot 5",
        time(25, 0, 5) + ": fires");
    assertThat(wayOf(clock, clock.schedule(time(24 + 26, 15, 0), 0))).containsExactly(
        time(25, 0, 5) + ": overflow",
        time(27, 0, 0) + ": level 2 slot 2",
        time(50, 0, 0) + ": level 1 slot 15",
        time(50, 15, 0) + ": fires");
  }

  private static long time(int hours, int minutes, int seconds) {
    return (hours * 60L + minutes) * 60 + seconds;
  }

  @Test
  void aTimerThatIsDueAtOnceIsOnNoLevel() {
    RadixHierarchy hierarchy = new RadixHierarchy(100, turning, 8, 8, 8);
    long handle = hierarchy.schedule(100, 0);
    assertThat(hierarchy.where(handle)).isEqualTo("late");
    hierarchy.cancel(handle);
    assertThat(hierarchy.where(handle)).isEqualTo("gone");
  }

  @Test
  void oneLongAdvanceFiresTheSameTimersAsManyShortOnes() {
    for (int[] radices : new int[][]{{8, 8, 8}, {24, 60, 60}, {2, 2}, {7}}) {
      RandomGenerator random = new Random(radices.length);
      RadixHierarchy jumping = new RadixHierarchy(17, turning, radices);
      RadixHierarchy ticking = new RadixHierarchy(17, turning, radices);
      long[] deadlines = LongStream.generate(() -> 18 + random.nextLong(1L << random.nextInt(1, 20))).limit(1000)
          .toArray();
      for (int i = 0; i < deadlines.length; i++) {
        jumping.schedule(deadlines[i], i);
        ticking.schedule(deadlines[i], i);
      }
      List<Integer> expected = IntStream.range(0, deadlines.length).boxed()
          .sorted(Comparator.comparingLong(i -> deadlines[i])).toList();
      List<Integer> jumped = new ArrayList<>();
      jumping.advance(JUMP_TICKS, Integer.MAX_VALUE, (handle, deadline, payload) -> {
        assertThat(jumping.currentTick()).isEqualTo(deadline);
        jumped.add((int) payload);
      });
      List<Integer> ticked = new ArrayList<>();
      while (ticking.currentTick() < JUMP_TICKS) {
        ticking.advance(ticking.currentTick() + 1, Integer.MAX_VALUE,
            (handle, deadline, payload) -> ticked.add((int) payload));
      }
      assertThat(jumped).isEqualTo(expected);
      assertThat(ticked).isEqualTo(expected);
      assertThat(jumping.currentTick()).isEqualTo(JUMP_TICKS);
    }
  }

  @Test
  void advancesThatTheLimitStopsWithinATickKeepTheOrder() {
    RadixHierarchy hierarchy = new RadixHierarchy(0, turning, 8, 8, 8);
    for (int i = 0; i < 20; i++) {
      hierarchy.schedule(600, i);
    }
    List<Long> expired = new ArrayList<>();
    boolean isLastToCome = true;
    int moves = 0;
    int touched;
    do {
      touched = hierarchy.advance(10_000, 1, (handle, deadline, payload) -> {
        assertThat(hierarchy.currentTick()).isEqualTo(600);
        expired.add(payload);
      });
      moves += touched;
      if (isLastToCome && hierarchy.currentTick() == 575) {
        // The step to 576 has begun. The last timer is added when half of the others have moved down within this step.
        isLastToCome = moves < 30;
        if (!isLastToCome) {
          hierarchy.schedule(600, 20);
        }
      }
    } while (touched == 1);
    assertThat(expired).isEqualTo(LongStream.rangeClosed(0, 20).boxed().toList());
    // 20 timers move four times: out of the buffer, to level 1, to level 0, and out. The last timer skips the buffer.
    assertThat(moves).isEqualTo(20 * 4 + 3);
    assertThat(hierarchy.currentTick()).isEqualTo(10_000);
  }

  @Test
  void theHandsAreCorrectAfterCancelsWithinAStoppedStep() {
    RadixHierarchy hierarchy = new RadixHierarchy(0, turning, 8, 8, 8);
    long first = hierarchy.schedule(70, 0);
    long second = hierarchy.schedule(71, 0);
    assertThat(hierarchy.advance(64, 1, (handle, deadline, payload) -> {})).isEqualTo(1);
    assertThat(hierarchy.currentTick()).as("the step to 64 was stopped").isEqualTo(63);
    assertThat(hierarchy.nextWake()).isEqualTo(64);
    hierarchy.cancel(first);
    hierarchy.cancel(second);
    assertThat(hierarchy.advance(1234, 1, (handle, deadline, payload) -> {})).isZero();
    assertThat(wayOf(hierarchy, hierarchy.schedule(1300, 0))).containsExactly(
        "1234: level 2 slot 4", "1280: level 1 slot 2", "1296: level 0 slot 4", "1300: fires");
  }

  @Test
  void invalidRadicesAreRefused() {
    for (int[] radices : new int[][]{{}, {1}, {8, 0}, {-3, 8}, {1 << 30, 1 << 30, 1 << 30}}) {
      assertThatThrownBy(() -> new RadixHierarchy(0, turning, radices)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
