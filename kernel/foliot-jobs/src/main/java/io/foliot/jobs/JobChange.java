package io.foliot.jobs;

import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.schedule.AfterSchedule;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The changes that callers make to a job: pure functions from its record and the store's time to the next record. The
 * parameter {@code now} is the store's time in milliseconds since 1970. Before a new definition or a pause takes
 * effect, all scheduled times up to {@code now} are decided by the old rules.
 *
 * <p>Rejected as needless: a planning pass decides these times, and the job keeps its old definition until then. A
 * caller can decide the times with the same function as a pass. The store refuses the caller's write if the record has
 * changed since the caller read it.
 */
final class JobChange {
  /** The longest reason or actor, in characters. The record contains both texts. */
  private static final int MAX_TEXT = 1_000;
  /** The longest idempotency key, in characters. */
  private static final int MAX_KEY = 256;
  /**
   * Maximum number of missed times that a change records. The caller waits while they are counted, so the number is
   * bounded.
   */
  private static final long MAX_COUNTED = 100_000;

  private JobChange() {}

  /**
   * Thrown when passes must decide times of a job, or insert shards, before the job can change. {@link Repeats} then
   * triggers passes, and tries the change again.
   */
  static final class BehindException extends RuntimeException {
    private static final long serialVersionUID = 1;

    BehindException(String job) {
      super("passes must first decide times or insert shards of the job: job=" + job, null, false, false);
    }
  }

  /**
   * The result of a request for runs.
   *
   * @param record the next record; the same object if the request was applied before
   * @param times the scheduled times of the runs, in milliseconds since 1970
   * @param origin the number of the request
   * @param isRepeated whether the request was applied before
   */
  record Requested(JobRecord record, List<Long> times, long origin, boolean isRepeated) {}

  /**
   * Returns the record of a new job. With a fixed delay the first run is due at once, or at the first instant that the
   * bounds of the schedule permit. With any other schedule, the first run is due at the next scheduled time.
   *
   * @throws io.foliot.schedule.ScheduleException if the schedule has no time in the future, or a calendar does not
   *     exist
   */
  static JobRecord create(Job job, long now, Function<String, @Nullable Calendar> calendars) {
    Schedule schedule = schedule(job, calendars);
    job.schedule().ensureFiresAfter(Instant.ofEpochMilli(now), schedule);
    long nextAfter = schedule.timing() instanceof AfterSchedule ? now : 0;
    return new JobRecord(job, 1, List.of(), now, null, now, nextAfter, now, List.of(), List.of(), List.of(),
        JobTotals.NONE, List.of(), List.of(), false, List.of(), List.of(), false);
  }

  private static Schedule schedule(Job job, Function<String, @Nullable Calendar> calendars) {
    return job.schedule().schedule(job.name(), calendars);
  }

  private static JobEdit settled(JobRecord record, long now, Function<String, @Nullable Calendar> calendars) {
    JobEdit edit = new JobEdit(record);
    if (!ScheduledTimes.settle(edit, schedule(record.job(), calendars), now)) {
      throw new BehindException(record.job().name());
    }
    return edit;
  }

  /**
   * Decides the scheduled times up to {@code now}, before a new definition takes effect. If a calendar of the old
   * definition is gone, it is unknown which of these times the calendar excluded: none of them runs, and all are
   * recorded as missed. A job with a fixed delay has no such times: its next time follows the new definition.
   */
  private static JobEdit replaced(JobRecord record, long now, Function<String, @Nullable Calendar> calendars) {
    if (record.isEnded()
        || record.job().schedule().exclude().stream().allMatch(name -> calendars.apply(name) != null)) {
      return settled(record, now, calendars);
    }
    Schedule schedule = schedule(record.job(), name -> Calendar.NONE);
    JobEdit edit = new JobEdit(record);
    if (schedule.timing() instanceof AfterSchedule) {
      return edit;
    }
    Instant from = Instant.ofEpochMilli(record.cursor());
    Instant first = schedule.next(from);
    long count = schedule.count(from, Instant.ofEpochMilli(now), MAX_COUNTED);
    if (first != null && count > 0) {
      edit.past(PastRun.Result.MISSED, first.toEpochMilli(), now, count, now);
    }
    return edit;
  }

