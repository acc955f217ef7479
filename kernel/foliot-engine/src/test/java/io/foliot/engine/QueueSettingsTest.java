package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.store.Document;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

final class QueueSettingsTest {
  private static final QueueConfig ORDERS = QueueConfig.of("orders", Target.pull());

  private final LoopRig rig = new LoopRig();
  private final List<String> changed = new ArrayList<>();
  private final QueueSettings settings = new QueueSettings(rig.store, rig.registry, changed::add);

  private static Optional<Document> stored(QueueConfig queue, long version) {
    return Optional.of(new Document(queue.name(), version, QueueCodec.encode(queue)));
  }

  private void answerRead(Optional<Document> found) {
    rig.answer(rig.onlyCall("document"), found);
  }

  private LoopRig.Call write(long version) {
    LoopRig.Call call = rig.onlyCall("writeDocument");
    assertThat(call.arguments().get(2)).isEqualTo(version);
    return call;
  }

  private static QueueConfig written(LoopRig.Call call) {
    return QueueCodec.decode((byte[]) call.arguments().get(3));
  }

  @Test
  void aPutCompletesOnceThisNodeUsesTheSettings() {
    CompletionStage<QueueConfig> put = settings.put(ORDERS);
    answerRead(Optional.empty());
    rig.answer(write(0), true);
    assertThat(put.toCompletableFuture()).isNotDone();
    assertThat(changed).isEmpty();
    answerRead(stored(ORDERS, 1));
    assertThat(put.toCompletableFuture()).isCompletedWithValue(ORDERS);
    assertThat(changed).containsExactly("orders");
    assertThat(rig.registry.queues()).containsExactly(ORDERS);
  }

  @Test
  void aLostRaceAppliesTheChangeToTheNewerSettings() {
    CompletionStage<QueueConfig> paused = settings.setPaused("orders", true);
    answerRead(stored(ORDERS, 4));
    rig.answer(write(4), false);
    QueueConfig theirs = ORDERS.toBuilder().priority(9).build();
    answerRead(stored(theirs, 5));
    LoopRig.Call second = write(5);
    assertThat(written(second)).isEqualTo(theirs.toBuilder().paused(true).build());
    rig.answer(second, true);
    answerRead(stored(theirs.toBuilder().paused(true).build(), 6));
    assertThat(paused.toCompletableFuture()).isCompletedWithValue(theirs.toBuilder().paused(true).build());
  }

  @Test
  void aChangeThatLosesSixteenRacesIsRefused() {
    CompletionStage<QueueConfig> paused = settings.setPaused("orders", true);
    for (int version = 1; version <= 16; version++) {
      assertThat(paused.toCompletableFuture()).isNotDone();
      answerRead(stored(ORDERS, version));
      rig.answer(write(version), false);
    }
    assertThat(rig.calls).isEmpty();
    assertThatThrownBy(() -> paused.toCompletableFuture().join()).hasCauseInstanceOf(OverloadedException.class);
  }

  @Test
  void aQueueThatDoesNotExistCannotBePaused() {
    CompletionStage<QueueConfig> paused = settings.setPaused("orders", true);
    answerRead(Optional.empty());
    assertThat(rig.calls).isEmpty();
    assertThatThrownBy(() -> paused.toCompletableFuture().join()).hasCauseInstanceOf(UnknownQueueException.class);
  }

  @Test
  void aTypeWithoutDeliveryIsRefusedBeforeAnyCall() {
    QueueConfig unknown = QueueConfig.of("orders", new Target("fax", Map.of(), ORDERS.target().timeout()));
    assertThatThrownBy(() -> settings.put(unknown)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("type=fax");
    assertThat(rig.calls).isEmpty();
  }

  @Test
  void aNewTargetIsWrittenOnceItsCheckHasEnded() {
    rig.check = new CompletableFuture<>();
    QueueConfig local = ORDERS.toBuilder().target(Target.local()).build();
    CompletionStage<QueueConfig> changed = settings.change("orders", old -> local);
    answerRead(stored(ORDERS, 4));
    assertThat(rig.calls).isEmpty();
    rig.check.complete(null);
    rig.answer(write(4), false);
    rig.check = new CompletableFuture<>();
    answerRead(stored(ORDERS, 5));
    rig.answer(write(5), true);
    answerRead(stored(local, 6));
    assertThat(changed.toCompletableFuture()).isCompletedWithValue(local);
  }

  @Test
  void aRefusedTargetIsNotWritten() {
    rig.check = CompletableFuture.failedFuture(new IllegalArgumentException("denied"));
    CompletionStage<QueueConfig> changed = settings.change("orders",
        old -> old.toBuilder().target(Target.local()).build());
    answerRead(stored(ORDERS, 4));
    assertThat(rig.calls).isEmpty();
    assertThatThrownBy(() -> changed.toCompletableFuture().join()).hasRootCauseMessage("denied");
  }

  @Test
  void aReadOvertakenByNewerSettingsIsRepeated() {
    CompletionStage<Void> refreshed = settings.refresh("orders");
    rig.queue(ORDERS.toBuilder().paused(true).build());
    answerRead(stored(ORDERS, 1));
    assertThat(refreshed.toCompletableFuture()).isNotDone();
    assertThat(rig.registry.queues()).containsExactly(ORDERS.toBuilder().paused(true).build());
    answerRead(stored(ORDERS.toBuilder().paused(true).build(), 2));
    assertThat(refreshed.toCompletableFuture()).isCompleted();
    assertThat(changed).containsExactly("orders");
  }
}
