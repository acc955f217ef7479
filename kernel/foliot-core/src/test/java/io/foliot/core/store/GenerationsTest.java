package io.foliot.core.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import org.junit.jupiter.api.Test;

final class GenerationsTest {
  /** The store's clock, in microseconds. */
  private static final long CLOCK = 100;

  private static TaskRecord live(long generation) {
    return TaskRecord.edit(new TaskId(1, 2), "q", "k").generation(generation).done();
  }

  private static TaskRecord running(long generation, long next) {
    return live(generation).edit().state(TaskState.RUNNING).token(new Token(1, 1))
        .successor(new TaskRecord.Successor(next, 0, 0, null, 0)).done();
  }

  private static TaskRecord ended(long generation) {
    return live(generation).edit().state(TaskState.FINISHED).done();
  }

  @Test
  void theNextGenerationIsAboveThePreviousAndAtLeastTheFloor() {
    assertThat(Generations.next(5, 3)).isEqualTo(6);
    assertThat(Generations.next(5, 9)).isEqualTo(9);
    assertThatThrownBy(() -> Generations.next(Long.MAX_VALUE, 0)).isInstanceOf(ArithmeticException.class);
  }

  @Test
  void aRecordShowsTheGenerationOfItsSuccessor() {
    assertThat(Generations.shown(live(5))).isEqualTo(5);
    assertThat(Generations.shown(running(5, 8))).isEqualTo(8);
  }

  @Test
  void onlyAnEndOrADroppedSuccessorForgetsAGeneration() {
    assertThat(Generations.forgotten(null, live(5))).isEqualTo(Generations.NONE);
    assertThat(Generations.forgotten(live(5), running(5, 8))).isEqualTo(Generations.NONE);
    assertThat(Generations.forgotten(running(5, 8), running(5, 9))).isEqualTo(Generations.NONE);
    assertThat(Generations.forgotten(live(5), ended(5))).isEqualTo(5);
    assertThat(Generations.forgotten(running(5, 8), ended(5))).isEqualTo(8);
    assertThat(Generations.forgotten(running(5, 8), live(5))).isEqualTo(8);
  }

  @Test
  void onlyGenerationsNotPassedByTheClockRaiseTheFloor() {
    assertThat(Generations.aheadOfClock(null, live(CLOCK), CLOCK)).isEqualTo(Generations.NONE);
    assertThat(Generations.aheadOfClock(null, live(CLOCK + 1), CLOCK)).isEqualTo(CLOCK + 1);
    assertThat(Generations.aheadOfClock(live(CLOCK), ended(CLOCK), CLOCK)).isEqualTo(CLOCK);
    assertThat(Generations.aheadOfClock(live(1), ended(1), CLOCK)).isEqualTo(Generations.NONE);
    assertThat(Generations.aheadOfClock(running(1, CLOCK), ended(1), CLOCK)).isEqualTo(CLOCK);
    assertThat(Generations.aheadOfClock(live(1), running(1, CLOCK + 7), CLOCK)).isEqualTo(CLOCK + 7);
  }
}
