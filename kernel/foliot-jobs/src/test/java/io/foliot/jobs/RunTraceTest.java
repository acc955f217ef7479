package io.foliot.jobs;

import static io.foliot.jobs.JobWorld.NO_CALENDARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Allocation;
import io.foliot.api.Job;
import io.foliot.api.JobHeaders;
import io.foliot.api.Scope;
import io.foliot.core.TaskId;
import io.foliot.core.store.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** An ended run leads to its tasks, and a failed shard of it runs again. */
final class RunTraceTest {
  private static final long START = Instant.parse("2026-01-05T00:00:00Z").toEpochMilli();
  private static final long MINUTE = 60_000;

  private final Map<TaskId, ShardEnd> ends = new HashMap<>();
  private final List<Outcome.Child> children = new ArrayList<>();
  private Workers workers = new Workers().add("w0", "a").add("w1", "a").add("w2", "b");
  private JobRecord record = JobChange.create(minutely().build(), START, NO_CALENDARS);

  private static Job.Builder minutely() {
    return Job.named("report").queue("q").every(Duration.ofMinutes(1)).schedule(s -> s.offset(Duration.ZERO));
  }

  private void job(Job.Builder job) {
    ends.clear();
    children.clear();
    record = JobChange.create(job.build(), START, NO_CALENDARS);
  }

  private void pass(long now) {
    long next;
    do {
      JobLife.Plan plan = JobLife.plan(record, now, ends, NO_CALENDARS, Attendance.of(workers.fleet()));
      record = JobRecordFormat.decode("report", JobRecordFormat.encode(plan.record()));
      assertThat(record).isEqualTo(plan.record());
      plan.children().forEach(child -> ends.put(child.id(), new ShardEnd(ShardEnd.State.LIVE, 0)));
      children.addAll(plan.children());
      next = plan.at();
    } while (next <= now);
  }

  private void end(int child, ShardEnd.State state, String reason) {
    ends.put(children.get(child).id(), new ShardEnd(state, START + MINUTE + 1, reason, "q"));
  }

  private PastRun latest() {
    return record.history().getLast();
  }

  private static String header(Outcome.Child child, String name) {
    return child.body().headers().getOrDefault(name, "");
  }

  private JobChange.Reopened reopen(Outcome.Child child) {
    return JobChange.reopen(record, START + MINUTE, null, header(child, JobHeaders.ZONE),
        Integer.parseInt(header(child, JobHeaders.SHARD)), START + MINUTE + 10);
  }

