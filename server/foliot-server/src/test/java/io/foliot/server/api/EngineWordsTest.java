package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.Scheduler.Explanation;
import io.foliot.core.TaskId;
import io.foliot.core.TaskReason;
import io.foliot.core.Unready;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the words for the reasons and states that the engine returns. */
final class EngineWordsTest {
  private static final TaskRecord TASK = TaskRecord.edit(TaskId.of(1, 2, 3), "mails", "k").dueAt(61_000).done();

  /** Returns an explanation with 2 permits, 5 waiting tasks in the lane, and a destination at its limit of 16. */
  private static Explanation explanation(TaskReason reason, @Nullable QueueConfig queue) {
    return new Explanation(TASK, TaskState.READY, List.of(reason), 1_000, queue, 2, 7, "n1", 5, 1, "http:a", 16, 16);
  }

  private static String words(TaskReason reason) {
    return EngineWords.of(reason,
        explanation(reason, QueueConfig.builder("mails", Target.local()).rate(10.0).concurrency(4).build()),
        Fleet.EMPTY);
  }

  @Test
  void theWordsNameTheRouteThatHelps() {
    assertThat(EngineWords.of(TaskReason.QUEUE_MISSING, explanation(TaskReason.QUEUE_MISSING, null), Fleet.EMPTY))
        .isEqualTo("its queue does not exist; the task fires once it is created: PUT /v1/queues/mails");
    assertThat(words(TaskReason.QUEUE_PAUSED)).isEqualTo("its queue is paused; POST /v1/queues/mails/resume");
    assertThat(words(TaskReason.DEAD_LETTER)).endsWith("; POST .../redrive brings it back");
  }

  @Test
  void theWordsHaveTheFiguresOfTheExplanation() {
    assertThat(words(TaskReason.NOT_DUE)).isEqualTo("it is due in 1m, at 1970-01-01T00:01:01Z");
    assertThat(words(TaskReason.NODE_PERMITS_IN_USE))
        .isEqualTo("this node has 2 of the 4 permits of its queue in the cluster, all in use");
    assertThat(words(TaskReason.PERMITS_IN_USE)).isEqualTo("all 4 permits of its queue are in use");
    assertThat(words(TaskReason.RATE_REACHED)).isEqualTo("its queue may begin 10.0 attempts a second");
    assertThat(words(TaskReason.DESTINATION_FULL))
        .isEqualTo("its destination has 16 concurrent attempts, its current limit");
    assertThat(words(TaskReason.LANE_WAITS)).isEqualTo("5 tasks wait in the lane of its queue");
  }

  @ParameterizedTest
  @EnumSource(TaskReason.class)
  void everyReasonHasWords(TaskReason reason) {
    assertThat(words(reason)).isNotBlank().doesNotContain("null");
    assertThat(EngineWords.of(reason, explanation(reason, null), Fleet.EMPTY)).isNotBlank();
  }

  @Test
  void theWordsForAnUnreadyNodeHaveTheReason() {
    assertThat(EngineWords.of(new Unready.LoopStalled(0, 3_500)))
        .isEqualTo("event loop 0 has not completed a turn for 3500 ms");
    assertThat(EngineWords.of(new Unready.Failed(new OutOfMemoryError("x"))))
        .isEqualTo("the engine has failed: java.lang.OutOfMemoryError: x");
    assertThat(EngineWords.of(new Unready.StoreAway())).isEqualTo("the store does not answer, or refuses writes");
    assertThat(EngineWords.of(new Unready.StoreFull())).startsWith("the store is full: ");
    assertThat(EngineWords.of(new Unready.ClockOff(-7_000)))
        .startsWith("this node's clock is 7000 ms ahead of the store's");
  }

  @Test
  void theWordsForASealedStoreHaveTheRemedy() {
    assertThat(EngineWords.of(StoreSeal.of(StoreSeal.State.MOVED, "rocksdb:b")))
        .isEqualTo("the tasks of this store were moved to"
            + " rocksdb:b; use that store, or open this one again with: foliot migrate --release");
    assertThat(EngineWords.of(StoreSeal.of(StoreSeal.State.FILLING, "rocksdb:a")))
        .isEqualTo("tasks of rocksdb:a are being moved into"
            + " this store, and not all are here; let foliot migrate continue to its end, or open this store as it is with:"
            + " foliot migrate --release");
    assertThat(EngineWords.of(StoreSeal.of(StoreSeal.State.DRAINING, "b")))
        .isEqualTo("the tasks of this store are being moved to b; use that store when the move is complete");
  }
}
