package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.Scheduler.OverloadedException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class RepeatsTest {
  private final Deque<Runnable> later = new ArrayDeque<>();
  /** The monotonic clock, which overflows soon. */
  private long nanos = Long.MAX_VALUE - 1;

  private final class Surroundings implements JobSurroundings {
    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public void after(long millis, Runnable action) {
      later.add(() -> {
        nanos += Duration.ofMillis(millis).toNanos();
        action.run();
      });
    }

    @Override
    public long randomBits() {
      return 0;
    }
  }

  /** The API appends "nothing was done, try again later" to each message of an {@link OverloadedException}. */
  @Test
  void aRefusalStatesOnlyTheReason() {
    Repeats repeats = new Repeats(new Surroundings(), CompletableFuture::completedFuture);
    CompletableFuture<String> answer = repeats.untilTaken("report",
        claims -> CompletableFuture.completedFuture(Optional.empty()));
    while (!answer.isDone()) {
      later.remove().run();
    }
    assertThat(later).isEmpty();
    assertThatThrownBy(answer::join).hasCauseInstanceOf(OverloadedException.class).cause()
        .hasMessage("the job is being planned or changed by others: job=report");
  }
}
