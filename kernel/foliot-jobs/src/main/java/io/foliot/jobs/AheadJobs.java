package io.foliot.jobs;

import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.Stages;
import io.foliot.core.store.Draft;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Finds the jobs whose tasks were written while the store's clock was ahead, and makes their next passes due at once.
 * Without this, such a job would have no pass until the clock shows the old time again. The pass repairs the job
 * ({@link Rewind}). Thread-safe; no method blocks.
 *
 * <p>A search reads all jobs. It is made when the node starts, and when the node sees that the clock was set back.
 * While a search has found jobs that no pass has repaired, a further search follows a later pass. A search uses at
 * most a tenth of the time: a node that starts with a backlog needs the store for it, and jobs that are ahead are rare.
 */
final class AheadJobs {
  private static final System.Logger LOG = System.getLogger(AheadJobs.class.getName());
  private static final int PAGE = 500;
  private static final long AGAIN_MILLIS = 30_000;

  /** The pause after a page, in multiples of the time that its read took. */
  private static final long PAUSE_FACTOR = 9;
  /** The longest pause. A read may have taken hours because the process was suspended. */
  private static final long LONGEST_PAUSE_MILLIS = 10_000;

  private final TaskStore store;
  private final JobMeter meter;
  private final JobSurroundings surroundings;
  private final AtomicBoolean isSearching = new AtomicBoolean();
  private final AtomicBoolean isRequested = new AtomicBoolean();
  /** Number of jobs that the latest search has found, and that no pass of this node has repaired. */
  private final AtomicLong found = new AtomicLong();
  private volatile boolean isIncomplete;
  private volatile boolean isClosed;
  private volatile long searchedMillis;

  AheadJobs(TaskStore store, JobMeter meter, JobSurroundings surroundings) {
    this.store = store;
    this.meter = meter;
    this.surroundings = surroundings;
  }

  /** Ends the present search after its page, and begins no further one. */
  void close() {
    isClosed = true;
  }

  /** Begins a search, or has the present search followed by another one. */
  void wake() {
    isRequested.set(true);
    search();
  }

  /** Records a pass at a time of the store's clock, in milliseconds since 1970. */
  void passed(long now, boolean isRepaired) {
    if (isRepaired) {
      meter.ahead(found.updateAndGet(jobs -> Math.max(0, jobs - 1)));
    }
    if ((found.get() > 0 || isIncomplete) && Math.abs(now - searchedMillis) >= AGAIN_MILLIS) {
      wake();
    }
  }

  private void search() {
    if (isClosed || !isRequested.get() || !isSearching.compareAndSet(false, true)) {
      return;
    }
    isRequested.set(false);
    AtomicLong ahead = new AtomicLong();
    Stages.pages(cursor -> page(cursor, ahead)).whenComplete((done, failure) -> {
      isIncomplete = failure != null;
      long jobs = ahead.get();
      if (isClosed) {
        return;
      }
      if (failure != null) {
        LOG.log(System.Logger.Level.WARNING,
            "cannot search for jobs that are ahead of the store's clock; searching again after a later pass", failure);
      } else {
        found.set(jobs);
        meter.ahead(jobs);
        if (jobs > 0) {
          LOG.log(System.Logger.Level.WARNING, "the store''s clock was ahead when jobs were planned; these jobs are"
              + " planned again: jobs={0}", jobs);
        }
      }
      isSearching.set(false);
      search();
    });
  }

  private CompletionStage<Optional<String>> page(@Nullable String cursor, AtomicLong jobs) {
    if (isClosed) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    long began = surroundings.nanoTime();
    return read(cursor, jobs).thenCompose(next -> {
      CompletableFuture<Optional<String>> paused = new CompletableFuture<>();
      if (next.isEmpty()) {
        paused.complete(next);
      } else {
        long millis = TimeUnit.NANOSECONDS.toMillis(PAUSE_FACTOR * (surroundings.nanoTime() - began));
        surroundings.after(Math.clamp(millis, 1, LONGEST_PAUSE_MILLIS), () -> paused.complete(next));
      }
      return paused;
    });
  }

  private CompletionStage<Optional<String>> read(@Nullable String cursor, AtomicLong jobs) {
    return store.timeMicros(0).thenCombine(store.query(Shards.JOBS, null, PAGE, cursor), (micros, page) -> {
      searchedMillis = Math.floorDiv(micros, 1_000L);
      List<TaskRecord> ahead = page.tasks().stream().filter(task -> isAhead(task, searchedMillis)).toList();
      jobs.addAndGet(ahead.size());
      return woken(ahead).thenApply(done -> Optional.ofNullable(page.cursor()));
    }).thenCompose(stage -> stage);
  }

  static boolean isAhead(TaskRecord task, long now) {
    if (!task.isLive()) {
      return false;
    }
    JobRecord record = JobRecordFormat.decodeIfReadable(task);
    return task.changedAt() > now + Rewind.TOLERANCE_MILLIS || (record != null && Rewind.isAhead(record, now));
  }

  private CompletionStage<?> woken(List<TaskRecord> jobs) {
    List<Draft> drafts = new ArrayList<>();
    for (TaskRecord task : jobs) {
      // A pass that runs is followed by the next pass, which finds the job again.
      if (task.state() != TaskState.RUNNING) {
        drafts.add(new Draft(task.id(), Shards.JOBS, task.key(), Due.NOW, null, 0, OnConflict.RESET, null)
            .expecting(task.generation()));
      }
    }
    return drafts.isEmpty() ? CompletableFuture.completedFuture(List.of()) : store.submit(drafts);
  }
}
