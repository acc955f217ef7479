package io.foliot.jobs;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A {@link JobRecord} while it changes. One thread. */
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
  }

  /** Records what became of a run or of scheduled times; a range that goes on is one entry. */
  void past(PastRun past) {
    totals = totals.with(past);
    PastRun last = history.isEmpty() ? null : history.getLast();
    if (last != null && last.isContinuedBy(past)) {
      history.set(history.size() - 1, last.and(past));
    } else {
      history.add(past);
    }
  }

  /** Records a range of scheduled times that do not run. */
  void past(PastRun.Result result, long from, long to, long count, long now) {
    past(new PastRun(from, to, count, 0, result, 0, 0, 0, now));
  }

  /** Returns the changed record, or the old one if nothing has changed. */
  JobRecord done() {
    int dropped = Math.max(0, history.size() - job.history());
    JobRecord after = new JobRecord(job, version, declared, before.created(), paused, cursor, nextAfter, origins,
        waiting, active, history.subList(dropped, history.size()), totals, requests);
    return after.equals(before) ? before : after;
  }
}
