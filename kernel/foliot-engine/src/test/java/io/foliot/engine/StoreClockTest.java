package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class StoreClockTest {
  private static final long SECOND = 1_000_000_000;

  private final StoreClock clock = new StoreClock(5_000_000, 0);

  @Test
  void theNodesClockIsUsedUntilTheFirstAnswer() {
    assertThat(clock.micros(SECOND)).isEqualTo(6_000_000);
    clock.answered(new StoreClock.Question(6_000_000, SECOND), 9_000_000, false, SECOND + 2_000_000);
    assertThat(clock.micros(SECOND + 1_000_000)).as("the middle of the call").isEqualTo(9_000_000);
    assertThat(clock.offsetMicros()).isEqualTo(3_000_000 - 1_000);
  }

  @Test
  void slowAnswersDoNotReplaceQuickAnswers() {
    clock.answered(new StoreClock.Question(0, 0), 9_000_000, false, 1_000);
    clock.answered(new StoreClock.Question(0, SECOND), 10_900_000, false, 3 * SECOND);
    assertThat(clock.micros(3 * SECOND)).isEqualTo(11_999_999);
  }

  @Test
  void driftCountsFromTheReadingOn() {
    ClockReading reading = new ClockReading(5_000_000, 0, 1_500, 0);
    assertThat(reading.earliestMicros(0)).isBetween(4_999_997L, 4_999_998L);
    assertThat(reading.earliestMicros(SECOND / 2)).isBetween(5_499_897L, 5_499_898L);
  }

  @Test
  void clocksInThisProcessCountFromTheBeginningOfTheCall() {
    clock.answered(new StoreClock.Question(5_000_000, 0), 5_000_000, true, SECOND);
    assertThat(clock.micros(SECOND)).isEqualTo(6_000_000);
    assertThat(clock.millis(SECOND)).isEqualTo(6_000);
  }

  @Test
  void aClockOfThisProcessIsReadMoreOftenThanARemoteOne() {
    assertThat(clock.isDue(0)).isTrue();
    assertThat(clock.isDue(SECOND - 1)).as("requested already").isFalse();
    StoreClock.Question question = new StoreClock.Question(0, 0);
    clock.planNext(question, true, 0);
    assertThat(clock.isDue(10_000_000)).isTrue();
    clock.planNext(question, false, 2_000_000);
    assertThat(clock.isDue(SECOND + 999_999)).isFalse();
    assertThat(clock.isDue(SECOND + 1_000_000)).isTrue();
  }
}
