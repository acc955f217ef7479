package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.Misfire;
import io.foliot.api.Overlap;
import io.foliot.core.TaskId;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The limit of the unfinished shards of a queue's jobs. */
final class QueueShardsTest {
  private static final long START = 1_767_225_600_000L;
  private static final long SECOND = 1_000;
  private static final long MINUTE = 60_000;

  private final QueueShards queues = new QueueShards();

  private JobLife.Plan pass(JobRecord record, long now, Map<TaskId, ShardEnd> ends, long room) {
    return JobLife.plan(record, now, ends, JobWorld.NO_CALENDARS, Attendance.of(null), Allocators.NONE, room);
  }

  private static JobRecord overlapping(int shards) {
    return JobChange.create(Job.named("flood").queue("q").every(Duration.ofSeconds(1)).overlap(Overlap.ALLOW)
        .shards(shards).schedule(s -> s.offset(Duration.ZERO)).build(), START, JobWorld.NO_CALENDARS);
  }

  @Test
  void noRunBeginsWhileTheJobHasAllTheShardsOfItsRoom() {
    JobRecord record = overlapping(10);
    for (int second = 1; second <= 5; second++) {
      record = pass(record, START + second * SECOND, Map.of(), 25).record();
    }
    assertThat(record.active()).as("the third run begins at 20 shards and gets all of its shards").hasSize(3);
    assertThat(record.unended()).isEqualTo(Map.of("q", 30L));
    assertThat(record.waiting().stream().map(JobRecord.Waiting::lacksRoom)).containsExactly(true, false);
  }

  @Test
  void theWaitingRunBeginsWhenShardsHaveEnded() {
    JobRecord record = overlapping(10);
    for (int second = 1; second <= 4; second++) {
      record = pass(record, START + second * SECOND, Map.of(), 25).record();
    }
    Map<TaskId, ShardEnd> ends = new HashMap<>();
    for (int shard = 0; shard < 6; shard++) {
      ends.put(Shards.id("flood", record.active().getFirst(), shard),
          new ShardEnd(ShardEnd.State.SUCCEEDED, START + 4 * SECOND));
    }
    JobLife.Plan next = pass(record, START + 4 * SECOND + 1, ends, 25);
    assertThat(next.children()).hasSize(10);
    assertThat(next.record().active()).hasSize(4);
    assertThat(next.record().waiting()).isEmpty();
  }

  @Test
  void aTimeThatFindsNoRoomIsMissedAfterItsWindow() {
    Job job = Job.named("flood").queue("q").every(Duration.ofHours(1)).misfire(Misfire.once(Duration.ofMinutes(2)))
        .schedule(s -> s.offset(Duration.ZERO)).build();
    JobRecord record = JobChange.create(job, START, JobWorld.NO_CALENDARS);
    long time = START + 60 * MINUTE;
    JobLife.Plan plan = pass(record, time, Map.of(), 0);
    assertThat(plan.record().lacksRoom()).isTrue();
    while (plan.at() <= time + 2 * MINUTE) {
      plan = pass(plan.record(), plan.at(), Map.of(), 0);
      assertThat(plan.children()).isEmpty();
    }
    assertThat(plan.record().waiting()).hasSize(1);
    plan = pass(plan.record(), plan.at(), Map.of(), 0);
    assertThat(plan.record().waiting()).isEmpty();
    assertThat(plan.record().totals().missed()).isEqualTo(1);
    assertThat(plan.record().totals().fired()).isZero();
  }

  @Test
  void aRequestedRunWaitsForRoomLikeAScheduledOne() {
    JobRecord record = JobChange.trigger(overlapping(1), "key", START).record();
    JobLife.Plan full = pass(record, START + 1, Map.of(), 0);
    assertThat(full.record().lacksRoom()).isTrue();
    assertThat(pass(full.record(), START + 2, Map.of(), 1).children()).hasSize(1);
  }

  @Test
  void shardsOfADeletedJobStillCount() {
    JobRecord record = pass(overlapping(10), START + SECOND, Map.of(), 25).record();
    assertThat(JobChange.delete(record, false).unended()).isEqualTo(Map.of("q", 10L));
  }

  @Test
  void aQueueIsChargedForItsOwnJobsOnly() {
    queues.planned("a", Map.of("q", 5L), START, START + SECOND, 0);
    queues.planned("b", Map.of("q", 7L, "r", 2L), START, START + SECOND, 0);
    assertThat(queues.ofOthers("a", "q")).isEqualTo(7);
    assertThat(queues.ofOthers("c", "q")).isEqualTo(12);
    assertThat(queues.ofOthers("c", "r")).isEqualTo(2);
    assertThat(queues.ofOthers("c", "other")).isZero();
    queues.planned("b", Map.of(), START, START + SECOND, 0);
    assertThat(queues.ofOthers("c", "q")).isEqualTo(5);
    assertThat(queues.ofOthers("c", "r")).isZero();
  }

  @Test
  void aJobThatIsPlannedElsewhereIsForgotten() {
    queues.planned("moved", Map.of("q", 5L), START, START + SECOND, 0);
    queues.planned("idle", Map.of("q", 3L), START, START + 10 * MINUTE, 0);
    queues.planned("delayed", Map.of("q", 2L), START, START + SECOND, 10 * MINUTE);
    assertCounted(START + SECOND + QueueShards.GRACE_MILLIS, 10);
    assertCounted(START + QueueShards.COUNTED_MILLIS + QueueShards.GRACE_MILLIS, 5);
    assertCounted(START + 10 * MINUTE + SECOND, 2);
    assertCounted(START + 12 * MINUTE, 0);
  }

  private void assertCounted(long now, long shards) {
    queues.planned("other", Map.of(), now, now, 0);
    assertThat(queues.ofOthers("other", "q")).isEqualTo(shards);
  }

  @Test
  void noJobCountsAfterTheClockWasSetBack() {
    queues.planned("a", Map.of("q", 5L), START, START + SECOND, 0);
    queues.clear();
    assertThat(queues.ofOthers("other", "q")).isZero();
    queues.planned("a", Map.of("q", 4L), START - MINUTE, START, 0);
    assertThat(queues.ofOthers("other", "q")).isEqualTo(4);
  }
}
