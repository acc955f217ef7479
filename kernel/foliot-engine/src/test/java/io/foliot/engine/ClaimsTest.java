package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.claimed;
import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class ClaimsTest {
  private final LoopRig rig = new LoopRig();
  private final List<TaskId> won = new ArrayList<>();
  private final RoomGate gate = new RoomGate();
  private final Claims claims = new Claims(rig.store, rig.registry, rig.lanes, rig.lookAhead, rig.slots, rig.inbox,
      rig.health, rig.meter, LoopRig.BATCH, new LeaseLengths(20_000, 10_000), gate,
      (claim, task, sentNanos) -> won.add(task.id()));

  private DueEntry ready(int number, String queue) {
    DueEntry entry = entry(0, START_MILLIS, number, queue);
    rig.lanes.ready(entry, rig.nowNanos);
    return entry;
  }

  private LoopRig.Call send() {
    claims.turn(rig.nowNanos);
    return rig.onlyCall("claim");
  }

  private static List<TaskId> ids(LoopRig.Call call) {
    return call.<Claim>items().stream().map(Claim::id).toList();
  }

  @Test
  void aTaskThatIsNotWonReleasesItsPermitAndMemory() {
    rig.queue(QueueConfig.builder("q", Target.local()).concurrency(10).build());
    DueEntry first = ready(1, "q");
    ready(2, "q");
    ready(3, "q");
    LoopRig.Call call = send();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(3);
    assertThat(rig.registry.memory().used()).isPositive();
    long each = rig.registry.memory().used() / 3;
    rig.answer(call, claimed(new ClaimResult.Won(rig.claimed(first, 30_000)),
        new ClaimResult.Later(START_MILLIS + 60_000), ClaimResult.Gone.ABSENT));
    assertThat(won).containsExactly(first.id());
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    assertThat(rig.registry.memory().used()).isEqualTo(each);
    assertThat(rig.registry.destinations()).singleElement()
        .satisfies(destination -> assertThat(destination.running()).isEqualTo(1));
  }

  @Test
  void anAttemptWhoseLeaseEndedIsCountedOnce() {
    rig.local("q");
    TaskRecord again = rig.claimed(ready(1, "q"), 30_000).edit().attempt(2)
        .attempts(List.of(new AttemptRecord(1, 1, 0, 1, AttemptRecord.End.LEASE_ENDED, ""))).done();
    TaskRecord third = rig.claimed(ready(2, "q"), 30_000).edit().attempt(3)
        .attempts(List.of(new AttemptRecord(1, 1, 0, 1, AttemptRecord.End.LEASE_ENDED, ""),
            new AttemptRecord(1, 2, 2, 3, AttemptRecord.End.RETRIED, "")))
        .done();
    rig.answer(send(), claimed(new ClaimResult.Won(again), new ClaimResult.Won(third)));
    assertThat(rig.leasesEnded).containsExactly("q");
  }

  @Test
  void aFailedCallForgetsItsEntries() {
    rig.local("q");
    DueEntry entry = ready(1, "q");
    rig.fail(send());
    assertThat(rig.registry.memory().used()).isZero();
    ready(1, "q");
    claims.turn(rig.nowNanos);
    assertThat(rig.calls).as("a failure is followed by a pause").isEmpty();
    rig.advance(20);
    assertThat(ids(send())).as("a poll has found the entry again").containsExactly(entry.id());
  }

  @Test
  void aPartialFailureKeepsTheTasksThatWereWon() {
    rig.local("q");
    DueEntry first = ready(1, "q");
    DueEntry second = ready(2, "q");
    DueEntry third = ready(3, "q");
    rig.failInPart(send(), new ClaimResult.Won(rig.claimed(first, 30_000)), null,
        new ClaimResult.Won(rig.claimed(third, 30_000)));
    assertThat(won).containsExactly(first.id(), third.id());
    ready(1, "q");
    ready(2, "q");
    rig.advance(20);
    assertThat(ids(send())).as("a poll has found the failed entry again").contains(second.id());
  }

  @Test
  void aTaskWhoseClaimCameTooLateIsClaimedAgain() {
    rig.local("q");
    DueEntry entry = ready(1, "q");
    ready(2, "q");
    rig.answer(send(), claimed(ClaimResult.Ready.READY, ClaimResult.Gone.ABSENT));
    assertThat(ids(send())).containsExactly(entry.id());
  }

  @Test
  void aPriorityHigherByOneDoublesTheShare() {
    rig.local("low");
    rig.queue(QueueConfig.builder("high", Target.local()).priority(1).build());
    int low = 0;
    int total = 0;
    for (int i = 0; i < 300; i++) {
      while (rig.lane("low").hasRoom()) {
        ready(1_000 * i + rig.lane("low").waiting(), "low");
      }
      while (rig.lane("high").hasRoom()) {
        ready(1_000 * i + 500 + rig.lane("high").waiting(), "high");
      }
      int before = rig.lane("low").waiting();
      claims.turn(rig.nowNanos);
      low += before - rig.lane("low").waiting();
      for (LoopRig.Call call : List.copyOf(rig.calls)) {
        total += call.items().size();
        ClaimResult[] gone = new ClaimResult[call.items().size()];
        Arrays.fill(gone, ClaimResult.Gone.ABSENT);
        rig.answer(call, claimed(gone));
      }
      rig.calls.clear();
    }
    assertThat((double) low / total).isBetween(0.30, 0.42);
  }

  @Test
  void aLimitedQueueDoesNotClaimMoreThanItsPermits() {
    rig.queue(QueueConfig.builder("q", Target.local()).concurrency(2).build());
    ready(1, "q");
    ready(2, "q");
    ready(3, "q");
    assertThat(ids(send())).hasSize(2);
    claims.turn(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    assertThat(claims.isIdle()).isFalse();
  }

  @Test
  void aRateGivesTheTimeOfTheNextTurn() {
    rig.queue(QueueConfig.builder("q", Target.local()).rate(1.0).build());
    DueEntry entry = ready(1, "q");
    ready(2, "q");
    assertThat(claims.waitNanos(rig.nowNanos)).isEqualTo(Long.MAX_VALUE);
    rig.answer(send(), claimed(new ClaimResult.Won(rig.claimed(entry, 30_000))));
    assertThat(claims.waitNanos(rig.nowNanos)).isBetween(LoopRig.SECOND - 1, LoopRig.SECOND + 1);
    rig.nowNanos += LoopRig.SECOND;
    assertThat(ids(send())).hasSize(1);
  }
}
