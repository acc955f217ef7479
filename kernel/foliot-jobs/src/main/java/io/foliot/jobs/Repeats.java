package io.foliot.jobs;

import io.foliot.core.Scheduler.OverloadedException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Takes a step on a job again and again, with pauses that grow, while others plan or change the job. Where the job is
 * behind its schedule, it has a pass taken: a job that is paused has none planned for up to a day. A step that was
 * refused often asks the planner for a turn ({@link JobTurns}). Any thread.
 */
final class Repeats {
  /** Longer than the lease of a planner that was killed. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(6);
  private static final long FIRST_PAUSE_MILLIS = 5;
  /** The pause, passed once, at which the planner is asked for a turn: the fourth. Most changes need none. */
  private static final long TURN_PAUSE_MILLIS = FIRST_PAUSE_MILLIS << 3;
  private static final long LAST_PAUSE_MILLIS = 50;

  private final JobSurroundings surroundings;
  private final JobTurns turns;
  private final Function<String, CompletionStage<?>> wake;

  /** @param wake has a pass over a job taken at once */
  Repeats(JobSurroundings surroundings, JobTurns turns, Function<String, CompletionStage<?>> wake) {
    this.surroundings = surroundings;
    this.turns = turns;
    this.wake = wake;
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
    CompletableFuture<?> unused = taken(name, step).whenComplete((result, failure) -> {
      Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
      if (reason != null) {
        answer.completeExceptionally(reason);
      } else if (result.isPresent()) {
        answer.complete(result.get());
      } else if (surroundings.nanoTime() - endNanos > 0) {
        answer.completeExceptionally(new OverloadedException(
            "the job is being planned or changed by others: job=" + name));
      } else {
        if (pauseMillis == TURN_PAUSE_MILLIS) {
          turns.await(name);
          CompletableFuture<T> unusedLeft = answer.whenComplete((done, failed) -> turns.leave(name));
        }
        surroundings.after(pauseMillis,
            () -> repeat(name, step, endNanos, Math.min(2 * pauseMillis, LAST_PAUSE_MILLIS), answer));
      }
    });
  }

  /** Takes the step once; empty, after a wake, if the job is behind. */
  private <T> CompletableFuture<Optional<T>> taken(String name, Step<T> step) {
    CompletableFuture<Optional<T>> taken;
    try {
      taken = step.take().toCompletableFuture();
    } catch (RuntimeException e) {
      taken = CompletableFuture.failedFuture(e);
    }
    return taken.exceptionallyCompose(failure -> {
      Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
      return reason instanceof JobChange.BehindException
          ? wake.apply(name).thenApply(woken -> Optional.empty())
          : CompletableFuture.failedFuture(reason);
    });
  }
}
