package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.Pull;
import io.foliot.core.Scheduler.QueueInUseException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.Submission;
import io.foliot.core.TaskRef;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests queues that one node of a cluster puts and deletes while another node uses them. */
final class SharedQueuesTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());
  /** Longest time of a deletion, from the call to its result. */
  private static final Duration DELETION = Duration.ofSeconds(5);

  private final Cluster cluster = new Cluster();
  private final Cluster.Node a = cluster.node("a");
  private final Cluster.Node b = cluster.node("b");

  private <T> T done(CompletableFuture<T> call) {
    cluster.advance(Duration.ofMillis(200));
    assertThat(call).isDone();
    return call.join();
  }

  private static Submission task(Duration delay) {
    return Submission.after("q", delay, Body.json("a"));
  }

  private boolean exists() {
    return cluster.store.document(DocumentKind.QUEUE, "q").toCompletableFuture().join().isPresent();
  }

  private boolean hasLive() {
    return cluster.store.hasLive("q").toCompletableFuture().join();
  }

  @Test
  void aQueueThatAnotherNodeHasPutIsFoundAtOnce() {
    a.putQueue(QUEUE);
    assertThat(b.engine.queue("q")).isEmpty();
    assertThat(done(b.engine.submit(task(Duration.ofHours(1)).toBuilder().key("k").build())).kind())
        .isEqualTo(SubmitResult.Kind.CREATED);
    // Each of the following calls of node b names a queue that b has not read yet.
    String[] names = {"batch", "touch", "tasks", "redrive", "pull", "pause", "find", "delete"};
    for (String name : names) {
      a.putQueue(QueueConfig.of(name, name.equals("pull") ? Target.pull() : Target.local()));
    }
    assertThat(done(b.engine.submitAll(List.of(task(Duration.ofHours(1)),
        Submission.after("batch", Duration.ofHours(1), Body.EMPTY))))).hasSize(2);
    cluster.advance(Duration.ofSeconds(2));
    for (String name : names) {
      a.putQueue(QueueConfig.of("new-" + name, name.equals("pull") ? Target.pull() : Target.local()));
    }
    assertThat(done(b.engine.touch("new-touch", List.of("k"), Duration.ZERO))).hasSize(1);
    a.putQueue(QueueConfig.of("new-tasks-2", Target.local()));
    assertThat(done(b.engine.tasks("new-tasks-2", null, 10, null)).tasks()).isEmpty();
    a.putQueue(QueueConfig.of("new-redrive-2", Target.local()));
    assertThat(done(b.engine.redrive("new-redrive-2", List.of()))).isEmpty();
    a.putQueue(QueueConfig.of("new-pull-2", Target.pull()));
    assertThat(done(b.engine.pull(new Pull("new-pull-2", 1, 0, 1_000, "w")))).isEmpty();
    a.putQueue(QueueConfig.of("new-pause-2", Target.local()));
    assertThat(done(b.engine.setPaused("new-pause-2", true)).paused()).isTrue();
    a.putQueue(QueueConfig.of("new-find-2", Target.local()));
    assertThat(done(b.engine.findQueue("new-find-2"))).isPresent();
    a.putQueue(QueueConfig.of("new-delete-2", Target.local()));
    CompletableFuture<Boolean> deleted = b.engine.deleteQueue("new-delete-2");
    cluster.advance(DELETION);
    assertThat(deleted).isCompletedWithValue(true);
  }

  @Test
  void unknownNamesCauseFewReadsOfTheStore() {
    cluster.advance(Duration.ofSeconds(2));
    long before = cluster.remote.queueReads;
    List<CompletableFuture<SubmitResult>> calls = new ArrayList<>();
    for (int millis = 0; millis < 1_000; millis++) {
      for (int i = 0; i < 20; i++) {
        calls.add(b.engine.submit(Submission.after("none-" + millis + "-" + i, Duration.ZERO, Body.EMPTY)));
      }
      cluster.advance(Duration.ofMillis(1));
    }
    cluster.advance(Duration.ofMillis(200));
    for (CompletableFuture<SubmitResult> call : calls) {
      assertThatThrownBy(call::join).hasRootCauseInstanceOf(UnknownQueueException.class);
    }
    assertThat(cluster.remote.queueReads - before).isBetween(2L, 130L);
  }

  @Test
  void anUnavailableStoreMakesNoQueueUnknown() {
    cluster.advance(Duration.ofSeconds(2));
    cluster.remote.away = true;
    CompletableFuture<SubmitResult> call = b.engine.submit(task(Duration.ZERO));
    cluster.advance(Duration.ofMillis(200));
    assertThatThrownBy(call::join).hasRootCauseInstanceOf(StoreException.class)
        .hasCauseInstanceOf(StoreAwayException.class);
  }

  @Test
  void aQueueIsDeletedOnceForAllNodes() {
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(2));
    SubmitResult task = done(b.engine.submit(task(Duration.ofHours(1))));
    CompletableFuture<Boolean> refused = a.engine.deleteQueue("q");
    cluster.advance(Duration.ofMillis(100));
    assertThatThrownBy(refused::join).hasRootCauseInstanceOf(QueueInUseException.class);
    done(b.engine.cancel(new TaskRef.ById(task.id())));
    CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
    cluster.advance(DELETION);
    assertThat(deleted).isCompletedWithValue(true);
    CompletableFuture<SubmitResult> late = b.engine.submit(task(Duration.ofHours(1)));
    cluster.advance(Duration.ofMillis(200));
    assertThatThrownBy(late::join).hasRootCauseInstanceOf(UnknownQueueException.class);
    CompletableFuture<Boolean> again = b.engine.deleteQueue("q");
    cluster.advance(DELETION);
    assertThat(again).isCompletedWithValue(false);
  }

  /**
   * Runs 80 deletions. Submits a task during or after each of them, 50 ms later each time. If the submit is
   * acknowledged, the queue must still exist and the deletion must fail. Otherwise neither the task nor the queue may
   * exist.
   */
  @Test
  void aSubmitAcknowledgedDuringADeletionKeepsTheQueue() {
    for (int millis = 0; millis < 4_000; millis += 50) {
      a.putQueue(QUEUE);
      cluster.advance(Duration.ofSeconds(2));
      CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
      cluster.advance(Duration.ofMillis(millis));
      CompletableFuture<SubmitResult> submitted = b.engine.submit(task(Duration.ofHours(1)));
      cluster.advance(DELETION);
      assertThat(deleted).isDone();
      assertThat(submitted).isDone();
      if (!submitted.isCompletedExceptionally()) {
        assertThat(exists()).as("%s ms after the deletion began", millis).isTrue();
        assertThatThrownBy(deleted::join).hasRootCauseInstanceOf(QueueInUseException.class);
        done(b.engine.cancel(new TaskRef.ById(submitted.join().id())));
      } else {
        assertThat(hasLive()).as("%s ms after the deletion began", millis).isFalse();
        assertThat(exists()).isFalse();
      }
    }
  }

  @Test
  void aNodePausedDuringADeletionDoesNotAcknowledge() {
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(2));
    b.pause();
    CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
    cluster.advance(DELETION);
    assertThat(deleted).isCompletedWithValue(true);
    // The loops of node b have not turned meanwhile, so b has not read the deletion.
    CompletableFuture<SubmitResult> submitted = b.engine.submit(task(Duration.ofSeconds(1)));
    assertThat(submitted).isNotDone();
    b.resume();
    cluster.advance(Duration.ofSeconds(1));
    assertThatThrownBy(submitted::join).hasRootCauseInstanceOf(StoreException.class).rootCause()
        .hasMessageContaining("the queue was deleted");
    // The error leaves open whether the task fires. The task does not fire until the queue exists again.
    cluster.advance(Duration.ofSeconds(10));
    assertThat(cluster.fired).isEmpty();
    assertThat(b.engine.status().missingQueues()).containsExactly("q");
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(5));
    assertThat(cluster.fired).hasSize(1);
    assertThat(b.engine.status().missingQueues()).isEmpty();
  }

  @Test
  void aSuspendedMachineDoesNotAcknowledgeAfterADeletion() {
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(2));
    CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
    b.sleep(DELETION);
    assertThat(deleted).isCompletedWithValue(true);
    CompletableFuture<SubmitResult> submitted = b.engine.submit(task(Duration.ofSeconds(1)));
    cluster.advance(Duration.ofSeconds(1));
    assertThat(submitted).isCompletedExceptionally();
  }

  @Test
  void aPutDuringADeletionWins() {
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(2));
    CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
    cluster.advance(Duration.ofSeconds(1));
    b.putQueue(QUEUE.toBuilder().priority(3).build());
    CompletableFuture<SubmitResult> submitted = b.engine.submit(task(Duration.ofHours(1)));
    cluster.advance(DELETION);
    assertThat(submitted).isCompleted();
    assertThatThrownBy(deleted::join).rootCause()
        .isInstanceOfAny(OverloadedException.class, QueueInUseException.class);
    assertThat(exists()).isTrue();
  }

  @Test
  void aDeletionWhoseNodeDiesIsUndone() {
    a.putQueue(QUEUE);
    cluster.advance(Duration.ofSeconds(2));
    CompletableFuture<Boolean> deleted = a.engine.deleteQueue("q");
    cluster.advance(Duration.ofMillis(1_500));
    assertThat(deleted).isNotDone();
    CompletableFuture<SubmitResult> refused = b.engine.submit(task(Duration.ofHours(1)));
    assertThatThrownBy(refused::join).hasRootCauseInstanceOf(OverloadedException.class);
    a.die();
    cluster.advance(Duration.ofSeconds(35));
    assertThat(done(b.engine.submit(task(Duration.ofHours(1)))).kind()).isEqualTo(SubmitResult.Kind.CREATED);
  }
}
