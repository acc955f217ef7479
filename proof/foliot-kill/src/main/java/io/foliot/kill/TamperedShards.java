package io.foliot.kill;

import io.foliot.api.TaskState;
import io.foliot.client.Fence;
import io.foliot.kill.ShardAttempt.End;
import io.foliot.kill.ShardAttempt.Outcome;
import io.foliot.kill.ShardHistory.Shown;
import io.foliot.kill.ShardJudge.Demand;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Ways to falsify a history, each with the demand that the result breaks. A judge that accepts a result is broken. */
enum TamperedShards {
  /** All shards of a scheduled time are absent. */
  WITHOUT_A_TIME(Demand.ACCOUNT, history -> {
    Shown first = history.records().getFirst();
    return history.withRecords(history.records().stream()
        .filter(record -> !record.shard().job().equals(first.shard().job())
            || record.shard().scheduledMillis() != first.shard().scheduledMillis())
        .toList());
  }),
  /** One shard of a run is absent. */
  WITHOUT_A_SHARD(Demand.ACCOUNT, history -> {
    Shown one = history.records().stream().filter(record -> record.shards() > 1).findFirst().orElseThrow();
    return history.withRecords(history.records().stream().filter(record -> !record.equals(one)).toList());
  }),
  /** An attempt begins a millisecond before its scheduled time. */
  EARLY(Demand.EARLY, history -> {
    ShardAttempt one = history.attempts().getFirst();
    return history.changing(one, each -> each.begun((one.shard().scheduledMillis() - 1) * 1_000));
  }),
  /** A shard of a zone runs in another zone. */
  IN_ANOTHER_ZONE(Demand.PLACE, history -> {
    ShardAttempt one = any(history, attempt -> !attempt.shard().zone().isEmpty());
    return history.changing(one, each -> each.by(each.worker(), "elsewhere"));
  }),
  /** A shard for one worker runs at another worker. */
  AT_ANOTHER_WORKER(Demand.PLACE, history -> {
    ShardAttempt one = any(history, attempt -> attempt.target() != null);
    return history.changing(one, each -> each.by("another", each.workerZone()));
  }),
  /** A claim is given to two workers. */
  CLAIMED_TWICE(Demand.ONCE, history -> and(history, history.attempts().getFirst().by("another", ""))),
  /** A worker takes a shard a millisecond after another worker has extended its lease. Both continue the work. */
  TAKEN_UNDER_A_LEASE(Demand.ONCE, history -> {
    ShardAttempt one = any(history, attempt -> attempt.heldMicros() > 0 && attempt.end() != null);
    ShardAttempt other = one.under(new Fence(one.fence().generation(), one.fence().attempt() + 1))
        .by("another", one.workerZone()).begun(one.heldMicros() + 1_000);
    return and(history.changing(one, each -> each.ended(
        new End(one.heldMicros() + history.leaseMillis() * 1_000, Outcome.DONE, true, true))), other);
  }),
  /** A shard that has succeeded is attempted again. */
  FINAL_RUNS_AGAIN(Demand.FINAL, history -> {
    ShardAttempt last = lastDone(history);
    long late = last.begunMicros() + 60_000_000;
    return and(history, last.under(new Fence(last.fence().generation(), last.fence().attempt() + 1))
        .begun(late).ended(new End(late, Outcome.DONE, false, false)));
  }),
  /** A worker runs a shard that the server does not have. */
  UNKNOWN_SHARD(Demand.FINAL, history -> {
    ShardAttempt one = history.attempts().getFirst();
    return and(history, new ShardAttempt(one.worker(), one.workerZone(),
        new ShardAttempt.Shard("no such job", one.shard().scheduledMillis(), "", 0), one.fence(), one.begunMicros(),
        List.of(), 0, null, one.end()));
  }),
  /** The result of a shard is that of an attempt other than the one that finished the shard. */
  LATE_REPORT_TAKEN(Demand.REPORT, history -> {
    ShardAttempt last = lastDone(history);
    return history.withRecords(history.records().stream().map(record -> record.shard().equals(last.shard())
        ? record.resulting(ShardAttempt.result("late", new Fence(last.fence().generation(), 0)))
        : record).toList());
  }),
  /** A shard has succeeded although no worker has run it. */
  WITHOUT_AN_ATTEMPT(Demand.REPORT, history -> {
    ShardAttempt last = lastDone(history);
    return history.withAttempts(history.attempts().stream().filter(each -> !each.equals(last)).toList());
  }),
  /** A handler whose lease is lost ends without an interrupt. */
  NOT_INTERRUPTED(Demand.INTERRUPT, history -> {
    ShardAttempt last = lastDone(history);
    return history.changing(last, each -> each.ended(new End(each.begunMicros() + 1, Outcome.DONE, true, false)));
  }),
  /** A handler never ends, and its process was not killed. */
  WITHOUT_AN_END(Demand.END, history -> {
    ShardAttempt one = any(history, attempt -> !history.killed().contains(attempt.worker()));
    return history.changing(one, each -> new ShardAttempt(each.worker(), each.workerZone(), each.shard(), each.fence(),
        each.begunMicros(), each.writesMicros(), each.heldMicros(), each.target(), null));
  }),
  /** The fences of a shard begin again at generation 1 with a later run. */
  FENCE_BEGINS_ANEW(Demand.FENCE, history -> {
    Shown later = history.records().stream().filter(record -> history.records().stream()
        .anyMatch(earlier -> earlier.shard().line().equals(record.shard().line()) && !earlier.claims().isEmpty()
            && earlier.shard().scheduledMillis() < record.shard().scheduledMillis()))
        .filter(record -> !record.claims().isEmpty()).findFirst().orElseThrow();
    return history.withRecords(history.records().stream().map(record -> record.equals(later)
        ? new Shown(record.shard(), record.shards(), record.state(), new Fence(1, record.fence().attempt()),
            record.claims().stream().map(claim -> new ShardHistory.Claim(new Fence(1, claim.fence().attempt()),
                claim.atMillis(), claim.endedMillis(), claim.isSuccess())).toList(),
            record.result())
        : record).toList());
  }),
  /** A run begins before the previous run has ended. */
  RUNS_OVERLAP(Demand.RUNS, history -> {
    Shown later = history.records().stream().filter(record -> !record.claims().isEmpty() && history.records().stream()
        .anyMatch(earlier -> earlier.shard().job().equals(record.shard().job())
            && earlier.state() == TaskState.FINISHED
            && earlier.shard().scheduledMillis() < record.shard().scheduledMillis()))
        .findFirst().orElseThrow();
    return history.withRecords(history.records().stream().map(record -> record.equals(later)
        ? new Shown(record.shard(), record.shards(), record.state(), record.fence(), record.claims().stream()
            .map(claim -> new ShardHistory.Claim(claim.fence(), 1, claim.endedMillis(), claim.isSuccess())).toList(),
            record.result())
        : record).toList());
  }),
  /** A disabled worker gets a shard. */
  DISABLED_GETS_A_SHARD(Demand.DISABLED, history -> {
    ShardAttempt last = lastDone(history);
    long millis = last.begunMicros() / 1_000;
    return history.withPauses(List.of(new ShardHistory.Disabled(last.worker(), millis - 60_000, millis + 60_000)));
  }),
  /** A worker that still has its lease writes under a smaller fence than another worker did before. */
  SINK_REFUSES_THE_OWNER(Demand.SINK, history -> {
    ShardAttempt last = any(history, attempt -> !attempt.writesMicros().isEmpty() && attempt.end() != null
        && !attempt.end().isLost());
    return and(history, new ShardAttempt("another", last.workerZone(), last.shard(),
        new Fence(last.fence().generation() + 1, 1), 1, List.of(1L), 0, null, last.end()));
  });

  private final Demand demand;
  @SuppressWarnings("ImmutableEnumChecker") // a function without state
  private final UnaryOperator<ShardHistory> falsified;

  TamperedShards(Demand demand, UnaryOperator<ShardHistory> falsified) {
    this.demand = demand;
    this.falsified = falsified;
  }

  Demand demand() {
    return demand;
  }

  ShardHistory of(ShardHistory history) {
    return falsified.apply(history);
  }

  private static ShardAttempt any(ShardHistory history, Predicate<ShardAttempt> wanted) {
    return history.attempts().stream().filter(wanted).findFirst().orElseThrow();
  }

  /** Returns an attempt that finished its shard. */
  private static ShardAttempt lastDone(ShardHistory history) {
    return any(history, attempt -> history.records().stream().anyMatch(record -> record.shard().equals(attempt.shard())
        && record.state() == TaskState.FINISHED && record.fence().equals(attempt.fence())));
  }

  private static ShardHistory and(ShardHistory history, ShardAttempt one) {
    List<ShardAttempt> more = new ArrayList<>(history.attempts());
    more.add(one);
    return history.withAttempts(more);
  }
}
