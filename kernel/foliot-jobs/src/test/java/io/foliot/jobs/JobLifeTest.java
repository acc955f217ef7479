package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Outcome;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Single cases of planning, one policy at a time. */
final class JobLifeTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long MINUTE = 60_000;

  private final Map<TaskId, ShardEnd> ends = new HashMap<>();
  private final List<Outcome.Child> children = new ArrayList<>();
  private final List<TaskId> cancels = new ArrayList<>();
  private Function<String, @Nullable Calendar> calendars = NO_CALENDARS;
  private @Nullable Fleet fleet;
  private JobRecord record = JobChange.create(minutely().build(), START, NO_CALENDARS);

  private static Job.Builder minutely() {
    return Job.named("report").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private void job(Job job) {
    record = JobChange.create(job, START, calendars);
  }

  /** Runs a planning pass, and each further pass that is due at once. Returns the time of the next pass. */
  private long pass(long now) {
    long next;
    do {
      JobLife.Plan plan = JobLife.plan(record, now, ends, calendars, Attendance.of(fleet));
      record = plan.record();
      cancels.clear();
      cancels.addAll(plan.cancels());
      plan.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
      children.addAll(plan.children());
      next = plan.at();
    } while (next <= now);
    return next;
  }

  private void end(ShardEnd.State state, long at) {
    ends.replaceAll((id, end) -> end.state() == ShardEnd.State.LIVE ? new ShardEnd(state, at) : end);
  }

  private void succeed(long at) {
    end(ShardEnd.State.SUCCEEDED, at);
  }

  private List<Long> activeMinutes() {
    return record.active().stream().map(run -> (run.time() - START) / MINUTE).toList();
  }

  private List<Long> waitingMinutes() {
    return record.waiting().stream().map(each -> (each.time() - START) / MINUTE).toList();
  }

  @Test
  void oneTimeWithinTheGraceIsOnTimeUnderEachPolicy() {
    for (Misfire misfire : List.of(Misfire.once(Duration.ZERO), Misfire.all(1, Duration.ZERO),
        Misfire.skip(Duration.ZERO))) {
      job(minutely().misfire(misfire).build());
      pass(START + MINUTE + ScheduledTimes.GRACE_MILLIS);
      assertThat(activeMinutes()).as("%s", misfire).containsExactly(1L);
      job(minutely().misfire(misfire).build());
      pass(START + MINUTE + ScheduledTimes.GRACE_MILLIS + 1);
      assertThat(record.totals().missed()).as("%s", misfire).isEqualTo(1);
    }
  }

  @Test
  void aTimeThatAPauseHoldsBeyondTheWindowIsMissed() {
    job(minutely().misfire(Misfire.once(Duration.ofHours(1))).overlap(Overlap.QUEUE).build());
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(waitingMinutes()).containsExactly(2L);
    record = JobChange.pause(record, JobRecord.Paused.OPEN, "", "me", START + 2 * MINUTE + 3, calendars);
    succeed(START + 2 * MINUTE + 4);
    long resumed = START + Duration.ofDays(45).toMillis() + 1;
    pass(resumed - 1);
    record = JobChange.resume(record, resumed, calendars);
    pass(resumed + 1);
    assertThat(record.active()).isEmpty();
    assertThat(record.waiting()).isEmpty();
    assertThat(record.totals().missed()).isEqualTo(1);
    assertThat(record.totals().fired()).isEqualTo(1);
    assertThat(record.history().getLast().from()).isEqualTo(START + 2 * MINUTE);
  }

  @Test
  void aTimeThatWaitsForALongRunBeyondTheWindowIsMissed() {
    job(minutely().misfire(Misfire.once(Duration.ofHours(1))).overlap(Overlap.QUEUE).build());
    for (int minute = 1; minute <= 63; minute++) {
      pass(START + minute * MINUTE);
    }
    assertThat(waitingMinutes()).containsExactly(2L);
    succeed(START + 63 * MINUTE + 1);
    pass(START + 63 * MINUTE + 2);
    assertThat(record.active()).isEmpty();
    assertThat(record.totals().missed()).isEqualTo(1);
    pass(START + 64 * MINUTE);
    assertThat(activeMinutes()).containsExactly(64L);
  }

  @Test
  void missedTimesAreCountedOverAllPassesThatDecideThem() {
    job(minutely().misfire(Misfire.once(Duration.ofMinutes(5))).build());
    for (int pass = 0; pass < 3; pass++) {
      pass(START + 1_440 * MINUTE);
    }
    assertThat(record.totals().missed()).isEqualTo(1_439);
    assertThat(record.active().getFirst().missed()).isEqualTo(1_439);
    pass(START + 1_441 * MINUTE);
    job(Job.named("job").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO))
        .overlap(Overlap.ALLOW).build());
    for (int pass = 0; pass < 3; pass++) {
      pass(START + 4_320 * MINUTE);
    }
    assertThat(record.active().getFirst().missed()).as("a fixed rate").isEqualTo(4_319);
    pass(START + 4_321 * MINUTE);
    assertThat(record.active().getLast().missed()).as("on time").isZero();
  }

  @Test
  void oneDayOfAFixedRateTakesOnePass() {
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    List<Consumer<ScheduleSettings.Builder>> bounds = List.of(s -> {}, s -> s.timeZone(berlin),
        s -> s.timeZone(berlin).from(Instant.ofEpochMilli(START - MINUTE)),
        s -> s.to(Instant.ofEpochMilli(START + 5_000 * MINUTE)));
    for (Consumer<ScheduleSettings.Builder> bound : bounds) {
      job(Job.named("job").queue("q").every(Duration.ofMillis(100))
          .schedule(s -> bound.accept(s.offset(Duration.ZERO))).build());
      pass(START + 1_440 * MINUTE);
      assertThat(record.totals().missed()).isEqualTo(863_999);
      assertThat(activeMinutes()).containsExactly(1_440L);

      record = JobChange.pause(record, JobRecord.Paused.OPEN, "", "", START + 1_440 * MINUTE, NO_CALENDARS);
      pass(START + 2_880 * MINUTE);
      assertThat(record.history().getLast().count()).as("times in the pause").isEqualTo(864_000);
    }
  }

  @Test
  void aRunThatSucceededInTimeIsNotTimedOut() {
    job(minutely().timeout(Duration.ofMinutes(5)).build());
    pass(START + MINUTE);
    succeed(START + MINUTE + 1_000);
    pass(START + 6 * MINUTE);
    assertThat(record.history()).filteredOn(run -> run.from() == START + MINUTE).singleElement()
        .satisfies(run -> assertThat(run.result()).isEqualTo(PastRun.Result.SUCCEEDED));
    assertThat(record.totals().failed()).isZero();
  }

  @Test
  void anInstantWithPartsOfAMillisecondRunsOnceAndNotEarly() {
    Instant at = Instant.ofEpochMilli(START + MINUTE).plusNanos(500_000);
    job(Job.named("job").queue("q").at(at).overlap(Overlap.QUEUE).build());
    for (long millis = 0; millis < 3; millis++) {
      pass(START + MINUTE + millis);
      assertThat(record.active().size() + record.waiting().size()).as("after %d ms", millis)
          .isEqualTo(millis == 0 ? 0 : 1);
    }
    assertThat(record.totals().skipped()).isZero();
  }

  @Test
  void misfireOnceRunsTheLatestTimeAndCountsTheMissed() {
    job(minutely().misfire(Misfire.once(Duration.ofMinutes(5))).build());
    pass(START + 10 * MINUTE);
    assertThat(activeMinutes()).containsExactly(10L);
    assertThat(record.active().getFirst().missed()).isEqualTo(9);
    assertThat(children.getFirst().body().headers()).containsEntry(JobHeaders.MISSED, "9");
    assertThat(record.history()).hasSize(1);
    assertThat(record.history().getFirst().count()).isEqualTo(9);
  }

  @Test
  void misfireAllRunsTheNewestTimesInOrder() {
    job(minutely().misfire(Misfire.all(3, Duration.ofHours(1))).build());
    pass(START + 10 * MINUTE);
    assertThat(activeMinutes()).containsExactly(8L);
    assertThat(waitingMinutes()).containsExactly(9L, 10L);
    assertThat(record.totals().missed()).isEqualTo(7);
    succeed(START + 10 * MINUTE + 1);
    pass(START + 10 * MINUTE + 2);
    assertThat(activeMinutes()).as("one after the other").containsExactly(9L);
  }

  @Test
  void misfireSkipRunsTheTimesWithinItsWindow() {
    job(minutely().misfire(Misfire.skip(Duration.ofMinutes(2))).overlap(Overlap.ALLOW).build());
    pass(START + 10 * MINUTE);
    assertThat(activeMinutes()).containsExactly(8L, 9L, 10L);
    assertThat(record.totals().missed()).isEqualTo(7);
  }

  @Test
  void aJobCatchesUpWithThousandsOfTimes() {
    for (Job job : List.of(minutely().build(), Job.named("report").queue("q").cron("* * * * *").build())) {
      job(job);
      pass(START + 5_000 * MINUTE);
      assertThat(activeMinutes()).containsExactly(5_000L);
      assertThat(record.totals().missed()).isEqualTo(4_999);
      assertThat(record.history()).as("one record for all missed times").hasSize(1);
      assertThat(record.cursor()).isEqualTo(START + 5_000 * MINUTE);
    }
  }

  @Test
  void overlapSkipRecordsTheTime() {
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(activeMinutes()).containsExactly(1L);
    assertThat(record.totals().skipped()).isEqualTo(1);
  }

  @Test
  void overlapQueueKeepsOneTime() {
    job(minutely().overlap(Overlap.QUEUE).build());
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    pass(START + 3 * MINUTE);
    assertThat(activeMinutes()).containsExactly(1L);
    assertThat(waitingMinutes()).containsExactly(2L);
    assertThat(record.totals().skipped()).isEqualTo(1);
    succeed(START + 3 * MINUTE + 1);
    pass(START + 3 * MINUTE + 2);
    assertThat(activeMinutes()).containsExactly(2L);
  }

  @Test
  void overlapReplaceBeginsOnceTheOldRunHasEnded() {
    job(minutely().overlap(Overlap.REPLACE).build());
    pass(START + MINUTE);
    pass(START + 2 * MINUTE);
    assertThat(activeMinutes()).containsExactly(1L);
    assertThat(cancels).hasSize(1);
    pass(START + 3 * MINUTE);
    assertThat(waitingMinutes()).as("the newest time replaces the waiting time").containsExactly(3L);
    end(ShardEnd.State.FAILED, START + 3 * MINUTE + 1);
    pass(START + 3 * MINUTE + 2);
    assertThat(activeMinutes()).containsExactly(3L);
    assertThat(record.history()).extracting(PastRun::result).containsExactly(PastRun.Result.SKIPPED,
        PastRun.Result.REPLACED);
    assertThat(record.totals().failed()).isZero();
  }

  @Test
  void overlapAllowBoundsActiveAndWaitingRuns() {
    job(minutely().overlap(Overlap.ALLOW).build());
    for (int i = 1; i <= 130; i++) {
      pass(START + i * MINUTE);
    }
    assertThat(record.active()).hasSize(16);
    assertThat(record.waiting()).hasSize(JobRecord.MAX_WAITING);
    assertThat(record.totals().skipped()).isEqualTo(130 - 16 - JobRecord.MAX_WAITING);
    assertThat(JobRecord.maxActive(minutely().shards(1_001).build())).isEqualTo(4);
  }

  @Test
  void aRunPastItsTimeoutIsCancelledUntilItHasEnded() {
    job(minutely().timeout(Duration.ofSeconds(20)).build());
    long next = pass(START + MINUTE);
    assertThat(next).isEqualTo(START + MINUTE + 20_000);
    pass(START + MINUTE + 19_999);
    assertThat(cancels).isEmpty();
    pass(START + MINUTE + 20_000);
    assertThat(cancels).hasSize(1);
    pass(START + MINUTE + 21_000);
    assertThat(cancels).as("again, because a node may have died between the cancel and the settle").hasSize(1);
    end(ShardEnd.State.FAILED, START + MINUTE + 21_500);
    pass(START + MINUTE + 22_000);
    assertThat(record.history()).extracting(PastRun::result).containsExactly(PastRun.Result.TIMED_OUT);
    assertThat(record.totals().failuresInRow()).isEqualTo(1);
  }

  @Test
  void aPauseUntilAnInstantEndsByItself() {
    record = JobChange.pause(record, START + 5 * MINUTE, "", "me", START, NO_CALENDARS);
    assertThat(pass(START + MINUTE)).isEqualTo(START + 5 * MINUTE);
    pass(START + 5 * MINUTE);
    assertThat(record.paused()).isNull();
    assertThat(record.totals().paused()).isEqualTo(4);
    assertThat(activeMinutes()).as("the pause excludes its end").containsExactly(5L);
  }

  private void fail(int minute) {
    pass(START + minute * MINUTE);
    end(ShardEnd.State.FAILED, START + minute * MINUTE + 1);
    pass(START + minute * MINUTE + 2);
  }

  @Test
  void failuresInARowPauseTheJob() {
    job(minutely().pauseAfterFailures(2).build());
    fail(1);
    pass(START + 2 * MINUTE);
    succeed(START + 2 * MINUTE + 1);
    fail(3);
    assertThat(record.paused()).isNull();
    fail(4);
    JobRecord.Paused paused = record.paused();
    assertThat(paused == null ? "" : paused.reason()).contains("2 runs in a row failed");
  }

  @Test
  void aRunThatIsStoppedAfterAResumePausesNothing() {
    job(minutely().pauseAfterFailures(2).build());
    fail(1);
    fail(2);
    assertThat(record.paused()).isNotNull();
    record = JobChange.resume(record, START + 2 * MINUTE + 10, NO_CALENDARS);
    pass(START + 3 * MINUTE);
    record = JobChange.stop(record, START + 3 * MINUTE, START + 3 * MINUTE + 1, NO_CALENDARS);
    end(ShardEnd.State.FAILED, START + 3 * MINUTE + 2);
    pass(START + 3 * MINUTE + 3);
    assertThat(record.history().getLast().result()).isEqualTo(PastRun.Result.STOPPED);
    assertThat(record.paused()).as("no run has failed since the resume").isNull();
    fail(4);
    assertThat(record.paused()).as("one run has failed since the resume").isNull();
    fail(5);
    assertThat(record.paused()).as("two runs have failed since the resume").isNotNull();
  }

  @Test
  void aBackfillRunsTheOldestFirst() {
    record = JobChange.request(record, null, 0, List.of(START - 2 * MINUTE, START - MINUTE)).record();
    pass(START);
    assertThat(activeMinutes()).containsExactly(-2L);
    succeed(START + 1);
    pass(START + 2);
    assertThat(activeMinutes()).containsExactly(-1L);
  }

  @Test
  void aScheduleOfOneTimeRunsOnce() {
    job(Job.named("report").queue("q").at(Instant.ofEpochMilli(START + MINUTE)).build());
    assertThat(pass(START)).isEqualTo(START + MINUTE);
    pass(START + MINUTE);
    assertThat(activeMinutes()).containsExactly(1L);
    succeed(START + MINUTE + 1);
    pass(START + 100 * MINUTE);
    assertThat(record.active()).isEmpty();
    assertThat(record.totals().fired()).isEqualTo(1);
  }

  @Test
  void aFixedDelayCountsFromTheRecordedEnd() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).build());
    pass(START);
    assertThat(activeMinutes()).as("the first run begins at once").containsExactly(0L);
    pass(START + 5 * MINUTE);
    assertThat(record.waiting()).isEmpty();
    succeed(START + 5 * MINUTE + 500);
    assertThat(pass(START + 5 * MINUTE + 900)).isEqualTo(START + 6 * MINUTE + 500);
    pass(START + 6 * MINUTE + 500);
    assertThat(record.active()).extracting(Run::time).containsExactly(START + 6 * MINUTE + 500);
  }

  @Test
  void aFixedDelayNeverBeginsOutsideItsBounds() {
    long tuesday = START + 1_440 * MINUTE;
    calendars = name -> Calendar.parse(List.of("MON"));
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).schedule(s -> s.exclude(List.of("days"))).build());
    assertThat(pass(START)).as("Monday the 5th is excluded").isLessThanOrEqualTo(tuesday);
    pass(tuesday - 1);
    assertThat(record.active()).isEmpty();
    pass(tuesday);
    assertThat(record.active()).extracting(Run::time).containsExactly(tuesday);

    job(Job.named("report").queue("q").after(Duration.ofMinutes(1))
        .schedule(s -> s.from(Instant.ofEpochMilli(START + 5).plusNanos(1)).to(Instant.ofEpochMilli(START + MINUTE)))
        .build());
    pass(START + 5);
    assertThat(record.active()).isEmpty();
    pass(START + 6);
    assertThat(record.active()).extracting(Run::time).containsExactly(START + 6);
    succeed(START + 7);
    pass(START + 10 * MINUTE);
    assertThat(record.active()).as("the next time is not before the end").isEmpty();
  }

  @Test
  void aChangedCalendarMovesTheEndOfAFixedDelay() {
    long tuesday = START + 1_440 * MINUTE;
    calendars = name -> Calendar.parse(List.of("SUN"));
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).schedule(s -> s.exclude(List.of("days"))).build());
    pass(START);
    succeed(START + 1);
    pass(START + 2);
    calendars = name -> Calendar.parse(List.of("MON"));
    pass(START + 5 * MINUTE);
    assertThat(record.active()).isEmpty();
    JobRecord moved = record;
    pass(tuesday);
    assertThat(record.active()).extracting(Run::time).containsExactly(tuesday);
    record = moved;
    calendars = name -> Calendar.parse(List.of("SUN"));
    pass(START + 5 * MINUTE);
    assertThat(record.active()).as("the day is no longer excluded").extracting(Run::time)
        .containsExactly(START + MINUTE + 1);
  }

  @Test
  void fromAndToBoundTheTimes() {
    job(minutely().schedule(s -> s.from(Instant.ofEpochMilli(START + 3 * MINUTE))
        .to(Instant.ofEpochMilli(START + 5 * MINUTE))).misfire(Misfire.all(100, Duration.ofDays(1)))
        .overlap(Overlap.ALLOW).build());
    assertThat(pass(START)).isEqualTo(START + 3 * MINUTE);
    pass(START + 10 * MINUTE);
    assertThat(activeMinutes()).startsWith(3L, 4L).doesNotContain(2L, 6L);
  }

  @Test
  void aJitterDoesNotChangeTheScheduledTimeOfAShard() {
    job(minutely().schedule(s -> s.jitter(Duration.ofSeconds(30))).build());
    pass(START + MINUTE);
    assertThat(activeMinutes()).containsExactly(1L);
    assertThat(children.getFirst().body().headers()).containsEntry(JobHeaders.SCHEDULED_AT, "2026-01-05T00:01:00Z");
  }

  @Test
  void aCalendarThatIsChangedTakesEffectWithTheNextPass() {
    calendars = name -> Calendar.parse(List.of("SUN"));
    job(Job.named("report").queue("q").cron("0 * * * *").schedule(s -> s.exclude(List.of("days"))).build());
    assertThat(pass(START)).isEqualTo(START + 60 * MINUTE);
    calendars = name -> Calendar.parse(List.of("MON"));
    pass(START + 60 * MINUTE);
    assertThat(record.active()).as("the 5th is a Monday").isEmpty();
    assertThat(record.totals().fired()).isZero();
  }

  @Test
  void theHistoryIsBoundedAndTheTotalsAreNot() {
    job(minutely().history(3).build());
    for (int i = 1; i <= 10; i++) {
      pass(START + i * MINUTE);
      succeed(START + i * MINUTE + 1);
    }
    pass(START + 10 * MINUTE + 2);
    assertThat(record.history()).extracting(PastRun::from).containsExactly(START + 8 * MINUTE, START + 9 * MINUTE,
        START + 10 * MINUTE);
    assertThat(record.totals().succeeded()).isEqualTo(10);
  }

  @Test
  void anAbsentShardCountsAsEndedAndIsNotInsertedAgain() {
    pass(START + MINUTE);
    end(ShardEnd.State.ABSENT, 0);
    pass(START + 2 * MINUTE);
    assertThat(record.history()).extracting(PastRun::result).containsExactly(PastRun.Result.UNKNOWN);
    assertThat(record.totals().unknown()).isEqualTo(1);
    assertThat(record.totals().failed()).as("an unknown result is no failure").isZero();
    assertThat(children).hasSize(2);
  }

  @Test
  void aPassThatIsRepeatedChangesNothing() {
    pass(START + MINUTE);
    JobRecord before = record;
    pass(START + MINUTE);
    assertThat(record).isSameAs(before);
    assertThat(children).hasSize(1);
  }

  @Test
  void aPassAfterTheClockIsSetBackALittleChangesNothing() {
    pass(START + 10 * MINUTE);
    JobRecord before = record;
    long next = pass(START + 10 * MINUTE - Rewind.TOLERANCE_MILLIS);
    assertThat(record).isSameAs(before);
    assertThat(next).isGreaterThan(START + 10 * MINUTE);
  }

  @Test
  void aPassAfterTheClockWasAheadDecidesTheTimesAgain() {
    job(minutely().overlap(Overlap.QUEUE).misfire(Misfire.all(3, Duration.ofHours(1))).build());
    pass(START + 10 * MINUTE);
    assertThat(activeMinutes()).containsExactly(8L);
    assertThat(waitingMinutes()).containsExactly(9L, 10L);
    long next = pass(START + 5 * MINUTE + 1);
    assertThat(waitingMinutes()).as("these times have not come").isEmpty();
    assertThat(record.totals().missed()).as("only times that have come are missed").isEqualTo(5);
    assertThat(record.active().getFirst().begun()).isEqualTo(START + 5 * MINUTE + 1);
    assertThat(next).isLessThanOrEqualTo(START + 6 * MINUTE);
    succeed(START + 5 * MINUTE + 2);
    for (int minute = 6; minute <= 10; minute++) {
      pass(START + minute * MINUTE);
      succeed(START + minute * MINUTE + 1);
      pass(START + minute * MINUTE + 2);
    }
    assertThat(record.history().stream().filter(past -> past.result().isRun()).map(past -> past.from() - START))
        .as("the time that ran too early does not run again")
        .containsExactly(8 * MINUTE, 6 * MINUTE, 7 * MINUTE, 9 * MINUTE, 10 * MINUTE);
  }

  @Test
  void requestedRunsKeepTheirTimesAfterTheClockWasAhead() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)).build());
    pass(START + 10 * MINUTE);
    record = JobChange.trigger(record, "first", START + 11 * MINUTE).record();
    record = JobChange.trigger(record, "second", START + 12 * MINUTE).record();
    pass(START + 5 * MINUTE);
    assertThat(waitingMinutes()).containsExactly(11L, 12L);
  }
}
