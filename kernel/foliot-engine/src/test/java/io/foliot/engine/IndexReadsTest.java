package io.foliot.engine;

import static io.foliot.engine.LoopRig.entry;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueSlice;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class IndexReadsTest {
  private final LoopRig rig = new LoopRig();
  private final IndexReads reads = rig.reads;
  private final DueEntry entry = entry(1, 5, 1, "q");

  @Test
  void overtakenEntriesAreKeptUntilTheLastReadIsHandled() {
    List<Boolean> seen = new ArrayList<>();
    Inbox.Handler<List<DueSlice>> handler = (slices, failure, nowNanos) -> seen.add(reads.isOvertaken(entry));
    reads.overtakes(entry);
    assertThat(reads.isOvertaken(entry)).as("no read is under way").isFalse();
    reads.read(List.of(), handler);
    reads.read(List.of(), handler);
    reads.overtakes(entry);
    rig.answer(rig.calls.get(0), List.of());
    assertThat(reads.isOvertaken(entry)).isTrue();
    rig.answer(rig.calls.get(1), List.of());
    assertThat(seen).containsExactly(true, true);
    assertThat(reads.isOvertaken(entry)).isFalse();
  }

  @Test
  void entriesAtAnotherTimeAreNotOvertaken() {
    reads.read(List.of(), (slices, failure, nowNanos) -> {});
    reads.overtakes(entry);
    assertThat(reads.isOvertaken(entry)).isTrue();
    assertThat(reads.isOvertaken(new DueEntry(6, entry.id(), "q"))).isFalse();
  }

  @Test
  void theNumberOfRememberedEntriesIsBounded() {
    reads.read(List.of(), (slices, failure, nowNanos) -> {});
    for (int i = 0; i < 101; i++) {
      reads.overtakes(entry(0, 1, i, "q"));
    }
    assertThat(reads.isOvertaken(entry(0, 1, 99, "q"))).isTrue();
    assertThat(reads.isOvertaken(entry(0, 1, 100, "q"))).isFalse();
  }
}
