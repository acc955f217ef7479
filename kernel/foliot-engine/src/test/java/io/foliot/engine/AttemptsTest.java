package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.entry;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.QueueConfig;
import io.foliot.core.Target;
import io.foliot.core.TaskState;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.Claim;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class AttemptsTest {
  private static final long LEASE_MILLIS = 30_000;
  private static final SettleResult SETTLED = new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0);

  private final LoopRig rig = new LoopRig();
  private final Settles settles = new Settles(rig.store, rig.inbox, rig.health, 10, this::recorded);
  private final Attempts attempts = new Attempts(rig.store, rig.registry, rig.clock, rig.lookAhead, rig.slots, settles,
      rig.inbox, rig.meter, rig.random, rig.nowNanos);

  private void recorded(Settles.Ending ending, SettleResult result, long nowNanos) {
    attempts.recorded(ending, result, nowNanos);
  }

  /** Wins a claim that was sent before some time. */
  private TaskRecord begin(String queue, String laneOf, long sentBeforeMillis) {
    DueEntry entry = entry(0, START_MILLIS, 1, queue);
    TaskRecord task = rig.claimed(entry, LEASE_MILLIS);
    Lane lane = rig.lane(laneOf);
    Destination destination = requireNonNull(lane.destination());
    assertThat(lane.permits().acquire(1, rig.nowNanos, () -> {})).isEqualTo(1);
    assertThat(destination.acquire(1, rig.nowNanos, () -> {})).isEqualTo(1);
    assertThat(rig.registry.memory().acquire(1, 2_000, lane.memory(), destination.memory(), () -> {})).isEqualTo(1);
    attempts.begin(new PendingClaim(lane, entry, new Claim(entry.id(), LEASE_MILLIS), 2_000, destination, null), task,
        rig.nowNanos - sentBeforeMillis * LoopRig.MILLI, rig.nowNanos);
    return task;
  }

  private void assertReleased(String queue) {
    Lane lane = rig.lane(queue);
    assertThat(lane.permits().inUse()).isZero();
    assertThat(lane.running()).isZero();
    assertThat(requireNonNull(lane.destination()).running()).isZero();
    assertThat(rig.registry.memory().used()).isZero();
    assertThat(attempts.isIdle()).isTrue();
  }

  private Settlement settlement() {
    settles.turn(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("settle");
    Settlement settlement = call.<Settlement>items().getFirst();
    rig.answer(call, List.of(SETTLED));
    return settlement;
  }

  private void advance(long millis) {
    rig.passes(millis);
    attempts.advance(100, rig.nowNanos);
  }

  @Test
  void anAttemptHoldsItsShareUntilItsEndIsRecorded() {
    rig.local("q");
    begin("q", "q", 0);
    assertThat(rig.delivered).hasSize(1);
    rig.answers.getFirst().complete(new Answer.Done("ok"));
    rig.handle();
    assertThat(requireNonNull(rig.lane("q").destination()).running()).as("it has answered").isZero();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Finished.class);
    assertReleased("q");
  }

  @Test
  void anAttemptThatCouldOutliveItsLeaseDoesNotBegin() {
    rig.local("q");
    begin("q", "q", LEASE_MILLIS);
    assertThat(rig.delivered).isEmpty();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Retry.class);
    assertReleased("q");
  }

  @Test
  void aTaskOfAnotherQueueIsDeliveredNowhere() {
    rig.local("q");
    rig.local("other");
    begin("other", "q", 0);
    assertThat(rig.delivered).isEmpty();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Retry.class);
    assertReleased("q");
  }

  @Test
  void aDeliveryThatDoesNotAnswerIsCancelledAfterItsTimeout() {
    rig.local("q");
    long timeoutMillis = requireNonNull(rig.registry.queue("q")).target().timeout().toMillis();
    begin("q", "q", 0);
    advance(timeoutMillis);
    assertThat(rig.answers.getFirst()).isNotDone();
    advance(250);
    assertThat(rig.answers.getFirst()).isCancelled();
    rig.handle();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Retry.class);
    assertReleased("q");
    advance(LEASE_MILLIS);
    assertReleased("q");
  }

  @Test
  void anAttemptWhoseEndIsNotRecordedIsReleasedWithItsLease() {
    rig.local("q");
    begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Done(""));
    rig.handle();
    settles.turn(rig.nowNanos);
    advance(LEASE_MILLIS);
    assertReleased("q");
    rig.fail(rig.onlyCall("settle"));
    assertThat(settles.isIdle()).as("it is settled no more").isTrue();
  }

  @Test
  void whatReportsLaterIsReleasedByTheReport() {
    rig.local("q");
    TaskRecord task = begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    assertThat(rig.registry.memory().used()).as("the payload is needed no more").isZero();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    attempts.reported(requireNonNull(task.token()));
    assertReleased("q");
  }

  @Test
  void aReportMayComeBeforeTheAnswer() {
    rig.local("q");
    TaskRecord task = begin("q", "q", 0);
    attempts.reported(requireNonNull(task.token()));
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    assertReleased("q");
  }

  @Test
  void reportsToOtherNodesAreFound() {
    rig.isShared = true;
    rig.queue(QueueConfig.builder("q", Target.local()).concurrency(5).build());
    rig.lane("q").permits().grant(5, 1, Long.MAX_VALUE, rig.nowNanos + 100 * LoopRig.SECOND, rig.nowNanos);
    TaskRecord task = begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    attempts.findReports(rig.nowNanos);
    rig.answer(rig.onlyCall("find"), Optional.of(task));
    assertThat(rig.lane("q").permits().inUse()).as("it runs").isEqualTo(1);
    attempts.findReports(rig.nowNanos);
    assertThat(rig.calls).as("once a second").isEmpty();
    rig.nowNanos += LoopRig.SECOND;
    attempts.findReports(rig.nowNanos);
    rig.answer(rig.onlyCall("find"), Optional.empty());
    assertReleased("q");
  }
}
