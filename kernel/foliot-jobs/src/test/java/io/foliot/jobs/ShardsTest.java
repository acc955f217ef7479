package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Allocation;
import io.foliot.api.Due;
import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.core.TaskId;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Ids of shards follow from (job, time, origin, shard), and are in the slot of the job. */
final class ShardsTest {
  private static final long TIME = 1_790_000_000_000L;

  private static Run run(long time, long origin) {
    return Run.started(time, origin, Job.MAX_SHARDS, Targets.NONE, 0, time, 0);
  }

  @Test
  void idsAreRepeatableAndInTheSlotOfTheJob() {
    for (String job : new String[]{"a", "report", "Grüße 北京", "x".repeat(256)}) {
      for (int shard = 0; shard < 100; shard++) {
        TaskId id = Shards.id(job, run(TIME, 0), shard);
        assertThat(Shards.id(job, run(TIME, 0), shard)).isEqualTo(id);
        assertThat(id.hash16()).isEqualTo(Shards.hash16(job));
      }
    }
  }

  @Test
  void theIdOfAShardNeverChangesBetweenReleases() {
    assertThat(Shards.id("report", run(TIME, 0), 0)).hasToString("01a0c450-6c00-750b-a1ba-9a938dd184d4");
    assertThat(Shards.id("report", run(TIME, 0), RunPhase.BEFORE)).hasToString("01a0c450-6c00-70d2-bc32-fc8fb8b284d4");
    assertThat(Shards.id("report", run(TIME, 0), RunPhase.AFTER)).hasToString("01a0c450-6c00-7a95-b174-bf08a76c84d4");
  }

  @Test
  void noTwoShardsShareAnId() {
    Set<TaskId> ids = new HashSet<>();
    int made = 0;
    for (long time = TIME; time < TIME + 3; time++) {
      for (long origin : new long[]{0, 1, 2, TIME}) {
        for (int shard = 0; shard < Job.MAX_SHARDS; shard++) {
          ids.add(Shards.id("report", run(time, origin), shard));
          made++;
        }
        for (RunPhase phase : RunPhase.values()) {
          ids.add(Shards.id("report", run(time, origin), phase));
          made++;
        }
      }
    }
    assertThat(ids).hasSize(made);
  }

  /** Returns the firing ids of a run that begins with these workers, as if the store inserted its shards later. */
  private static Set<String> firings(Job job, JobRecord record, Workers workers, long lateMillis) {
    JobLife.Plan plan = JobLife.plan(record, TIME + lateMillis, Map.of(), JobWorld.NO_CALENDARS,
        Attendance.of(workers.fleet()));
    Set<String> firings = new HashSet<>();
    for (Outcome.Child child : plan.children()) {
      long due = ((Due.At) child.due()).millis();
      firings.add(DeliveryAttempt.firingId(TaskRecord.edit(child.id(), child.queue(), null).body(child.body())
          .createdAt(TIME + lateMillis).generation(1_000 * (TIME + lateMillis)).firstDueAt(due).dueAt(due).wakeAt(due)
          .done()));
    }
    assertThat(plan.children()).as("%s", job).isNotEmpty();
    assertThat(firings).hasSameSizeAs(plan.children());
    return firings;
  }

  /** A store of class B that has forgotten writes, or a restored backup, has an older record of the job. */
  @Test
  void aRunThatIsPlannedAgainFromAnOlderRecordHasTheSameFiringIds() {
    Job.Builder timed = Job.named("report").queue("q").every(Duration.ofMinutes(1)).shards(4);
    for (Job job : List.of(timed.build(), timed.allocation(Allocation.FREE).build(),
        timed.allocation(Allocation.AVERAGE).scope(Scope.PER_ZONE).build(),
        timed.runListeners(RunPhase.BEFORE).build(), timed.runListeners().shards(1).scope(Scope.ALL).build())) {
      JobRecord record = JobChange.create(job, TIME - 60_000, JobWorld.NO_CALENDARS);
      Workers before = new Workers().add("w0", "a").add("w1", "b");
      // With the scope ALL, a firing belongs to the seat of a worker. In other scopes any workers may take it.
      Workers after = job.scope() == Scope.ALL
          ? new Workers().add("w0", "a").add("w1", "b")
          : new Workers().add("w0", "b").add("w1", "a").add("w2", "a").gone(0).add("w3", "b");
      assertThat(firings(job, record, after, 15_000)).as("%s", job).isEqualTo(firings(job, record, before, 0));
    }
  }

  @Test
  void aRunOfTenThousandShardsIsInsertedInBoundedSteps() {
    Job job = Job.named("large").queue("q").cron("0 1 1 1 *").shards(Job.MAX_SHARDS).build();
    JobRecord record = JobChange.trigger(JobChange.create(job, TIME, JobWorld.NO_CALENDARS), null, TIME).record();
    Set<TaskId> ids = new HashSet<>();
    int passes = 0;
    while (ids.size() < Job.MAX_SHARDS) {
      JobLife.Plan plan = JobLife.plan(record, TIME + passes, Map.of(), JobWorld.NO_CALENDARS, Attendance.of(null));
      assertThat(plan.children()).hasSize(Outcome.Rearm.MAX_CHILDREN);
      plan.children().forEach(child -> assertThat(ids.add(child.id())).isTrue());
      passes++;
      assertThat(plan.at() == TIME + passes - 1).as("the next pass is now while shards are left, pass %s", passes)
          .isEqualTo(ids.size() < Job.MAX_SHARDS);
      record = plan.record();
    }
    assertThat(passes).isEqualTo(20);
    assertThat(JobLife.plan(record, TIME + passes, Map.of(), JobWorld.NO_CALENDARS, Attendance.of(null)).children())
        .isEmpty();
  }

  @Test
  void aJitterDelaysAShardAndKeepsItsId() {
    Job job = Job.named("report").queue("q").every(Duration.ofHours(1)).schedule(s -> s.jitter(Duration.ofMinutes(5)))
        .build();
    Outcome.Child child = Shards.child(job, run(TIME, 0), job.parameter(), 3, null);
    assertThat(child.id()).isEqualTo(Shards.id("report", run(TIME, 0), 3));
    assertThat(child).isEqualTo(Shards.child(job, run(TIME, 0), job.parameter(), 3, null));
    assertThat(((Due.At) child.due()).millis()).isBetween(TIME, TIME + 300_000);
  }
}
