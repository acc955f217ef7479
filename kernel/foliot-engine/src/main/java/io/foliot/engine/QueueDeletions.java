package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.QueueInUseException;
import io.foliot.core.Stages;
import io.foliot.core.TimeSource;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Deletes queues that have no live task, while other nodes of the store may be accepting tasks.
 *
 * <ol>
 * <li>A deletion mark in the queue's document shows that the queue is being deleted. Nodes that read the mark accept no
 * task for the queue.
 * <li>If the store is shared, the deletion waits for longer than {@link QueueWatch#VALID_NANOS}. A node acknowledges a
 * task only after a read of the queue without the mark, and this read must be at most {@code VALID_NANOS} old.
 * Therefore no task is acknowledged after the wait, and each task that was acknowledged is in the store.
 * <li>The store reports exactly whether the queue has a live task ({@link TaskStore#hasLive}). If so, the mark is taken
 * back; else the document is deleted, if it still has this mark.
 * </ol>
 *
 * <p>Any other write of the queue's settings takes the mark back, and the deletion fails. If the deleting node dies,
 * any other node takes the mark back after {@link #TERM_MILLIS}.
 */
final class QueueDeletions {
  /** Largest error of a node's clocks within {@link QueueWatch#VALID_NANOS}. */
  private static final long MARGIN_NANOS = 500_000_000;
  private static final long WAIT_NANOS = QueueWatch.VALID_NANOS + MARGIN_NANOS;
  /** Validity of a mark: many times the duration of a deletion. */
  private static final long TERM_MILLIS = 30_000;
  private static final int TRIES = 5;

  private record Wait(long endNanos, CompletableFuture<Void> ended) {}

  private final TaskStore store;
  private final QueueRegistry registry;
  private final TimeSource clock;
  private final Function<String, CompletionStage<Void>> refresh;
  private final ConcurrentLinkedQueue<Wait> waits = new ConcurrentLinkedQueue<>();

  /** @param refresh reads the settings of a queue again */
  QueueDeletions(TaskStore store, QueueRegistry registry, TimeSource clock,
      Function<String, CompletionStage<Void>> refresh) {
    this.store = store;
    this.registry = registry;
    this.clock = clock;
    this.refresh = refresh;
  }

  /** Deletes a queue, as {@link io.foliot.core.Scheduler#deleteQueue} says. */
  CompletionStage<Boolean> delete(String name) {
    return delete(name, TRIES);
  }

  private CompletionStage<Boolean> delete(String name, int tries) {
    return nowMillis().thenCompose(nowMillis -> store.hasLive(name).thenCombine(read(name), (live, found) -> {
      if (found.isPresent() && live) {
        throw new QueueInUseException(name);
      }
      return found;
    }).thenCompose(found -> found.isEmpty()
        ? refresh.apply(name).thenApply(done -> false)
        : delete(name, found.get(), nowMillis, tries)));
  }

  /** Reads the clock of the database that has the documents. */
  private CompletionStage<Long> nowMillis() {
    return store.timeMicros(0).thenApply(micros -> Math.floorDiv(micros, 1_000));
  }

  private CompletionStage<Optional<Document>> read(String name) {
    return store.document(DocumentKind.QUEUE, name);
  }

  private CompletionStage<Boolean> delete(String name, Document found, long nowMillis, int tries) {
    QueueCodec.Decoded settings = QueueCodec.decodeAll(found.content());
    if (settings.closingSince() != QueueCodec.OPEN && !isOver(settings.closingSince(), nowMillis)) {
      throw new OverloadedException("another call is deleting the queue: queue=" + name);
    }
    byte[] marked = QueueCodec.encode(settings.queue(), nowMillis);
    return store.writeDocument(DocumentKind.QUEUE, name, found.version(), marked).thenCompose(written -> {
      if (written) {
        return deleteMarked(name, marked);
      }
      if (tries <= 1) {
        throw changed(name);
      }
      return delete(name, tries - 1);
    }).exceptionallyCompose(
        failure -> takeBack(name, content -> Arrays.equals(content, marked)).handle((done, alsoFailed) -> failure)
            .thenCompose(CompletableFuture::failedFuture));
  }

  private static OverloadedException changed(String name) {
    return new OverloadedException(
        "the queue was not deleted, because another call changed the queue meanwhile: queue=" + name);
  }

  private CompletionStage<Boolean> deleteMarked(String name, byte[] marked) {
    return refresh.apply(name).thenCompose(done -> pause()).thenCompose(done -> store.hasLive(name))
        .thenCompose(live -> {
          if (live) {
            throw new QueueInUseException(name);
          }
          return read(name);
        }).thenCompose(found -> {
          if (found.isEmpty() || !Arrays.equals(found.get().content(), marked)) {
            throw changed(name);
          }
          return store.writeDocument(DocumentKind.QUEUE, name, found.get().version(), null);
        }).thenCompose(deleted -> {
          if (!deleted) {
            throw changed(name);
          }
          return refresh.apply(name).thenApply(done -> true);
        });
  }

  /** Waits until each node has had time to read the mark. No node acknowledges a task of the queue from then on. */
  private CompletionStage<Void> pause() {
    CompletableFuture<Void> ended = new CompletableFuture<>();
    if (store.isShared()) {
      waits.add(new Wait(clock.monotonicNanos() + WAIT_NANOS, ended));
    } else {
      ended.complete(null);
    }
    return ended;
  }

  private static boolean isOver(long closingSince, long nowMillis) {
    return nowMillis - closingSince > TERM_MILLIS;
  }

  /**
   * Removes a mark, so that nodes accept tasks of the queue again.
   *
   * @param isMark returns whether a content of the queue's document has the mark
   */
  private CompletionStage<Void> takeBack(String name, Predicate<byte[]> isMark) {
    return read(name).thenCompose(found -> {
      if (found.isEmpty() || !isMark.test(found.get().content())) {
        return refresh.apply(name);
      }
      QueueConfig queue = QueueCodec.decode(found.get().content());
      return store.writeDocument(DocumentKind.QUEUE, name, found.get().version(), QueueCodec.encode(queue))
          .thenCompose(written -> refresh.apply(name));
    });
  }

  /** Takes back the marks of deletions that were abandoned. */
  void takeBackAbandoned() {
    Map<String, Long> closings = registry.closings();
    if (closings.isEmpty()) {
      return;
    }
    CompletionStage<Void> unused = Stages.call(this::nowMillis)
        .thenAccept(nowMillis -> closings.forEach((name, since) -> {
          if (isOver(since, nowMillis)) {
            CompletionStage<Void> taken = takeBack(name,
                content -> QueueCodec.decodeAll(content).closingSince() == since);
            assert taken != null;
          }
        }));
  }

  /** Ends the waits whose time is over; the loop calls this at each turn. */
  void turn(long nowNanos) {
    for (Wait first = waits.peek(); first != null && nowNanos - first.endNanos() >= 0; first = waits.peek()) {
      waits.remove(first);
      first.ended().complete(null);
    }
  }
}
