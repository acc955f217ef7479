package io.foliot.kill;

import io.foliot.api.Scope;
import io.foliot.api.TaskState;
import io.foliot.client.Fence;
import io.foliot.kill.ShardAttempt.Shard;
import io.foliot.kill.ShardHistory.Claim;
import io.foliot.kill.ShardHistory.Shown;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks a {@link ShardHistory} against the {@linkplain Demand demands}. The rules compare the times of events, and
 * bound no duration except in {@link Demand#DISABLED}, which allows {@link #KNOWN_MILLIS}.
 *
 * <p>An attempt certainly holds its shard for the length of a lease after its claim, and after each extension that the
 * server has confirmed, unless its handler ends earlier. A handler that examines its lease and finds it valid proves
 * that no other worker has had the shard since the claim.
 */
final class ShardJudge {
  /** Tolerance between the clocks of workers and store. The store's time is a reading that is some milliseconds old. */
  private static final long CLOCK_MILLIS = 20;
  /**
   * Longest time that a claim takes. A node may send a claim for a worker before the node reads that the worker is
   * disabled.
   */
  private static final long KNOWN_MILLIS = 6_000;

  /** Maximum number of reported cases of a demand. */
  private static final int MAX_CASES = 20;

  /** The demands on a run. */
  enum Demand {
    /** Each scheduled time has one run with all its shards, or is counted once without a run; each shard has ended. */
    ACCOUNT,
    /** No attempt begins before its scheduled time. */
    EARLY,
    /** A shard runs only where its address permits. */
    PLACE,
    /** For each shard of a job, fences grow in the order of the claims in the store, across attempts and runs. */
    FENCE,
    /** No shard runs at two workers at the same time, except after a lost lease. */
    ONCE,
    /** A run begins after the previous run has ended. */
    RUNS,
    /** A shard that has ended does not run again, and each attempt has a fence that the store gave. */
    FINAL,
    /** The result of a shard is that of its last attempt: a late settle has no effect. */
    REPORT,
    /** A handler whose lease is lost is interrupted. */
    INTERRUPT,
    /** A handler ends, unless its process was killed. */
    END,
    /** A disabled worker gets no shard. */
    DISABLED,
    /** A sink that keeps the greatest fence refuses the late writes of replaced workers, and no other writes. */
    SINK
  }

  /**
   * The result of the checks.
   *
   * @param broken the demands that were not met, with the first cases
   * @param lost the number of attempts whose worker noticed that its lease was lost
   * @param silent the number of attempts whose process ended before the handler
   * @param refused the number of writes that a sink would have refused
   */
  record Verdict(Map<Demand, List<String>> broken, int lost, int silent, int refused) {
    boolean isGood() {
      return broken.isEmpty();
    }
  }

  private final ShardHistory history;
  private final Map<Demand, List<String>> broken = new EnumMap<>(Demand.class);
  private final Map<Shard, Shown> records = new LinkedHashMap<>();
  private final Map<Shard, List<ShardAttempt>> attempts = new HashMap<>();
  private int refused;

  private ShardJudge(ShardHistory history) {
    this.history = history;
  }

  static Verdict judge(ShardHistory history) {
    return new ShardJudge(history).judge();
  }

  private Verdict judge() {
    for (Shown record : history.records()) {
      ensure(records.putIfAbsent(record.shard(), record) == null, Demand.ACCOUNT, "a shard is listed twice: ", record);
    }
    for (ShardAttempt attempt : history.attempts()) {
      attempts.computeIfAbsent(attempt.shard(), none -> new ArrayList<>()).add(attempt);
    }
    attempts.values().forEach(each -> each.sort(Comparator.comparing(ShardAttempt::fence)));
    history.jobs().forEach(this::judgeJob);
    history.attempts().forEach(this::judgeAttempt);
    records.values().forEach(this::judgeEnd);
    attempts.forEach(this::judgeShard);
    judgeFences();
    judgeDisabled();
    judgeSinks();
    return new Verdict(broken,
        (int) history.attempts().stream().filter(each -> each.end() != null && each.end().isLost()).count(),
        (int) history.attempts().stream().filter(each -> each.end() == null).count(), refused);
  }

  private void ensure(boolean isMet, Demand demand, String what, Object... evidence) {
    if (!isMet) {
      List<String> cases = broken.computeIfAbsent(demand, none -> new ArrayList<>());
      if (cases.size() < MAX_CASES) {
        cases.add(what + List.of(evidence));
      }
    }
  }

  // The schedule.

  private void judgeJob(ShardHistory.Plan job) {
    Map<Long, List<Shown>> runs = new TreeMap<>();
    records.values().stream().filter(record -> record.shard().job().equals(job.kind().name()))
        .forEach(record -> runs.computeIfAbsent(record.shard().scheduledMillis(), none -> new ArrayList<>())
            .add(record));
    long accounted = job.total("fired") + job.total("skipped") + job.total("missed") + job.total("noTargets")
        + job.waiting();
    ensure(accounted == job.times(), Demand.ACCOUNT, "the runs and counts do not match the scheduled times: times="
        + job.times() + ", accounted=" + accounted, job);
    ensure(runs.size() == job.total("fired"), Demand.ACCOUNT, "runs differ from fired times: " + runs.keySet(), job);
    long endedMillis = 0;
    for (Map.Entry<Long, List<Shown>> run : runs.entrySet()) {
      ensure(job.isTime(run.getKey()), Demand.ACCOUNT, "a run has no scheduled time: " + run.getKey(), job);
      judgeShards(job.kind(), run.getKey(), run.getValue());
      long before = endedMillis;
      for (Shown record : run.getValue()) {
        for (Claim claim : record.claims()) {
          ensure(claim.atMillis() >= before - CLOCK_MILLIS, Demand.RUNS,
              "a run begins before the previous run ended: endedMillis=" + before, record);
          endedMillis = claim.isSuccess() ? Math.max(endedMillis, claim.endedMillis()) : endedMillis;
        }
      }
    }
  }

  /** Checks that a run has all its shards, and that each shard has ended. */
  private void judgeShards(ShardHistory.Kind job, long millis, List<Shown> shards) {
    Map<String, Set<Integer>> numbers = new TreeMap<>();
    for (Shown record : shards) {
      numbers.computeIfAbsent(record.shard().zone(), none -> new HashSet<>()).add(record.shard().number());
      boolean isFinal = record.state() == TaskState.FINISHED || (job.scope() == Scope.ALL
          && (record.state() == TaskState.CANCELLED || record.state() == TaskState.FAILED));
      ensure(isFinal, Demand.ACCOUNT, "a shard has not ended, or ended without success: ", record);
    }
    numbers.forEach((zone, found) -> {
      int wanted = job.scope() == Scope.ALL ? shards.getFirst().shards() : job.shards();
      ensure(found.size() == wanted && found.contains(0) && found.contains(wanted - 1), Demand.ACCOUNT,
          "a run does not have all its shards: job=" + job + ", time=" + millis + ", zone=" + zone, found);
    });
    if (job.scope() == Scope.PER_ZONE) {
      ensure(job.zones().isEmpty() ? !numbers.containsKey("") : numbers.keySet().equals(job.zones()), Demand.ACCOUNT,
          "a run is not in each of its zones: job=" + job + ", time=" + millis, numbers);
    } else {
      ensure(numbers.keySet().equals(Set.of("")), Demand.ACCOUNT, "a run must not be in a zone: job=" + job, numbers);
    }
  }

  // Attempts.

  private static long millis(long micros) {
    return Math.floorDiv(micros, 1_000);
  }

  private void judgeAttempt(ShardAttempt attempt) {
    Shard shard = attempt.shard();
    ensure(millis(attempt.begunMicros()) >= shard.scheduledMillis(), Demand.EARLY, "an attempt is early: ", attempt);
    ensure(shard.zone().isEmpty() || shard.zone().equals(attempt.workerZone()), Demand.PLACE,
        "a shard of a zone runs elsewhere: ", attempt);
    String target = attempt.target();
    ensure(target == null || target.startsWith(attempt.worker() + "-"), Demand.PLACE,
        "a shard for one worker runs elsewhere: ", attempt);
    Shown record = records.get(shard);
    if (record == null) {
      ensure(false, Demand.FINAL, "a worker runs a shard that the server does not have: ", attempt);
      return;
    }
    ensure(attempt.fence().generation() == record.fence().generation()
        && attempt.fence().attempt() <= record.fence().attempt(), Demand.FINAL,
        "an attempt has a fence that the store did not give: ", attempt, record);
    Claim claim = claim(record, attempt.fence());
    ensure(claim == null || millis(attempt.begunMicros()) >= claim.atMillis() - CLOCK_MILLIS, Demand.FINAL,
        "an attempt begins before its claim: ", attempt, record);
    ShardAttempt.End end = attempt.end();
    ensure(end != null || history.killed().contains(attempt.worker()), Demand.END, "a handler did not end: ", attempt);
    ensure(end == null || !end.isLost() || end.isInterrupted(), Demand.INTERRUPT,
        "a handler that lost its lease was not interrupted: ", attempt);
  }

  private static @Nullable Claim claim(Shown record, Fence fence) {
    return record.claims().stream().filter(claim -> claim.fence().equals(fence)).findFirst().orElse(null);
  }

  private void judgeEnd(Shown record) {
    if (record.state() != TaskState.FINISHED) {
      return;
    }
    ShardAttempt last = attempts.getOrDefault(record.shard(), List.of()).stream()
        .filter(attempt -> attempt.fence().equals(record.fence())).findFirst().orElse(null);
    if (last == null) {
      ensure(false, Demand.REPORT, "a shard has succeeded, but no worker has run it: ", record);
      return;
    }
    ensure(last.end() != null && last.end().outcome() == ShardAttempt.Outcome.DONE, Demand.REPORT,
        "a shard has succeeded, but its last handler has not: ", record, last);
    ensure(record.result().equals(last.result()), Demand.REPORT, "the result is not that of the last attempt: ", record,
        last);
    ensure(record.claims().stream().filter(Claim::isSuccess).count() == 1, Demand.FINAL, "not exactly one success: ",
        record);
  }

  /** Checks the attempts of one shard, which must be in the order of their fences. */
  private void judgeShard(Shard shard, List<ShardAttempt> ordered) {
    Shown record = records.get(shard);
    for (int i = 1; i < ordered.size(); i++) {
      ShardAttempt before = ordered.get(i - 1);
      ShardAttempt after = ordered.get(i);
      ensure(before.fence().compareTo(after.fence()) < 0, Demand.ONCE, "two workers have the same claim: ", before,
          after);
      Claim claim = record == null ? null : claim(record, after.fence());
      long claimedMillis = claim == null ? millis(after.begunMicros()) : claim.atMillis();
      ensure(claimedMillis >= releasedMillis(before, record) - CLOCK_MILLIS, Demand.ONCE,
          "a shard begins elsewhere before its lease has ended: claimed=" + claimedMillis, before, after);
      ShardAttempt.End end = before.end();
      ensure(end == null || end.isLost() || end.atMicros() <= after.begunMicros(), Demand.ONCE,
          "a worker was replaced without noticing: ", before, after);
    }
    ShardHistory.Kind job = kind(shard.job());
    if (job != null && job.scope() == Scope.ALL) {
      ensure(ordered.stream().map(ShardAttempt::worker).distinct().count() == 1, Demand.PLACE,
          "a shard for one worker runs at several: ", ordered);
    }
  }

  private ShardHistory.@Nullable Kind kind(String name) {
    return history.jobs().stream().map(ShardHistory.Plan::kind).filter(kind -> kind.name().equals(name)).findFirst()
        .orElse(null);
  }

  /** Returns the time until which an attempt certainly held its shard, in milliseconds since 1970. */
  private long releasedMillis(ShardAttempt attempt, @Nullable Shown record) {
    Claim claim = record == null ? null : claim(record, attempt.fence());
    long heldMillis = Math.max(millis(attempt.heldMicros()), claim == null ? 0 : claim.atMillis())
        + history.leaseMillis();
    return attempt.end() == null ? heldMillis : Math.min(heldMillis, millis(attempt.end().atMicros()));
  }

  // Fences.

  private record Placed(Shard shard, Claim claim) {}

  private void judgeFences() {
    Map<String, List<Placed>> lines = new HashMap<>();
    for (Shown record : records.values()) {
      record.claims().forEach(claim -> lines.computeIfAbsent(record.shard().line(), none -> new ArrayList<>())
          .add(new Placed(record.shard(), claim)));
    }
    lines.values().forEach(claims -> {
      claims.sort(Comparator.comparingLong(each -> each.claim().atMillis()));
      for (int i = 1; i < claims.size(); i++) {
        Placed before = claims.get(i - 1);
        Placed after = claims.get(i);
        ensure(before.claim().fence().compareTo(after.claim().fence()) < 0
            && before.shard().scheduledMillis() <= after.shard().scheduledMillis(), Demand.FENCE,
            "fences do not grow in the order of the claims: ", before, after);
      }
    });
  }

  private void judgeDisabled() {
    for (ShardHistory.Disabled pause : history.pauses()) {
      for (ShardAttempt attempt : history.attempts()) {
        Shown record = attempt.worker().equals(pause.worker()) ? records.get(attempt.shard()) : null;
        Claim claim = record == null ? null : claim(record, attempt.fence());
        ensure(claim == null || claim.atMillis() <= pause.fromMillis() + KNOWN_MILLIS
            || claim.atMillis() >= pause.toMillis(), Demand.DISABLED, "a disabled worker has got a shard: ", pause,
            attempt);
      }
    }
  }

  private record Write(long micros, ShardAttempt attempt) {}

  /** Replays the writes of handlers to a sink that keeps the greatest fence of each shard of a job. */
  private void judgeSinks() {
    Map<String, List<Write>> lines = new HashMap<>();
    for (ShardAttempt attempt : history.attempts()) {
      attempt.writesMicros().forEach(micros -> lines.computeIfAbsent(attempt.shard().line(), none -> new ArrayList<>())
          .add(new Write(micros, attempt)));
    }
    lines.values().forEach(writes -> {
      writes.sort(Comparator.comparingLong(Write::micros));
      ShardAttempt greatest = null;
      Set<ShardAttempt> replaced = new HashSet<>();
      for (Write write : writes) {
        ShardAttempt writer = write.attempt();
        if (greatest == null || writer.fence().compareTo(greatest.fence()) >= 0) {
          ensure(!replaced.contains(writer), Demand.SINK, "a write of a replaced worker is accepted: ", writer);
          if (greatest != null && !greatest.equals(writer)) {
            replaced.add(greatest);
          }
          greatest = writer;
        } else {
          refused++;
          ShardAttempt.End end = writer.end();
          ensure(end == null || end.isLost(), Demand.SINK, "a write of a worker that has its lease is refused: ",
              writer, greatest);
        }
      }
    });
  }
}
