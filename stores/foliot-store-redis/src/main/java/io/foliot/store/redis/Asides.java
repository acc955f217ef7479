package io.foliot.store.redis;

import io.foliot.core.Limits;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.SetAside;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** The action that sets aside tasks whose records cannot be read, and reports them. Thread-safe. */
final class Asides {
  private static final Logger LOG = System.getLogger(Asides.class.getName());
  /** Most characters of the reason in the failed record. The unreadable bytes are kept separately. */
  private static final int REASON_MAX = 500;

  private final Link link;
  private final Layout layout;
  private final Consumer<SetAside> listener;

  Asides(Link link, Layout layout, Consumer<SetAside> listener) {
    this.link = link;
    this.layout = layout;
    this.listener = listener;
  }

  /** Ends the tasks of a part that cannot be read, unless their records have changed meanwhile. */
  CompletableFuture<Void> setAside(List<byte[]> arguments, int part, List<Snapshot.Damaged> damaged) {
    long keptMillis = Math.min(QueueTerms.DEFAULT.retainFailedMillis(), Limits.MAX_DELAY_MILLIS);
    for (Snapshot.Damaged one : damaged) {
      arguments.addAll(List.of(RecordCodec.id(one.id()), one.value(),
          Layout.bytes(cut(new SetAside(one.id(), "", one.reason().getMessage() + "").finalReason())),
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

  /** Reports tasks, each as an id and a queue, that were set aside by the script that reads migrating tasks. */
  void tellCrossing(List<?> pairs) {
    for (int i = 0; i < pairs.size(); i += 2) {
      report(new SetAside(RecordCodec.id((byte[]) pairs.get(i)), Snapshot.name((byte[]) pairs.get(i + 1)),
          "its record could not be read when the task was to migrate to another slot"));
    }
  }

  private static String cut(String text) {
    return text.substring(0, Math.min(text.length(), REASON_MAX));
  }

  private void report(SetAside one) {
    LOG.log(Level.ERROR, "a task was set aside because its record cannot be read; its bytes are kept in the hash"
        + " \"aside\" of its slot: task={0}, queue={1}, reason={2}", one.id(), one.queue(), one.reason());
    listener.accept(one);
  }
}
