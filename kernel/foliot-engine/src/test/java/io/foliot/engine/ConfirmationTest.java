package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.Document;
import io.foliot.core.store.Durability;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class ConfirmationTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  /** A generation assigned shortly after the start: generations are microseconds of the store's clock. */
  private static final long GENERATION = LoopRig.START_MILLIS * 1_000 + 7;
  private static final TaskId ID = TaskId.of(1, 1, 1);

  private final LoopRig rig = new LoopRig();
  private final QueueWatch watch = new QueueWatch(rig.store, rig.registry, rig.nodeClock,
      rig.inbox, changed -> {});
  private final Confirmation confirmation = new Confirmation(rig.store, watch);

  @BeforeEach
  void othersMayDeleteTheQueue() {
    rig.isShared = true;
    rig.isClockKnown = true;
    rig.queue(QUEUE);
  }

  private CompletableFuture<String> await() {
    return confirmation.await("results").toCompletableFuture();
  }

  /** Starts the next read of all queues, and returns the call. */
  private LoopRig.Call read() {
    rig.advance(1_000);
    watch.turn(rig.nowNanos);
    return rig.onlyCall("documents");
  }

  /** Answers the next read of all queues with these queues. */
  private void reads(QueueConfig... queues) {
    rig.answer(read(), List.of(queues).stream().map(ConfirmationTest::document).toList());
  }

  private static Document document(QueueConfig queue) {
    return new Document(queue.name(), 1, QueueCodec.encode(queue));
  }

  private static Document closing(QueueConfig queue) {
    return new Document(queue.name(), 2, QueueCodec.encode(queue, LoopRig.START_MILLIS));
  }

  /** Sets a durability that permits the store to lose the writes of the last second. */
  private void losesLastWrites() {
    rig.durability = new Durability("B", 1_000, "");
  }

  /** Returns a task whose successor has generation {@code successor}; if that is null, the task has no successor. */
  private static Optional<TaskRecord> task(long generation, @Nullable Long successor) {
    TaskRecord.Edit edit = TaskRecord.edit(ID, "q", null).generation(generation);
    if (successor != null) {
      edit = edit.successor(new TaskRecord.Successor(successor, 0, 0, null, 0)).state(TaskState.RUNNING)
          .token(new Token(1, 1));
    }
    return Optional.of(edit.done());
  }

  private static void assertRefused(CompletableFuture<String> answer, String message) {
    assertThat(answer).isCompletedExceptionally();
    assertThat(GroupCommit.unwrapped(answer.exceptionNow())).isInstanceOf(StoreException.class)
        .hasMessageContaining(message);
  }

  @Test
  void resultsWithoutDoubtAreReturnedAtOnce() {
    losesLastWrites();
    CompletableFuture<Void> queuesRead = watch.nextRead();
    reads(QUEUE);
    assertThat(queuesRead).isCompleted();
    confirmation.add("q", ID, GENERATION);
    assertThat(await()).isCompletedWithValue("results");
    assertThat(rig.calls).isEmpty();
  }

  @Test
  void aSoleNodeConfirmsAtOnce() {
    rig.isShared = false;
    confirmation.add("q", ID, GENERATION);
    assertThat(await()).isCompletedWithValue("results");
  }

  @Test
  void aQueueLastReadTooLongAgoIsReadAgain() {
    confirmation.add("q", ID, GENERATION);
    CompletableFuture<String> answer = await();
    assertThat(answer).isNotDone();
    reads(QUEUE);
    assertThat(answer).isCompletedWithValue("results");
    assertThat(rig.calls).as("a durable store has the task").isEmpty();
  }

  @Test
  void aWriteLongAfterTheLastReadIsDoubtful() {
    CompletableFuture<Void> queuesRead = watch.nextRead();
    reads(QUEUE);
    assertThat(queuesRead).isCompleted();
    confirmation.add("q", ID, rig.clock.micros(rig.nowNanos) + Duration.ofMillis(2_500).toNanos() / 1_000);
    assertThat(await()).isNotDone();
  }

  @Test
  void aDeletedQueueFailsTheCall() {
    confirmation.add("q", ID, GENERATION);
    CompletableFuture<String> answer = await();
    reads();
    assertRefused(answer, "queue=q");
  }

  @Test
  void oneDeletedQueueOfSeveralFailsTheCall() {
    QueueConfig other = QueueConfig.of("other", Target.local());
    rig.queue(other);
    confirmation.add("q", ID, GENERATION);
    confirmation.add("other", TaskId.of(2, 2, 2), GENERATION);
    CompletableFuture<String> answer = await();
    reads(QUEUE);
    assertRefused(answer, "queue=other");
  }

  @Test
  void aDeletionInProgressDelaysTheAnswer() {
    for (boolean isGivenUp : new boolean[]{true, false}) {
      rig.queue(QUEUE);
      Confirmation next = new Confirmation(rig.store, watch);
      next.add("q", ID, Long.MAX_VALUE);
      CompletableFuture<String> answer = next.await("results").toCompletableFuture();
      rig.answer(read(), List.of(closing(QUEUE)));
      assertThat(answer).isNotDone();
      if (isGivenUp) {
        reads(QUEUE);
        assertThat(answer).isCompletedWithValue("results");
      } else {
        reads();
        assertRefused(answer, "queue=q");
      }
    }
  }

  @Test
  void aFailedReadOfTheQueuesFailsTheCall() {
    confirmation.add("q", ID, GENERATION);
    CompletableFuture<String> answer = await();
    rig.fail(read());
    assertRefused(answer, "the task was written");
  }

  @Test
  void aTaskThatTheStoreKeptIsAcknowledged() {
    losesLastWrites();
    for (Optional<TaskRecord> kept : List.of(task(GENERATION, null), task(GENERATION + 1, null),
        task(GENERATION - 1, GENERATION), task(GENERATION - 1, GENERATION + 1))) {
      CompletableFuture<String> answer = found(kept);
      assertThat(answer).as("%s", kept).isCompletedWithValue("results");
    }
  }

  @Test
  void aTaskThatTheStoreLostFailsTheCall() {
    losesLastWrites();
    for (Optional<TaskRecord> lost : List.of(Optional.<TaskRecord>empty(), task(GENERATION - 1, null),
        task(GENERATION - 2, GENERATION - 1))) {
      assertRefused(found(lost), "task=" + ID);
    }
  }

  /** Confirms a task of {@link #GENERATION}. The store answers the read of the task with {@code task}. */
  private CompletableFuture<String> found(Optional<TaskRecord> task) {
    Confirmation next = new Confirmation(rig.store, watch);
    rig.advance(10_000);
    next.add("q", ID, GENERATION);
    CompletableFuture<String> answer = next.await("results").toCompletableFuture();
    reads(QUEUE);
    assertThat(answer).isNotDone();
    LoopRig.Call find = rig.onlyCall("find");
    assertThat(find.arguments()).containsExactly(new TaskRef.ById(ID));
    rig.answer(find, task);
    return answer;
  }

  @Test
  void aFailedReadOfATaskFailsTheCall() {
    losesLastWrites();
    confirmation.add("q", ID, GENERATION);
    CompletableFuture<String> answer = await();
    reads(QUEUE);
    rig.fail(rig.onlyCall("find"));
    assertRefused(answer, "cannot be read");
  }

  @Test
  void theLargestGenerationOfATaskCounts() {
    losesLastWrites();
    confirmation.add("q", ID, GENERATION + 1);
    confirmation.add("q", ID, GENERATION);
    CompletableFuture<String> answer = await();
    reads(QUEUE);
    rig.answer(rig.onlyCall("find"), task(GENERATION, null));
    assertRefused(answer, "task=" + ID);
  }

  @Test
  void oneLostTaskOfSeveralFailsTheCall() {
    losesLastWrites();
    confirmation.add("q", ID, GENERATION);
    confirmation.add("q", TaskId.of(2, 2, 2), GENERATION);
    CompletableFuture<String> answer = await();
    reads(QUEUE);
    assertThat(rig.calls).hasSize(2);
    for (LoopRig.Call find : List.copyOf(rig.calls)) {
      assertThat(answer).isNotDone();
      rig.answer(find, find.arguments().getFirst().equals(new TaskRef.ById(ID))
          ? task(GENERATION, null)
          : Optional.empty());
    }
    assertRefused(answer, "task=" + TaskId.of(2, 2, 2));
  }

  @Test
  void oneDoubtfulTaskCausesAReadOfAllTasks() {
    losesLastWrites();
    QueueConfig other = QueueConfig.of("other", Target.local());
    CompletableFuture<Void> queuesRead = watch.nextRead();
    rig.answer(read(), List.of(document(QUEUE), closing(other)));
    assertThat(queuesRead).isCompleted();
    confirmation.add("q", ID, GENERATION);
    confirmation.add("other", TaskId.of(2, 2, 2), GENERATION);
    CompletableFuture<String> answer = await();
    reads(QUEUE, other);
    assertThat(rig.calls).extracting(LoopRig.Call::name).containsExactly("find", "find");
    rig.calls.forEach(find -> find.answer().complete(Optional.empty()));
    assertRefused(answer, "the store does not have the task");
  }
}