  /**
   * Replaces the definition. The same definition changes nothing, unless a handler has ended the job: then the job's
   * scheduled times run again. An active run keeps the number and the targets of its shards, and its listeners. If the
   * listener before the shards has not ended, the shards get the payload of the new definition.
   *
   * @throws BehindException if passes must first decide times, or insert shards of a run
   */
  static JobRecord put(JobRecord record, Job job, long now, Function<String, @Nullable Calendar> calendars) {
    if (record.job().equals(job) && !record.isEnded()) {
      return record;
    }
    Schedule schedule = schedule(job, calendars);
    if (!record.job().schedule().equals(job.schedule()) || record.isEnded()) {
      job.schedule().ensureFiresAfter(Instant.ofEpochMilli(now), schedule);
    }
    if (record.active().stream().anyMatch(run -> run.phase() == RunPhase.SHARDS && run.hasShardsToInsert())) {
      // Shards that are not inserted yet keep the parameters of the old definition, so passes insert them first.
      throw new BehindException(job.name());
    }
    JobEdit edit = replaced(record, now, calendars);
    boolean isDelay = schedule.timing() instanceof AfterSchedule;
    boolean hasRun = !edit.active.isEmpty() || !edit.waiting.isEmpty();
    boolean keepsNext = isDelay && edit.nextAfter != 0 && !edit.isEnded;
    edit.nextAfter = keepsNext ? Math.max(edit.nextAfter, now) : isDelay && !hasRun ? now : 0;
    edit.isEnded = false;
    if (!edit.job.queue().equals(job.queue())) {
      // The callers of the new queue do not see why tasks of the old queue failed.
      edit.forgetReasons();
    }
    edit.job = job;
    edit.version++;
    edit.cursor = Math.max(edit.cursor, now);
    return edit.done();
  }

  /**
   * Applies a definition that code declares. If the definition is among the latest {@link JobRecord#MAX_DECLARED} that
   * code has declared, nothing changes, so that a caller's later change is kept.
   */
  static JobRecord declare(JobRecord record, Job job, long now, Function<String, @Nullable Calendar> calendars) {
    long hash = JobRecordFormat.hash(job);
    if (record.declared().contains(hash)) {
      return record;
    }
    JobEdit edit = new JobEdit(put(record, job, now, calendars));
    addDeclared(edit, hash);
    return edit.done();
  }

  /** Returns the record of a new job that code declares. */
  static JobRecord declared(Job job, long now, Function<String, @Nullable Calendar> calendars) {
    JobEdit edit = new JobEdit(create(job, now, calendars));
    addDeclared(edit, JobRecordFormat.hash(job));
    return edit.done();
  }

  private static void addDeclared(JobEdit edit, long hash) {
    edit.declared.add(hash);
    while (edit.declared.size() > JobRecord.MAX_DECLARED) {
      edit.declared.removeFirst();
    }
  }

  /**
   * Pauses a job, or changes the end of a pause.
   *
   * @param until when the job resumes by itself, in milliseconds since 1970, or {@link JobRecord.Paused#OPEN}
   * @throws BehindException if passes must first decide times
   */
  static JobRecord pause(JobRecord record, long until, String reason, String actor, long now,
      Function<String, @Nullable Calendar> calendars) {
    ensureText("reason", reason);
    ensureText("actor", actor);
    JobEdit edit = settled(record, now, calendars);
    JobRecord.Paused old = edit.paused;
    edit.cursor = Math.max(edit.cursor, now);
    edit.paused = new JobRecord.Paused(old == null ? now : old.since(), until, edit.origins, reason, actor);
    return edit.done();
  }

  private static void ensureText(String field, String text) {
    InvalidSettingException.ensure(text.length() <= MAX_TEXT, field, "at most " + MAX_TEXT + " characters",
        text.length());
  }

