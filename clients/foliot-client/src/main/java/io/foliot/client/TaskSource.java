package io.foliot.client;

import io.foliot.api.Job;
import io.foliot.api.TaskNote;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A source of tasks: a {@link JobWorker} claims tasks from it, and settles their attempts through it. The source is a
 * server, or an engine in the same process. Foliot has an implementation for each, so applications do not implement
 * this interface.
 *
 * <p>Implementations must be safe for use by any thread. No method except {@link #declare} may block. If the token of
 * the lease is no longer valid, the future fails with {@link LeaseLostException}, or with a {@link FoliotException} of
 * the status 404 or 409. After other failures, the call may have taken effect.
 */
public interface TaskSource {
  /** Claims tasks of a queue. The list is empty if no task could be claimed within the wait. */
  CompletableFuture<List<ClaimedTask>> claim(String queue, ClaimRequest request);

  /**
   * Extends a lease, stores a note, and shows that the worker is alive.
   *
   * @param duration the requested duration of the lease from now on
   * @param note the note to store; {@link TaskNote#NONE} if there is nothing new
   * @param worker the name with which the worker claims; null for none
   * @param within how long the call may take. The future then fails, because a later answer would be useless
   * @return how long the lease certainly lasts, counted from the call: the requested duration, or less if the queue
   *     limits how long an attempt may run
   */
  CompletableFuture<Duration> extend(Lease lease, Duration duration, TaskNote note, @Nullable String worker,
      Duration within);

  /** Settles an attempt. */
  CompletableFuture<Void> settle(Lease lease, Settlement settlement);

  /**
   * Declares a job, as {@link FoliotClient#declareJob} does, and waits until the definition is stored.
   *
   * @param job the job, which must have a queue
   * @throws IllegalArgumentException if the definition is not valid
   * @throws FoliotException if the declaration is refused, with a status below 500 other than 408 and 429
   * @throws RuntimeException for any other failure; the worker then declares the job again later
   */
  void declare(Job job);

  /**
   * Announces that a worker stops. The waiting claims of the worker end, and tasks that wait for the worker go to other
   * workers.
   *
   * @param worker the name with which the worker claims
   */
  CompletableFuture<Void> leave(String queue, String worker);

  /** Returns whether the source is closed. No call of a closed source succeeds. */
  boolean isClosed();
}
