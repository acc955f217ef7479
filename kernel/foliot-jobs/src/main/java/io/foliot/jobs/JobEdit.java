package io.foliot.jobs;

import io.foliot.api.Body;
import io.foliot.api.Job;
import io.foliot.schedule.Schedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** A {@link JobRecord} while it changes. Not thread-safe. */
final class JobEdit {
  private final JobRecord before;
  Job job;
  long version;
  final List<Long> declared;
  JobRecord.@Nullable Paused paused;
  long cursor;
  long nextAfter;
  long origins;
  final List<JobRecord.Waiting> waiting;
  final List<Run> active;
  JobTotals totals;
  final List<JobRecord.Request> requests;
  final List<JobRecord.Parameter> parameters;
  boolean isEnded;
  final List<JobRecord.Left> left;
  boolean isDeleted;
  private final List<JobRecord.Carried> carried;
  private final List<PastRun> history;

  JobEdit(JobRecord record) {
    before = record;
    job = record.job();
    version = record.version();
    declared = new ArrayList<>(record.declared());
    paused = record.paused();
    cursor = record.cursor();
    nextAfter = record.nextAfter();
    origins = record.origins();
    waiting = new ArrayList<>(record.waiting());
    active = new ArrayList<>(record.active());
    history = new ArrayList<>(record.history());
    totals = record.totals();
    requests = new ArrayList<>(record.requests());
    parameters = new ArrayList<>(record.parameters());
    isEnded = record.isEnded();
    carried = new ArrayList<>(record.carried());
    left = new ArrayList<>(record.left());
    isDeleted = record.isDeleted();
  }

  /**
   * Removes scheduled times after {@code now} that did not run from the history and the totals. No instant of the
   * history is after {@code now} then, except the scheduled times of runs.
   */
  void rewindHistory(Schedule schedule, long now) {
    List<PastRun> before = List.copyOf(history);
    history.clear();
    for (PastRun past : before) {
      long ahead = past.result().isRun() || past.origin() != 0 || past.to() <= now
          ? 0
          : past.from() > now
              ? past.count()
              : Math.min(past.count() - 1, schedule.count(Instant.ofEpochMilli(now), Instant.ofEpochMilli(past.to()),
                  past.count()));
      if (ahead > 0) {
        totals = totals.with(past.upTo(past.to(), -ahead, now));
      }
      if (ahead < past.count()) {
        history.add(past.upTo(ahead > 0 ? now : past.to(), past.count() - ahead, now));
      }
    }
  }

  /** Returns the scheduled times after the cursor that have run already, because the store's clock was ahead. */
  Set<Long> ranAhead() {
    Set<Long> times = new HashSet<>();
    for (Run run : active) {
      if (run.origin() == 0 && run.time() > cursor) {
        times.add(run.time());
      }
    }
    for (PastRun past : history) {
      if (past.origin() == 0 && past.result().isRun() && past.from() > cursor) {
        times.add(past.from());
      }
    }
    return times;
  }

  /** Adds an entry to the history. If a range continues the last entry, that entry is extended instead. */
  void past(PastRun past) {
    totals = totals.with(past);
    PastRun last = history.isEmpty() ? null : history.getLast();
    if (last != null && last.isContinuedBy(past)) {
      history.set(history.size() - 1, last.and(past));
    } else {
      history.add(past);
    }
    if (past.trace().size() > 0) {
      dropTraces();
    }
  }

  /** Drops the traces of the oldest runs beyond {@link JobRecord#MAX_TRACES}. */
  private void dropTraces() {
    int size = 0;
    for (int i = history.size() - 1; i >= 0; i--) {
      RunTrace trace = history.get(i).trace();
      size += trace.size();
      if (size > JobRecord.MAX_TRACES && trace.size() > 0) {
        history.set(i, history.get(i).with(trace.dropped()));
      }
    }
  }

  /** Removes the reasons of failed runs from the history. */
  void forgetReasons() {
    history.replaceAll(past -> past.with(past.trace().withoutReason()));
  }

  /** Makes an ended run active again. It is no longer in the history. */
  void reopen(PastRun past, Run run) {
    history.remove(past);
    totals = totals.reopened();
    active.add(run);
  }

  /** Records a range of scheduled times that do not run. */
  void past(PastRun.Result result, long from, long to, long count, long now) {
    past(new PastRun(from, to, count, 0, result, 0, 0, 0, now));
  }

