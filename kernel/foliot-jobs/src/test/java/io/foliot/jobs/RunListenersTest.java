package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Overlap;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.TaskNote;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Listeners of a run: the tasks before its first shard and after its last shard. */
final class RunListenersTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long MINUTE = 60_000;
  private static final long HOUR = 60 * MINUTE;

  private final Map<TaskId, ShardEnd> ends = new HashMap<>();
  private final List<Outcome.Child> children = new ArrayList<>();
  private final List<TaskId> cancels = new ArrayList<>();
  private @Nullable Fleet fleet;
  private JobRecord record = JobChange.create(listened().build(), START, NO_CALENDARS);

  private static Job.Builder minutely() {
    return Job.named("report").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  /** Returns a job with two shards, a listener before them and a listener after them. */
  private static Job.Builder listened() {
    return minutely().shards(2).runListeners(RunPhase.BEFORE, RunPhase.AFTER);
  }

  private void job(Job.Builder job) {
    record = JobChange.create(job.build(), START, NO_CALENDARS);
    children.clear();
    ends.clear();
  }

  private long pass(long now) {
    JobLife.Plan plan = JobLife.plan(record, now, ends, NO_CALENDARS, Attendance.of(fleet));
    record = JobRecordFormat.decode("report", JobRecordFormat.encode(plan.record()));
    assertThat(record).isEqualTo(plan.record());
    cancels.clear();
    cancels.addAll(plan.cancels());
    plan.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
    children.addAll(plan.children());
    return plan.at();
  }

  private void end(ShardEnd.State state, long at) {
    ends.replaceAll((id, end) -> end.isLive() ? new ShardEnd(state, at) : end);
  }

  private void succeed(long at) {
    end(ShardEnd.State.SUCCEEDED, at);
  }

  /** Runs passes until the shards of the first run have begun. */
  private void untilShards() {
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
  }

  private List<String> phases() {
    return children.stream().map(child -> child.body().headers().getOrDefault(JobHeaders.PHASE, "shard")).toList();
  }

  private Map<String, String> headers(int child) {
    return children.get(child).body().headers();
  }

  private PastRun last() {
    return record.history().getLast();
  }

  @Test
  void shardsBeginOnceTheListenerBeforeThemHasSucceeded() {
    pass(START + MINUTE);
    assertThat(phases()).containsExactly("before");
    assertThat(record.active().getFirst().phase()).isEqualTo(RunPhase.BEFORE);
    long next = pass(START + MINUTE + 10);
    assertThat(phases()).as("the listener still runs").containsExactly("before");
    assertThat(next).as("no pass follows at once").isGreaterThan(START + MINUTE + 1_000);
    succeed(START + MINUTE + 20);
    pass(START + MINUTE + 30);
    assertThat(phases()).containsExactly("before", "shard", "shard");
    assertThat(record.active().getFirst().phase()).isEqualTo(RunPhase.SHARDS);
  }

  @Test
  void theListenerAfterTheShardsIsPartOfTheRun() {
    untilShards();
    ends.put(children.get(1).id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 3));
    pass(START + MINUTE + 4);
    assertThat(phases()).as("one shard runs").containsExactly("before", "shard", "shard");
    succeed(START + MINUTE + 5);
    pass(START + MINUTE + 6);
    assertThat(phases()).containsExactly("before", "shard", "shard", "after");
    assertThat(record.active().getFirst().phase()).isEqualTo(RunPhase.AFTER);
    pass(START + 2 * MINUTE);
    assertThat(record.totals().skipped()).as("the run is active").isEqualTo(1);
    succeed(START + 2 * MINUTE + 1);
    pass(START + 2 * MINUTE + 2);
    assertThat(record.active()).isEmpty();
    assertThat(record.history().getFirst().result()).isEqualTo(PastRun.Result.SKIPPED);
    assertThat(last()).extracting(PastRun::result, PastRun::shards, PastRun::failed, PastRun::ended)
        .containsExactly(PastRun.Result.SUCCEEDED, 2, 0, START + 2 * MINUTE + 1);
    assertThat(last().failedListeners()).isEmpty();
  }

  @Test
  void theTasksOfEachPhaseHaveTheirHeaders() {
    job(listened().parameter(Body.json("{\"day\": 1}")).shards(2, "eu", "us"));
    untilShards();
    ends.put(children.get(1).id(), new ShardEnd(ShardEnd.State.FAILED, START + MINUTE + 3));
    succeed(START + MINUTE + 4);
    pass(START + MINUTE + 5);
    String time = Instant.ofEpochMilli(START + MINUTE).toString();
    assertThat(headers(0)).isEqualTo(Map.of(JobHeaders.JOB, "report", JobHeaders.SCHEDULED_AT, time,
        JobHeaders.SHARD, "0", JobHeaders.SHARDS, "2", JobHeaders.PHASE, "before", JobHeaders.AWAITED, "true"));
    assertThat(headers(1)).doesNotContainKeys(JobHeaders.PHASE, JobHeaders.RUN_RESULT, JobHeaders.RUN_FAILED)
        .containsEntry(JobHeaders.SHARD_PARAMETER, "eu");
    assertThat(headers(3)).isEqualTo(Map.of(JobHeaders.JOB, "report", JobHeaders.SCHEDULED_AT, time,
        JobHeaders.SHARD, "0", JobHeaders.SHARDS, "2", JobHeaders.PHASE, "after", JobHeaders.AWAITED, "true",
        JobHeaders.RUN_RESULT, "FAILED", JobHeaders.RUN_FAILED, "1"));
    assertThat(children).allMatch(child -> child.queue().equals("q")
        && child.body().payload().length == record.job().parameter().payload().length);
    assertThat(children.get(0).due()).as("at the scheduled time").isEqualTo(Due.at(START + MINUTE));
    assertThat(children.get(3).due()).as("at once").isEqualTo(Due.at(START + MINUTE + 5));
  }

  @Test
  void noShardBeginsIfTheListenerBeforeThemFailed() {
    for (ShardEnd.State state : List.of(ShardEnd.State.FAILED, ShardEnd.State.NOT_BEGUN)) {
      job(listened());
      pass(START + MINUTE);
      end(state, START + MINUTE + 1);
      pass(START + MINUTE + 2);
      assertThat(phases()).containsExactly("before", "after");
      assertThat(headers(1)).containsEntry(JobHeaders.RUN_RESULT, "FAILED").containsEntry(JobHeaders.RUN_FAILED, "0");
      succeed(START + MINUTE + 3);
      pass(START + MINUTE + 4);
      assertThat(last()).extracting(PastRun::result, PastRun::failedListeners)
          .containsExactly(PastRun.Result.FAILED, Set.of(RunPhase.BEFORE));
      assertThat(record.totals().failuresInRow()).isEqualTo(1);
    }
  }

  @Test
  void noShardBeginsIfTheEndOfTheListenerIsUnknown() {
    job(minutely().runListeners(RunPhase.BEFORE));
    pass(START + MINUTE);
    ends.replaceAll((id, end) -> new ShardEnd(ShardEnd.State.ABSENT, 0));
    pass(START + MINUTE + 2);
    assertThat(phases()).containsExactly("before");
    assertThat(record.active()).isEmpty();
    assertThat(last().result()).isEqualTo(PastRun.Result.UNKNOWN);
  }

  @Test
  void aFailedListenerAfterTheShardsChangesNoResult() {
    job(minutely().runListeners(RunPhase.AFTER).pauseAfterFailures(1));
    pass(START + MINUTE);
    assertThat(phases()).containsExactly("shard");
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    end(ShardEnd.State.FAILED, START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(last()).extracting(PastRun::result, PastRun::failed, PastRun::failedListeners)
        .containsExactly(PastRun.Result.SUCCEEDED, 0, Set.of(RunPhase.AFTER));
    assertThat(record.paused()).isNull();
  }

  @Test
  void aRunStoppedBeforeItsShardsInsertsNone() {
    pass(START + MINUTE);
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 1, NO_CALENDARS);
    assertThat(JobLife.stopping(record, START + MINUTE)).containsExactly(children.getFirst().id());
    pass(START + MINUTE + 2);
    assertThat(cancels).containsExactly(children.getFirst().id());
    end(ShardEnd.State.NOT_BEGUN, START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(phases()).containsExactly("before", "after");
    assertThat(headers(1)).containsEntry(JobHeaders.RUN_RESULT, "STOPPED");
    succeed(START + MINUTE + 5);
    pass(START + MINUTE + 6);
    assertThat(last()).extracting(PastRun::result, PastRun::failedListeners)
        .containsExactly(PastRun.Result.STOPPED, Set.of());
  }

  @Test
  void aListenerThatSucceedsAfterAStopStartsNoShard() {
    pass(START + MINUTE);
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 1, NO_CALENDARS);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(phases()).containsExactly("before", "after");
  }

  @Test
  void aSecondStopCancelsTheListenerAfterTheShards() {
    untilShards();
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 3, NO_CALENDARS);
    pass(START + MINUTE + 4);
    assertThat(cancels).hasSize(2);
    end(ShardEnd.State.FAILED, START + MINUTE + 5);
    pass(START + MINUTE + 6);
    assertThat(cancels).as("the first stop does not cancel the listener after the shards").isEmpty();
    assertThat(headers(3)).containsEntry(JobHeaders.RUN_RESULT, "STOPPED").containsEntry(JobHeaders.RUN_FAILED, "2");
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 7, NO_CALENDARS);
    assertThat(JobLife.stopping(record, START + MINUTE)).containsExactly(children.get(3).id());
    pass(START + MINUTE + 8);
    assertThat(cancels).containsExactly(children.get(3).id());
    end(ShardEnd.State.NOT_BEGUN, START + MINUTE + 9);
    pass(START + MINUTE + 10);
    assertThat(record.active()).isEmpty();
    assertThat(last()).extracting(PastRun::result, PastRun::failedListeners)
        .containsExactly(PastRun.Result.STOPPED, Set.of(RunPhase.AFTER));
  }

  @Test
  void theListenerAfterATimeoutGetsTheResultAndADeadline() {
    job(listened().timeout(Duration.ofSeconds(10)));
    pass(START + MINUTE);
    assertThat(pass(START + MINUTE + 1)).as("the timeout counts from the start of the listener before the shards")
        .isEqualTo(START + MINUTE + 10_000);
    pass(START + MINUTE + 10_000);
    assertThat(cancels).hasSize(1);
    end(ShardEnd.State.FAILED, START + MINUTE + 10_001);
    pass(START + MINUTE + 10_002);
    assertThat(headers(1)).containsEntry(JobHeaders.RUN_RESULT, "TIMED_OUT");
    long deadline = START + MINUTE + 10_002 + HOUR;
    assertThat(record.active().getFirst().deadline()).isEqualTo(deadline);
    pass(deadline - 1);
    assertThat(cancels).isEmpty();
    pass(deadline);
    assertThat(cancels).containsExactly(children.get(1).id());
    end(ShardEnd.State.NOT_BEGUN, deadline + 1);
    pass(deadline + 2);
    assertThat(record.history().stream().filter(past -> past.result().isRun()).toList()).singleElement()
        .extracting(PastRun::result, PastRun::failedListeners)
        .containsExactly(PastRun.Result.TIMED_OUT, Set.of(RunPhase.AFTER));
  }

  @Test
  void aLongTimeoutAlsoBoundsTheListenerAfterTheShards() {
    job(listened().timeout(Duration.ofHours(5)));
    untilShards();
    succeed(START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(record.active().getFirst().deadline()).isEqualTo(START + MINUTE + 4 + 5 * HOUR);
  }

  @Test
  void aNewTimeReplacesShardsButNotTheListenerAfterThem() {
    job(listened().overlap(Overlap.REPLACE));
    untilShards();
    pass(START + 2 * MINUTE);
    assertThat(cancels).hasSize(2);
    end(ShardEnd.State.FAILED, START + 2 * MINUTE + 1);
    pass(START + 2 * MINUTE + 2);
    assertThat(headers(3)).containsEntry(JobHeaders.RUN_RESULT, "REPLACED");
    pass(START + 3 * MINUTE);
    assertThat(cancels).as("the listener after the shards is not cancelled").isEmpty();
    succeed(START + 3 * MINUTE + 1);
    pass(START + 3 * MINUTE + 2);
    assertThat(phases()).containsExactly("before", "shard", "shard", "after", "before");
    assertThat(record.active()).singleElement().extracting(Run::time).isEqualTo(START + 3 * MINUTE);
  }

  @Test
  void aFixedDelayCountsFromTheEndOfTheListener() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).runListeners(RunPhase.AFTER));
    pass(START);
    succeed(START + 1);
    pass(START + 2);
    assertThat(phases()).containsExactly("shard", "after");
    succeed(START + 5_000);
    assertThat(pass(START + 5_001)).isEqualTo(START + 5_000 + MINUTE);
  }

  @Test
  void eachOfTwoOverlappingRunsHasListeners() {
    job(listened().overlap(Overlap.ALLOW));
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(phases()).containsExactly("before", "before");
    ends.put(children.get(1).id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + 2 * MINUTE + 1));
    pass(START + 2 * MINUTE + 2);
    assertThat(phases()).containsExactly("before", "before", "shard", "shard");
    assertThat(headers(2)).containsEntry(JobHeaders.SCHEDULED_AT, Instant.ofEpochMilli(START + 2 * MINUTE).toString());
  }

  @Test
  void marksOfListenersCountLikeMarksOfShards() {
    job(minutely().runListeners(RunPhase.BEFORE, RunPhase.AFTER));
    pass(START + MINUTE);
    TaskId before = children.getFirst().id();
    ends.put(before, new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 1, TaskNote.Mark.END_JOB, null));
    pass(START + MINUTE + 2);
    assertThat(record.isEnded()).isTrue();
    assertThat(phases()).as("the run continues").containsExactly("before", "shard");

    job(minutely().runListeners(RunPhase.AFTER));
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    ends.put(children.get(1).id(),
        new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 3, TaskNote.Mark.RUN_AGAIN, "ignored"));
    pass(START + MINUTE + 4);
    assertThat(phases()).containsExactly("shard", "after", "shard");
    assertThat(headers(2)).doesNotContainKey(JobHeaders.CHECKPOINT);
  }

  @Test
  void aRunThatShardsRequestBeginsAfterTheListener() {
    job(minutely().runListeners(RunPhase.BEFORE, RunPhase.AFTER));
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    ends.put(children.get(1).id(),
        new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 3, TaskNote.Mark.RUN_AGAIN, "page 7"));
    pass(START + MINUTE + 4);
    assertThat(record.active()).hasSize(1);
    succeed(START + MINUTE + 5);
    pass(START + MINUTE + 6);
    succeed(START + MINUTE + 7);
    pass(START + MINUTE + 8);
    assertThat(phases()).containsExactly("before", "shard", "after", "before", "shard");
    assertThat(headers(3)).doesNotContainKey(JobHeaders.CHECKPOINT);
    assertThat(headers(4)).containsEntry(JobHeaders.CHECKPOINT, "page 7");
  }

  @Test
  void aStoppedRunIsNotContinued() {
    job(minutely().shards(2).runListeners(RunPhase.AFTER));
    pass(START + MINUTE);
    ends.put(children.get(0).id(),
        new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 1, TaskNote.Mark.RUN_AGAIN, null));
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 2, NO_CALENDARS);
    end(ShardEnd.State.FAILED, START + MINUTE + 3);
    pass(START + MINUTE + 4);
    succeed(START + MINUTE + 5);
    pass(START + MINUTE + 6);
    assertThat(record.active()).isEmpty();
    assertThat(record.waiting()).isEmpty();
  }

  @Test
  void theTasksOfARequestHaveItsPayload() {
    Body payload = Body.json("{\"day\": 7}");
    record = JobChange.trigger(record, null, payload, null, START + 1).record();
    pass(START + 1);
    succeed(START + 2);
    pass(START + 3);
    assertThat(record.parameters()).as("kept for the listener after the shards").hasSize(1);
    succeed(START + 4);
    pass(START + 5);
    assertThat(phases()).containsExactly("before", "shard", "shard", "after");
    assertThat(children).allSatisfy(child -> assertThat(child.body().payload()).isEqualTo(payload.payload()));
    assertThat(record.parameters()).isEmpty();
  }

  @Test
  void aPutIsAcceptedWhileTheListenerBeforeTheShardsRuns() {
    pass(START + MINUTE);
    Job next = minutely().queue("other").shards(1).parameter(Body.json("2")).build();
    record = JobChange.put(record, next, START + MINUTE + 1, NO_CALENDARS);
    succeed(START + MINUTE + 2);
    pass(START + MINUTE + 3);
    assertThat(phases()).as("the shards of the old definition").containsExactly("before", "shard", "shard");
    assertThat(children.get(1).body().payload()).isEqualTo(next.parameter().payload());
    assertThat(children).as("in the queue in which the run began").allMatch(child -> child.queue().equals("q"));
    succeed(START + MINUTE + 4);
    pass(START + MINUTE + 5);
    assertThat(phases()).endsWith("after");
    succeed(START + MINUTE + 6);
    pass(START + MINUTE + 7);
    pass(START + 2 * MINUTE);
    assertThat(phases()).as("the next run").endsWith("after", "shard");
    assertThat(children.getLast().queue()).isEqualTo("other");
  }

  @Test
  void onlyShardsHaveAddresses() {
    fleet = Workers.of(3);
    job(minutely().scope(Scope.ALL).runListeners(RunPhase.BEFORE, RunPhase.AFTER));
    untilShards();
    fleet = Workers.of(1);
    end(ShardEnd.State.FAILED, START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(phases()).containsExactly("before", "shard", "shard", "shard", "after");
    for (int child = 0; child < children.size(); child++) {
      boolean isShard = !headers(child).containsKey(JobHeaders.PHASE);
      assertThat(children.get(child).id().address().isAnywhere()).isNotEqualTo(isShard);
    }
    assertThat(children.get(1).id().address()).isEqualTo(new Address(Address.Kind.ONLY, 0));
    assertThat(headers(0)).as("frozen at the beginning of the run").containsEntry(JobHeaders.SHARDS, "3");
    assertThat(headers(4)).containsEntry(JobHeaders.SHARDS, "3").containsEntry(JobHeaders.RUN_FAILED, "3");
  }

  @Test
  void theEndOfEachPhaseWakesTheJob() {
    job(minutely().runListeners(RunPhase.BEFORE, RunPhase.AFTER));
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    succeed(START + MINUTE + 3);
    pass(START + MINUTE + 4);
    assertThat(children).hasSize(3).allSatisfy(child -> {
      TaskRecord task = TaskRecord.edit(child.id(), "q", null).body(child.body()).done();
      assertThat(Shards.awaiting(task, TaskNote.Mark.NONE)).isNotNull().extracting(ref -> ref.key())
          .isEqualTo("report");
    });
    job(minutely().runListeners(RunPhase.BEFORE));
    untilShards();
    assertThat(headers(1)).as("nothing follows the shard").doesNotContainKey(JobHeaders.AWAITED);
  }

  @Test
  void aPassWithoutRoomForATaskIsFollowedByAnotherPass() {
    job(minutely().shards(Outcome.Rearm.MAX_CHILDREN).overlap(Overlap.ALLOW).runListeners(RunPhase.BEFORE));
    pass(START + MINUTE);
    pass(START + 2 * MINUTE - 1);
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + MINUTE + 1));
    assertThat(pass(START + 2 * MINUTE)).isEqualTo(START + 2 * MINUTE);
    assertThat(children).hasSize(1 + Outcome.Rearm.MAX_CHILDREN);
    assertThat(pass(START + 2 * MINUTE)).isGreaterThan(START + 2 * MINUTE);
    assertThat(phases()).endsWith("shard", "before");
  }

  @Test
  void aJobWithoutListenersHasOnlyItsShards() {
    job(minutely().shards(2));
    pass(START + MINUTE);
    succeed(START + MINUTE + 1);
    pass(START + MINUTE + 2);
    assertThat(record.active()).isEmpty();
    assertThat(children).hasSize(2).allSatisfy(child -> assertThat(child.body().headers())
        .doesNotContainKeys(JobHeaders.PHASE, JobHeaders.RUN_RESULT, JobHeaders.RUN_FAILED));
  }

  @Test
  void theShardsPhaseIsRefusedAsAListener() {
    assertThatThrownBy(() -> minutely().runListeners(RunPhase.SHARDS).build())
        .isInstanceOf(InvalidSettingException.class).hasMessageContaining("runListeners")
        .hasMessageContaining("before, after, or both");
    assertThat(minutely().runListeners(RunPhase.AFTER, RunPhase.BEFORE).build())
        .isEqualTo(minutely().runListeners(RunPhase.BEFORE, RunPhase.AFTER).build());
  }
}
