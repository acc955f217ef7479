package io.foliot.store.redis;

import io.foliot.api.Limits;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.SetAside;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Sets aside tasks whose records cannot be read, and reports these tasks. Thread-safe. */
final class Asides {
  private static final Logger LOG = System.getLogger(Asides.class.getName());
  /** Maximum number of characters of the reason in the failed record. The unreadable bytes are kept separately. */
  private static final int REASON_MAX = 500;

  private final Link link;
  private final Layout layout;
  private final Consumer<SetAside> listener;

  Asides(Link link, Layout layout, Consumer<SetAside> listener) {
    this.link = link;
    this.layout = layout;
    this.listener = listener;
  }

  /**
   * Ends tasks of one {@linkplain Partitions part} as failed, because their records cannot be read. A task whose record
   * has changed meanwhile is left as it is.
   *
   * @param arguments a new list with the first argument of the script
   */
  CompletableFuture<Void> setAside(List<byte[]> arguments, int part, List<Snapshot.Damaged> damaged) {
    long keptMillis = Math.min(QueueTerms.DEFAULT.retainFailedMillis(), Limits.MAX_DELAY_MILLIS);
    for (Snapshot.Damaged task : damaged) {
      arguments.addAll(List.of(RecordCodec.id(task.id()), task.value(),
          Layout.bytes(cut(new SetAside(task.id(), "", task.reason().getMessage() + "").finalReason())),
          Layout.bytes(keptMillis)));
    }
    return link.step(Script.ASIDE, layout.part(part), arguments).thenAccept(queues -> {
      for (int i = 0; i < damaged.size(); i++) {
        if (queues.get(i) instanceof byte[] queue) {
          report(new SetAside(damaged.get(i).id(), Snapshot.name(queue), damaged.get(i).reason().getMessage() + ""));
        }
      }
    });
  }

  /** Reports the tasks that {@code depart.lua} has set aside. The list contains an id and a queue for each task. */
  void reportMigrating(List<?> pairs) {
    for (int i = 0; i < pairs.size(); i += 2) {
      report(new SetAside(RecordCodec.id((byte[]) pairs.get(i)), Snapshot.name((byte[]) pairs.get(i + 1)),
          "its record could not be read when the task was to migrate to another slot"));
    }
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(text.length(), REASON_MAX));
  }

  private void report(SetAside task) {
    LOG.log(Level.ERROR, "a task was set aside because its record cannot be read; its bytes are kept in the hash"
        + " \"aside\" of its slot: task={0}, queue={1}, reason={2}", task.id(), task.queue(), task.reason());
    listener.accept(task);
  }
}