  /**
   * Ends a pause. The next passes record the scheduled times in the pause as {@link PastRun.Result#PAUSED}. Returns the
   * same record if no pause is in effect.
   */
  static JobRecord resume(JobRecord record, long now, Function<String, @Nullable Calendar> calendars) {
    JobRecord.Paused paused = record.paused();
    if (paused == null || paused.until() <= now) {
      return record;
    }
    JobEdit edit = new JobEdit(record);
    // The end of a pause is exclusive. A scheduled time at the instant of the resume is still in the pause.
    edit.paused = new JobRecord.Paused(paused.since(), now + 1, paused.origins(), paused.reason(), paused.actor());
    return edit.done();
  }

  /**
   * Requests a run now.
   *
   * @param key the caller's name for the request, or null
   * @throws OverloadedException if more than {@link JobRecord#MAX_WAITING} times would wait
   */
  static Requested trigger(JobRecord record, @Nullable String key, long now) {
    return request(record, key, JobRecordFormat.digest(null), List.of(now));
  }

  /**
   * Requests a run now. Its shards get the payload of this request instead of the payload of the job's parameter.
   *
   * @param parameter the payload and its content type, without headers: the shards get the headers of the job's
   *     parameter
   * @param fleet the workers, or null if they have not been read yet
   * @throws InvalidSettingException if the run would be too large with the present workers
   * @throws OverloadedException if more than {@link JobRecord#MAX_WAITING} times, or more than {@link
   *     JobRecord#MAX_PARAMETERS_BYTES} bytes of parameters, would wait
   */
  static Requested trigger(JobRecord record, @Nullable String key, Body parameter, @Nullable Fleet fleet,
      long now) {
    int length = parameter.payload().length;
    InvalidSettingException.ensure(parameter.headers().isEmpty(), "parameter",
        "no headers in the parameter of a request",
        parameter.headers().size());
    InvalidSettingException.ensure(length <= JobRecord.MAX_PARAMETERS_BYTES, "parameter",
        "at most " + JobRecord.MAX_PARAMETERS_BYTES + " bytes in the parameter of a request", length);
    Requested requested = request(record, key, JobRecordFormat.digest(parameter), List.of(now));
    if (requested.isRepeated()) {
      return requested;
    }
    RunPlaces.ensureFits(record.job(), parameter, fleet);
    int waiting = record.parameters().stream().mapToInt(each -> each.body().payload().length).sum();
    if (waiting + length > JobRecord.MAX_PARAMETERS_BYTES) {
      throw new OverloadedException("the parameters of requests that wait have at most "
          + JobRecord.MAX_PARAMETERS_BYTES + " bytes: waiting=" + waiting + ", requested=" + length);
    }
    JobEdit edit = new JobEdit(requested.record());
    edit.parameters.add(new JobRecord.Parameter(requested.origin(), parameter));
    return new Requested(edit.done(), requested.times(), requested.origin(), false);
  }

  /**
   * Returns the scheduled times that a backfill would run, in ascending order, in milliseconds since 1970.
   *
   * @param from the beginning of the range, inclusive, in milliseconds since 1970
   * @param to the end of the range, exclusive, in milliseconds since 1970
   * @throws IllegalArgumentException if the range is empty, ends in the future, or has more than {@link
   *     JobRecord#MAX_WAITING} times, or if the job has a fixed delay
   */
  static List<Long> backfill(JobRecord record, long from, long to, long now,
      Function<String, @Nullable Calendar> calendars) {
    InvalidSettingException.ensure(from < to, "to", "an instant after from=" + Instant.ofEpochMilli(from),
        Instant.ofEpochMilli(to));
    InvalidSettingException.ensure(to <= now + 1, "to", "an instant up to now=" + Instant.ofEpochMilli(now)
        + ", because a backfill runs times that have passed", Instant.ofEpochMilli(to));
    Schedule schedule = schedule(record.job(), calendars);
    if (schedule.timing() instanceof AfterSchedule) {
      throw new IllegalArgumentException("a job with a fixed delay has no scheduled times in the past: job="
          + record.job().name());
    }
    List<Long> times = new ArrayList<>();
    Instant time = schedule.next(Instant.ofEpochMilli(from - 1));
    while (time != null && time.toEpochMilli() < to) {
      InvalidSettingException.ensure(times.size() < JobRecord.MAX_WAITING, "to", "an instant up to " + time
          + ", because a backfill has at most " + JobRecord.MAX_WAITING + " times", Instant.ofEpochMilli(to));
      times.add(time.toEpochMilli());
      time = schedule.next(time);
    }
    return times;
  }

