package io.foliot.engine;

import static io.foliot.engine.LoopRig.START_MILLIS;
import static io.foliot.engine.LoopRig.entry;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class AttemptsTest {
  /** The length of a lease that covers the timeout and needs no renewal. */
  private static final long LEASE_MILLIS = 30_000;
  /** The length of a lease that is renewed. */
  private static final long RENEWED_MILLIS = 9_000;
  private static final SettleResult SETTLED = new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0);

  private final LoopRig rig = new LoopRig();
  private final Settles settles = new Settles(rig.store, rig.inbox, rig.health, 10, new RoomGate(),
      new Settles.Recorded() {
        @Override
        public void recorded(Settles.Ending ending, SettleResult result, long nowNanos) {
          attempts.recorded(ending, result, nowNanos);
        }

        @Override
        public void held(RunningAttempt attempt, long nowNanos) {
          attempts.held(attempt, nowNanos);
        }
      });
  private final Renewals renewals = new Renewals(rig.store, rig.inbox, rig.health, 10, this::renewed);
  private final Attempts attempts = new Attempts(rig.store, rig.registry, rig.clock, rig.lanes, rig.lookAhead,
      rig.slots,
      settles, renewals, new EndHints(List.of(), (queue, keys) -> {}), rig.inbox, rig.meter, rig.random,
      new LeaseLengths(20_000, RENEWED_MILLIS), "n1", rig.nowNanos);

  private void renewed(RunningAttempt attempt, long leaseMillis, @Nullable ExtendResult result, long sentNanos,
      long nowNanos) {
    attempts.renewed(attempt, leaseMillis, result, sentNanos, nowNanos);
  }

  /** Begins the attempt of a claim that was sent {@code sentAgoMillis} ago. */
  private TaskRecord begin(String queue, String laneOf, long sentAgoMillis) {
    return begin(queue, laneOf, sentAgoMillis, LEASE_MILLIS);
  }

  private TaskRecord begin(String queue, String laneOf, long sentAgoMillis, long leaseMillis) {
    DueEntry entry = entry(0, START_MILLIS, 1, queue);
    TaskRecord task = rig.claimed(entry, leaseMillis);
    Lane lane = rig.lane(laneOf);
    Destination destination = requireNonNull(lane.destination());
    assertThat(lane.permits().acquire(1, rig.nowNanos, () -> {})).isEqualTo(1);
    assertThat(destination.acquire(1, rig.nowNanos, () -> {})).isEqualTo(1);
    assertThat(rig.registry.memory().acquire(1, 2_000, lane.memory(), destination.memory(), () -> {})).isEqualTo(1);
    attempts.begin(new PendingClaim(lane, entry, new Claim(entry.id(), leaseMillis), 2_000, destination, null), task,
        rig.nowNanos - sentAgoMillis * LoopRig.MILLI, rig.nowNanos);
    return task;
  }

  @Test
  void aTaskWonAfterTheWorkersCallEndedIsGivenBack() {
    rig.queue(QueueConfig.of("pulled", Target.pull()));
    Lane lane = rig.lane("pulled");
    LongPollQueue.Waiter waiter = new LongPollQueue.Waiter(WorkerId.ANONYMOUS, 1, LEASE_MILLIS, rig.nowNanos,
        Long.MAX_VALUE,
        CompletableFuture.completedFuture(null));
    lane.longPolls().add(waiter);
    assertThat(lane.longPolls().reserve()).isSameAs(waiter);
    assertThat(lane.permits().acquire(1, rig.nowNanos, () -> {})).isEqualTo(1);
    assertThat(rig.registry.memory().acquire(1, 2_000, lane.memory(), null, () -> {})).isEqualTo(1);
    lane.longPolls().close(rig.nowNanos);
    assertThat(waiter.answer()).isCompletedWithValueMatching(pulled -> pulled.tasks().isEmpty());

    DueEntry entry = entry(0, START_MILLIS, 1, "pulled");
    attempts.begin(new PendingClaim(lane, entry, new Claim(entry.id(), LEASE_MILLIS), 2_000, null, waiter),
        rig.claimed(entry, LEASE_MILLIS), rig.nowNanos, rig.nowNanos);
    assertThat(settlement().outcome()).isEqualTo(new Outcome.NotBegun());
    assertThat(attempts.isIdle()).isTrue();
    assertThat(rig.registry.memory().used()).isZero();
  }

  private void assertReleased(String queue) {
    Lane lane = rig.lane(queue);
    assertThat(lane.permits().inUse()).isZero();
    assertThat(lane.running()).isZero();
    assertThat(requireNonNull(lane.destination()).running()).isZero();
    assertThat(rig.registry.memory().used()).isZero();
    assertThat(attempts.isIdle()).isTrue();
  }

  private AttemptEnd settlement() {
    settles.turn(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("settle");
    AttemptEnd settlement = call.<AttemptEnd>items().getFirst();
    rig.answer(call, List.of(SETTLED));
    return settlement;
  }

  private void advance(long millis) {
    rig.advance(millis);
    attempts.advance(100, rig.nowNanos);
  }

  @Test
  void anAttemptHoldsItsPermitUntilItsEndIsRecorded() {
    rig.local("q");
    begin("q", "q", 0);
    assertThat(rig.delivered).hasSize(1);
    rig.answers.getFirst().complete(new Answer.Done("ok"));
    rig.handle();
    assertThat(requireNonNull(rig.lane("q").destination()).running()).as("the delivery has answered").isZero();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Finished.class);
    assertReleased("q");
  }

  @Test
  void anAttemptThatCouldOutliveItsLeaseDoesNotBegin() {
    rig.local("q");
    begin("q", "q", LEASE_MILLIS);
    assertThat(rig.delivered).isEmpty();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.NotBegun.class);
    assertReleased("q");
  }

  @Test
  void aTaskOfAnotherQueueIsNotDelivered() {
    rig.local("q");
    rig.local("other");
    begin("other", "q", 0);
    assertThat(rig.delivered).isEmpty();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.NotBegun.class);
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
  void anAttemptWhoseEndIsNotRecordedIsReleasedAtItsLeaseEnd() {
    rig.local("q");
    begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Done(""));
    rig.handle();
    settles.turn(rig.nowNanos);
    advance(LEASE_MILLIS);
    assertReleased("q");
    rig.fail(rig.onlyCall("settle"));
    assertThat(settles.isIdle()).as("the settle is not repeated").isTrue();
  }

  @Test
  void anAcceptedAttemptIsReleasedByItsReport() {
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

  /** Begins an attempt with a timeout of a minute and a short lease, which is renewed. */
  private TaskRecord beginLong() {
    rig.queue(QueueConfig.of("q", new Target(Target.LOCAL, Map.of(), Duration.ofMinutes(1))));
    return begin("q", "q", 0, RENEWED_MILLIS);
  }

  /** Advances by a third of a lease, and answers the renewal with {@code kind}. */
  private void renews(ExtendResult.Kind kind) {
    advance(RENEWED_MILLIS / 3);
    renewals.turn(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("extend");
    Extension extension = call.<Extension>items().getFirst();
    assertThat(extension.leaseMillis()).isEqualTo(RENEWED_MILLIS);
    rig.answer(call, List.of(new ExtendResult(kind,
        kind == ExtendResult.Kind.EXTENDED ? rig.nowMillis() + RENEWED_MILLIS : 0)));
  }

  @Test
  void dueChildrenForWorkersOfOtherNodesAreInsertedParked() {
    rig.local("q");
    rig.queue(QueueConfig.of("pulled", Target.pull()));
    rig.clock.answered(new StoreClock.Question(START_MILLIS * 1_000, rig.nowNanos), START_MILLIS * 1_000, false,
        rig.nowNanos + 2 * LoopRig.MILLI);
    rig.advance(10);
    begin("q", "q", 0);
    Address elsewhere = new Address(Address.Kind.SEAT, 7);
    List<Outcome.Child> children = List.of(child(elsewhere, rig.nowMillis() - 2), child(elsewhere, rig.nowMillis()),
        child(elsewhere, rig.nowMillis() + 1_000), child(Address.ANYWHERE, rig.nowMillis() - 2));
    rig.answers.getFirst().complete(new Answer.Plan(
        new Outcome.Rearm(Due.at(rig.nowMillis() + 60_000), Body.EMPTY, children), ""));
    rig.handle();
    Outcome.Rearm recorded = (Outcome.Rearm) settlement().outcome();
    assertThat(recorded.children()).extracting(Outcome.Child::parked)
        .as("in order: due, perhaps due by the store's clock, not due, for any worker")
        .containsExactly(true, false, false, false);
    assertThat(rig.lane("pulled").hasParked()).as("this node claims them if their worker comes here").isTrue();
  }

  private Outcome.Child child(Address address, long dueAt) {
    TaskId id = address.isAnywhere()
        ? TaskId.of(dueAt, 0, 1)
        : TaskId.addressed(dueAt, 0, address, 0, 1);
    return new Outcome.Child(id, "pulled", Due.at(dueAt), Body.EMPTY, 0, false);
  }

  @Test
  void aLeaseShorterThanTheTimeoutIsRenewedDuringTheDelivery() {
    beginLong();
    for (int i = 0; i < 19; i++) {
      renews(ExtendResult.Kind.EXTENDED);
      assertThat(rig.answers.getFirst()).isNotDone();
    }
    rig.answers.getFirst().complete(new Answer.Done(""));
    rig.handle();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Finished.class);
    assertReleased("q");
    advance(RENEWED_MILLIS);
    renewals.turn(rig.nowNanos);
    assertThat(rig.calls).as("nothing is left to renew").isEmpty();
  }

  @Test
  void renewalsDoNotExtendTheTimeout() {
    beginLong();
    for (int i = 0; i < 20; i++) {
      renews(ExtendResult.Kind.EXTENDED);
    }
    advance(250);
    assertThat(rig.answers.getFirst()).isCancelled();
    rig.handle();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Retry.class);
    assertReleased("q");
  }

  @Test
  void aDeliveryWhoseLeaseIsLostIsCancelled() {
    beginLong();
    renews(ExtendResult.Kind.STALE);
    assertThat(rig.answers.getFirst()).isCancelled();
    rig.handle();
    assertThat(settlement().outcome()).isInstanceOf(Outcome.Retry.class);
    assertReleased("q");
  }

  @Test
  void aDeliveryWhoseTaskIsBeingCancelledIsCancelled() {
    beginLong();
    renews(ExtendResult.Kind.CANCELLED);
    assertThat(rig.answers.getFirst()).isCancelled();
    rig.handle();
    assertThat(settlement().detail()).contains("cancelled");
    assertReleased("q");
  }

  @Test
  void aRenewalThatFailsIsTriedAgainUntilTheLeaseEnds() {
    beginLong();
    advance(RENEWED_MILLIS / 3);
    int calls = 0;
    long untilNanos = rig.nowNanos + (RENEWED_MILLIS * 2 / 3 - 100) * LoopRig.MILLI;
    while (rig.nowNanos < untilNanos) {
      renewals.turn(rig.nowNanos);
      if (!rig.calls.isEmpty()) {
        rig.fail(rig.onlyCall("extend"));
        calls++;
      }
      advance(100);
    }
    assertThat(calls).isBetween(2, 10);
    assertThat(rig.answers.getFirst()).isNotDone();
    advance(100);
    assertThat(rig.answers.getFirst()).as("the lease is over").isCancelled();
    assertThat(rig.lane("q").permits().inUse()).as("a renewal may have taken effect").isEqualTo(1);
    rig.nowNanos += LoopRig.SECOND;
    rig.answer(closing(), List.of(new ExtendResult(ExtendResult.Kind.NOT_FOUND, 0)));
    assertThat(rig.lane("q").permits().inUse()).isZero();
  }

  @Test
  void aRenewalThatIsAnsweredAfterTheDeliveryCounts() {
    beginLong();
    advance(RENEWED_MILLIS / 3);
    renewals.turn(rig.nowNanos);
    LoopRig.Call renewal = rig.onlyCall("extend");
    rig.answers.getFirst().complete(new Answer.Done(""));
    rig.handle();
    long leaseEnd = rig.nowMillis() + RENEWED_MILLIS;
    rig.answer(renewal, List.of(new ExtendResult(ExtendResult.Kind.EXTENDED, leaseEnd)));
    advance(RENEWED_MILLIS - 1);
    assertThat(rig.calls).as("the end of the attempt is not recorded yet, and the lease holds").isEmpty();
    advance(1);
    LoopRig.Call closing = closing();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    rig.answer(closing, List.of(new ExtendResult(ExtendResult.Kind.NOT_FOUND, 0)));
    assertThat(rig.lane("q").permits().inUse()).isZero();
  }

  @Test
  void anAcceptedAttemptWithARenewedLeaseGetsAFullLease() {
    beginLong();
    renews(ExtendResult.Kind.EXTENDED);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    renewals.turn(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("extend");
    long wholeMillis = 60_000 + 20_000 - RENEWED_MILLIS / 3;
    assertThat(call.<Extension>items().getFirst().leaseMillis()).isEqualTo(wholeMillis);
    rig.answer(call, List.of(new ExtendResult(ExtendResult.Kind.EXTENDED, rig.nowMillis() + wholeMillis)));
    advance(wholeMillis - 1);
    assertThat(rig.calls).isEmpty();
    assertThat(rig.lane("q").permits().inUse()).isEqualTo(1);
    advance(1);
    assertThat(closing()).isNotNull();
  }

  /** Returns the only call, which closes a lease. */
  private LoopRig.Call closing() {
    renewals.turn(rig.nowNanos);
    LoopRig.Call call = rig.onlyCall("extend");
    assertThat(call.<Extension>items()).extracting(Extension::leaseMillis).containsExactly(0L);
    return call;
  }

  @Test
  void anAcceptedAttemptIsReleasedOnceItsLeaseIsClosed() {
    rig.local("q");
    rig.clock.answered(new StoreClock.Question(START_MILLIS * 1_000, rig.nowNanos), START_MILLIS * 1_000, true,
        rig.nowNanos);
    TaskRecord task = begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    advance(LEASE_MILLIS);
    rig.answer(closing(), List.of(new ExtendResult(ExtendResult.Kind.EXTENDED, task.leaseEnd() + 5_000)));
    assertThat(rig.lane("q").permits().inUse()).as("another caller has extended the lease").isEqualTo(1);
    advance(5_000 - 1);
    renewals.turn(rig.nowNanos);
    assertThat(rig.calls).isEmpty();
    advance(2_000);
    rig.fail(closing());
    assertThat(rig.lane("q").permits().inUse()).as("the end of the lease is unknown").isEqualTo(1);
    advance(5_000);
    rig.answer(closing(), List.of(new ExtendResult(ExtendResult.Kind.STALE, 0)));
    assertReleased("q");
  }

  @Test
  void anEndedLeaseThatIsOnlyReadReleasesNothing() {
    rig.isShared = true;
    rig.queue(QueueConfig.builder("q", Target.local()).concurrency(5).build());
    rig.lane("q").permits().grant(5, 1, Long.MAX_VALUE, rig.nowNanos + 100 * LoopRig.SECOND, rig.nowNanos);
    TaskRecord task = begin("q", "q", 0);
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    rig.nowNanos += LEASE_MILLIS * 1_000_000 + LoopRig.SECOND;
    attempts.findReports(rig.nowNanos);
    rig.answer(rig.onlyCall("find"), Optional.of(task));
    assertThat(rig.lane("q").permits().inUse()).as("an extension may be under way in the store").isEqualTo(1);
  }

  @Test
  void theFullLeaseIsRequestedAgainAfterAFailure() {
    beginLong();
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    renewals.turn(rig.nowNanos);
    rig.fail(rig.onlyCall("extend"));
    advance(1_000);
    renewals.turn(rig.nowNanos);
    assertThat(rig.onlyCall("extend").<Extension>items().getFirst().leaseMillis())
        .isBetween(60_000L, 60_000L + 20_000);
  }

  @Test
  void anEndedLeaseIsNotRequestedAgain() {
    beginLong();
    rig.answers.getFirst().complete(new Answer.Accepted(""));
    rig.handle();
    renewals.turn(rig.nowNanos);
    LoopRig.Call extension = rig.onlyCall("extend");
    advance(RENEWED_MILLIS);
    rig.fail(extension);
    rig.nowNanos += LoopRig.SECOND;
    assertThat(closing()).as("the store extends no lease that has ended").isNotNull();
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
    assertThat(rig.lane("q").permits().inUse()).as("the task still runs").isEqualTo(1);
    rig.nowNanos += LoopRig.SECOND - 1;
    attempts.findReports(rig.nowNanos);
    assertThat(rig.calls).as("at most one check a second").isEmpty();
    rig.nowNanos += 1;
    attempts.findReports(rig.nowNanos);
    rig.answer(rig.onlyCall("find"), Optional.empty());
    assertReleased("q");
  }
}
