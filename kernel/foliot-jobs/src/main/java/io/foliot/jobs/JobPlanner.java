package io.foliot.jobs;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.Stages;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.format.UnreadableException;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
 * <p>A failed pass never says anything about the other passes, which share its destination. A pass that fails because
 * of the store is repeated after a pause. A pass that fails because of its job, for example because a calendar is
 * missing, is repeated with growing pauses. Other jobs are not delayed. While the {@link ShardAllocator} of a job is
 * missing or fails, the runs of the job do not begin. If the next run of a job would be too large, the passes still
 * record the ends of its active runs. A pass that has nothing to record then fails.
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
  private static final Duration RETENTION = Duration.ofHours(1);
  /**
   * Pause after a pass that failed because of the store. The pause does not grow, so that jobs continue soon after the
   * store has recovered.
   */
  private static final Duration STORE_PAUSE = Duration.ofSeconds(1);
  /** Pause before the next pass while the clocks of this node and of the store disagree. */
  private static final Duration CLOCK_PAUSE = Duration.ofSeconds(2);
  /** Pause between two messages about delayed passes. */
  private static final long LOG_EVERY_MILLIS = 60_000;
  /** Longest pause after a pass that failed because of the job itself. */
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  private final TaskStore store;
  private final JobMeter meter;
  private final Calendars calendars;
  private final ShardReads reads;
  private final Allocators allocators;
  private final WaitLog waits = new WaitLog(LOG);
  private final ClockCheck clocks;
  private final AheadJobs ahead;
  private final JobSurroundings surroundings;
  private final PlanningShares shares = new PlanningShares();
  private final QueueShards unended = new QueueShards();
  /** Time of the latest message about delayed passes, in milliseconds since 1970. */
  private final AtomicLong delayLogged = new AtomicLong();
  // any thread
  private volatile Attendance workers = Attendance.UNKNOWN;
  private volatile Function<String, Optional<QueueConfig>> queues = name -> Optional.empty();

  /** Creates a planner of the jobs in a store. */
  public JobPlanner(TaskStore store, JobMeter meter) {
    this(store, meter, Map.of());
  }

  /** Creates a planner with the given clock, timer and source of random bits. */
  public JobPlanner(TaskStore store, JobMeter meter, JobSurroundings surroundings) {
    this(store, meter, Map.of(), ClockCheck.NONE, surroundings);
  }

  /** Creates a planner that plans only while its node's clock agrees with the store's. */
  public JobPlanner(TaskStore store, JobMeter meter, ClockCheck clocks) {
    this(store, meter, Map.of(), clocks);
  }

  /**
   * Creates a planner as {@link #JobPlanner(TaskStore, JobMeter)} does, also for jobs with {@link Allocation#OWN}.
   *
   * @param allocators the application's allocators, by name
   */
  public JobPlanner(TaskStore store, JobMeter meter, Map<String, ShardAllocator> allocators) {
    this(store, meter, allocators, ClockCheck.NONE);
  }

  /**
   * Creates a planner as {@link #JobPlanner(TaskStore, JobMeter, Map)} does.
   *
   * @param clocks compares the clocks of the node and of the store; while they disagree, this planner plans nothing
   */
  public JobPlanner(TaskStore store, JobMeter meter, Map<String, ShardAllocator> allocators, ClockCheck clocks) {
    this(store, meter, allocators, clocks, new ProcessSurroundings());
  }

  private JobPlanner(TaskStore store, JobMeter meter, Map<String, ShardAllocator> allocators, ClockCheck clocks,
      JobSurroundings surroundings) {
    this.clocks = clocks;
    this.surroundings = surroundings;
    ahead = new AheadJobs(store, meter, surroundings);
    this.store = store;
    this.meter = meter;
    this.allocators = new Allocators(allocators);
    calendars = new Calendars(store);
    reads = new ShardReads(store);
  }

  /**
   * Returns the jobs of the same store, for the callers of this process.
   */
  public Jobs jobs(JobHost host) {
    return new Jobs(store, host, surroundings, shares, () -> workers.fleet(), allocators);
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
  public void queuesKnown(Function<String, Optional<QueueConfig>> known) {
    queues = known;
  }

  private int maxShards(String queue) {
    return queues.apply(queue).map(QueueConfig::maxShards)
        .orElseGet(() -> Objects.requireNonNull(QueueFields.MAX_SHARDS.standard()));
  }

  @Override
  public synchronized void fleetChanged(Fleet fleet, long nowMillis) {
    if (workers.fleet() == null) {
      // The node has just started. The store's clock may have been set back while no node ran.
      ahead.wake();
    }
    workers = workers.with(fleet, nowMillis);
  }

  @Override
  public void clockSetBack() {
    unended.clear();
    ahead.wake();
  }

  private synchronized Attendance workers(long now) {
    workers = workers.asOf(now);
    return workers;
  }

  @Override
  public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
    TaskRecord task = attempt.task();
    String name = task.key();
    if (name == null) {
      return CompletableFuture.completedFuture(new Answer.Fail("the task of a job must have a key: task=" + task.id()));
    }
    if (JobRecordFormat.isRemoved(task)) {
      return CompletableFuture.completedFuture(new Answer.Done(""));
    }
    JobRecord record;
    try {
      record = JobRecordFormat.decode(name, task.body().payload());
    } catch (UnreadableException e) {
      return CompletableFuture.completedFuture(failed(task, e));
    }
    return Stages.call(() -> pass(task, record)).exceptionally(thrown -> {
      Throwable failure = thrown instanceof CompletionException && thrown.getCause() != null
          ? thrown.getCause()
          : thrown;
      return failure instanceof StoreException reason && !(reason instanceof ShardReads.UnreadShardException)
          ? repeated(task, reason, STORE_PAUSE)
          : failed(task, failure instanceof RuntimeException reason ? reason : new CompletionException(failure));
    });
  }

  private CompletionStage<Answer> pass(TaskRecord task, JobRecord record) {
    long now = task.claimedAt();
    meter.passed(Math.max(0, now - task.dueAt()));
    if (clocks.disagree(now)) {
      return CompletableFuture.completedFuture(firstAttempt(task, CLOCK_PAUSE));
    }
    boolean isAhead = Rewind.isAhead(record, now);
    ahead.passed(now, isAhead);
    if (isAhead) {
      LOG.log(System.Logger.Level.WARNING, "a job was planned while the store''s clock was ahead; its times after now"
          + " are decided again: job={0}, decidedUpTo={1}, now={2}", record.job().name(),
          Instant.ofEpochMilli(record.cursor()), Instant.ofEpochMilli(now));
    }
    List<TaskId> wanted = JobLife.wanted(record);
    if (wanted.isEmpty() && record.job().schedule().exclude().isEmpty()) {
      return planned(task, record, now, Map.of(), none -> null);
    }
    return calendars.of(record.job().schedule())
        .thenCombine(reads.read(wanted), (known, ends) -> planned(task, record, now, ends, known))
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
      String queue = record.job().queue();
      long room = maxShards(queue) - unended.ofOthers(record.job().name(), queue);
      plan = JobLife.plan(record, now, ends, known, workers(now), allocators, room);
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(failed(task, e));
    }
    waits.planned(record.job().name(), plan.unallocated(), now);
    Answer answer = answer(task, record, plan, now);
    if (plan.cancels().isEmpty() && plan.hastened().isEmpty()) {
      return CompletableFuture.completedFuture(answer);
    }
    List<TaskRef> refs = plan.cancels().stream().<TaskRef>map(TaskRef.ById::new).toList();
    List<Touch> touches = plan.hastened().stream().map(id -> new Touch(new TaskRef.ById(id), Due.NOW)).toList();
    CompletionStage<?> cancelled = refs.isEmpty() ? CompletableFuture.completedFuture(null) : store.cancel(refs);
    CompletionStage<?> touched = touches.isEmpty() ? CompletableFuture.completedFuture(null) : store.touch(touches);
    return cancelled.thenCombine(touched, (none, nothing) -> answer);
  }

  private Answer answer(TaskRecord task, JobRecord before, JobLife.Plan plan, long now) {
    if (plan.isOver()) {
      unended.planned(before.job().name(), Map.of(), now, now, 0);
      meter.planned(before.job().name(), before.job().queue(), 0, 0, false, now);
      return new Answer.Done("");
    }
    RuntimeException failure = plan.failure();
    if (failure != null && plan.record().active().isEmpty() && plan.record().left().isEmpty()) {
      unended.planned(before.job().name(), Map.of(), now, now, 0);
      return failed(task, failure);
    }
    count(before, plan, now);
    long next = failure != null ? plan.at() : nextPass(task, before.job(), plan.at(), now);
    unended.planned(before.job().name(), plan.record().unended(), now, plan.at(), next - plan.at());
    if (failure != null) {
      return failed(task, failure, Duration.ofMillis(next - now));
    }
    Body body = plan.record() == before ? null : body(plan.record());
    return new Answer.Plan(new Outcome.Rearm(Due.at(next), body, plan.children()), "");
  }

  private long nextPass(TaskRecord task, Job job, long planned, long now) {
    long next = shares.nextPass(job.queue(), task.dueAt(), now, planned);
    long logged = delayLogged.get();
    if (next > planned && now - logged >= LOG_EVERY_MILLIS && delayLogged.compareAndSet(logged, now)) {
      LOG.log(System.Logger.Level.WARNING,
          "planning is late, and the jobs of a queue are planned less often because they"
              + " need more than the share of their queue: queue=" + job.queue() + ", job=" + job.name()
              + ", delayMillis="
              + (next - planned));
    }
    return next;
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
    meter.planned(after.job().name(), queue, after.active().size(),
        after.isDeleted() ? 0 : after.totals().failuresInRow(), after.lacksRoom(), plan.at());
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
        || reason instanceof InvalidSettingException || reason instanceof ShardReads.UnreadShardException) {
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
    ahead.close();
  }
}
