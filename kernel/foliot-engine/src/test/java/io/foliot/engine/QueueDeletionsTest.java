package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.store.Document;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Tests the removal of abandoned deletion marks. A node that deletes a queue first marks the queue. A mark older than
 * 30 s is abandoned, and any node removes it.
 */
final class QueueDeletionsTest {
  private static final QueueConfig QUEUE = QueueConfig.of("q", Target.local());

  private final LoopRig rig = new LoopRig();
  private final QueueDeletions deletions = new QueueDeletions(rig.store, rig.registry, rig.nodeClock,
      name -> CompletableFuture.completedFuture(null));

  private static Document marked(long version, long sinceMillis) {
    return new Document("q", version, QueueCodec.encode(QUEUE, sinceMillis));
  }

  /**
   * Removes abandoned deletion marks.
   *
   * @param seen the queue's document as the node last read it, with the mark of an abandoned deletion
   * @param stored the queue's document as the node's next read returns it
   */
  private void findAbandoned(Document seen, Document stored) {
    rig.isClockKnown = true;
    rig.registry.put("q", seen, rig.registry.changes());
    deletions.takeBackAbandoned();
    rig.calls.getFirst().answer().complete(Optional.of(stored));
  }

  @Test
  void anAbandonedMarkIsTakenBack() {
    Document abandoned = marked(3, rig.nowMillis() - 60_000);
    findAbandoned(abandoned, abandoned);
    assertThat(rig.calls).extracting(call -> call.name()).containsExactly("document", "writeDocument");
    assertThat(QueueCodec.decodeAll((byte[]) rig.calls.getLast().arguments().get(3)).closingSince())
        .isEqualTo(QueueCodec.OPEN);
  }

  @Test
  void aMarkThatReplacedAnAbandonedOneIsKept() {
    findAbandoned(marked(3, rig.nowMillis() - 60_000), marked(4, rig.nowMillis()));
    assertThat(rig.calls).extracting(call -> call.name()).containsExactly("document");
  }
}
