package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.InvalidSettingException;
import io.foliot.api.Job;
import io.foliot.api.Misfire;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.TaskId;
import io.foliot.schedule.Calendar;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the changes that callers make, in different states of a job. */
final class JobChangeTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long HOUR = 3_600_000;

  private static Job.Builder hourly() {
    return Job.named("report").queue("q").every(Duration.ofHours(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private static JobRecord created(Job job) {
    return JobChange.create(job, START, NO_CALENDARS);
  }

  private static JobLife.Plan pass(JobRecord record, long now) {
    return JobLife.plan(record, now, Map.of(), NO_CALENDARS, Attendance.of(null));
  }

  private static JobRecord pause(JobRecord record, long now) {
    return JobChange.pause(record, JobRecord.Paused.OPEN, "because", "me", now, NO_CALENDARS);
  }

  @Test
  void theSameDefinitionChangesNothing() {
    JobRecord record = created(hourly().build());
    assertThat(JobChange.put(record, hourly().build(), START + 5 * HOUR, NO_CALENDARS)).isSameAs(record);
  }

  @Test
  void aPutDecidesTheTimesBeforeItByTheOldDefinition() {
    JobRecord record = created(hourly().misfire(Misfire.all(10, Duration.ofDays(1))).build());
    JobRecord put = JobChange.put(record, hourly().misfire(Misfire.skip(Duration.ZERO)).build(), START + 3 * HOUR,
        NO_CALENDARS);
    assertThat(put.waiting()).extracting(JobRecord.Waiting::time).containsExactly(START + HOUR, START + 2 * HOUR,
        START + 3 * HOUR);
    assertThat(put.cursor()).isEqualTo(START + 3 * HOUR);
    assertThat(put.version()).isEqualTo(2);
  }

  @Test
  void aChangeIsRefusedUntilPassesHaveCaughtUp() {
    JobRecord record = created(Job.named("report").queue("q").cron("* * * * *").build());
    long now = START + 2_000 * 60_000L;
    Job other = hourly().build();
    assertThatThrownBy(() -> JobChange.put(record, other, now, NO_CALENDARS))
        .isInstanceOf(JobChange.BehindException.class);
    assertThatThrownBy(() -> pause(record, now)).isInstanceOf(JobChange.BehindException.class);
    JobRecord caughtUp = pass(pass(record, now).record(), now).record();
    assertThat(JobChange.put(caughtUp, other, now, NO_CALENDARS).job()).isEqualTo(other);
  }

  @Test
  void aPutNeverChangesARunWhoseShardsAreBeingInserted() {
    Job.Builder large = hourly().shards(600);
    JobRecord record = JobChange.trigger(created(large.parameter(Body.json("1")).build()), null, START).record();
    JobRecord half = pass(record, START).record();
    assertThat(half.active().getFirst().inserted()).isEqualTo(500);
    Job other = large.parameter(Body.json("2")).build();
    assertThatThrownBy(() -> JobChange.put(half, other, START, NO_CALENDARS))
        .as("the remaining shards would have the new parameter").isInstanceOf(JobChange.BehindException.class);
    JobLife.Plan rest = pass(half, START);
    assertThat(rest.children()).hasSize(100).allMatch(child -> child.body().payload()[0] == '1');
    assertThat(JobChange.put(rest.record(), other, START, NO_CALENDARS).job()).isEqualTo(other);
    JobRecord stopping = JobChange.stop(half, START, START, NO_CALENDARS);
    assertThat(JobChange.put(stopping, other, START, NO_CALENDARS).job()).as("no shard remains to be inserted")
        .isEqualTo(other);
  }

  @Test
  void aJobWhoseCalendarWasDeletedCanBeReplaced() {
    Calendar none = Calendar.parse(List.of("SAT"));
    JobRecord record = JobChange.create(hourly().schedule(s -> s.exclude(List.of("gone"))).build(), START,
        name -> none);
    JobRecord put = JobChange.put(record, hourly().build(), START + 3 * HOUR, NO_CALENDARS);
    assertThat(put.job()).isEqualTo(hourly().build());
    assertThat(put.waiting()).as("a time that may be a holiday has no run").isEmpty();
    assertThat(put.totals().missed()).as("each such time counts as missed").isEqualTo(3);
    assertThat(put.cursor()).isEqualTo(START + 3 * HOUR);
  }

  @Test
  void anUnchangedDeclarationKeepsAChangeByHand() {
    Job declared = hourly().build();
    Job byHand = hourly().pauseAfterFailures(3).build();
    Job next = hourly().shards(2).build();
    JobRecord record = JobChange.declared(declared, START, NO_CALENDARS);
    record = JobChange.put(record, byHand, START + 1, NO_CALENDARS);
    assertThat(JobChange.declare(record, declared, START + 2, NO_CALENDARS)).isSameAs(record);
    record = JobChange.declare(record, next, START + 3, NO_CALENDARS);
    assertThat(record.job()).as("the code has changed").isEqualTo(next);
    assertThat(JobChange.declare(record, declared, START + 4, NO_CALENDARS)).as("from an instance with the old code")
        .isSameAs(record);
  }

  @Test
  void aDeclarationEqualToTheCurrentJobIsRemembered() {
    Job job = hourly().build();
    JobRecord record = JobChange.declare(created(job), job, START, NO_CALENDARS);
    record = JobChange.put(record, hourly().shards(2).build(), START, NO_CALENDARS);
    assertThat(JobChange.declare(record, job, START, NO_CALENDARS)).isSameAs(record);
  }

  @Test
  void anExtendedPauseKeepsItsStartAndCountsEachTime() {
    JobRecord record = created(hourly().build());
    JobRecord paused = pause(record, START + HOUR / 2);
    JobRecord longer = JobChange.pause(paused, START + 5 * HOUR, "longer", "you", START + HOUR + 1, NO_CALENDARS);
    JobRecord.Paused pause = longer.paused();
    assertThat(pause).isEqualTo(new JobRecord.Paused(START + HOUR / 2, START + 5 * HOUR, START, "longer", "you"));
    JobRecord after = pass(longer, START + 5 * HOUR).record();
    assertThat(after.paused()).isNull();
    assertThat(after.totals().paused()).isEqualTo(4);
    assertThat(after.active()).extracting(Run::time).containsExactly(START + 5 * HOUR);
  }

  @Test
  void aResumeOfAJobThatIsNotPausedChangesNothing() {
    JobRecord record = created(hourly().build());
    assertThat(JobChange.resume(record, START, NO_CALENDARS)).isSameAs(record);
    JobRecord paused = pause(record, START);
    JobRecord resumed = JobChange.resume(paused, START + 1, NO_CALENDARS);
    assertThat(JobChange.resume(resumed, START + 2, NO_CALENDARS)).isSameAs(resumed);
    assertThat(pass(resumed, START + 2).record().paused()).isNull();
  }

  private static Job.Builder afterAnHour() {
    return Job.named("report").queue("q").after(Duration.ofHours(1));
  }

  /** Returns the record of a job whose first run ended at {@code START + 1}. */
  private static JobRecord endedOnce(Job job) {
    JobLife.Plan first = pass(created(job), START);
    TaskId shard = first.children().getFirst().id();
    return JobLife.plan(first.record(), START + 2, Map.of(shard, new ShardEnd(ShardEnd.State.SUCCEEDED, START + 1)),
        NO_CALENDARS, Attendance.of(null)).record();
  }

  @Test
  void aPutBoundsTheNextTimeOfAFixedDelay() {
    JobRecord record = endedOnce(afterAnHour().build());
    Job later = afterAnHour().schedule(s -> s.from(Instant.ofEpochMilli(START + 2 * HOUR))).build();
    JobLife.Plan put = pass(JobChange.put(record, later, START + 3, NO_CALENDARS), START + HOUR + 1);
    assertThat(put.record().active()).isEmpty();
    assertThat(put.at()).isEqualTo(START + 2 * HOUR);
    Job over = afterAnHour().schedule(s -> s.to(Instant.ofEpochMilli(START + HOUR))).build();
    JobRecord ended = JobChange.put(record, over, START + 3, NO_CALENDARS);
    assertThat(pass(ended, START + 2 * HOUR).record().active()).isEmpty();
    JobRecord revived = JobChange.put(ended, afterAnHour().build(), START + 3 * HOUR, NO_CALENDARS);
    assertThat(pass(revived, START + 3 * HOUR).record().active()).as("no time before the change")
        .extracting(Run::time).containsExactly(START + 3 * HOUR);
    JobRecord unchanged = JobChange.put(record, afterAnHour().history(9).build(), START + 3, NO_CALENDARS);
    assertThat(pass(unchanged, START + 3).at()).isEqualTo(START + HOUR + 1);
  }

  @Test
  void aPutNeverDoublesTheTimeOfAFixedDelay() {
    JobRecord record = created(afterAnHour().build());
    for (int change = 1; change <= 3; change++) {
      record = JobChange.put(record, afterAnHour().history(change).build(), START + change, NO_CALENDARS);
    }
    JobRecord pass = pass(record, START + 4).record();
    assertThat(pass.active()).hasSize(1);
    assertThat(pass.waiting()).isEmpty();
  }

  @Test
  void aFixedDelayWhoseCalendarWasDeletedCanBeReplaced() {
    Job weekdays = afterAnHour().schedule(s -> s.exclude(List.of("gone"))).build();
    JobRecord record = JobChange.create(weekdays, START, name -> Calendar.parse(List.of("SAT")));
    JobRecord put = JobChange.put(record, afterAnHour().build(), START + 5 * HOUR, NO_CALENDARS);
    assertThat(put.totals().missed()).as("a fixed delay misses no time").isZero();
    assertThat(pass(put, START + 5 * HOUR).record().active()).hasSize(1);
  }

  @Test
  void aPausedJobHoldsEarlierTriggersButRunsLaterOnes() {
    JobRecord before = JobChange.trigger(created(hourly().build()), null, START).record();
    JobRecord paused = pause(before, START);
    JobRecord both = JobChange.trigger(paused, null, START + 1).record();
    JobRecord pass = pass(both, START + 2).record();
    assertThat(pass.active()).extracting(Run::time).containsExactly(START + 1);
    assertThat(pass.waiting()).extracting(JobRecord.Waiting::time).containsExactly(START);
  }

  @Test
  void triggersWithOneIdempotencyKeyStartOneRun() {
    JobChange.Requested first = JobChange.trigger(created(hourly().build()), "k", START);
    JobChange.Requested second = JobChange.trigger(first.record(), "k", START + 5);
    assertThat(second.record()).isSameAs(first.record());
    assertThat(second.times()).isEqualTo(first.times());
    assertThat(second.origin()).isEqualTo(first.origin());
    assertThat(JobChange.trigger(first.record(), "other", START).record().waiting()).hasSize(2);
  }

  @Test
  void aJobHasAtMostOneHundredWaitingRuns() {
    JobRecord record = created(hourly().build());
    for (int i = 0; i < JobRecord.MAX_WAITING; i++) {
      record = JobChange.trigger(record, null, START).record();
    }
    JobRecord full = record;
    assertThatThrownBy(() -> JobChange.trigger(full, null, START)).isInstanceOf(OverloadedException.class)
        .hasMessageContaining("100");
  }

  @Test
  void aBackfillIsBoundedAndHasScheduledTimesInOrder() {
    JobRecord record = created(hourly().build());
    long now = START + 500 * HOUR;
    assertThat(JobChange.backfill(record, START, START + 3 * HOUR, now, NO_CALENDARS))
        .containsExactly(START, START + HOUR, START + 2 * HOUR);
    assertThatThrownBy(() -> JobChange.backfill(record, START, START + 101 * HOUR, now, NO_CALENDARS))
        .hasMessageContaining("100");
    assertThatThrownBy(() -> JobChange.backfill(record, START, START, now, NO_CALENDARS))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> JobChange.backfill(record, START, now + HOUR, now, NO_CALENDARS))
        .isInstanceOf(IllegalArgumentException.class);
    JobRecord delay = created(Job.named("d").queue("q").after(Duration.ofHours(1)).build());
    assertThatThrownBy(() -> JobChange.backfill(delay, START, now, now, NO_CALENDARS))
        .hasMessageContaining("fixed delay");
  }

  /** A store keeps ended tasks until their retention ends, and inserts no shard whose id exists already. */
  @Test
  void aJobThatIsCreatedAgainNeverReusesShardIds() {
    Set<TaskId> ids = new HashSet<>();
    for (long created : new long[]{START + 5 * HOUR, START + 6 * HOUR}) {
      JobRecord record = JobChange.create(hourly().build(), created, NO_CALENDARS);
      JobRecord backfill = JobChange.request(record, null, 0, List.of(START + HOUR)).record();
      JobLife.Plan plan = pass(backfill, created);
      assertThat(plan.children()).hasSize(1);
      assertThat(ids.add(plan.children().getFirst().id())).as("the shard has a new id").isTrue();
    }
  }

  @Test
  void aStopEndsAWaitingRunAndCancelsAnActiveRun() {
    JobRecord waiting = JobChange.trigger(created(hourly().build()), null, START).record();
    JobRecord stopped = JobChange.stop(waiting, START, START + 1, NO_CALENDARS);
    assertThat(stopped.waiting()).isEmpty();
    assertThat(stopped.history()).extracting(PastRun::result).containsExactly(PastRun.Result.STOPPED);
    assertThat(stopped.totals().requested()).isEqualTo(1);
    JobRecord active = JobChange.stop(pass(waiting, START).record(), START, START + 1, NO_CALENDARS);
    assertThat(active.active()).extracting(Run::stop).containsExactly(Run.Stop.STOPPED);
    assertThat(pass(active, START + 2).cancels()).hasSize(1);
    assertThat(JobChange.stop(active, START + 1, START + 2, NO_CALENDARS)).as("no run of that time").isSameAs(active);
  }

  @Test
  void textsOfCallersAreBounded() {
    JobRecord record = created(hourly().build());
    assertThatThrownBy(() -> JobChange.pause(record, JobRecord.Paused.OPEN, "x".repeat(100_000), "me", START,
        NO_CALENDARS)).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("reason");
    assertThatThrownBy(() -> JobChange.trigger(record, "x".repeat(100_000), START))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("key");
  }

  @Test
  void aRequestKeepsItsParameterUntilItsShardsAreInserted() {
    Job job = hourly().shards(600).parameter(new Body(new byte[]{'1'}, "text/plain", Map.of("h", "v"))).build();
    JobRecord record = JobChange.trigger(created(job), "k", Body.json("2"), null, START).record();
    assertThat(JobChange.trigger(record, "k", Body.json("2"), null, START).isRepeated()).isTrue();
    assertThatThrownBy(() -> JobChange.trigger(record, "k", Body.json("3"), null, START))
        .isInstanceOf(Jobs.RequestMismatchException.class);
    assertThatThrownBy(() -> JobChange.trigger(record, "k", START)).isInstanceOf(Jobs.RequestMismatchException.class);
    JobLife.Plan half = pass(record, START);
    assertThat(half.children()).hasSize(500).allMatch(child -> child.body().payload()[0] == '2')
        .allMatch(child -> "v".equals(child.body().headers().get("h")));
    assertThat(half.record().parameters()).hasSize(1);
    JobLife.Plan rest = pass(half.record(), START);
    assertThat(rest.children()).hasSize(100).allMatch(child -> child.body().payload()[0] == '2');
    assertThat(rest.record().parameters()).as("the record drops the parameter").isEmpty();
    Body large = new Body(new byte[5_000], "a/b", Map.of());
    assertThatThrownBy(() -> JobChange.trigger(record, null, large, null, START)).hasMessageContaining("4096");
    Body most = new Body(new byte[4_096], "a/b", Map.of());
    assertThatThrownBy(() -> JobChange.trigger(record, null, most, null, START))
        .isInstanceOf(OverloadedException.class);
    assertThat(JobChange.stop(record, START, START, NO_CALENDARS).parameters()).as("a request that is stopped")
        .isEmpty();
  }

  @Test
  void theParameterOfARequestCountsForEachShard() {
    Body most = new Body(new byte[4_096], "a/b", Map.of());
    JobRecord large = created(hourly().shards(4_096).build());
    assertThat(JobChange.trigger(large, null, most, null, START).record().waiting()).hasSize(1);
    JobRecord larger = created(hourly().shards(4_097).build());
    assertThatThrownBy(() -> JobChange.trigger(larger, null, most, null, START))
        .isInstanceOf(InvalidSettingException.class)
        .hasMessageContainingAll("parameter", "16777216");
  }

  @Test
  void aRepeatedBackfillReturnsAllOfItsTimes() {
    JobRecord record = created(hourly().build());
    List<Long> times = List.of(START - 3 * HOUR, START - 2 * HOUR, START - HOUR);
    JobChange.Requested first = JobChange.request(record, "once", 1, times);
    JobChange.Requested again = JobChange.request(first.record(), "once", 1, times);
    assertThat(again.isRepeated()).isTrue();
    assertThat(again.times()).isEqualTo(times);
    assertThat(again.record()).isSameAs(first.record());
    assertThat(JobChange.request(first.record(), "once", 1, List.of(START)).times()).containsExactly(START - 3 * HOUR);
  }
}
