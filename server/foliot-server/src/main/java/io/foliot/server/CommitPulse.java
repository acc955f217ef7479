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
 * A check that the store commits. Each beat writes a small document. The pulse is lost when no write has become durable
 * for {@link #LOST_NANOS}. The server is then not ready, because without commits it can accept and claim nothing. A
 * read would not show this failure, because a store that no longer commits may still answer reads.
 */
final class CommitPulse {
  /** Time without a commit after which the server is not ready. */
  static final long LOST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /**
   * Number of pulse documents in a store. Nodes share them, because otherwise each new name of a node would add one.
   */
  private static final int DOCUMENTS = 16;
  /** Maximum number of tries of one beat. A try fails if another node writes the same document at that moment. */
  private static final int TRIES = 3;

  private final TaskStore store;
  private final String name;
  private final byte[] content;

  // watchdog only
  private CompletableFuture<Boolean> beat = CompletableFuture.completedFuture(false);
  private long begunNanos;

  // written by the store's threads, read by any thread; the pulse is lost until the first commit
  private volatile long committedNanos = System.nanoTime() - LOST_NANOS;

  CommitPulse(TaskStore store, String node) {
    this.store = store;
    name = "pulse-" + Math.floorMod(node.hashCode(), DOCUMENTS);
    content = node.getBytes(UTF_8);
  }

  /**
   * Starts a write, unless a write that began within {@link #LOST_NANOS} is still under way. Returns the result of the
   * latest write: whether the store has committed the document.
   */
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
    } catch (Throwable e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Returns the reason why the server is not ready, or an empty list if the store has committed recently. */
  List<String> troubles() {
    long sinceNanos = System.nanoTime() - committedNanos;
    return sinceNanos < LOST_NANOS
        ? List.of()
        : List.of("the store has committed nothing for " + TimeUnit.NANOSECONDS.toSeconds(sinceNanos) + " s");
  }
}
