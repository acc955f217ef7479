package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.TaskNote;
import io.foliot.core.TaskId;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Marks: the requests of a shard's handler to its job. */
final class ShardMarksTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long MINUTE = 60_000;

  private final Map<TaskId, ShardEnd> ends = new HashMap<>();
  private final List<Outcome.Child> children = new ArrayList<>();
  private JobRecord record = JobChange.create(minutely().build(), START, NO_CALENDARS);

  private static Job.Builder minutely() {
    return Job.named("report").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private void job(Job.Builder job) {
    record = JobChange.create(job.build(), START, NO_CALENDARS);
  }

  private long pass(long now) {
    JobLife.Plan plan = JobLife.plan(record, now, ends, NO_CALENDARS, Attendance.of(null));
    record = JobRecordFormat.decode("report", JobRecordFormat.encode(plan.record()));
    plan.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
    children.addAll(plan.children());
    return plan.at();
  }

  private void end(int child, TaskNote.Mark mark, @Nullable String checkpoint, long at) {
    ends.put(children.get(child).id(), new ShardEnd(ShardEnd.State.SUCCEEDED, at, mark, checkpoint));
  }

  private @Nullable String checkpoint(int child) {
    return children.get(child).body().headers().get(JobHeaders.CHECKPOINT);
  }

  @Test
  void aHandlerEndsItsJob() {
    pass(START + MINUTE);
    end(0, TaskNote.Mark.END_JOB, null, START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(record.isEnded()).isTrue();
    assertThat(record.history().getFirst().result()).isEqualTo(PastRun.Result.SUCCEEDED);
    long next = pass(START + 10 * MINUTE);
    assertThat(next).as("no further time is scheduled").isGreaterThan(START + 60 * MINUTE);
    assertThat(children).hasSize(1);
    assertThat(record.totals().missed()).as("times after the end are not counted").isZero();
  }

  @Test
  void noWaitingTimeRunsAfterAMarkToEnd() {
    job(minutely().overlap(Overlap.QUEUE));
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    end(0, TaskNote.Mark.END_JOB, null, START + 2 * MINUTE + 1);
    pass(START + 3 * MINUTE);
    assertThat(children).hasSize(1);
    assertThat(record.waiting()).isEmpty();
    assertThat(record.totals().skipped()).isEqualTo(2);
  }

  @Test
  void aRunThatEndsItsJobFinishesAllItsShards() {
    job(minutely().shards(2));
    pass(START + MINUTE);
    end(0, TaskNote.Mark.END_JOB, null, START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(record.active()).hasSize(1);
    pass(START + 5 * MINUTE);
    end(1, TaskNote.Mark.RUN_AGAIN, "x", START + 5 * MINUTE + 1);
    pass(START + 5 * MINUTE + 2);
    assertThat(record.active()).isEmpty();
    assertThat(children).as("the mark to end the job wins").hasSize(2);
  }

  @Test
  void anEndedJobRunsOnlyWhenItIsTriggered() {
    pass(START + MINUTE);
    end(0, TaskNote.Mark.END_JOB, null, START + MINUTE + 1);
    pass(START + MINUTE + 2);
    record = JobChange.trigger(record, null, START + 5 * MINUTE).record();
    pass(START + 5 * MINUTE);
    assertThat(children).hasSize(2);
    assertThat(record.isEnded()).isTrue();
  }

  @Test
  void aPutRevivesAnEndedJob() {
    for (Job.Builder job : List.of(minutely(), Job.named("report").queue("q").after(Duration.ofMinutes(1)))) {
      children.clear();
      ends.clear();
      job(job);
      pass(START + MINUTE);
      end(0, TaskNote.Mark.END_JOB, null, START + MINUTE + 1);
      pass(START + MINUTE + 2);
      JobRecord declared = JobChange.declare(record, job.build(), START + 9 * MINUTE, NO_CALENDARS);
      assertThat(declared.isEnded()).as("declared again").isFalse();
      assertThat(JobChange.pause(record, JobRecord.Paused.OPEN, "", "", START + 9 * MINUTE, NO_CALENDARS).isEnded())
          .isTrue();
      record = JobChange.put(record, job.build(), START + 10 * MINUTE + 1, NO_CALENDARS);
      assertThat(record.isEnded()).isFalse();
      pass(START + 11 * MINUTE);
      assertThat(record.active()).hasSize(1);
      assertThat(record.totals().missed()).isZero();
    }
  }

  @Test
  void anUnchangedDeclarationDoesNotReviveAnEndedJob() {
    record = JobChange.declared(minutely().build(), START, NO_CALENDARS);
    pass(START + MINUTE);
    end(0, TaskNote.Mark.END_JOB, null, START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(JobChange.declare(record, minutely().build(), START + 2 * MINUTE, NO_CALENDARS)).isSameAs(record);
  }

  @Test
  void aRequestedRunFollowsWithTheCheckpointOfEachShard() {
    job(minutely().shards(3));
    pass(START + MINUTE);
    end(0, TaskNote.Mark.RUN_AGAIN, "page 7", START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(children).as("the run is active").hasSize(3);
    end(1, TaskNote.Mark.NONE, null, START + MINUTE + 3);
    end(2, TaskNote.Mark.RUN_AGAIN, "page 9", START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(children).hasSize(6);
    assertThat(checkpoint(3)).isEqualTo("page 7");
    assertThat(checkpoint(4)).isNull();
    assertThat(checkpoint(5)).isEqualTo("page 9");
    assertThat(record.active().getFirst().time()).isEqualTo(START + MINUTE + 4);
    assertThat(record.totals().requested()).isEqualTo(1);
    assertThat(record.carried()).as("dropped once the shards are inserted").isEmpty();
  }

  @Test
  void aStoppedRunIgnoresARequestForAnotherRun() {
    pass(START + MINUTE);
    end(0, TaskNote.Mark.RUN_AGAIN, null, START + MINUTE + 1);
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 1, NO_CALENDARS);
    pass(START + MINUTE + 2);
    assertThat(record.active()).isEmpty();
    assertThat(record.waiting()).isEmpty();
  }

  @Test
  void aPauseHoldsARequestedRun() {
    pass(START + MINUTE);
    record = JobChange.pause(record, JobRecord.Paused.OPEN, "", "", START + MINUTE + 1, NO_CALENDARS);
    end(0, TaskNote.Mark.RUN_AGAIN, "page 7", START + MINUTE + 2);
    pass(START + MINUTE + 3);
    assertThat(record.active()).isEmpty();
    assertThat(record.waiting()).hasSize(1);
    record = JobChange.resume(record, START + 2 * MINUTE - 10, NO_CALENDARS);
    pass(START + 2 * MINUTE - 5);
    assertThat(record.active()).hasSize(1);
    assertThat(checkpoint(1)).isEqualTo("page 7");
  }

  /** When a pass reads the request, the handler has already succeeded, so the request can no longer be refused. */
  @Test
  void aRequestedRunFollowsEvenIfNoFurtherTimeMayWait() {
    pass(START + MINUTE);
    for (int i = 0; i < JobRecord.MAX_WAITING; i++) {
      record = JobChange.trigger(record, null, START + MINUTE).record();
    }
    end(0, TaskNote.Mark.RUN_AGAIN, "page 7", START + MINUTE + 1);
    pass(START + MINUTE + 2);
    for (int run = 1; run <= JobRecord.MAX_WAITING; run++) {
      assertThat(checkpoint(run)).as("a run that was requested before").isNull();
      end(run, TaskNote.Mark.NONE, null, START + MINUTE + 2);
      pass(START + MINUTE + 3);
    }
    assertThat(checkpoint(JobRecord.MAX_WAITING + 1)).isEqualTo("page 7");
  }

  @Test
  void aTriggerInAPauseRunsThoughTheActiveRunRequestsAnother() {
    for (@Nullable
    String checkpoint : new @Nullable String[]{"page 7", null}) {
      children.clear();
      ends.clear();
      job(minutely());
      pass(START + MINUTE);
      record = JobChange.pause(record, JobRecord.Paused.OPEN, "", "", START + MINUTE + 1, NO_CALENDARS);
      record = JobChange.trigger(record, null, START + MINUTE + 2).record();
      end(0, TaskNote.Mark.RUN_AGAIN, checkpoint, START + MINUTE + 3);
      pass(START + MINUTE + 4);
      assertThat(record.active()).extracting(Run::time).containsExactly(START + MINUTE + 2);
      assertThat(record.waiting()).extracting(JobRecord.Waiting::time).containsExactly(START + MINUTE + 4);
      record = JobChange.pause(record, JobRecord.Paused.OPEN, "", "", START + MINUTE + 5, NO_CALENDARS);
      end(1, TaskNote.Mark.RUN_AGAIN, null, START + MINUTE + 5);
      pass(START + MINUTE + 6);
      assertThat(record.active()).as("requests of handlers wait for the end of the pause").isEmpty();
      record = JobChange.resume(record, START + MINUTE + 7, NO_CALENDARS);
      pass(START + MINUTE + 9);
      assertThat(record.active()).extracting(Run::time).containsExactly(START + MINUTE + 4);
      assertThat(checkpoint(2)).isEqualTo(checkpoint);
    }
  }

  @Test
  void allRunsOfARecordShareTheBoundOfCheckpoints() {
    job(minutely().overlap(Overlap.ALLOW).shards(2));
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    for (int shard : new int[]{0, 2}) {
      end(shard, TaskNote.Mark.RUN_AGAIN, "x".repeat(JobRecord.MAX_CARRIED / 2 + 1), START + 2 * MINUTE + 1);
    }
    pass(START + 2 * MINUTE + 2);
    assertThat(record.active()).hasSize(2).allMatch(run -> run.again().size() == 1);
    assertThat(record.active().stream().mapToInt(run -> run.again().getFirst().checkpoint().length()).sum())
        .isLessThanOrEqualTo(JobRecord.MAX_CARRIED);
  }

  @Test
  void checkpointsBeyondTheBoundAreLeftOut() {
    job(minutely().shards(3));
    pass(START + MINUTE);
    String half = "x".repeat(JobRecord.MAX_CARRIED / 2);
    for (int shard = 0; shard < 3; shard++) {
      end(shard, TaskNote.Mark.RUN_AGAIN, half, START + MINUTE + 1);
    }
    pass(START + MINUTE + 2);
    assertThat(children).hasSize(6);
    assertThat(new boolean[]{checkpoint(3) != null, checkpoint(4) != null, checkpoint(5) != null})
        .containsExactly(true, true, false);
  }

  @Test
  void aMarkWakesAJobThatAwaitsNoShard() {
    pass(START + MINUTE);
    TaskRecord shard = TaskRecord.edit(children.getFirst().id(), "q", null)
        .body(children.getFirst().body()).done();
    assertThat(Shards.awaiting(shard, TaskNote.Mark.NONE)).isNull();
    for (TaskNote.Mark mark : List.of(TaskNote.Mark.END_JOB, TaskNote.Mark.RUN_AGAIN)) {
      assertThat(Shards.awaiting(shard, mark)).isNotNull().extracting(ref -> ref.key()).isEqualTo("report");
    }
  }
}
