package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.SealedException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.format.SealFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests an engine over a store behind a network. */
final class RemoteStoreTest {
  private final RemoteStore remote = new RemoteStore();

  private World world() {
    return world(UnaryOperator.identity());
  }

  private World world(UnaryOperator<EngineOptions.Builder> options) {
    World world = new World(options, remote::over);
    world.queue(World.local("q"));
    return world;
  }

  /** Writes due tasks directly to the store, past the engine, so that the engine has to find them. */
  private static void write(World world, int tasks) {
    List<Draft> drafts = new ArrayList<>();
    long now = world.clock.wallMillis();
    for (int i = 0; i < tasks; i++) {
      drafts.add(new Draft(TaskId.of(now, i, i), "q", null, Due.NOW, Body.EMPTY, 0, OnConflict.RESET, null));
    }
    assertThat(world.store.submit(drafts)).isCompleted();
  }

  /** Submits tasks through the engine, in batches of 1,000. Each task is due 1 ms after its submit. */
  private static void submit(World world, int tasks) {
    for (int i = 0; i < tasks; i += 1_000) {
      world.join(world.engine.submitAll(Collections.nCopies(1_000,
          Submission.after("q", Duration.ofMillis(1), Body.EMPTY))));
    }
  }

  /**
   * Runs the engine, and releases withheld answers every {@code answerMillis}, until the receiver has got {@code tasks}
   * tasks. Fails if that takes longer than {@code boundMillis}.
   */
  private void drains(World world, int tasks, long answerMillis, long boundMillis) {
    for (long millis = 0; millis < boundMillis && world.receiver.seen.size() < tasks; millis += answerMillis) {
      world.advance(Duration.ofMillis(answerMillis));
      remote.releaseAnswers();
      world.settle();
    }
    assertThat(world.receiver.seen).hasSize(tasks);
  }

  @Test
  void anUnavailableStoreIsRetriedUntilItAnswers() {
    try (World world = world()) {
      world.submit("q", Duration.ofSeconds(1), "before");
      remote.away = true;
      world.advance(Duration.ofHours(1));
      assertThat(world.receiver.seen).isEmpty();
      assertThat(world.engine.status().ready()).isFalse();
      CompletableFuture<SubmitResult> refused = world.engine
          .submit(Submission.after("q", Duration.ZERO, Body.json("while")));
      world.settle();
      assertThat(refused).isCompletedExceptionally();
      assertThat(refused.exceptionNow()).isInstanceOf(StoreException.class);

      remote.away = false;
      world.advance(Duration.ofSeconds(3));
      assertThat(world.receiver.texts()).containsExactly("before");
      assertThat(world.engine.status().ready()).isTrue();
      world.submit("q", Duration.ofMillis(10), "after");
      world.advance(Duration.ofMillis(10));
      assertThat(world.receiver.texts()).containsExactly("before", "after");
    }
  }

  @Test
  void aSilentStoreIsNotReadyAfterAFewSeconds() {
    try (World world = world()) {
      world.advance(Duration.ofSeconds(5));
      assertThat(world.engine.status().ready()).isTrue();
      remote.mute = true;
      world.advance(Duration.ofSeconds(4));
      assertThat(world.engine.status().ready()).isFalse();
      remote.mute = false;
      world.advance(Duration.ofSeconds(2));
      assertThat(world.engine.status().ready()).isTrue();
    }
  }

  @Test
  void aStoreThatAnswersReadsButRefusesWritesIsNotReady() {
    try (World world = world()) {
      world.submit("q", Duration.ofSeconds(1), "a");
      remote.refusesWrites = true;
      world.advance(Duration.ofMillis(1_500));
      for (int i = 0; i < 100; i++) {
        world.advance(Duration.ofMillis(100));
        assertThat(world.engine.status().ready()).as("after %d ms", 100 * i).isFalse();
      }
      remote.refusesWrites = false;
      world.advance(Duration.ofSeconds(3));
      assertThat(world.receiver.texts()).containsExactly("a");
      assertThat(world.engine.status().ready()).isTrue();
    }
  }

  @Test
  void aRefusedWriteIsForgottenWhenNothingIsLeftToWrite() {
    try (World world = world()) {
      SubmitResult submitted = world.submit("q", Duration.ofSeconds(1), "a");
      remote.refusesWrites = true;
      world.advance(Duration.ofMillis(1_500));
      assertThat(world.engine.status().ready()).isFalse();
      remote.refusesWrites = false;
      // The cancel simulates another node that has recorded the end.
      assertThat(world.store.cancel(List.of(new TaskRef.ById(submitted.id())))).isCompleted();
      world.advance(Duration.ofSeconds(10));
      assertThat(world.engine.status().ready()).isTrue();
    }
  }

