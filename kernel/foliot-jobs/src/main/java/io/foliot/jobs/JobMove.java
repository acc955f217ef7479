package io.foliot.jobs;

import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.schedule.Calendar;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the jobs of a store whose live tasks are moved to another store. The records of ended shards and listeners
 * stay behind, with the results, marks and checkpoints that their handlers reported. So each job first records the ends
 * that none of its passes has read. No engine may use the store meanwhile.
 */
public final class JobMove {
  private static final int PAGE = 500;
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final long CALL_SECONDS = 60;
  private static final Calendar NO_DAYS = Calendar.parse(List.of());

  private final TaskStore store;
  private final Calendars calendars;

  private JobMove(TaskStore store) {
    this.store = store;
    calendars = new Calendars(store);
  }

  /**
   * Records the unread ends of all jobs, and blocks until they are recorded. May be repeated.
   *
   * @return empty, or why the ends of a job cannot be recorded now and what to wait for
   */
  public static Optional<String> recordEnds(TaskStore store) {
    JobMove move = new JobMove(store);
    String cursor = null;
    do {
      RecordPage page = await(store.query(Shards.JOBS, null, PAGE, cursor));
      for (TaskRecord task : page.tasks()) {
        Optional<String> refusal = task.isLive() && !task.cancelRequested() ? move.record(task) : Optional.empty();
        if (refusal.isPresent()) {
          return refusal;
        }
      }
      cursor = page.cursor();
    } while (cursor != null);
    return Optional.empty();
  }

  private Optional<String> record(TaskRecord task) {
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    if (record == null || record.active().isEmpty()) {
      return Optional.empty();
    }
    Map<TaskId, ShardEnd> ends = ends(record);
    if (ends.values().stream().allMatch(ShardEnd::isLive)) {
      return Optional.empty();
    }
    String job = record.job().name();
    long now = Math.floorDiv(await(store.timeMicros(Shards.hash16(job) & (store.slotCount() - 1))), 1_000L);
    if (task.state() == TaskState.RUNNING && task.leaseEnd() > now) {
      return Optional.of("a planning pass of a job has not ended, and the results of its run would be lost; run the"
          + " same command again after " + Instant.ofEpochMilli(task.leaseEnd()) + ": job=" + job);
    }
    Function<String, @Nullable Calendar> known = await(calendars.of(record.job().schedule()));
    JobRecord next = JobLife.ended(record, now, ends, name -> {
      Calendar calendar = known.apply(name);
      return calendar == null ? NO_DAYS : calendar;
    });
    return isWritten(task, next)
        ? Optional.empty()
        : Optional.of("another process changes a job; stop all servers of the store, and run the same command again:"
            + " job=" + job);
  }

  private Map<TaskId, ShardEnd> ends(JobRecord record) {
    List<TaskId> open = new ArrayList<>();
    record.active().forEach(run -> open.addAll(JobLife.open(record.job().name(), run, run.inserted())));
    Map<TaskId, ShardEnd> ends = new HashMap<>();
    for (int from = 0; from < open.size(); from += PAGE) {
      ends.putAll(await(ShardEnd.read(store, open.subList(from, Math.min(open.size(), from + PAGE)))));
    }
    return ends;
  }

  /** Writes the record of a job, to be planned at once. If a pass died, its lease has ended, and is taken over. */
  private boolean isWritten(TaskRecord task, JobRecord next) {
    if (task.state() != TaskState.RUNNING) {
      Draft draft = new Draft(task.id(), Shards.JOBS, task.key(), Due.NOW, JobPlanner.body(next), 0, OnConflict.RESET,
          null).expecting(task.generation());
      return await(store.submit(List.of(draft))).getFirst().kind().isPlaced();
    }
    ClaimResult claimed = await(store.claim(List.of(new Claim(task.id(), LEASE.toMillis())))).results().getFirst();
    if (!(claimed instanceof ClaimResult.Won(TaskRecord running)) || running.token() == null) {
      return false;
    }
    Outcome.Rearm rearm = new Outcome.Rearm(Due.NOW, JobPlanner.body(next), List.of());
    return await(store.settle(List.of(new AttemptEnd(running.id(), running.generation(), running.token(), rearm,
        running.claimedAt(), "")))).getFirst().kind() == SettleResult.Kind.SETTLED;
  }

  private static <T> T await(CompletionStage<T> call) {
    return call.toCompletableFuture().orTimeout(CALL_SECONDS, TimeUnit.SECONDS).join();
  }
}
