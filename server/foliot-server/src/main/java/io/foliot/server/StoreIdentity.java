package io.foliot.server;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.server.store.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of the store: a random text that the first server writes into it. If a shared store no longer has the
 * identity that it had at the start of this server, it has lost its content, or it is another store. Without this check
 * an empty store would look like a healthy one. This server is then not ready until the store has its identity again.
 * A restart adopts the identity that the store has then. The data folder keeps the identity as well, so that a start on
 * another store is noticed.
 */
final class StoreIdentity {
  private static final Logger log = LoggerFactory.getLogger(StoreIdentity.class);
  private static final String DOCUMENT = "identity";
  private static final String CURSORS = "cursors";
  private static final String FILE = "store-identity";
  private static final int BYTES = 16;

  private final TaskStore store;
  private final String expected;

  // watchdog only
  private CompletableFuture<?> check = CompletableFuture.completedFuture(null);

  // written by the store's threads, one check at a time; read by any thread
  private volatile boolean isLost;

  private StoreIdentity(TaskStore store, String expected) {
    this.store = store;
    this.expected = expected;
  }

  /**
   * Reads the identity of a store, or gives it one. Logs a warning if the data folder has another one.
   *
   * @param folder the data folder, or null to keep no identity there
   * @param timeout the longest wait for the store
   * @throws StoreException if the store does not answer in time
   */
  static StoreIdentity of(TaskStore store, RandomGenerator random, @Nullable Path folder, Duration timeout) {
    String present = readOrWrite(store, DOCUMENT, random, timeout);
    if (folder != null) {
      keep(folder, present);
    }
    return new StoreIdentity(store, present);
  }

  /**
   * Reads the secret of the cursors that the servers of a store give to callers, or gives the store one.
   *
   * @throws StoreException if the store does not answer in time
   */
  static byte[] cursorSecret(TaskStore store, RandomGenerator random, Duration timeout) {
    return HexFormat.of().parseHex(readOrWrite(store, CURSORS, random, timeout));
  }

  private static String readOrWrite(TaskStore store, String name, RandomGenerator random, Duration timeout) {
    byte[] made = new byte[BYTES];
    random.nextBytes(made);
    try {
      return readOrWrite(store, name, HexFormat.of().formatHex(made)).toCompletableFuture().copy()
          .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new StoreException("the store did not answer in time: timeout=" + timeout, e);
      }
      throw e;
    }
  }

  private static CompletionStage<String> readOrWrite(TaskStore store, String name, String made) {
    return store.document(DocumentKind.CLUSTER, name).thenCompose(found -> found.isPresent()
        ? CompletableFuture.completedFuture(text(found.get()))
        : store.writeDocument(DocumentKind.CLUSTER, name, 0, made.getBytes(US_ASCII))
            .thenCompose(written -> written
                ? CompletableFuture.completedFuture(made)
                // Another server has written the document at the same time.
                : store.document(DocumentKind.CLUSTER, name).thenApply(other -> text(other.orElseThrow()))));
  }

  private static String text(Document document) {
    return new String(document.content(), US_ASCII);
  }

  private static void keep(Path folder, String present) {
    Path file = folder.resolve(FILE);
    try {
      String kept = Files.exists(file) ? Files.readString(file).strip() : "";
      if (kept.equals(present)) {
        return;
      }
      if (!kept.isEmpty()) {
        log.warn("the store has another identity than at the last start of this server: it has lost its content, or it"
            + " is another store. Tasks, queues, jobs and API keys of the earlier store are not in it: file={},"
            + " earlier={}, identity={}", file, kept, present);
      }
      PrivateFiles.ensureFolder(folder);
      PrivateFiles.write(file, present + "\n");
    } catch (IOException e) {
      log.warn("cannot keep the identity of the store, so the next start does not notice another store: file={},"
          + " reason={}", file, e.toString());
    }
  }

  /** Starts a check of the identity, unless the latest check is still under way. */
  void check() {
    if (!store.isShared() || !check.isDone()) {
      return;
    }
    try {
      check = store.document(DocumentKind.CLUSTER, DOCUMENT).thenAccept(this::compare).toCompletableFuture();
    } catch (RuntimeException e) {
      // The store is closed or unavailable, which the commit pulse reports.
    }
  }

  private void compare(Optional<Document> found) {
    boolean wasLost = isLost;
    isLost = !found.map(StoreIdentity::text).equals(Optional.of(expected));
    if (isLost && !wasLost) {
      log.error("the store no longer has its identity: it has lost its content, or this is another store. Tasks,"
          + " queues, jobs and API keys are missing, and this server is not ready. Restore the store, or restart the"
          + " servers to continue with the store as it is: expected={}, identity={}", expected,
          found.map(StoreIdentity::text).orElse("none"));
    } else if (wasLost && !isLost) {
      log.info("the store has its identity again: identity={}", expected);
    }
  }

  /** Returns the reason why the server is not ready, or an empty list if the store has its identity. */
  List<String> troubles() {
    return isLost
        ? List.of("the store has lost its content, or it is another store than at the start of this server; restore it,"
            + " or restart the servers to continue with the store as it is")
        : List.of();
  }
}