  @Test
  void theEndOfAnAttemptIsRecordedWhenTheStoreIsBack() {
    try (World world = world()) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      world.receiver.behaviour = attempt -> answer;
      SubmitResult submitted = world.submit("q", Duration.ZERO, "a");
      world.advance(Duration.ofMillis(10));
      assertThat(world.receiver.seen).hasSize(1);
      remote.away = true;
      answer.complete(new Answer.Done(""));
      world.advance(Duration.ofSeconds(15));
      remote.away = false;
      world.advance(Duration.ofSeconds(3));
      assertThat(world.task(submitted.id()).state()).isEqualTo(TaskState.FINISHED);
      world.advance(Duration.ofMinutes(5));
      assertThat(world.receiver.seen).hasSize(1);
    }
  }

  @Test
  void aTaskWhoseClaimLostItsReplyRunsAfterTheLease() {
    try (World world = world()) {
      SubmitResult submitted = world.submit("q", Duration.ofMillis(5), "a");
      remote.lostReplyOf = "claim";
      world.advance(Duration.ofMillis(5));
      assertThat(world.task(submitted.id()).state()).isEqualTo(TaskState.RUNNING);
      assertThat(world.receiver.seen).isEmpty();
      world.advance(Duration.ofMillis(world.task(submitted.id()).leaseEnd() - world.clock.wallMillis() + 110));
      assertThat(world.receiver.seen).hasSize(1);
      assertThat(world.task(submitted.id()).state()).isEqualTo(TaskState.FINISHED);
    }
  }

  @Test
  void aSettleWhoseReplyIsLostIsRepeatedAndCountsOnce() {
    try (World world = world()) {
      SubmitResult submitted = world.submit("q", Duration.ofMillis(5), "a");
      remote.lostReplyOf = "settle";
      world.advance(Duration.ofSeconds(5));
      assertThat(world.task(submitted.id()).state()).isEqualTo(TaskState.FINISHED);
      assertThat(world.task(submitted.id()).attempts()).hasSize(1);
      assertThat(world.receiver.seen).hasSize(1);
    }
  }

  @Test
  void aQueueChangeOfAnotherNodeAppliesWithinASecond() {
    try (World world = world()) {
      Document document = world.store.document(DocumentKind.QUEUE, "q").toCompletableFuture().join().orElseThrow();
      world.queue(World.local("q").toBuilder().paused(true).build());
      Document paused = world.store.document(DocumentKind.QUEUE, "q").toCompletableFuture().join().orElseThrow();
      world.store.writeDocument(DocumentKind.QUEUE, "q", paused.version(), document.content()).toCompletableFuture()
          .join();
      assertThat(world.engine.queue("q").orElseThrow().paused()).isTrue();
      world.advance(Duration.ofMillis(1_100));
      assertThat(world.engine.queue("q").orElseThrow().paused()).isFalse();
    }
  }

  @Test
  void nothingIsLostOrLateWhenTheSlotsDouble() {
    remote.halved = true;
    try (World world = world(options -> options.loops(3))) {
      for (int i = 0; i < 200; i++) {
        world.submit("q", Duration.ofMillis(20L * i), "before " + i);
      }
      for (int i = 0; i < 50; i++) {
        world.submit("q", Duration.ofMinutes(2), "far " + i);
      }
      world.advance(Duration.ofSeconds(1));
      remote.halved = false;
      for (int i = 0; i < 100; i++) {
        world.submit("q", Duration.ofMillis(20L * i), "after " + i);
        world.advance(Duration.ofMillis(3));
      }
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.seen).hasSize(300);
      world.advance(Duration.ofMinutes(2));
      assertThat(new HashSet<>(world.receiver.texts())).hasSize(350);
      assertThat(world.receiver.seen).hasSize(350).allSatisfy(seen -> assertThat(seen.lateMillis()).isBetween(0L, 1L));
    }
  }

  @Test
  void aBacklogThatDrainsQuicklyIsNotParkedFirst() {
    int backlog = 50_000;
    try (World world = world(options -> options.wheelEntries(100_000).laneEntries(5_000).readyEntries(50_000))) {
      remote.slow = true;
      submit(world, backlog);
      drains(world, backlog, 5, 3_000);
      assertThat(remote.parked).as("only tasks that came before the lane was known to flow").isLessThan(backlog / 4);
    }
  }

  @Test
  void aTaskClaimedDuringAReadIsNotClaimedAgain() {
    int backlog = 30_000;
    try (World world = world(options -> options.wheelEntries(1_000).laneEntries(2_000).readyEntries(50_000))) {
      remote.slow = true;
      remote.slowDue = true;
      remote.rounds = 3;
      write(world, backlog);
      drains(world, backlog, 5, 4_000);
      assertThat(remote.claimItems).isEqualTo(backlog);
    }
  }

  @Test
  void aTaskThatWaitedForRoomIsNotReportedAsFoundLate() {
    int backlog = 50_000;
    try (World world = world(options -> options.wheelEntries(100_000).laneEntries(5_000).readyEntries(50_000))) {
      remote.slow = true;
      submit(world, backlog);
      drains(world, backlog, 100, 30_000);
      assertThat(world.receiver.seen.getLast().lateMillis()).isGreaterThan(2_000);
      assertThat(world.foundLate).isEmpty();
    }
  }

  @Test
  void aBacklogLargerThanTheLanesDrainsQuickly() {
    int backlog = 60_000;
    try (World world = world(options -> options.wheelEntries(1_000).laneEntries(2_000).readyEntries(50_000))) {
      remote.slow = true;
      remote.slowDue = true;
      write(world, backlog);
      drains(world, backlog, 5, 4_000);
    }
  }

  @Test
  void anAlarmDoesNotWaitBehindDeadlinesThatWerePushedBack() {
    int devices = 2_000;
    try (World world = new World(UnaryOperator.identity(), remote::over)) {
      world.queue(World.local("q").toBuilder().concurrency(4).build());
      List<TaskRef> alive = new ArrayList<>();
      List<Draft> drafts = new ArrayList<>();
      long now = world.clock.wallMillis();
      for (int i = 0; i < devices; i++) {
        TaskId id = TaskId.of(now, i, i);
        drafts.add(new Draft(id, "q", null, Due.at(now + 1_000), Body.EMPTY, 0, OnConflict.RESET, null));
        alive.add(new TaskRef.ById(id));
      }
      drafts.add(new Draft(TaskId.of(now, 0xFFFF, devices), "q", null, Due.at(now + 1_001), Body.json("alarm"), 0,
          OnConflict.RESET, null));
      assertThat(world.store.submit(drafts)).isCompleted();
      world.advance(Duration.ofMillis(500));
      assertThat(world.store.touch(alive.stream().map(ref -> new Touch(ref, Due.at(now + 60_000))).toList()))
          .isCompleted();
      remote.slow = true;
      world.advance(Duration.ofMillis(500));
      for (int millis = 0; millis < 200 && world.receiver.seen.isEmpty(); millis += 5) {
        remote.releaseAnswers();
        world.advance(Duration.ofMillis(5));
      }
      assertThat(world.receiver.texts()).containsExactly("alarm");
    }
  }

  /** A queue is overloaded from its start: most tasks that a probe finds due are postponed before they are claimed. */
  @Test
  void anAlarmDoesNotWaitBehindProbesThatAreOutdated() {
    int early = 4_000;
    int devices = 8_000;
    try (World world = new World(UnaryOperator.identity(), remote::over)) {
      world.queue(World.local("q").toBuilder().concurrency(4).build());
      List<Draft> drafts = new ArrayList<>();
      long now = world.clock.wallMillis();
      for (int i = 0; i < devices; i++) {
        drafts.add(new Draft(TaskId.of(now, i, i), "q", null, Due.at(now + (i < early ? 10_000 : 10_020)), Body.EMPTY,
            0, OnConflict.RESET, null));
      }
      assertThat(world.store.submit(drafts)).isCompleted();
      world.advance(Duration.ofMillis(500));
      List<Touch> alive = drafts.stream()
          .map(draft -> new Touch(new TaskRef.ById(draft.id()), Due.at(now + 60_000))).toList();
      // The first claims find tasks that were postponed without a move, so the tasks that are due next are probed.
      assertThat(world.store.touch(alive.subList(0, early).stream()
          .map(touch -> new Touch(touch.ref(), Due.at(now + 15_000))).toList())).isCompleted();
      remote.slow = true;
      world.advance(Duration.ofMillis(9_500));
      answers(world, 200);
      assertThat(world.store.touch(alive)).isCompleted();
      CompletableFuture<SubmitResult> alarm = world.engine
          .submit(Submission.after("q", Duration.ofMillis(10), Body.json("alarm")));
      answers(world, 2_500);
      assertThat(alarm).isCompleted();
      assertThat(world.receiver.texts()).contains("alarm");
    }
  }

  /** Runs the engine for a time, with answers that take five milliseconds. */
  private void answers(World world, int millis) {
    for (int passed = 0; passed < millis; passed += 5) {
      world.advance(Duration.ofMillis(5));
      remote.releaseAnswers();
    }
  }

  /**
   * Submits tasks that are due in ten seconds; the last of them is the alarm. Postpones the other tasks by five
   * seconds, which is too little to move their index entries. Then advances the time until a task fires.
   */
  private void heartbeats(World world, int devices) {
    long begun = world.clock.wallMillis();
    List<Draft> drafts = new ArrayList<>();
    List<TaskRef> alive = new ArrayList<>();
    for (int i = 0; i < devices; i++) {
      TaskId id = TaskId.of(begun, i, i);
      drafts.add(new Draft(id, "q", null, Due.at(begun + 10_000), Body.EMPTY, 0, OnConflict.RESET, null));
      alive.add(new TaskRef.ById(id));
    }
    drafts.add(new Draft(TaskId.of(begun, 0xFFFF, devices), "q", null, Due.at(begun + 10_001), Body.json("alarm"), 0,
        OnConflict.RESET, null));
    assertThat(world.store.submit(drafts)).isCompleted();
    world.advance(Duration.ofMillis(500));
    assertThat(world.store.touch(alive.stream().map(ref -> new Touch(ref, Due.at(begun + 15_000))).toList()))
        .isCompleted();
    remote.slow = true;
    world.advance(Duration.ofMillis(9_500));
    for (int millis = 0; millis < 5_000 && world.receiver.seen.isEmpty(); millis += 20) {
      world.advance(Duration.ofMillis(20));
      remote.releaseAnswers();
    }
  }

  @Test
  void anAlarmDoesNotWaitUntilOtherEntriesHaveMoved() {
    try (World world = world()) {
      heartbeats(world, 40_000);
      assertThat(world.receiver.texts()).containsExactly("alarm");
      assertThat(world.receiver.seen.getFirst().lateMillis()).isLessThan(100);
    }
  }

  @Test
  void entriesThatWerePushedBackMoveOnceAndFireWhenTheyAreDue() {
    int devices = 5_000;
    try (World world = world()) {
      heartbeats(world, devices);
      drains(world, devices + 1, 5, 6_000);
      assertThat(world.receiver.seen).allSatisfy(seen -> assertThat(seen.lateMillis()).isBetween(0L, 200L));
      assertThat(remote.claimItems).as("a move and a claim per task, and some claims before a probe")
          .isLessThan(2L * devices + 1_000);
    }
  }

  @Test
  void aDeadlinePulledNearerBeforeItsEntryMovedIsKept() {
    try (World world = world()) {
      heartbeats(world, 10_000);
      long dueAt = world.clock.wallMillis() + 2_000;
      // The wheel has the later deadline, and the entry has not moved. The touch changes only the record.
      TaskRecord unmoved = world.join(world.store.live(20_000, null).toCompletableFuture()).tasks().stream()
          .filter(task -> task.wakeAt() < dueAt - 2_000).findFirst().orElseThrow();
      assertThat(world.store.touch(List.of(new Touch(new TaskRef.ById(unmoved.id()), Due.at(dueAt))))).isCompleted();
      int before = world.receiver.seen.size();
      for (int millis = 0; millis < 4_000; millis += 20) {
        world.advance(Duration.ofMillis(20));
        remote.releaseAnswers();
      }
      assertThat(world.receiver.seen).hasSize(before + 1);
      assertThat(world.receiver.seen.getLast().lateMillis()).isLessThan(100);
    }
  }

  @Test
  void parkedTasksAreReadWithoutAPauseIfPagesAreShort() {
    try (World world = world()) {
      world.join(world.engine.setPaused("q", true));
      for (int i = 0; i < 1_000; i++) {
        world.submit("q", Duration.ZERO, "t" + i);
      }
      world.advance(Duration.ofSeconds(1));
      assertThat(remote.parked).isEqualTo(1_000);
      remote.shortPages = true;
      world.join(world.engine.setPaused("q", false));
      world.advance(Duration.ofMillis(300));
      assertThat(world.receiver.seen).hasSize(1_000);
    }
  }

  @Test
  void anOlderReadDoesNotRemoveAQueueThatWasJustPut() {
    try (World world = new World(UnaryOperator.identity(), remote::over)) {
      remote.slowDocuments = true;
      world.advance(Duration.ofMillis(1_500));
      world.queue(World.local("q"));
      remote.releaseAnswers();
      assertThat(world.engine.queue("q")).isPresent();
      assertThat(world.submit("q", Duration.ofMillis(10), "a").kind()).isEqualTo(SubmitResult.Kind.CREATED);
      remote.slowDocuments = false;
      world.advance(Duration.ofSeconds(2));
      assertThat(world.engine.queue("q")).isPresent();
      assertThat(world.receiver.texts()).containsExactly("a");
    }
  }

  @Test
  void settingsAreReadAgainIfAStoreReusesTheirVersionAfterAFailover() {
    try (World world = new World(UnaryOperator.identity(), remote::over)) {
      world.queue(World.local("q"));
      Document first = world.join(world.store.document(DocumentKind.QUEUE, "q").toCompletableFuture()).orElseThrow();
      world.queue(World.local("q").toBuilder().paused(true).build());
      Document second = world.join(world.store.document(DocumentKind.QUEUE, "q").toCompletableFuture()).orElseThrow();
      world.advance(Duration.ofSeconds(2));
      assertThat(world.engine.queue("q").orElseThrow().paused()).isTrue();
      // Simulates a failover that lost the second write, and another node that then wrote the same version.
      remote.documents = List.of(new Document("q", second.version(), first.content()));
      world.advance(Duration.ofSeconds(2));
      assertThat(world.engine.queue("q").orElseThrow().paused()).isFalse();
    }
  }

  @Test
  void fewTasksAreParkedBeforeTheirQueueIsKnown() {
    try (World world = new World(UnaryOperator.identity(), remote::over)) {
      write(world, 5_000);
      remote.slow = true;
      world.advance(Duration.ofMillis(100));
      CompletableFuture<QueueConfig> put = world.engine.putQueue(World.local("q"));
      for (int millis = 0; millis < 2_000; millis += 5) {
        remote.releaseAnswers();
        world.advance(Duration.ofMillis(5));
      }
      assertThat(put).isCompleted();
      assertThat(world.receiver.seen).hasSize(5_000);
      assertThat(remote.parked).as("the parks that were in progress").isLessThan(1_000);
    }
  }

  @Test
  void tasksOfACommittedTransactionFire() {
    try (World world = world()) {
      List<Draft> fast = world.engine.drafts(List.of(Submission.after("q", Duration.ofMillis(50), Body.json("fast"))));
      List<Draft> late = world.engine
          .drafts(List.of(Submission.after("q", Duration.ofMillis(50), Body.json("late"))));
      world.advance(Duration.ofMillis(5));
      world.engine.committed(fast, world.store.submit(fast).toCompletableFuture().join());
      world.store.submit(late);
      world.advance(Duration.ofMillis(50));
      assertThat(world.receiver.texts()).containsExactly("fast");
      world.advance(Duration.ofMillis(110));
      assertThat(world.receiver.texts()).containsExactly("fast", "late");
    }
  }

  /** Writes a seal, or removes it if the state is null, and waits until the engine has read the change. */
  private static void seal(World world, StoreSeal.@Nullable State state) {
    writeSeal(world, state == null ? null : SealFormat.encode(StoreSeal.of(state, "elsewhere")));
  }

  private static void writeSeal(World world, byte @Nullable [] content) {
    long version = world.store.document(DocumentKind.CLUSTER, StoreSeal.NAME).toCompletableFuture().join()
        .map(Document::version).orElse(0L);
    assertThat(
        world.store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, version, content).toCompletableFuture().join())
        .isTrue();
    world.advance(Duration.ofMillis(1_100));
  }

  @Test
  void aSealedStoreGetsNoDraftsForTransactions() {
    try (World world = world()) {
      List<Submission> submissions = List.of(Submission.after("q", Duration.ofMillis(50), Body.json("1")));
      assertThat(world.engine.drafts(submissions)).hasSize(1);
      seal(world, StoreSeal.State.MOVED);
      assertThatThrownBy(() -> world.engine.drafts(submissions)).isInstanceOf(Scheduler.NotServingException.class);
      assertThatThrownBy(world.engine::ensureAcceptsWrites).isInstanceOf(Scheduler.NotServingException.class);
    }
  }

  @Test
  void aSealThatCannotBeDecodedStopsClaims() {
    try (World world = world()) {
      world.submit("q", Duration.ofSeconds(5), "waits");
      writeSeal(world, new byte[]{9, 9, 9, 9, 9, 9});
      world.advance(Duration.ofSeconds(10));
      assertThat(world.receiver.texts()).isEmpty();
      seal(world, null);
      world.advance(Duration.ofSeconds(1));
      assertThat(world.receiver.texts()).containsExactly("waits");
    }
  }

  @Test
  void aSealedStoreGetsNoSubmitsAndNoClaims() {
    try (World world = world()) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      world.receiver.behaviour = attempt -> answer;
      SubmitResult running = world.submit("q", Duration.ZERO, "runs");
      world.submit("q", Duration.ofSeconds(5), "waits");
      world.advance(Duration.ofMillis(10));
      seal(world, StoreSeal.State.DRAINING);
      assertThat(world.engine.status().ready()).isFalse();
      assertThat(world.engine.submit(Submission.after("q", Duration.ZERO, Body.EMPTY)).exceptionNow())
          .isInstanceOf(Scheduler.OverloadedException.class).hasMessageContaining("another store");
      answer.complete(new Answer.Done(""));
      world.advance(Duration.ofSeconds(10));
      assertThat(world.task(running.id()).state()).as("the end of an attempt is recorded")
          .isEqualTo(TaskState.FINISHED);
      assertThat(world.receiver.texts()).containsExactly("runs");
      seal(world, null);
      world.advance(Duration.ofSeconds(2));
      assertThat(world.receiver.texts()).containsExactly("runs", "waits");
    }
  }

  @Test
  void noEndIsRecordedInAStoreWhoseTasksHaveMoved() {
    try (World world = world()) {
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      world.receiver.behaviour = attempt -> answer;
      SubmitResult running = world.submit("q", Duration.ZERO, "runs");
      world.advance(Duration.ofMillis(10));
      seal(world, StoreSeal.State.MOVED);
      answer.complete(new Answer.Done(""));
      world.advance(Duration.ofSeconds(10));
      assertThat(world.task(running.id()).state()).isEqualTo(TaskState.RUNNING);
    }
  }

  @Test
  void anEngineStartsOnlyAfterAReadOfTheStoresClock() {
    try (World world = world()) {
      remote.lostReplyOf = "timeMicros";
      Engine other = world.anotherEngine();
      assertThat(other.start()).failsWithin(Duration.ZERO).withThrowableThat()
          .havingCause().isInstanceOf(StoreException.class).withMessage("the reply is lost");
      assertThat(other.start()).as("started again").succeedsWithin(Duration.ZERO);
    }
  }

  @Test
  void anEngineDoesNotStartOverAStoreThatIsSealed() {
    try (World world = world()) {
      seal(world, StoreSeal.State.FILLING);
      Engine other = world.anotherEngine();
      assertThat(other.start()).failsWithin(Duration.ZERO).withThrowableThat()
          .havingCause().isInstanceOf(SealedException.class).withMessageContaining("state=FILLING");
    }
  }

  @Test
  void aStopWaitsForTheExtensionAfterAccepted() {
    try (World world = world()) {
      CompletableFuture<Void> stopped = stopAfterAccepted(world);
      world.advance(Duration.ofSeconds(1));
      assertThat(stopped).as("the extension is under way").isNotDone();
      remote.releaseAnswers();
      world.settle();
      assertThat(stopped).isCompleted();
    }
  }

  @Test
  void aStopWaitsForAnExtensionNoLongerThanItsPatience() {
    try (World world = world()) {
      CompletableFuture<Void> stopped = stopAfterAccepted(world);
      world.advance(Duration.ofSeconds(5));
      assertThat(stopped).isCompleted();
    }
  }

  /** Stops the engine, with a patience of 5 s, while the extension of the lease of an accepted attempt is under way. */
  private CompletableFuture<Void> stopAfterAccepted(World world) {
    world.queue(QueueConfig.of("long", new Target(Target.LOCAL, Map.of(), Duration.ofMinutes(1))));
    world.receiver.behaviour = attempt -> new CompletableFuture<>();
    world.submit("long", Duration.ZERO, "a");
    world.advance(Duration.ofMillis(1));
    remote.slowExtensions = true;
    world.receiver.seen.getFirst().answer().complete(new Answer.Accepted(""));
    return world.engine.stop(Duration.ofSeconds(5));
  }
}
