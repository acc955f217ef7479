package io.foliot.jobs;

import io.foliot.core.Body;
import io.foliot.core.QueueConfig;
import io.foliot.core.Retry;
import io.foliot.core.Target;
import io.foliot.core.TaskId;
import io.foliot.core.TaskNote;
import io.foliot.core.TaskRef;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Attempt;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.Due;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.jobs.schedule.Calendar;
import io.foliot.jobs.schedule.ScheduleException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Delivers the tasks of the internal queue {@value Shards#JOBS}: each attempt is one planning pass over a job.
 * Thread-safe.
 *
 * <ol>
 * <li>The record is the payload of the task. The time of the pass is the store's time of the claim; no other clock is
 * read.
 * <li>The planner reads the ends of shards, and the calendars that the job names.
 * <li>{@link JobLife#plan} decides. The planner cancels shards before it answers: if it crashes between the two steps,
 * the next pass cancels the shards again.
 * <li>The answer re-arms the task with the next record and the shards to insert, in one step of the store.
 * </ol>
 *
 * <p>A pass that fails because of its job, for example because a calendar is missing, is repeated with growing pauses.
 * Other jobs are not delayed. While the {@link ShardAllocator} of a job is missing or fails, the runs of the job do not
 * begin. If the next run of a job would be too large, the passes still record the ends of its active runs. A pass that
 * has nothing to record then fails.
 */
public final class JobPlanner implements Delivery {
  /** Name of the internal queue of the tasks of jobs, a label of metrics. */
  public static final String QUEUE = Shards.JOBS;
  /** The type of the internal queue's target. */
  static final String TYPE = "jobs";

  private static final System.Logger LOG = System.getLogger(JobPlanner.class.getName());
  private static final Duration TIMEOUT = Duration.ofSeconds(2);
  /**
   * Priority of the internal queue. Its share is four times that of a default queue, so that passes are on time even if
   * other queues are busy.
   */
  private static final int PRIORITY = 2;
  /**
   * Time after the first pass without a fleet. During this time, the workers are treated as unknown; after it, the
   * fleet is treated as empty.
   */
  private static final long FLEET_GRACE_MILLIS = 10_000;
  private static final Duration RETENTION = Duration.ofHours(1);
  /**
   * Pause after a pass that failed because of the store. The pause does not grow, so that jobs continue soon after the
   * store has recovered.
   */
  private static final Duration STORE_PAUSE = Duration.ofSeconds(1);
  /** Longest pause after a pass that failed because of the job itself. */
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  private final TaskStore store;
  private final JobMeter meter;
  private final Calendars calendars;
  private final ShardReads shards;
  private final Allocators allocators;
  private final WaitLog waits = new WaitLog(LOG);
  private final JobTurns turns = new JobTurns();
  // any thread
  private volatile @Nullable Fleet fleet;
  /** Time of the first pass without a fleet, in milliseconds since 1970; 0 before that pass. */
  private final AtomicLong firstPass = new AtomicLong();

  /** Creates a planner of the jobs in a store. */
  public JobPlanner(TaskStore store, JobMeter meter) {
    this(store, meter, Map.of());
  }

  /**
   * Creates a planner as {@link #JobPlanner(TaskStore, JobMeter)} does, also for jobs with {@link Allocation#OWN}.
   *
   * @param allocators the application's allocators, by name
   */
  public JobPlanner(TaskStore store, JobMeter meter, Map<String, ShardAllocator> allocators) {
    this.store = store;
    this.meter = meter;
    this.allocators = new Allocators(allocators);
    calendars = new Calendars(store);
    shards = new ShardReads(store);
  }

  /**
   * Returns the jobs of the same store, for the callers of this process. If the passes of a job follow each other so
   * quickly that a change cannot be written between them, this planner delays the next pass.
   */
  public Jobs jobs(JobHost host) {
    return jobs(host, new ProcessSurroundings());
  }

  /** Returns jobs as {@link #jobs(JobHost)} does, with the given clock, timer and source of random bits. */
  public Jobs jobs(JobHost host, JobSurroundings surroundings) {
    return new Jobs(store, host, surroundings, turns, () -> fleet, allocators);
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public CompletionStage<Void> check(Target target) {
    throw new IllegalArgumentException("the delivery " + TYPE
        + " plans jobs and cannot be the target of a queue; a job names the queue in which it runs");
  }

  @Override
  public String destination(Target target) {
    return "planner";
  }

  @Override
  public List<QueueConfig> internalQueues() {
    return List.of(QueueConfig.of(Shards.JOBS, new Target(TYPE, Map.of(), TIMEOUT)).toBuilder().priority(PRIORITY)
        .retry(new Retry(Retry.MAX_ATTEMPTS, STORE_PAUSE, 1, STORE_PAUSE, 0.2))
        .retainFinished(RETENTION).build());
  }

  @Override
  public void fleetChanged(Fleet newFleet) {
    fleet = newFleet;
  }

  /**
   * Returns the workers, or null if they are unknown; a run that needs workers then waits. After
   * {@link #FLEET_GRACE_MILLIS}, returns an empty fleet instead of null, so that such a run does not wait forever.
   */
  private @Nullable Fleet fleet(long now) {
    Fleet known = fleet;
    if (known != null) {
      return known;
    }
    firstPass.compareAndSet(0, now);
    return now - firstPass.get() < FLEET_GRACE_MILLIS ? null : Fleet.EMPTY;
  }

  @Override
  public CompletionStage<Answer> deliver(Attempt attempt) {
    TaskRecord task = attempt.task();
    String name = task.key();
    if (name == null) {
      return CompletableFuture.completedFuture(new Answer.Fail("the task of a job must have a key: task=" + task.id()));
    }
    JobRecord record;
    try {
      record = JobRecordFormat.decode(name, task.body().payload());
    } catch (UnreadableException e) {
      return CompletableFuture.completedFuture(failed(task, e));
    }
    return task.attempt() < Retry.MAX_ATTEMPTS
        ? pass(task, record)
        : pass(task, record).exceptionally(failure -> firstAttempt(task, STORE_PAUSE));
  }

  private CompletionStage<Answer> pass(TaskRecord task, JobRecord record) {
    long now = task.claimedAt();
    List<TaskId> wanted = JobLife.wanted(record);
    if (wanted.isEmpty() && record.job().schedule().exclude().isEmpty()) {
      return planned(task, record, now, Map.of(), none -> null);
    }
    return calendars.of(record.job().schedule())
        .thenCombine(shards.read(wanted), (known, ends) -> planned(task, record, now, ends, known))
        .thenCompose(Function.identity());
  }

  @Override
  public TaskRef.@Nullable ByKey awaiting(TaskRecord task, TaskNote.Mark mark) {
    return Shards.awaiting(task, mark);
  }

  private CompletionStage<Answer> planned(TaskRecord task, JobRecord record, long now, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> known) {
    JobLife.Plan plan;
    try {
      plan = JobLife.plan(record, now, ends, known, fleet(now), allocators);
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(failed(task, e));
    }
    waits.planned(record.job().name(), plan.unallocated(), now);
    Answer answer = answer(task, record, plan, now);
    if (plan.cancels().isEmpty()) {
      return CompletableFuture.completedFuture(answer);
    }
    List<TaskRef> refs = plan.cancels().stream().<TaskRef>map(TaskRef.ById::new).toList();
    return store.cancel(refs).thenApply(cancelled -> answer);
  }

  private Answer answer(TaskRecord task, JobRecord before, JobLife.Plan plan, long now) {
    InvalidJobException failure = plan.failure();
    if (failure != null && plan.record().active().isEmpty()) {
      return failed(task, failure);
    }
    count(before, plan, now);
    if (failure != null) {
      return failed(task, failure, Duration.ofMillis(plan.at() - now));
    }
    Body body = plan.record() == before ? null : body(plan.record());
    Due next = Due.at(turns.nextPass(before.job().name(), now, plan.at()));
    return new Answer.Plan(new Outcome.Rearm(next, body, plan.children()), "");
  }

  private void count(JobRecord before, JobLife.Plan plan, long now) {
    JobRecord after = plan.record();
    String queue = after.job().queue();
    if (after != before) {
      JobTotals was = before.totals();
      JobTotals is = after.totals();
      times(queue, "fired", was.fired(), is.fired());
      times(queue, "skipped", was.skipped(), is.skipped());
      times(queue, "missed", was.missed(), is.missed());
      times(queue, "paused", was.paused(), is.paused());
      times(queue, "no_targets", was.noTargets(), is.noTargets());
      ended(queue, "succeeded", was.succeeded(), is.succeeded());
      ended(queue, "failed", was.failed(), is.failed());
      ended(queue, "unknown", was.unknown(), is.unknown());
      ended(queue, "stopped", was.stopped(), is.stopped());
      for (Run run : after.active()) {
        if (run.origin() == 0 && run.begun() == now) {
          meter.began(queue, Math.max(0, now - run.time()));
        }
      }
    }
    meter.planned(after.job().name(), queue, after.active().size(), after.totals().failuresInRow(), plan.at());
  }

  private void times(String queue, String what, long before, long after) {
    if (after > before) {
      meter.times(queue, what, after - before);
    }
  }

  private void ended(String queue, String what, long before, long after) {
    if (after > before) {
      meter.ended(queue, what, after - before);
    }
  }

  /** Returns the payload of a job's task. */
  static Body body(JobRecord record) {
    return new Body(JobRecordFormat.encode(record), "application/octet-stream", Map.of());
  }

  /** Returns the answer of a pass that failed, which is logged and repeated with growing pauses. */
  private static Answer failed(TaskRecord task, RuntimeException reason) {
    log(task, reason);
    long pauseSeconds = 1L << Math.min(task.attempt(), Long.SIZE / 2);
    return repeated(task, reason, Duration.ofSeconds(Math.min(pauseSeconds, LONGEST_PAUSE.toSeconds())));
  }

  /**
   * Returns the answer of a pass that failed while a run is active. The next pass is due after {@code pause}, which the
   * active run requires. If several such passes fail in a row, only the first failure is logged.
   */
  private static Answer failed(TaskRecord task, RuntimeException reason, Duration pause) {
    if (task.attempt() <= 1) {
      log(task, reason);
    }
    return repeated(task, reason, pause);
  }

  private static void log(TaskRecord task, RuntimeException reason) {
    String message = "cannot plan a job; trying again until planning succeeds or the job is replaced: job=" + task.key()
        + ", reason=" + reason.getMessage();
    if (reason instanceof ScheduleException || reason instanceof UnreadableException
        || reason instanceof InvalidJobException) {
      // A stack trace would not help: the cause is in the record, the calendars or the workers of the job.
      LOG.log(System.Logger.Level.ERROR, message);
    } else {
      LOG.log(System.Logger.Level.ERROR, message, reason);
    }
  }

  private static Answer repeated(TaskRecord task, RuntimeException reason, Duration pause) {
    if (task.attempt() >= Retry.MAX_ATTEMPTS) {
      return firstAttempt(task, pause);
    }
    return new Answer.Retry(pause, Answer.Health.WELL, String.valueOf(reason.getMessage()));
  }

  /**
   * Returns a re-arm. The attempts of the re-armed task are counted from one again, so the task of a job never becomes
   * a dead letter.
   */
  private static Answer firstAttempt(TaskRecord task, Duration pause) {
    return new Answer.Plan(new Outcome.Rearm(Due.at(task.claimedAt() + pause.toMillis()), task.body(), List.of()), "");
  }

  @Override
  public void close() {
    // The planner holds no resources.
  }
}
