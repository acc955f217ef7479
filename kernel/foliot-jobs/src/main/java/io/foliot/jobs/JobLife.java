package io.foliot.jobs;

import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.TaskNote;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Outcome;
import io.foliot.jobs.Allocators.UnallocatedException;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.Schedule;
import io.foliot.schedule.ScheduleException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The planning of a job, as a pure function. Its inputs are the record of the job, the store's time, the ends of its
 * tasks, the calendars, the workers, and the allocators. Its result is the next record, the time of the next pass, the
 * tasks to insert and the tasks to cancel. It uses no clock, no thread and no store.
 *
 * <ol>
 * <li><i>Clock.</i> {@link Rewind} repairs a record that was written while the store's clock was ahead.
 * <li><i>Times.</i> {@link ScheduledTimes} decides for each scheduled time up to now whether it runs.
 * <li><i>Active runs.</i> The ends that were read are recorded. A run is closed only when it has no more tasks to
 * insert and all its tasks have ended. The passing of time alone never closes a run. A task whose record was deleted is
 * treated as ended. A run past its deadline is stopped. The tasks of a run that is being stopped are cancelled in each
 * pass until they have ended. This step needs neither the schedule nor the definition: it also applies while a calendar
 * is missing, and to the runs that a deleted job has left.
 * <li><i>Start.</i> Runs that wait begin as the overlap rule permits. A scheduled time that has waited beyond the
 * window of the misfire policy is missed instead. {@link RunPlaces} chooses where their shards run;
 * the choice is stored in the run, and a later fleet does not change it. While the jobs of the queue have as many
 * unfinished shards as they may have, no run begins. If a run has a listener before its shards, the
 * shards begin only after that listener has succeeded. At most {@link Outcome.Rearm#MAX_CHILDREN} tasks are inserted in
 * a pass; the next pass continues. A run that would be too large waits, and the job is in error meanwhile.
 * <li><i>Next pass.</i> The next pass is due when the plan can change, for example at the next scheduled time or at the
 * deadline of a run. It is due in at most 24 hours, so that changed calendars and time zone data take effect by then.
 * </ol>
 *
 * <p>Guarantees: each scheduled time is decided exactly once, until a handler ends the job. No run begins while another
 * run is active, except under {@link Overlap#ALLOW}. A separate task for each run was rejected: the record of such a
 * task could contradict the record of the job.
 *
 * <p>This class is one file because all steps of a pass read and change the same state of the pass.
 */
final class JobLife {
  /** Maximum number of shards whose ends one pass reads, over all active runs. */
  static final int MAX_READ = 1_000;

  /**
   * The interval between passes during a run that wakes the job when the run ends. A wake-up may be lost; then a pass
   * finds the end of the run within this interval.
   */
  private static final long AWAITED_POLL_MILLIS = 30_000;
  /**
   * The interval between passes while a waiting run cannot begin, or waits for the end of a run that does not wake the
   * job.
   */
  private static final long WAITING_POLL_MILLIS = 2_000;
  /** The interval while a waiting run has no room in its queue. All jobs of the queue may be in this state. */
  private static final long ROOM_POLL_MILLIS = 10_000;
  /**
   * The interval between passes during a run that does not wake the job when it ends, while no other run waits for that
   * end.
   */
  private static final long IDLE_POLL_MILLIS = Duration.ofMinutes(10).toMillis();
  /** The interval while a run is being stopped. */
  private static final long STOPPING_POLL_MILLIS = 1_000;
  /**
   * The interval during a run with one shard for each worker. A worker that is gone never runs its shard, so a pass
   * must cancel that shard.
   */
  private static final long WORKERS_POLL_MILLIS = 10_000;
  /**
   * The pause before the next pass if shards that this pass could not read may have ended. There is no pause if most of
   * the shards that this pass read have ended.
   */
  private static final long READ_ON_MILLIS = 100;
  private static final long DAY_MILLIS = Duration.ofDays(1).toMillis();
  /** The part of a day over which the daily passes of all jobs are spread. */
  private static final long SPREAD_MILLIS = Duration.ofHours(6).toMillis();
  /** Bits of {@link Shards#hash16}. */
  private static final int HASH_BITS = 16;

  private final JobEdit edit;
  /** The schedule; while a calendar is missing, the schedule without its calendars. */
  private final Schedule schedule;
  /** The reason why the scheduled times are not known, or null. */
  private final @Nullable ScheduleException unscheduled;
  private final long now;
  private final Attendance workers;
  private final Allocators allocators;
  /** Number of unfinished shards of this job in its queue from which on no run begins. */
  private final long room;
  private final List<Outcome.Child> children = new ArrayList<>();
  private final List<TaskId> cancels = new ArrayList<>();
  private final List<TaskId> hastened = new ArrayList<>();
  private long childBytes;
  /** Size of the checkpoints that the record keeps, in characters. */
  private int carriedLength;
  /** Pause until a pass reads further ends, in milliseconds; {@link Long#MAX_VALUE} if there is no such pass. */
  private long readsOnAfter = Long.MAX_VALUE;
  /** Closed runs that a new run must continue. */
  private final List<Run> continuations = new ArrayList<>();
  /** The reason why a waiting run cannot begin yet, or null. */
  private RunPlaces.@Nullable Wait wait;
  /** Whether the pass began no further run because the jobs of the queue have as many shards as they may have. */
  private boolean lacksRoom;
  /** The reason why the pass began no further run; null if no run was too large. */
  private @Nullable InvalidSettingException tooLarge;

  /**
   * The decisions of a pass.
   *
   * @param record the next record
   * @param at when the next pass is due, in milliseconds since 1970
   * @param children the tasks to insert in the step that writes the record
   * @param cancels the tasks to cancel before that step
   * @param hastened the waiting tasks to make due now, because they were written while the store's clock was ahead
   * @param unallocated the failure of the allocator, if a run does not begin because of this failure; else null
   * @param failure the reason why the pass fails, or null. If the pass fails, the job is in error and the record is not
   *     written, but the tasks are cancelled nevertheless
   */
  record Plan(JobRecord record, long at, List<Outcome.Child> children, List<TaskId> cancels,
      List<TaskId> hastened, @Nullable UnallocatedException unallocated, @Nullable RuntimeException failure) {
    /** Returns whether the record can go: the job is deleted, and no task of its runs is left. */
    boolean isOver() {
      return record.isDeleted() && record.left().isEmpty();
    }
  }

  private JobLife(JobRecord record, long now, Function<String, @Nullable Calendar> calendars,
      Attendance workers, Allocators allocators, long room) {
    this.workers = workers;
    this.allocators = allocators;
    this.room = room;
    edit = new JobEdit(record);
    carriedLength = record.carriedLength();
    this.now = now;
    Schedule known;
    ScheduleException missing = null;
    try {
      known = record.job().schedule().schedule(record.job().name(), calendars);
    } catch (ScheduleException e) {
      missing = e;
      known = record.job().schedule().schedule(record.job().name(), name -> Calendar.NONE);
    }
    schedule = known;
    unscheduled = missing;
  }

  /** Returns the tasks whose ends a pass reads. */
  static List<TaskId> wanted(JobRecord record) {
    List<TaskId> ids = new ArrayList<>();
    // The listeners come first: there are few, and the shards of a large run could use up the limit.
    for (Run run : record.active()) {
      if (run.phase() != RunPhase.SHARDS) {
        ids.addAll(open(record.job().name(), run, 1));
      }
    }
    for (Run run : record.active()) {
      // Until all shards of the run are inserted, passes follow each other at once and do not read the ends of its
      // shards.
      if (run.phase() == RunPhase.SHARDS && (run.inserted() == run.shards() || run.isStopping())) {
        ids.addAll(open(record.job().name(), run, MAX_READ - ids.size()));
      }
    }
    for (JobRecord.Left left : record.left()) {
      ids.addAll(open(record.job().name(), left.run(), MAX_READ - ids.size()));
    }
    return ids;
  }

  /** Returns the tasks to cancel after a stop of the runs of a scheduled time. */
  static List<TaskId> stopping(JobRecord record, long time) {
    List<TaskId> ids = new ArrayList<>();
    record.active().stream().filter(run -> run.time() == time && run.isStopping())
        .forEach(run -> ids.addAll(open(record.job().name(), run, run.inserted())));
    return ids;
  }

  /** Returns the tasks to cancel after a delete that stops runs. */
  static List<TaskId> stopping(JobRecord deleted) {
    List<TaskId> ids = new ArrayList<>();
    deleted.left().stream().map(JobRecord.Left::run).filter(Run::isStopping)
        .forEach(run -> ids.addAll(open(deleted.job().name(), run, run.inserted())));
    return ids;
  }

  /**
   * Returns the tasks of a run that are inserted and have not ended.
   *
   * @param most the largest number of shards to return
   */
  static List<TaskId> open(String job, Run run, int most) {
    if (run.phase() != RunPhase.SHARDS) {
      return run.listeners().isOpen() ? List.of(Shards.id(job, run, run.phase())) : List.of();
    }
    return unended(run, most).stream().mapToObj(shard -> Shards.id(job, run, shard)).toList();
  }

  /**
   * Returns at most {@code most} inserted shards that have not ended, beginning with the first shard that the previous
   * pass did not read.
   */
  private static BitSet unended(Run run, int most) {
    BitSet shards = new BitSet();
    int left = most;
    for (int i = 0; i < run.inserted() && left > 0; i++) {
      int shard = (run.readFrom() + i) % run.inserted();
      if (!run.ended().get(shard)) {
        shards.set(shard);
        left--;
      }
    }
    return shards;
  }

  /**
   * Computes a pass.
   *
   * @param now the store's time of the claim, in milliseconds since 1970
   * @param ends the states of the shards that were read, by id; the pass treats all other shards as not ended
   * @param calendars returns a calendar by its name, or null if there is none
   * @param workers the workers of this node
   * @param allocators the allocators of this node
   * @param room how many unfinished shards the job may have in its queue: while it has as many, none of its runs begins
   */
  static Plan plan(JobRecord record, long now, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> calendars, Attendance workers, Allocators allocators, long room) {
    JobLife pass = new JobLife(record, now, calendars, workers, allocators, room);
    boolean complete = true;
    if (pass.isScheduled()) {
      Rewind.apply(pass.edit, record, pass.schedule, now);
      complete = ScheduledTimes.settle(pass.edit, pass.schedule, now);
    }
    pass.noteEnds(ends);
    pass.noteLeft(ends);
    pass.hasten(ends);
    pass.readOn(ends);
    pass.start();
    boolean inserted = pass.insert();
    JobRecord next = pass.edit.done();
    return new Plan(next, complete && inserted ? pass.nextPass() : now, List.copyOf(pass.children),
        List.copyOf(pass.cancels), List.copyOf(pass.hastened), pass.wait == null ? null : pass.wait.unallocated(),
        pass.failure(record));
  }

  /** Returns whether this pass decides scheduled times and begins runs. */
  private boolean isScheduled() {
    return unscheduled == null && !edit.isDeleted;
  }

  /**
   * Returns the reason why the pass fails, or null if it does not fail. While a calendar is missing, or the next run is
   * too large, no run begins. The pass then fails if no run is active, or if the pass has nothing to record.
   */
  private @Nullable RuntimeException failure(JobRecord before) {
    boolean isIdle = before.active().isEmpty() && edit.active.isEmpty() && before.left().isEmpty();
    RuntimeException reason = edit.isDeleted ? null : unscheduled != null ? unscheduled : tooLarge;
    return isIdle || !edit.hasChanged() ? reason : null;
  }

  /** Computes a pass without allocators, with room for all shards. */
  static Plan plan(JobRecord record, long now, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> calendars, Attendance workers) {
    return plan(record, now, ends, calendars, workers, Allocators.NONE, Long.MAX_VALUE);
  }

  /** Returns a record with these ends and the requests of their handlers recorded. It starts and inserts nothing. */
  static JobRecord ended(JobRecord record, long now, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> calendars) {
    JobLife pass = new JobLife(record, now, calendars, Attendance.UNKNOWN, Allocators.NONE, 0);
    pass.noteEnds(ends);
    if (!pass.edit.isEnded) {
      pass.continuations.forEach(run -> pass.edit.again(run, now));
    }
    return pass.edit.done();
  }

  /** Returns a record with these ends recorded, for display. */
  static JobRecord noted(JobRecord record, long now, Map<TaskId, ShardEnd> ends,
      Function<String, @Nullable Calendar> calendars) {
    JobLife view = new JobLife(record, now, calendars, Attendance.UNKNOWN, Allocators.NONE, 0);
    view.noteEnds(ends);
    return view.edit.done();
  }

  private void noteEnds(Map<TaskId, ShardEnd> ends) {
    List<Run> runs = List.copyOf(edit.active);
    edit.active.clear();
    long lastEnd = 0;
    for (Run before : runs) {
      Run run = noted(before, ends);
      // A run that ended before its deadline is not late, even if this pass comes after the deadline.
      if (run.deadline() != 0 && now >= run.deadline() && !run.isPhaseOver()) {
        run = run.stopping(Run.Stop.TIMED_OUT);
      }
      if (run.isPhaseOver() && run.phase() != RunPhase.AFTER && run.listeners().hasAfter()) {
        run = run.after(result(run), now + Math.max(Run.AFTER_MILLIS, timeoutMillis()));
      }
      if (run.isPhaseOver()) {
        close(run);
        lastEnd = Math.max(lastEnd, run.lastEnd() == 0 ? now : run.lastEnd());
      } else {
        edit.active.add(run);
        cancelIfStopping(run, ends);
        cancelGone(run, run.queue(edit.job), ends);
      }
    }
    if (edit.isEnded) {
      edit.nextAfter = 0;
    } else if (lastEnd != 0) {
      ScheduledTimes.beginDelay(edit, schedule, lastEnd);
    }
  }

  /** Records the ends of tasks that deleted jobs of this name have left. Their marks do not concern this job. */
  private void noteLeft(Map<TaskId, ShardEnd> ends) {
    boolean wasEnded = edit.isEnded;
    int carriedBefore = carriedLength;
    List<JobRecord.Left> runs = List.copyOf(edit.left);
    edit.left.clear();
    for (JobRecord.Left before : runs) {
      Run run = noted(before.run(), ends).left();
      if (run.hasOpenTasks()) {
        if (run.deadline() != 0 && now >= run.deadline()) {
          run = run.stopping(Run.Stop.TIMED_OUT);
        }
        edit.left.add(new JobRecord.Left(before.queue(), run));
        cancelIfStopping(run, ends);
        cancelGone(run, run.listeners().isNone() ? before.queue() : run.listeners().queue(), ends);
      }
    }
    edit.isEnded = wasEnded;
    carriedLength = carriedBefore;
  }

  /**
   * Collects the tasks of active runs that wait, and were written while the store's clock was ahead. They would begin
   * only when the clock shows that time again. Their runs have begun, so the tasks begin now.
   */
  private void hasten(Map<TaskId, ShardEnd> ends) {
    ends.forEach((id, end) -> {
      if (end.state() == ShardEnd.State.LIVE && end.at() > now + Rewind.TOLERANCE_MILLIS && !cancels.contains(id)) {
        hastened.add(id);
      }
    });
  }

  private void readOn(Map<TaskId, ShardEnd> ends) {
    long ended = ends.values().stream().filter(end -> !end.isLive()).count();
    if (ends.size() >= MAX_READ && ended > 0) {
      readsOnAfter = ended > ends.size() / 2 ? 0 : READ_ON_MILLIS;
    }
  }

  private long timeoutMillis() {
    Duration timeout = edit.job.timeout();
    return timeout == null ? 0 : timeout.toMillis();
  }

  private Run noted(Run run, Map<TaskId, ShardEnd> ends) {
    if (run.phase() == RunPhase.SHARDS) {
      return shardsNoted(run, ends);
    }
    ShardEnd end = run.listeners().isOpen() ? ends.get(Shards.id(edit.job.name(), run, run.phase())) : null;
    return end == null || end.isLive() ? run : phaseNoted(run, end);
  }

  /** Records the end of a listener. Shards begin only after the listener before them is known to have succeeded. */
  private Run phaseNoted(Run run, ShardEnd end) {
    boolean isBefore = run.phase() == RunPhase.BEFORE;
    boolean isForgotten = end.state() == ShardEnd.State.ABSENT;
    boolean hasFailed = !isForgotten && end.state() != ShardEnd.State.SUCCEEDED && !(isBefore && run.isStopping());
    boolean isPrepared = !isBefore || end.state() == ShardEnd.State.SUCCEEDED || run.isStopping();
    edit.isEnded |= end.mark() == TaskNote.Mark.END_JOB;
    return run.phaseEnded(run.listeners().ended(hasFailed), isPrepared ? run.stop() : Run.Stop.NOT_PREPARED,
        run.unknown() + (isBefore && isForgotten ? 1 : 0), end.at(), again(run.again(), 0, end.mark(), null),
        hasFailed
            ? reason(run.reason(), "the listener " + run.phase().name().toLowerCase(Locale.ROOT) + " the shards",
                end)
            : run.reason());
  }

  private Run shardsNoted(Run run, Map<TaskId, ShardEnd> ends) {
    BitSet ended = (BitSet) run.ended().clone();
    BitSet failed = (BitSet) run.failed().clone();
    int unknown = run.unknown();
    long lastEnd = run.lastEnd();
    int readFrom = run.readFrom();
    int gone = run.gone();
    List<Run.Again> again = run.again();
    String reason = run.reason();
    for (int i = 0; i < run.inserted(); i++) {
      int shard = (run.readFrom() + i) % run.inserted();
      ShardEnd end = run.ended().get(shard) ? null : ends.get(Shards.id(edit.job.name(), run, shard));
      if (end != null) {
        readFrom = (shard + 1) % run.inserted();
        if (!end.isLive()) {
          boolean isGone = end.state() == ShardEnd.State.NOT_BEGUN && run.targets().isOnly() && !run.isStopping();
          ended.set(shard);
          gone += isGone ? 1 : 0;
          failed.set(shard,
              end.state() == ShardEnd.State.FAILED || (end.state() == ShardEnd.State.NOT_BEGUN && !isGone));
          again = again(again, shard, end.mark(), end.checkpoint());
          reason = failed.get(shard) && !run.isStopping() ? reason(reason, shard(run, shard), end) : reason;
          edit.isEnded |= end.mark() == TaskNote.Mark.END_JOB;
          unknown += end.state() == ShardEnd.State.ABSENT ? 1 : 0;
          lastEnd = Math.max(lastEnd, end.at());
        }
      }
    }
    return new Run(run.time(), run.origin(), run.shards(), run.inserted(), run.missed(), run.begun(), run.deadline(),
        run.stop(), readFrom, ended, failed, unknown, lastEnd, run.targets(), gone, again, run.listeners(),
        reason);
  }

  private static String shard(Run run, int shard) {
    String zone = run.targets().isNone() ? "" : run.targets().group(shard).zone();
    return Shards.named(zone, run.targets().numberInZone(shard));
  }

  /**
   * Returns the reason of a run after a failure of one of its tasks: the first failure that was read. If the job has
   * moved, the callers of its new queue do not see why a task of the old queue failed.
   */
  private String reason(String before, String task, ShardEnd end) {
    if (!before.isEmpty()) {
      return before;
    }
    if (!end.queue().isEmpty() && !end.queue().equals(edit.job.queue())) {
      return task + " failed in the former queue of the job";
    }
    String reason = task + (end.reason().isEmpty() ? " failed or was cancelled" : ": " + end.reason());
    return reason.length() <= Run.MAX_REASON
        ? reason
        : reason.substring(0, Run.MAX_REASON - (Character.isHighSurrogate(reason.charAt(Run.MAX_REASON - 1)) ? 1 : 0));
  }

  /** Adds a shard that requests another run. One request is enough; further shards are added for their checkpoints. */
  private List<Run.Again> again(List<Run.Again> before, int shard, TaskNote.Mark mark, @Nullable String last) {
    if (mark != TaskNote.Mark.RUN_AGAIN) {
      return before;
    }
    String checkpoint = last != null && carriedLength + last.length() <= JobRecord.MAX_CARRIED ? last : "";
    if (!before.isEmpty() && checkpoint.isEmpty()) {
      return before;
    }
    carriedLength += checkpoint.length();
    List<Run.Again> after = new ArrayList<>(before);
    after.add(new Run.Again(shard, checkpoint));
    return after;
  }

  /**
   * Cancels each shard that only one worker may run, if that worker takes no more tasks of the queue, and no attempt of
   * the shard runs. A worker that was not disabled takes no more tasks once it is {@linkplain Attendance#isGone gone}.
   *
   * @param queue the queue of the shards
   */
  private void cancelGone(Run run, String queue, Map<TaskId, ShardEnd> ends) {
    Fleet fleet = workers.fleet();
    if (fleet == null || run.isStopping() || !run.targets().isOnly()) {
      return;
    }
    unended(run, MAX_READ).stream().forEach(shard -> {
      TaskId id = Shards.id(edit.job.name(), run, shard);
      ShardEnd end = ends.get(id);
      // A seat that is missing in this node's fleet may be newer than the fleet.
      Fleet.Seat seat = fleet.seat(run.targets().address(shard).number());
      boolean isGone = RunPlaces.isAbandoned(run, queue, shard, fleet)
          && (seat == null || !seat.isEnabled() || workers.isGone(seat, queue, now));
      boolean isIdle = end != null && (end.state() == ShardEnd.State.LIVE
          || (end.state() == ShardEnd.State.RUNNING && end.at() <= now));
      if (isGone && isIdle) {
        cancels.add(id);
      }
    });
  }

  /** Returns the result of a run whose shards have ended. The listener after the shards does not change the result. */
  private static PastRun.Result result(Run run) {
    PastRun.Result known = run.listeners().result();
    if (known != null) {
      return known;
    }
    return switch (run.stop()) {
      case STOPPED -> PastRun.Result.STOPPED;
      case TIMED_OUT -> PastRun.Result.TIMED_OUT;
      case REPLACED -> PastRun.Result.REPLACED;
      case NOT_PREPARED -> run.unknown() > 0 ? PastRun.Result.UNKNOWN : PastRun.Result.FAILED;
      case NONE -> !run.failed().isEmpty() || run.gone() == run.shards()
          ? PastRun.Result.FAILED
          : run.unknown() > 0 ? PastRun.Result.UNKNOWN : PastRun.Result.SUCCEEDED;
    };
  }

  /** Returns why a run failed; empty if it did not. */
  private static String reason(Run run, PastRun.Result result) {
    if (!run.reason().isEmpty()) {
      return run.reason();
    }
    return switch (result) {
      case TIMED_OUT -> "the run did not end within its timeout";
      case FAILED -> "no worker was left that could run the shards";
      default -> "";
    };
  }

  private void close(Run run) {
    PastRun.Result result = result(run);
    long failuresBefore = edit.totals.failuresInRow();
    edit.past(new PastRun(run.time(), run.time(), 1, run.origin(), result, run.shards(),
        run.failed().cardinality(), run.begun(), run.lastEnd() == 0 ? now : run.lastEnd(), run.gone(),
        run.listeners().hasAfterToCome() ? run.listeners().ended(true).failed() : run.listeners().failed(),
        RunTrace.of(run, reason(run, result))));
    if (!run.again().isEmpty() && !result.isStopped() && run.stop() != Run.Stop.STOPPED) {
      continuations.add(run);
    }
    int most = edit.job.pauseAfterFailures();
    long failures = edit.totals.failuresInRow();
    // A resume does not reset the count. The next pause therefore follows when the count reaches the next multiple of
    // the limit. A stopped run leaves the count unchanged, and does not pause the job.
    if (most > 0 && failures > failuresBefore && failures % most == 0 && edit.paused == null) {
      edit.paused = new JobRecord.Paused(now, JobRecord.Paused.OPEN, edit.origins,
          most + " runs in a row failed", "foliot");
    }
  }

  private void cancelIfStopping(Run run, Map<TaskId, ShardEnd> ends) {
    if (run.isStopping()) {
      open(edit.job.name(), run, MAX_READ).forEach(id -> {
        ShardEnd end = ends.get(id);
        if (end == null || end.isLive()) {
          cancels.add(id);
        }
      });
    }
  }

  private void start() {
    if (!edit.isEnded) {
      continuations.forEach(run -> edit.again(run, now));
    }
    if (!isScheduled()) {
      return;
    }
    List<JobRecord.Waiting> waiting = List.copyOf(edit.waiting);
    edit.waiting.clear();
    for (JobRecord.Waiting stored : waiting) {
      JobRecord.Waiting each = stored.lacksRoom() ? stored.waiting() : stored;
      if (edit.isEnded && each.origin() == 0) {
        skipped(each);
      } else if (edit.isHeld(each)) {
        edit.waiting.add(each);
      } else if (hasRoom()) {
        begin(each);
      } else if (each.waits()) {
        edit.waiting.add(each);
      } else {
        overlap(each);
      }
    }
  }

  private boolean hasRoom() {
    if (wait != null || tooLarge != null || lacksRoom) {
      return false;
    }
    return edit.job.overlap() == Overlap.ALLOW
        ? edit.active.size() < JobRecord.maxActive(edit.job)
            && edit.active.stream().mapToInt(run -> run.targets().isNone() ? 0 : run.targets().bytes())
                .sum() <= JobRecord.MAX_TARGET_BYTES
        : edit.active.isEmpty();
  }

  private void begin(JobRecord.Waiting time) {
    if (ScheduledTimes.isTooLate(edit.job, schedule, time, now)) {
      edit.past(PastRun.Result.MISSED, time.time(), time.time(), 1, now);
      return;
    }
    if (unended() >= room) {
      lacksRoom = true;
      edit.waiting.add(time.withoutRoom());
      return;
    }
    switch (RunPlaces.choose(edit.job, edit.parameter(time.origin()), workers, now, allocators)) {
      case RunPlaces.Begin place -> {
        long timeout = timeoutMillis();
        edit.active.add(Run.started(time.time(), time.origin(), place.shards(), place.targets(), time.missed(), now,
            timeout == 0 ? 0 : now + timeout, RunListeners.of(edit.job)));
        edit.totals = edit.totals.began(time.origin());
        edit.nextAfter = 0;
      }
      case RunPlaces.Wait reason -> {
        wait = reason;
        edit.waiting.add(time.waiting());
      }
      case RunPlaces.TooLarge large -> {
        tooLarge = large.reason();
        edit.waiting.add(time.waiting());
      }
      case RunPlaces.NoTargets none -> withoutTargets(time);
    }
  }

  private long unended() {
    return JobRecord.unended(edit.job, edit.active, edit.left).getOrDefault(edit.job.queue(), 0L);
  }

  private void withoutTargets(JobRecord.Waiting time) {
    if (time.origin() != 0) {
      edit.totals = edit.totals.began(time.origin());
    }
    edit.past(new PastRun(time.time(), time.time(), 1, time.origin(), PastRun.Result.NO_TARGETS, 0, 0, 0, now));
    ScheduledTimes.beginDelay(edit, schedule, now);
  }

  /**
   * Applies the overlap rule to a scheduled time whose run cannot begin: a run is active, or an earlier time must wait.
   */
  private void overlap(JobRecord.Waiting time) {
    JobRecord.Waiting queued = edit.waiting.stream().filter(each -> !each.waits()).findFirst().orElse(null);
    switch (edit.job.overlap()) {
      case SKIP -> skipped(time);
      case QUEUE -> {
        if (queued == null) {
          edit.waiting.add(time);
        } else {
          skipped(time);
        }
      }
      case REPLACE -> {
        if (queued != null) {
          edit.waiting.remove(queued);
          skipped(queued);
        }
        edit.waiting.add(time);
        edit.active.replaceAll(run -> run.stopping(Run.Stop.REPLACED));
        edit.active.forEach(run -> cancelIfStopping(run, Map.of()));
      }
      case ALLOW -> edit.waiting.add(time);
    }
  }

  private void skipped(JobRecord.Waiting time) {
    edit.past(PastRun.Result.SKIPPED, time.time(), time.time(), 1, now);
  }

  /** Inserts tasks of runs that have begun. Returns false if a further pass must insert more. */
  private boolean insert() {
    boolean all = true;
    for (int i = 0; i < edit.active.size(); i++) {
      Run run = edit.active.get(i);
      Run after = run.isStopping() ? run : run.phase() == RunPhase.SHARDS ? shardsInserted(run) : phaseInserted(run);
      edit.active.set(i, after);
      all &= after.isStopping() || (after.phase() == RunPhase.SHARDS
          ? after.inserted() == after.shards()
          : !after.listeners().isToInsert());
    }
    return all;
  }

  private Run shardsInserted(Run run) {
    Body parameter = edit.parameter(run.origin());
    int shard = run.inserted();
    while (shard < run.shards() && hasRoom(parameter)) {
      String checkpoint = edit.checkpoint(run, shard);
      children.add(Shards.child(edit.job, run, parameter, shard++, checkpoint));
      childBytes += parameter.payload().length;
    }
    return run.inserted(shard);
  }

  private Run phaseInserted(Run run) {
    Body parameter = edit.parameter(run.origin());
    if (!run.listeners().isToInsert() || !hasRoom(parameter)) {
      return run;
    }
    children.add(Shards.phase(edit.job, run, parameter, now));
    childBytes += parameter.payload().length;
    return run.listeners(run.listeners().inserted());
  }

  private boolean hasRoom(Body child) {
    return children.size() < Outcome.Rearm.MAX_CHILDREN
        && childBytes + child.payload().length <= Outcome.Rearm.MAX_CHILDREN_BYTES;
  }

  private long nextPass() {
    long hash = Shards.hash16(edit.job.name());
    long at = now + DAY_MILLIS - ((hash * SPREAD_MILLIS) >> HASH_BITS);
    JobRecord.Paused paused = edit.paused;
    if (isScheduled()) {
      if (paused == null) {
        at = Math.min(at, ScheduledTimes.next(edit, schedule));
      } else if (paused.until() != JobRecord.Paused.OPEN) {
        at = Math.min(at, paused.until());
      }
    }
    for (Run run : edit.active) {
      at = Math.min(at, nextLook(run));
    }
    for (JobRecord.Left left : edit.left) {
      at = Math.min(at, nextLook(left.run()));
    }
    if (wait != null || tooLarge != null) {
      at = Math.min(at, now + WAITING_POLL_MILLIS);
    }
    if (lacksRoom) {
      at = Math.min(at, now + ROOM_POLL_MILLIS);
    }
    if (readsOnAfter != Long.MAX_VALUE) {
      at = Math.min(at, now + readsOnAfter);
    }
    return Math.max(at, now + 1);
  }

  private long nextLook(Run run) {
    long at = now + poll(run);
    return run.deadline() != 0 && !run.isStopping() ? Math.min(at, run.deadline()) : at;
  }

  /** Returns the maximum time, in milliseconds, before a pass must check an active run again. */
  private long poll(Run run) {
    if (run.isStopping()) {
      return STOPPING_POLL_MILLIS;
    }
    if (run.phase() != RunPhase.SHARDS) {
      return AWAITED_POLL_MILLIS;
    }
    if (run.targets().isOnly()) {
      return WORKERS_POLL_MILLIS;
    }
    if (run.shards() > 1 || Shards.isAwaited(edit.job, run)) {
      return AWAITED_POLL_MILLIS;
    }
    return edit.waiting.isEmpty() ? IDLE_POLL_MILLIS : WAITING_POLL_MILLIS;
  }
}
