package io.foliot.jobs;

import io.foliot.core.Scheduler.OverloadedException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Repeats a step on a job, with growing pauses, while the job is being planned or changed by others. If the job is
 * behind its schedule, it wakes the job for a planning pass, because the next pass of a paused job may be a day away.
 * After some repetitions it requests a turn from the planner ({@link JobTurns}). Any thread.
 */
final class Repeats {
  /** Longer than the lease of a planner that was killed. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(6);
  private static final long FIRST_PAUSE_MILLIS = 5;
  /** The pause at which a turn is requested. It is the fourth, and occurs once; most changes need no turn. */
  private static final long TURN_PAUSE_MILLIS = FIRST_PAUSE_MILLIS << 3;
  private static final long LAST_PAUSE_MILLIS = 50;

  private final JobSurroundings surroundings;
  private final JobTurns turns;
  private final Function<String, CompletionStage<?>> wake;

  /** @param wake makes a job due at once for a planning pass */
  Repeats(JobSurroundings surroundings, JobTurns turns, Function<String, CompletionStage<?>> wake) {
    this.surroundings = surroundings;
    this.turns = turns;
    this.wake = wake;
  }

  /** A step whose result is empty if it must be repeated. */
  interface Step<T> {
    CompletionStage<Optional<T>> take();
  }

  /** Repeats a step until its result is not empty. Fails with {@link OverloadedException} after six seconds. */
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

  /** Takes the step once. If the job is behind its schedule, wakes it and returns empty. */
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