  /** Checks, for random jobs, that each shard of an ended run is found, and that its failed shards run again. */
  @Test
  void anEndedRunLeadsToEachOfItsShards() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 200; i++) {
      Scope scope = List.of(Scope.ONE, Scope.PER_ZONE, Scope.ALL).get(random.nextInt(3));
      Allocation allocation = List.of(Allocation.FREE, Allocation.AVERAGE, Allocation.HASH).get(random.nextInt(3));
      job(minutely().scope(scope).allocation(allocation).shards(scope == Scope.ALL ? 1 : 1 + random.nextInt(9)));
      pass(START + MINUTE);
      List<Integer> failed = new ArrayList<>();
      for (int shard = 0; shard < children.size(); shard++) {
        boolean fails = shard == 0 || random.nextInt(3) == 0;
        end(shard, fails ? ShardEnd.State.FAILED : ShardEnd.State.SUCCEEDED, fails ? "no disk" : "");
        if (fails) {
          failed.add(shard);
        }
      }
      workers = new Workers().add("w3", "b").add("w4", "a");
      pass(START + MINUTE + 2);
      workers = new Workers().add("w0", "a").add("w1", "a").add("w2", "b");
      PastRun past = latest();
      assertThat(past.result()).isEqualTo(PastRun.Result.FAILED);
      assertThat(past.reason()).contains("no disk");
      assertThat(past.trace().failed()).extracting(RunTrace.Failed::shard).isEqualTo(failed);
      Run found = Run.started(past.from(), past.origin(), past.shards(), past.trace().targets(), 0, past.begun(), 0);
      for (int shard = 0; shard < children.size(); shard++) {
        assertThat(Shards.id("report", found, shard)).isEqualTo(children.get(shard).id());
      }
      for (int shard : failed) {
        JobChange.Reopened reopened = reopen(children.get(shard));
        assertThat(reopened.id()).isEqualTo(children.get(shard).id());
        record = reopened.record();
        end(shard, ShardEnd.State.SUCCEEDED, "");
      }
      assertThat(record.active()).hasSize(1);
      pass(START + MINUTE + 20);
      assertThat(latest().result()).isEqualTo(PastRun.Result.SUCCEEDED);
      assertThat(latest().failed()).isZero();
      assertThat(record.totals().failed()).isZero();
      assertThat(record.totals().failuresInRow()).isZero();
      assertThat(record.totals().succeeded()).isEqualTo(1);
    }
  }

  @Test
  void aShardThatFailsAgainFailsItsRunAgain() {
    job(minutely().shards(2).timeout(Duration.ofMinutes(5)));
    pass(START + MINUTE);
    end(0, ShardEnd.State.FAILED, "no disk");
    end(1, ShardEnd.State.SUCCEEDED, "");
    pass(START + MINUTE + 2);
    record = reopen(children.get(0)).record();
    assertThat(record.active().getFirst().deadline()).isEqualTo(START + 6 * MINUTE + 10);
    end(0, ShardEnd.State.FAILED, "no network");
    pass(START + MINUTE + 20);
    assertThat(latest().reason()).isEqualTo("shard 0: no network");
    assertThat(record.totals().failed()).isEqualTo(1);
    assertThat(record.totals().failuresInRow()).isEqualTo(1);
    assertThat(record.history()).hasSize(1);
  }

  @Test
  void onlyAFailedShardOfAFailedRunRunsAgain() {
    job(minutely().shards(2));
    pass(START + MINUTE);
    assertThatThrownBy(() -> reopen(children.get(0))).isInstanceOf(Jobs.NotFailedException.class);
    record = JobChange.stop(record, START + MINUTE, START + MINUTE + 1, NO_CALENDARS);
    end(0, ShardEnd.State.FAILED, "cancelled");
    end(1, ShardEnd.State.FAILED, "cancelled");
    pass(START + MINUTE + 2);
    assertThat(latest().reason()).as("a run that was stopped has no failure").isEmpty();
    assertThatThrownBy(() -> reopen(children.get(0))).isInstanceOf(Jobs.NotFailedException.class)
        .hasMessageContaining("STOPPED");
    assertThatThrownBy(() -> JobChange.reopen(record, START, null, "", 0, START + 2 * MINUTE))
        .isInstanceOf(Jobs.UnknownRunException.class);
  }

  @Test
  void theTracesOfARecordAreBounded() {
    job(minutely().shards(80).history(Job.MAX_HISTORY));
    for (int run = 1; run <= Job.MAX_HISTORY; run++) {
      int first = children.size();
      pass(START + run * MINUTE);
      for (int child = first; child < children.size(); child++) {
        end(child, ShardEnd.State.FAILED, "x".repeat(1_000));
      }
      pass(START + run * MINUTE + 30_000);
      children.clear();
    }
    assertThat(record.history()).hasSize(Job.MAX_HISTORY);
    assertThat(latest().reason()).hasSize(Run.MAX_REASON);
    assertThat(record.history().stream().mapToInt(past -> past.trace().size()).sum())
        .isBetween(JobRecord.MAX_TRACES / 2, JobRecord.MAX_TRACES);
    assertThatThrownBy(() -> JobChange.reopen(record, latest().from(), null, "", 0, latest().ended()))
        .isInstanceOf(Jobs.NotFailedException.class).hasMessageContaining("too many failed shards");
  }

  @Test
  void aMovedJobForgetsTheReasonsOfItsOldQueue() {
    job(minutely());
    pass(START + MINUTE);
    end(0, ShardEnd.State.FAILED, "secret");
    pass(START + MINUTE + 2);
    Job moved = minutely().queue("other").build();
    record = JobChange.put(record, moved, START + MINUTE + 3, NO_CALENDARS);
    assertThat(latest().reason()).isEmpty();
    assertThat(latest().failed()).isEqualTo(1);

    job(minutely());
    pass(START + MINUTE);
    record = JobChange.put(record, moved, START + MINUTE + 1, NO_CALENDARS);
    end(0, ShardEnd.State.FAILED, "secret");
    pass(START + MINUTE + 2);
    assertThat(latest().reason()).isEqualTo("shard 0 failed in the former queue of the job");
  }

  @Test
  void aFixedDelayBeginsAtTheEndOfARedrivenRun() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)));
    pass(START);
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.FAILED, START + 1_000, "no disk", "q"));
    pass(START + 1_000);
    assertThat(record.nextAfter()).isEqualTo(START + MINUTE + 1_000);
    record = JobChange.reopen(record, START, null, "", 0, START + 2_000).record();
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.LIVE, 0));
    pass(START + 2_000);
    pass(START + 3 * MINUTE);
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + 5 * MINUTE));
    pass(START + 5 * MINUTE);
    assertThat(children).as("the next run waits for its delay").hasSize(1);
    assertThat(record.nextAfter()).isEqualTo(START + 6 * MINUTE);
    pass(START + 6 * MINUTE);
    assertThat(children).hasSize(2);
  }

  @Test
  void aTimeThatWaitsWithFixedDelayFollowsTheRedrivenRun() {
    job(Job.named("report").queue("q").after(Duration.ofMinutes(1)));
    pass(START);
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.FAILED, START + 1_000, "no disk", "q"));
    pass(START + 1_000);
    record = JobLife.plan(record, START + 2 * MINUTE, ends, NO_CALENDARS, Attendance.of(null), Allocators.NONE, 0)
        .record();
    assertThat(record.waiting()).as("a run without room").hasSize(1);
    record = JobChange.reopen(record, START, null, "", 0, START + 3 * MINUTE).record();
    ends.put(children.getFirst().id(), new ShardEnd(ShardEnd.State.SUCCEEDED, START + 4 * MINUTE));
    pass(START + 4 * MINUTE);
    assertThat(children).hasSize(1);
    pass(START + 5 * MINUTE);
    assertThat(children).hasSize(2);
  }
}
