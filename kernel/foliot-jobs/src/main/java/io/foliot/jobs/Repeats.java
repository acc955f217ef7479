package io.foliot.jobs;

import io.foliot.core.Scheduler.OverloadedException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Takes a step on a job again and again, with pauses that grow, while others plan or change the job. Any thread. */
final class Repeats {
  /** Longer than the lease of a planner that was killed. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(6);
  private static final long FIRST_PAUSE_MILLIS = 5;
  private static final long LAST_PAUSE_MILLIS = 200;

  private final JobSurroundings surroundings;

  Repeats(JobSurroundings surroundings) {
    this.surroundings = surroundings;
  }

  /** A step that is empty if it must be taken again. */
  interface Step<T> {
    CompletionStage<Optional<T>> take();
  }

  /** Takes a step until it is not empty, for six seconds; then fails with {@link OverloadedException}. */
  <T> CompletableFuture<T> untilTaken(String name, Step<T> step) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    repeat(name, step, surroundings.nanoTime() + PATIENCE_NANOS, FIRST_PAUSE_MILLIS, answer);
    return answer;
  }

  private <T> void repeat(String name, Step<T> step, long endNanos, long pauseMillis, CompletableFuture<T> answer) {
    CompletableFuture<?> unused = taken(step).whenComplete((result, failure) -> {
      Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
      if (reason != null && !(reason instanceof JobChange.BehindException)) {
        answer.completeExceptionally(reason);
      } else if (reason == null && result.isPresent()) {
        answer.complete(result.get());
      } else if (surroundings.nanoTime() - endNanos > 0) {
        answer.completeExceptionally(new OverloadedException(
            "the job is being planned or changed by others; nothing was done, and the call may be repeated: job="
                + name));
      } else {
        surroundings.after(pauseMillis,
            () -> repeat(name, step, endNanos, Math.min(2 * pauseMillis, LAST_PAUSE_MILLIS), answer));
      }
    });
  }

  private static <T> CompletableFuture<Optional<T>> taken(Step<T> step) {
    try {
      return step.take().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
