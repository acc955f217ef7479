package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Compares a queue of entries with a plain deque. */
final class EntryQueueTest {
  @Test
  void equalsAPlainDequeAndReturnsTheEarliestWakeAt() {
    SplittableRandom random = new SplittableRandom(5);
    EntryQueue queue = new EntryQueue();
    Deque<DueEntry> plain = new ArrayDeque<>();
    for (int step = 0; step < 100_000; step++) {
      int draw = random.nextInt(1_000);
      if (draw == 0) {
        List<DueEntry> drained = new ArrayList<>();
        queue.drainTo(drained);
        assertThat(drained).isEqualTo(List.copyOf(plain));
        plain.clear();
      } else if (draw < 510) {
        DueEntry entry = new DueEntry(random.nextInt(50), new TaskId(step, step), "q");
        queue.add(entry);
        plain.add(entry);
      } else {
        assertThat(queue.poll()).isEqualTo(plain.poll());
      }
      assertThat(queue.size()).isEqualTo(plain.size());
      assertThat(queue.oldest())
          .isEqualTo(plain.stream().mapToLong(DueEntry::wakeAt).min().orElse(Long.MAX_VALUE));
    }
  }
}
