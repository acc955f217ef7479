package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * Proves that the store commits: each beat writes a small document, and the pulse is gone when none was durable for
 * some seconds. A store can answer reads and never commit again, and then nothing is accepted or claimed.
 */
final class CommitPulse {
  /** Time without a commit after which the server is not ready. */
  static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Nodes that share a store write few documents, so that no node that is gone leaves one of its own behind. */
  private static final int DOCUMENTS = 16;
  /** Nodes that have one document in common may come in each other's way. */
  private static final int TRIES = 3;

  private final TaskStore store;
  private final String name;
  private final byte[] content;

  // watchdog only
  private CompletableFuture<Boolean> beat = CompletableFuture.completedFuture(false);
  private long begunNanos;

  // written by the store's threads, read by any
  private volatile long committedNanos = System.nanoTime() - LOST_NANOS;

  CommitPulse(TaskStore store, String node) {
    this.store = store;
    name = "pulse-" + Math.floorMod(node.hashCode(), DOCUMENTS);
    content = node.getBytes(UTF_8);
  }

  /** Writes once more, unless a write is still under way that may yet come to an end. */
  CompletableFuture<Boolean> beat() {
    long nowNanos = System.nanoTime();
    if (beat.isDone() || nowNanos - begunNanos >= LOST_NANOS) {
      begunNanos = nowNanos;
      beat = write(TRIES).whenComplete((written, failure) -> {
        if (written != null && written) {
          committedNanos = System.nanoTime();
        }
      });
    }
    return beat;
  }

  private CompletableFuture<Boolean> write(int tries) {
    try {
      CompletionStage<Boolean> written = store.document(DocumentKind.CLUSTER, name).thenCompose(found -> store
          .writeDocument(DocumentKind.CLUSTER, name, found.map(Document::version).orElse(0L), content));
      return written.thenCompose(done -> done || tries <= 1
          ? CompletableFuture.completedFuture(done)
          : write(tries - 1)).toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns why the server is not ready, as far as the commits show. */
  List<String> troubles() {
    long sinceNanos = System.nanoTime() - committedNanos;
    return sinceNanos < LOST_NANOS
        ? List.of()
        : List.of("the store has committed nothing for " + TimeUnit.NANOSECONDS.toSeconds(sinceNanos) + " s");
  }
}
