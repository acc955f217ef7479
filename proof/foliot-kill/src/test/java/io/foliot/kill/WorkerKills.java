package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import io.foliot.backends.TcpProxy;
import io.foliot.kill.ClusterFaults.Shared;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two servers over one store, and four workers of jobs in two zones. Workers and servers are killed; workers are also
 * stopped, disabled, or paused for longer than their leases. A subclass chooses the store and the coordination.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class WorkerKills {
  private static final int KILLS = Integer.getInteger("worker.kills", 10);
  private static final int SERVERS = 2;
  /** Time before the first fault, so that workers can begin their first shards. */
  private static final int CALM_MILLIS = 4_000;

  private @Nullable ShardHistory history;
  private ShardJudge.@Nullable Verdict verdict;

  /** Starts the store. */
  abstract Shared start();

  /** Returns the name of a run. The names of its files begin with this name. */
  abstract String runName();

  @BeforeAll
  void killAgainAndAgain() throws IOException {
    long seed = Rig.seed();
    long begunNanos = System.nanoTime();
    List<TcpProxy> ways = new ArrayList<>();
    try (Shared store = start()) {
      IntStream.range(0, SERVERS).forEach(server -> ways.add(TcpProxy.to(store.server())));
      try (WorkerRig rig = new WorkerRig(runName(), seed, ways.stream().map(store.ways()).toList(), ServerHost.LOOPBACK,
          Map.of())) {
        Await.pause(CALM_MILLIS);
        rig.say("faults: " + new WorkerFaults(rig, new SplittableRandom(seed)).kill(KILLS));
        history = rig.end();
        verdict = judged(rig, history, begunNanos);
      }
    } finally {
      ways.forEach(TcpProxy::close);
    }
  }

  /** Judges a history, and prints its figures. */
  static ShardJudge.Verdict judged(WorkerRig rig, ShardHistory history, long begunNanos) {
    ShardJudge.Verdict verdict = ShardJudge.judge(history);
    Map<String, Long> totals = new TreeMap<>();
    history.jobs().forEach(job -> job.totals().forEach((what, count) -> totals.merge(what, count, Long::sum)));
    rig.say(history.attempts().size() + " attempts of " + history.records().size() + " shards; leases lost: "
        + verdict.lost() + ", attempts ended by a kill: " + verdict.silent() + ", writes that a sink refuses: "
        + verdict.refused() + "; times: " + totals + "; " + (System.nanoTime() - begunNanos) / 1_000_000_000 + " s");
    return verdict;
  }

  private ShardHistory history() {
    return Objects.requireNonNull(history);
  }

  @Test
  void allDemandsAreMet() {
    assertThat(Objects.requireNonNull(verdict).broken()).isEmpty();
  }

  @Test
  void theRunCoversTheRelevantCases() {
    assertThat(history().attempts()).hasSizeGreaterThan(4 * KILLS);
    assertThat(history().attempts()).as("shards for one worker").anyMatch(attempt -> attempt.target() != null);
    // If no kill ended an attempt, the kills met idle workers.
    assertThat(Objects.requireNonNull(verdict).silent()).isPositive();
  }

  @ParameterizedTest
  @EnumSource
  void aFalsifiedHistoryBreaksItsDemand(TamperedShards how) {
    assertThat(ShardJudge.judge(how.of(history())).broken()).containsKey(how.demand());
  }
}
