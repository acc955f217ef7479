package io.foliot.client;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Where a {@link JobWorker} claims tasks and reports on them: a server, or an engine in the same process. Applications
 * do not implement it, because {@link FoliotClient} and {@code io.foliot.Foliot} are sources.
 *
 * <p>Any thread calls, and no method blocks but {@link #declare}. A future fails with {@link LeaseLostException}, or
 * with a {@link FoliotException} of the status 404, 409 or 410, if the token of the lease is not valid any more. After
 * any other failure it is unknown whether the call took effect.
 */
public interface TaskSource {
  /** Claims tasks of a queue; the list is empty if none came within the wait. */
  CompletableFuture<List<ClaimedTask>> claim(String queue, ClaimRequest request);

  /**
   * Extends a lease, stores a note, and shows that the worker is alive.
   *
   * @param duration the duration of the lease from now on
   * @param note {@link TaskNote#NONE} if there is nothing new
   * @param worker the name of the process in its claims; null for none
   * @param within the time after which the answer is of no use; the future fails then
   */
  CompletableFuture<Void> extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker,
      Duration within);

  /** Reports the end of an attempt. */
  CompletableFuture<Void> settle(Lease lease, Settlement settlement);

  /**
   * Declares a job, as {@link FoliotClient#declareJob} does, and waits until it is stored.
   *
   * @param job has a queue
   * @throws IllegalArgumentException if the definition can never work
   * @throws FoliotException with a status below 500 other than 408 and 429 if it is refused
   * @throws RuntimeException after any other failure the worker declares the job again later
   */
  void declare(Job job);

  /**
   * Announces that a worker stops: its claims that wait are answered, and tasks that wait for it go to another worker.
   */
  CompletableFuture<Void> leave(String queue, String worker);

  /** Returns whether no call succeeds any more. */
  boolean isClosed();
}
