package io.foliot.jobs;

import io.foliot.core.Scheduler.OverloadedException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Repeats a step on a job, with growing pauses, while the job is being planned or changed by others. If a planning pass
 * must come first, this class makes it due at once, because the next pass of a paused job may be a day away. From the
 * fourth repetition on, the step is to claim the job, and is repeated without growing pauses. Thread-safe.
 */
final class Repeats {
  /** Time limit of all repetitions together: longer than the lease of a planner that was killed. */
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(6);
  private static final long FIRST_PAUSE_MILLIS = 5;
  /** Number of tries after which the step claims the job. */
  private static final int TRIES = 4;

  private final JobSurroundings surroundings;
  private final Function<String, CompletionStage<?>> wake;

  /** @param wake makes a job due at once for a planning pass */
  Repeats(JobSurroundings surroundings, Function<String, CompletionStage<?>> wake) {
    this.surroundings = surroundings;
    this.wake = wake;
  }

  /** A step whose result is empty if it must be repeated. */
  interface Step<T> {
    /**
     * Makes the step.
     *
     * @param claims whether the step claims the job if it finds it running, as a planning pass does
     */
    CompletionStage<Optional<T>> take(boolean claims);
  }

  /** Repeats a step until its result is not empty, for at most {@link #PATIENCE_NANOS}. */
  <T> CompletableFuture<T> untilTaken(String name, Step<T> step) {
    CompletableFuture<T> promise = new CompletableFuture<>();
    repeat(name, step, surroundings.nanoTime() + PATIENCE_NANOS, 1, promise);
    return promise;
  }

  private <T> void repeat(String name, Step<T> step, long endNanos, int tries, CompletableFuture<T> promise) {
    CompletableFuture<?> unused = taken(name, step, tries > TRIES).whenComplete((result, failure) -> {
      Throwable reason = failure instanceof CompletionException ? failure.getCause() : failure;
      if (reason != null) {
        promise.completeExceptionally(reason);
      } else if (result.isPresent()) {
        promise.complete(result.get());
      } else if (surroundings.nanoTime() - endNanos > 0) {
        promise.completeExceptionally(new OverloadedException(
            "the job is being planned or changed by others: job=" + name));
      } else {
        long pauseMillis = tries < TRIES ? FIRST_PAUSE_MILLIS << (tries - 1) : FIRST_PAUSE_MILLIS;
        surroundings.after(pauseMillis, () -> repeat(name, step, endNanos, tries + 1, promise));
      }
    });
  }

  /** Performs the step once. If a planning pass must come first, makes the pass due at once and returns empty. */
  private <T> CompletableFuture<Optional<T>> taken(String name, Step<T> step, boolean claims) {
    CompletableFuture<Optional<T>> taken;
    try {
      taken = step.take(claims).toCompletableFuture();
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