  /**
   * Requests runs of these times. The runs follow one after another, unless the job's rule is {@link Overlap#ALLOW}. A
   * request whose key is among the latest {@link JobRecord#MAX_REQUESTS} keys changes nothing.
   *
   * @param key the caller's name for the request, or null
   * @param digest the digest of the request
   * @throws Jobs.RequestMismatchException if the key belonged to another request
   * @throws OverloadedException if more than {@link JobRecord#MAX_WAITING} times would wait
   */
  static Requested request(JobRecord record, @Nullable String key, long digest, List<Long> times) {
    if (key != null && (key.isEmpty() || key.length() > MAX_KEY)) {
      throw new IllegalArgumentException("an idempotency key has 1 to " + MAX_KEY + " characters: characters="
          + key.length());
    }
    for (JobRecord.Request request : record.requests()) {
      if (request.key().equals(key)) {
        if (request.digest() != digest) {
          throw new Jobs.RequestMismatchException(record.job().name());
        }
        List<Long> same = times.contains(request.time()) ? List.copyOf(times) : List.of(request.time());
        return new Requested(record, same, request.origin(), true);
      }
    }
    if (record.waiting().size() + times.size() > JobRecord.MAX_WAITING) {
      throw new OverloadedException("at most " + JobRecord.MAX_WAITING
          + " times of a job wait to run: waiting=" + record.waiting().size() + ", requested=" + times.size());
    }
    JobEdit edit = new JobEdit(record);
    long origin = ++edit.origins;
    times.forEach(time -> edit.waiting.add(new JobRecord.Waiting(time, origin, 0, true)));
    if (key != null && !times.isEmpty()) {
      edit.requests.add(new JobRecord.Request(key, times.getFirst(), origin, digest));
      if (edit.requests.size() > JobRecord.MAX_REQUESTS) {
        edit.requests.removeFirst();
      }
    }
    return new Requested(edit.done(), List.copyOf(times), origin, false);
  }

  /**
   * A run of which a failed shard runs again.
   *
   * @param record the next record
   * @param id the task of the shard, which must be made live before the record is written
   */
  record Reopened(JobRecord record, TaskId id) {}

  /**
   * Makes a run active again, so that one of its failed shards runs again and the result of the run follows from it.
   * The listeners of the run do not run again.
   *
   * @param origin the number of the request for the run, 0 for the schedule; null for the only run of the time
   * @param zone the zone of the shard, or empty
   * @param shard the number of the shard, with a zone its number within the zone
   * @throws Jobs.UnknownRunException if there is no such run
   * @throws Jobs.NotFailedException if the shard has not failed, or the job no longer keeps which shards failed
   * @throws Jobs.RunActiveException if another run is active, and the overlap rule permits only one
   */
  static Reopened reopen(JobRecord record, long time, @Nullable Long origin, String zone, int shard, long now) {
    String job = record.job().name();
    Duration timeout = record.job().timeout();
    long deadline = timeout == null ? 0 : now + timeout.toMillis();
    List<Run> active = record.active().stream().filter(run -> isOf(run.time(), run.origin(), time, origin)).toList();
    List<PastRun> past = record.history().stream()
        .filter(run -> run.result().isRun() && isOf(run.from(), run.origin(), time, origin)).toList();
    InvalidSettingException.ensure(active.size() + past.size() <= 1, "origin",
        "the origin of one of the runs of that time, as the list of runs shows it", "none");
    if (active.size() + past.size() == 0) {
      throw new Jobs.UnknownRunException(job, Instant.ofEpochMilli(time),
          "the job has no run of that time, or no longer"
              + " keeps it");
    }
    JobEdit edit = new JobEdit(record);
    Run before = past.isEmpty() ? active.getFirst() : reopened(record, past.getFirst());
    int number = number(before, zone, shard);
    if (number < 0 || !before.failed().get(number) || before.isStopping() || before.phase() != RunPhase.SHARDS) {
      throw new Jobs.NotFailedException(job, "the shard has not failed, or its run cannot continue: only a failed shard"
          + " of a run that is active or FAILED runs again");
    }
    Run run = before.reopened(number, deadline);
    if (past.isEmpty()) {
      edit.active.replaceAll(each -> each == before ? run : each);
    } else {
      boolean hasRoom = record.job().overlap() == Overlap.ALLOW
          ? record.active().size() < JobRecord.maxActive(record.job())
          : record.active().isEmpty();
      if (!hasRoom) {
        throw new Jobs.RunActiveException(job);
      }
      edit.reopen(past.getFirst(), run);
      if (record.job().schedule().after() != null) {
        // The delay counts from the end of the latest run, which is to come.
        edit.nextAfter = 0;
        edit.waiting.removeIf(each -> each.origin() == 0);
      }
    }
    return new Reopened(edit.done(), Shards.id(job, run, number));
  }