  /**
   * Returns the payload of the shards of a run.
   *
   * @param origin 0 for the schedule, else the number of the request for the run
   */
  Body parameter(long origin) {
    return parameters.stream().filter(parameter -> parameter.origin() == origin).findFirst()
        .map(parameter -> new Body(parameter.body().payload(), parameter.body().contentType(),
            job.parameter().headers()))
        .orElse(job.parameter());
  }

  /**
   * Requests a run that continues an ended run. The new run has its own number, and continues from the checkpoints of
   * the ended run. The new run waits even if {@link JobRecord#MAX_WAITING} times wait already: the handler that
   * requested the run has succeeded, so the request can no longer be refused. Each such run replaces an active run, so
   * at most {@link JobRecord#MAX_ACTIVE} more times wait.
   */
  void again(Run ended, long now) {
    long origin = ++origins;
    waiting.add(new JobRecord.Waiting(now, origin, 0, true));
    carried.add(new JobRecord.Carried(origin,
        ended.again().stream().filter(shard -> !shard.checkpoint().isEmpty()).toList()));
  }

  /** Returns whether the job is paused and a waiting run must not begin in this pause. */
  boolean isHeld(JobRecord.Waiting time) {
    return paused != null && (time.origin() <= paused.origins()
        || carried.stream().anyMatch(each -> each.origin() == time.origin()));
  }

  /** Returns the checkpoint from which a shard of a run continues, or null if there is none. */
  @Nullable
  String checkpoint(Run run, int shard) {
    for (JobRecord.Carried each : carried) {
      if (each.origin() == run.origin()) {
        return each.shards().stream().filter(again -> again.shard() == shard).map(Run.Again::checkpoint).findFirst()
            .orElse(null);
      }
    }
    return null;
  }

  /** Returns whether a run of a request waits, or is active and meets a condition. */
  private boolean isAwaited(long origin, Predicate<Run> condition) {
    return waiting.stream().anyMatch(each -> each.origin() == origin)
        || active.stream().anyMatch(run -> run.origin() == origin && condition.test(run));
  }

  /** Returns whether a run must still insert tasks with the payload of its request. */
  private static boolean insertsTasks(Run run) {
    return run.hasShardsToInsert() || run.listeners().hasAfterToCome();
  }

  /** Returns how many scheduled times in a row, up to and including a decided time, were missed. */
  int missedUpTo(long time) {
    PastRun last = history.isEmpty() ? null : history.getLast();
    return last != null && last.result() == PastRun.Result.MISSED && last.to() == time
        ? (int) Math.min(last.count(), Integer.MAX_VALUE)
        : 0;
  }

  /**
   * Deletes the job. Its runs that have unfinished tasks are left, everything else goes.
   *
   * @param stopsRuns whether the runs are stopped, with those that an earlier delete in this queue has left
   */
  void delete(boolean stopsRuns) {
    active.stream().filter(Run::hasOpenTasks).forEach(run -> left.add(new JobRecord.Left(job.queue(), run.left())));
    if (stopsRuns) {
      left.replaceAll(each -> each.queue().equals(job.queue())
          ? new JobRecord.Left(each.queue(), each.run().stopping(Run.Stop.STOPPED))
          : each);
    }
    isDeleted = true;
    paused = null;
    active.clear();
    waiting.clear();
    history.clear();
    requests.clear();
    parameters.clear();
    carried.clear();
  }

  /** Returns whether more than the cursor has changed. */
  boolean hasChanged() {
    JobEdit moved = new JobEdit(before);
    moved.cursor = cursor;
    return !done().equals(moved.done());
  }

  /** Returns the changed record, or the old record if nothing has changed. */
  JobRecord done() {
    int dropped = Math.max(0, history.size() - job.history());
    JobRecord after = new JobRecord(job, version, declared, before.created(), paused, cursor, nextAfter, origins,
        waiting, active, history.subList(dropped, history.size()), totals, requests,
        parameters.stream().filter(parameter -> isAwaited(parameter.origin(), JobEdit::insertsTasks)).toList(), isEnded,
        carried.stream().filter(each -> isAwaited(each.origin(), Run::hasShardsToInsert)).toList(), left, isDeleted);
    return after.equals(before) ? before : after;
  }
}
