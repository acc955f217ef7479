package io.foliot.core.store.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.Generations;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RecordOverlayTest {
  private static final long NOW = 1_000;
  private static final TaskId ONE = new TaskId(0, 1);
  private static final TaskId OTHER = new TaskId(0, 2);

  private final MapRecords committed = new MapRecords();
  private final RecordOverlay overlay = new RecordOverlay(committed, NOW);

  private static TaskRecord live(TaskId id, long generation) {
    return TaskRecord.edit(id, "q", "k").generation(generation).done();
  }

  private static TaskRecord ended(TaskId id, long generation, long dropAt) {
    return live(id, generation).edit().state(TaskState.FINISHED).dropAt(dropAt).done();
  }

  @Test
  void aBatchReadsItsWrites() {
    TaskRecord before = live(ONE, 1);
    committed.write(null, before);
    TaskRecord after = live(ONE, 2);
    assertThat(overlay.get(ONE)).isSameAs(before);
    overlay.write(before, after);
    assertThat(overlay.get(ONE)).isSameAs(after);
    assertThat(overlay.byKey("q", "k")).isSameAs(after);
    assertThat(committed.get(ONE)).isSameAs(before);
  }

  @Test
  void severalWritesOfARecordAreOneChange() {
    TaskRecord before = live(ONE, 1);
    committed.write(null, before);
    overlay.write(before, live(ONE, 2));
    TaskRecord last = live(ONE, 3);
    overlay.write(overlay.get(ONE), last);
    assertThat(overlay.changes()).singleElement().satisfies(change -> {
      assertThat(change.before()).isSameAs(before);
      assertThat(change.after()).isSameAs(last);
      assertThat(change.wasLive()).isTrue();
    });
    assertThat(overlay.hasWritten(ONE)).isTrue();
  }

  @Test
  void aRecordThatIsRestoredIsNoChange() {
    TaskRecord before = live(ONE, 1);
    overlay.write(before, live(ONE, 2));
    overlay.write(overlay.get(ONE), before);
    assertThat(overlay.isUnchanged()).isTrue();
    assertThat(overlay.changes()).isEmpty();
  }

  @Test
  void aNewLiveTaskTakesOverItsKey() {
    TaskRecord before = live(ONE, 1);
    committed.write(null, before);
    overlay.write(before, ended(ONE, 1, NOW + 1));
    assertThat(overlay.byKey("q", "k")).isSameAs(overlay.get(ONE));
    overlay.write(null, live(OTHER, 2));
    assertThat(overlay.holder(new KeyName("q", "k"))).isEqualTo(OTHER);
    assertThat(overlay.byKey("q", "k")).isSameAs(overlay.get(OTHER));
  }

  @Test
  void aRecordIsNotReturnedOnceItsRetentionHasEnded() {
    TaskRecord kept = ended(ONE, 1, NOW + 1);
    committed.records.put(ONE, kept);
    committed.holders.put(new KeyName("q", "k"), ONE);
    assertThat(overlay.byKey("q", "k")).isSameAs(kept);
    overlay.advanceTo(NOW + 1);
    assertThat(overlay.byKey("q", "k")).isNull();
    assertThat(overlay.get(ONE)).isNull();
    assertThat(overlay.stored(ONE)).isSameAs(kept);
  }

  @Test
  void anAnswerIsReturnedForItsRequestOnly() {
    RecordTable.Answered answered = new RecordTable.Answered(7,
        new SubmitResult(SubmitResult.Kind.CREATED, ONE, 1, NOW, TaskState.DELAYED, true), NOW + 1);
    overlay.remember("q", null, "r", answered);
    assertThat(overlay.answered("q", null, "r")).isSameAs(answered);
    assertThat(overlay.answered("q", "k", "r")).isNull();
    assertThat(overlay.isUnchanged()).isFalse();
    assertThat(overlay.answers()).containsOnlyKeys(new RequestName("q", null, "r"));
  }

  @Test
  void theGenerationsOfAllWritesCount() {
    TaskRecord before = live(ONE, 1);
    overlay.write(before, live(ONE, 9));
    overlay.write(overlay.get(ONE), ended(ONE, 9, 0));
    overlay.write(overlay.get(ONE), live(ONE, 3));
    assertThat(overlay.largestShown()).isEqualTo(9);
    assertThat(overlay.largestForgotten()).isEqualTo(9);
  }

  @Test
  void aClearedOverlayIsEmpty() {
    overlay.write(null, live(ONE, 5));
    overlay.clear();
    assertThat(overlay.isUnchanged()).isTrue();
    assertThat(overlay.get(ONE)).isNull();
    assertThat(overlay.holder(new KeyName("q", "k"))).isNull();
    assertThat(List.of(overlay.largestShown(), overlay.largestForgotten())).containsOnly(Generations.NONE);
  }
}