  private static boolean isOf(long runTime, long runOrigin, long time, @Nullable Long origin) {
    return runTime == time && (origin == null || origin == runOrigin);
  }

  /** Returns a failed run as it was before its last shard ended. */
  private static Run reopened(JobRecord record, PastRun past) {
    RunTrace trace = past.trace();
    String job = record.job().name();
    if (past.result() != PastRun.Result.FAILED) {
      throw new Jobs.NotFailedException(job,
          "the run is " + past.result() + ": only a shard of a FAILED run runs again");
    }
    if (!trace.isWhole() || trace.failed().size() != past.failed()) {
      throw new Jobs.NotFailedException(job, "the job keeps too little of this run: it had too many failed shards or"
          + " workers, or is too old; redrive the tasks of its queue, or trigger the job");
    }
    BitSet ended = new BitSet();
    ended.set(0, past.shards());
    RunListeners listeners = past.failedListeners().isEmpty()
        ? RunListeners.NONE
        : new RunListeners(RunPhase.SHARDS, RunListeners.Step.ENDED, false, record.job().queue(),
            past.failedListeners(), null);
    return new Run(past.from(), past.origin(), past.shards(), past.shards(), 0, past.begun(), 0, Run.Stop.NONE, 0,
        ended, trace.failedShards(), trace.unknown(), past.ended(), trace.targets(), past.gone(), List.of(), listeners,
        trace.reason());
  }

  /** Returns the number of a shard over all zones, or -1 if the run has no such shard. */
  private static int number(Run run, String zone, int shard) {
    if (run.targets().isNone()) {
      return zone.isEmpty() && shard < run.shards() ? shard : -1;
    }
    List<Targets.Group> groups = run.targets().groups();
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).zone().equals(zone) && shard < run.targets().groupSize()) {
        return i * run.targets().groupSize() + shard;
      }
    }
    return -1;
  }

  /**
   * Deletes a job. The record remains while inserted tasks of its runs have not ended.
   *
   * @param stopsRuns whether the runs are stopped. A repeated delete may still stop them
   */
  static JobRecord delete(JobRecord record, boolean stopsRuns) {
    JobEdit edit = new JobEdit(record);
    edit.delete(stopsRuns);
    return edit.done();
  }

  /** Stops the runs of a time, including those that wait. Returns the same record if there is nothing to stop. */
  static JobRecord stop(JobRecord record, long time, long now, Function<String, @Nullable Calendar> calendars) {
    JobEdit edit = new JobEdit(record);
    edit.active.replaceAll(run -> run.time() == time ? run.stopping(Run.Stop.STOPPED) : run);
    for (JobRecord.Waiting waiting : record.waiting()) {
      if (waiting.time() == time) {
        edit.waiting.remove(waiting);
        edit.totals = edit.totals.began(waiting.origin());
        edit.past(new PastRun(time, time, 1, waiting.origin(), PastRun.Result.STOPPED, 0, 0, 0, now));
      }
    }
    boolean isLast = edit.waiting.size() < record.waiting().size() && edit.waiting.isEmpty() && edit.active.isEmpty();
    if (isLast && record.job().schedule().after() != null) {
      // A fixed delay usually begins at the end of a run. No run is left, so the delay begins now.
      ScheduledTimes.beginDelay(edit, schedule(record.job(), calendars), now);
    }
    return edit.done();
  }
}
