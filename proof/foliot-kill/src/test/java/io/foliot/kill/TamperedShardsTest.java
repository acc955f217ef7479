package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Scope;
import io.foliot.api.TaskState;
import io.foliot.client.Fence;
import io.foliot.kill.ShardAttempt.End;
import io.foliot.kill.ShardAttempt.Outcome;
import io.foliot.kill.ShardAttempt.Shard;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The judge of shards accepts a correct history, and finds the broken demand of each falsified history. */
final class TamperedShardsTest {
  private static final long PERIOD_MILLIS = 1_000_000;
  private static final long LEASE_MILLIS = 3_000;
  private static final String WORKER = "fra1-0-1";

  private final List<ShardAttempt> attempts = new ArrayList<>();
  private final List<ShardHistory.Shown> records = new ArrayList<>();
  private final List<ShardHistory.Plan> jobs = new ArrayList<>();

  private ShardHistory history() {
    job(new ShardHistory.Kind("one", Scope.ONE, 2, Set.of()), "");
    job(new ShardHistory.Kind("zones", Scope.PER_ZONE, 2, Set.of("fra1")), "fra1");
    job(new ShardHistory.Kind("all", Scope.ALL, 0, Set.of()), "");
    replaced();
    return new ShardHistory(attempts, records, jobs, List.of(), Set.of(), LEASE_MILLIS);
  }

  /** Adds two runs of a job, each with one shard if the scope is ALL, otherwise with two. */
  private void job(ShardHistory.Kind kind, String zone) {
    for (long run = 1; run <= 2; run++) {
      for (int number = 0; number < (kind.scope() == Scope.ALL ? 1 : 2); number++) {
        shard(new Shard(kind.name(), run * PERIOD_MILLIS, zone, number), kind.scope());
      }
    }
    jobs.add(new ShardHistory.Plan(kind, PERIOD_MILLIS, 1, 2 * PERIOD_MILLIS + 1, PERIOD_MILLIS, Map.of("fired", 2L),
        0));
  }

  private void shard(Shard shard, Scope scope) {
    Fence fence = new Fence(shard.scheduledMillis(), 1);
    long claimedMillis = shard.scheduledMillis() + 100;
    long endedMillis = claimedMillis + 500;
    attempts.add(new ShardAttempt(WORKER, "fra1", shard, fence, micros(claimedMillis + 2),
        List.of(micros(claimedMillis + 3)), micros(claimedMillis + 4), scope == Scope.ALL ? WORKER + "-ab" : null,
        new End(micros(endedMillis - 2), Outcome.DONE, false, false)));
    records.add(new ShardHistory.Shown(shard, scope == Scope.ALL ? 1 : 2, TaskState.FINISHED, fence,
        List.of(new ShardHistory.Claim(fence, claimedMillis, endedMillis, true)),
        ShardAttempt.result(WORKER, fence)));
  }

  private static long micros(long millis) {
    return millis * 1_000;
  }

  /** Adds an earlier attempt of the first shard. This attempt lost its lease, and the sink refuses its last write. */
  private void replaced() {
    ShardAttempt second = attempts.getFirst();
    Shard shard = second.shard();
    Fence fence = new Fence(shard.scheduledMillis(), 2);
    long claimedMillis = shard.scheduledMillis() + 10_000;
    attempts.set(0, second.under(fence).begun(micros(claimedMillis + 2)).ended(
        new End(micros(claimedMillis + 500), Outcome.DONE, false, false)));
    long firstMillis = shard.scheduledMillis() + 50;
    attempts.add(new ShardAttempt("ams1-0-1", "ams1", shard, second.fence(), micros(firstMillis),
        List.of(micros(firstMillis), micros(claimedMillis + 100)), micros(firstMillis), null,
        new End(micros(claimedMillis + 900), Outcome.DONE, true, true)));
    records.set(0, new ShardHistory.Shown(shard, 2, TaskState.FINISHED, fence,
        List.of(new ShardHistory.Claim(second.fence(), firstMillis, firstMillis + LEASE_MILLIS, false),
            new ShardHistory.Claim(fence, claimedMillis, claimedMillis + 502, true)),
        ShardAttempt.result(WORKER, fence)));
  }

  @Test
  void aHistoryWithALostLeaseIsAccepted() {
    ShardJudge.Verdict verdict = ShardJudge.judge(history());
    assertThat(verdict.broken()).isEmpty();
    assertThat(verdict.lost()).isOne();
  }

  @ParameterizedTest
  @EnumSource
  void eachFalsifiedHistoryBreaksItsDemand(TamperedShards how) {
    assertThat(ShardJudge.judge(how.of(history())).broken()).containsKey(how.demand());
  }

  @Test
  void eachDemandHasAFalsifiedHistory() {
    Set<ShardJudge.Demand> demands = EnumSet.noneOf(ShardJudge.Demand.class);
    for (TamperedShards how : TamperedShards.values()) {
      demands.add(how.demand());
    }
    assertThat(demands).containsExactlyInAnyOrder(ShardJudge.Demand.values());
  }
}
