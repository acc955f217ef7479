package io.foliot.engine;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes the settings of queues. Thread-safe.
 *
 * <p>Guarantees: a change is applied to the latest settings in the store, even if other callers write at the same time.
 * When the future completes, this node uses the new settings. Other nodes read the settings about once a second ({@link
 * QueueWatch}).
 *
 * <ol>
 * <li>The document is read, changed, and written if its version is still the same. Otherwise this step is repeated, at
 * most {@link #WRITE_TRIES} times in all; after that, the call fails with {@link OverloadedException}.
 * <li>A new target is checked by its delivery before it is written. The check may take seconds, and no thread waits for
 * it. A target is checked once, however often the write is repeated.
 * <li>Then the document is read once more, so that this node has exactly the settings of the store, and the loops are
 * notified.
 * </ol>
 */
final class QueueSettings {
  /** Maximum number of tries to write a queue's settings while other callers also write them. */
  private static final int WRITE_TRIES = 16;

  private final TaskStore store;
  private final QueueRegistry registry;
  private final Consumer<String> changed;

  /**
   * @param changed called with the name of a queue whose settings were read again
   */
  QueueSettings(TaskStore store, QueueRegistry registry, Consumer<String> changed) {
    this.store = store;
    this.registry = registry;
    this.changed = changed;
  }

  CompletionStage<QueueConfig> put(QueueConfig queue) {
    return check(queue).thenCompose(checked -> write(queue.name(), old -> queue, queue.target(), WRITE_TRIES));
  }

  private CompletionStage<Void> check(QueueConfig queue) {
    if (queue.name().startsWith(Limits.INTERNAL_QUEUES)) {
      throw new IllegalArgumentException("queues whose names begin with " + Limits.INTERNAL_QUEUES
          + " are Foliot's own: queue=" + queue.name());
    }
    if (queue.target().type().equals(Target.PULL)) {
      return CompletableFuture.completedFuture(null);
    }
    Delivery delivery = registry.delivery(queue.target());
    if (delivery == null) {
      throw new IllegalArgumentException("there is no delivery of that type here: type=" + queue.target().type()
          + ", known=" + Stream.concat(
              registry.deliveries().stream().filter(each -> each.internalQueues().isEmpty()).map(Delivery::type),
              Stream.of(Target.PULL)).sorted().toList());
    }
    return delivery.check(queue.target());
  }

  CompletionStage<QueueConfig> change(String name, UnaryOperator<QueueConfig> change) {
    return write(name, old -> {
      if (old == null) {
        throw new UnknownQueueException(name);
      }
      return change.apply(old);
    }, null, WRITE_TRIES);
  }

  CompletionStage<QueueConfig> setPaused(String name, boolean paused) {
    return change(name, old -> old.toBuilder().paused(paused).build());
  }

  /**
   * Changes a queue.
   *
   * @param checked the target that was checked, or null for none; another new target is checked first
   */
  private CompletionStage<QueueConfig> write(String name, Function<@Nullable QueueConfig, QueueConfig> change,
      @Nullable Target checked, int tries) {
    return store.document(DocumentKind.QUEUE, name).thenCompose(found -> {
      QueueConfig old = found.map(document -> QueueCodec.decode(document.content())).orElse(null);
      long version = found.map(Document::version).orElse(0L);
      QueueConfig wanted = change.apply(old);
      Target target = wanted.target();
      boolean isNew = !target.equals(checked) && (old == null || !target.equals(old.target()));
      CompletionStage<Void> accepted = isNew ? check(wanted) : CompletableFuture.completedFuture(null);
      return accepted.thenCompose(
          done -> store.writeDocument(DocumentKind.QUEUE, name, version, QueueCodec.encode(wanted)))
          .thenCompose(written -> {
            if (written) {
              return refresh(name).thenApply(read -> wanted);
            }
            if (tries <= 1) {
              throw new OverloadedException(
                  "too many callers write the settings of this queue at the same time: queue=" + name);
            }
            return write(name, change, target, tries - 1);
          });
    });
  }

  /** Reads the settings of one queue again. */
  CompletionStage<Void> refresh(String name) {
    long changes = registry.changes();
    return store.document(DocumentKind.QUEUE, name).thenCompose(found -> {
      if (!registry.put(name, found.orElse(null), changes)) {
        return refresh(name);
      }
      changed.accept(name);
      return CompletableFuture.completedFuture(null);
    });
  }
}
