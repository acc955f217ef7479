package io.foliot.jobs;

import io.foliot.core.Stages;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An estimate of the number of jobs of each queue: the jobs that the latest count of all records has found, plus the
 * jobs that this node has created in the queue since that count began. Thread-safe; no method waits for the store.
 *
 * <p>A store counts the tasks of a queue, but the tasks of all jobs are in one queue, and only their records name the
 * queues of the jobs. A count reads all records, so it is begun only while the store has at least as many jobs as the
 * queue in question may have; with fewer jobs, the queue has room in any case. Counts use at most a tenth of the time.
 *
 * <p>Jobs that other nodes have created since the count, and deleted jobs and jobs that have moved to another queue
 * since then, are not considered.
 */
final class QueueJobs {
  private static final System.Logger LOG = System.getLogger(QueueJobs.class.getName());
  private static final int PAGE = 500;
  private static final long MIN_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
  /** The pause after a count, in multiples of its duration. */
  private static final long PAUSE_FACTOR = 9;

  private final TaskStore store;
  private final JobSurroundings surroundings;
  /** The estimates, without the jobs that are being written. */
  private Map<String, Long> jobs = new HashMap<>();
  /** The number of jobs that this node is about to write to each queue. */
  private final Map<String, Long> entering = new HashMap<>();
  /** The queues of the jobs that this node has created since the present count began, by name; null if none is made. */
  private @Nullable Map<String, String> created;
  /** When the next count may begin, as a reading of {@link JobSurroundings#nanoTime}. */
  private long nextNanos;

  QueueJobs(TaskStore store, JobSurroundings surroundings) {
    this.store = store;
    this.surroundings = surroundings;
    nextNanos = surroundings.nanoTime();
  }

  /**
   * Takes a place for a job that this node is about to create in a queue, or to move to it. Returns false if the queue
   * has {@code max} jobs.
   *
   * @param total the number of jobs of all queues
   */
  boolean enter(String queue, long max, long total) {
    if (total >= max && begins()) {
      count();
    }
    synchronized (this) {
      boolean hasRoom = total + entering.values().stream().mapToLong(Long::longValue).sum() < max
          || jobs.getOrDefault(queue, 0L) + entering.getOrDefault(queue, 0L) < max;
      if (hasRoom) {
        entering.merge(queue, 1L, Long::sum);
      }
      return hasRoom;
    }
  }

  /**
   * Ends what {@link #enter} began.
   *
   * @param isWritten whether the job is in the queue now
   */
  synchronized void entered(String queue, String job, boolean isWritten) {
    entering.computeIfPresent(queue, (name, places) -> places == 1 ? null : places - 1);
    if (isWritten) {
      jobs.merge(queue, 1L, Long::sum);
      if (created != null) {
        created.put(job, queue);
      }
    }
  }

  private synchronized boolean begins() {
    if (created != null || surroundings.nanoTime() - nextNanos < 0) {
      return false;
    }
    created = new HashMap<>();
    return true;
  }

  private void count() {
    long began = surroundings.nanoTime();
    Map<String, Long> found = new HashMap<>();
    Stages.pages(cursor -> page(cursor, found)).whenComplete((done, failure) -> {
      if (failure != null) {
        LOG.log(System.Logger.Level.WARNING, "cannot count the jobs of the queues; counting again in a while", failure);
      }
      ended(failure == null ? found : null, surroundings.nanoTime() - began);
    });
  }

  private synchronized void ended(@Nullable Map<String, Long> found, long durationNanos) {
    if (found != null && created != null) {
      created.values().forEach(queue -> found.merge(queue, 1L, Long::sum));
      jobs = found;
    }
    created = null;
    nextNanos = surroundings.nanoTime() + Math.max(MIN_PAUSE_NANOS, PAUSE_FACTOR * durationNanos);
  }

  private CompletionStage<Optional<String>> page(@Nullable String cursor, Map<String, Long> found) {
    return store.query(Shards.JOBS, null, PAGE, cursor).thenApply(page -> {
      add(page, found);
      return Optional.ofNullable(page.cursor());
    });
  }

  /** Counts the jobs of a page, also deleted jobs that still look after runs, because passes plan these too. */
  private void add(RecordPage page, Map<String, Long> found) {
    List<JobRecord> records = page.tasks().stream().filter(TaskRecord::isLive)
        .map(JobRecordFormat::decodeIfReadable).filter(Objects::nonNull).toList();
    synchronized (this) {
      for (JobRecord record : records) {
        if (created == null || !created.containsKey(record.job().name())) {
          found.merge(record.job().queue(), 1L, Long::sum);
        }
      }
    }
  }
}
