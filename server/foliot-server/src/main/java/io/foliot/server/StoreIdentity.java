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
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of the store: a random text that the first server writes into it. If a shared store no longer has the
 * identity that it had before, it has lost its content, or it is another store. Without this check an empty store would
 * look like a healthy one. This server is then not ready for {@value #ADOPT_AFTER} checks, because a failover to an
 * empty replica may be reverted. After that it adopts the store as it is: it takes the identity that the store has
 * then, or gives it a new one. The data folder keeps the identities of all stores that this server has used, so that a
 * start on an unknown store is noticed.
 */
final class StoreIdentity {
  private static final Logger log = LoggerFactory.getLogger(StoreIdentity.class);
  private static final String DOCUMENT = "identity";
  private static final String CURSORS = "cursors";
  private static final String FILE = "store-identity";
  private static final int BYTES = 16;
  /** Maximum number of identities in the file. If one is dropped, its store is unknown again. */
  private static final int MOST_KEPT = 100;
  /** Number of successive checks, one a second, that find another identity before this server adopts the store. */
  static final int ADOPT_AFTER = 30;

  private final TaskStore store;
  private final RandomGenerator random;
  private final @Nullable Path folder;
  private final boolean isKnown;
  private volatile Runnable adopted = () -> {};

  // watchdog only
  private CompletableFuture<?> check = CompletableFuture.completedFuture(null);

  // written by the store's threads, one check at a time; read by any thread
  private volatile String expected;
  private volatile int missed;
  private final AtomicLong losses = new AtomicLong();

  private StoreIdentity(TaskStore store, RandomGenerator random, @Nullable Path folder, String expected) {
    this.store = store;
    this.random = random;
    this.folder = folder;
    this.expected = expected;
    isKnown = folder != null && kept(folder).contains(expected);
  }

  /**
   * Reads the identity of a store, or gives it one.
   *
   * @param folder the data folder, or null to keep no identity there
   * @param timeout the longest wait for the store
   * @throws StoreException if the store does not answer in time
   */
  static StoreIdentity of(TaskStore store, RandomGenerator random, @Nullable Path folder, Duration timeout) {
    return new StoreIdentity(store, random, folder, readOrWrite(store, DOCUMENT, random, timeout));
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
    try {
      return readOrWrite(store, name, random).toCompletableFuture().copy()
          .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof TimeoutException) {
        throw new StoreException("the store did not answer in time: timeout=" + timeout, e);
      }
      throw e;
    }
  }

  private static CompletionStage<String> readOrWrite(TaskStore store, String name, RandomGenerator random) {
    byte[] made = new byte[BYTES];
    random.nextBytes(made);
    return readOrWrite(store, name, HexFormat.of().formatHex(made));
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

  /** Returns the identity that the store has, as far as this server knows. */
  String present() {
    return expected;
  }

  /** Returns whether this server had used the store before its start. */
  boolean isKnown() {
    return isKnown;
  }

  /** Returns the identities in the file of the data folder, the latest last; none if the file cannot be read. */
  private static List<String> kept(Path folder) {
    Path file = folder.resolve(FILE);
    try {
      return Files.exists(file) ? Files.readAllLines(file, US_ASCII) : List.of();
    } catch (IOException e) {
      log.warn("cannot read the identities of the stores that this server has used: file={}, reason={}", file,
          e.toString());
      return List.of();
    }
  }

  /** Keeps the identity in the data folder. Logs a warning if the folder is of other stores. */
  void keep() {
    if (folder == null) {
      return;
    }
    Path file = folder.resolve(FILE);
    List<String> kept = new ArrayList<>(kept(folder));
    if (!kept.isEmpty() && !kept.contains(expected)) {
      log.warn("the store has an identity that this server does not know: it has lost its content, or it is another"
          + " store. Tasks, queues, jobs and API keys of the earlier store are not in it: file={}, earlier={},"
          + " identity={}", file, kept.getLast(), expected);
    }
    if (!kept.isEmpty() && kept.getLast().equals(expected)) {
      return;
    }
    kept.remove(expected);
    kept.add(expected);
    try {
      PrivateFiles.ensureFolder(folder);
      PrivateFiles.write(file,
          String.join("\n", kept.subList(Math.max(0, kept.size() - MOST_KEPT), kept.size())) + "\n");
    } catch (IOException e) {
      log.warn("cannot keep the identity of the store, so the next start does not notice another store: file={},"
          + " reason={}", file, e.toString());
    }
  }

  /** Sets what is done after this server has adopted a store. It is called by a thread of the store. */
  void onAdopted(Runnable action) {
    adopted = action;
  }

  /** Starts a check of the identity, unless the latest check is still under way. */
  void check() {
    if (!store.isShared() || !check.isDone()) {
      return;
    }
    try {
      check = store.document(DocumentKind.CLUSTER, DOCUMENT)
          .thenCompose(found -> compare(found.map(StoreIdentity::text).orElse(null))).toCompletableFuture();
    } catch (RuntimeException e) {
      // The store is closed or unavailable, which the commit pulse reports.
    }
  }

  private CompletionStage<?> compare(@Nullable String found) {
    int before = missed;
    if (expected.equals(found)) {
      missed = 0;
      if (before > 0) {
        log.info("the store has its identity again: identity={}", expected);
      }
      return CompletableFuture.completedFuture(null);
    }
    missed = before + 1;
    if (before == 0) {
      losses.incrementAndGet();
      log.error("the store no longer has its identity: it has lost its content, or this is another store. Tasks,"
          + " queues, jobs and API keys are missing. This server is not ready, and adopts the store as it is in"
          + " {} seconds: expected={}, identity={}", ADOPT_AFTER, expected, found == null ? "none" : found);
    }
    return missed <= ADOPT_AFTER
        ? CompletableFuture.completedFuture(null)
        : readOrWrite(store, DOCUMENT, random).thenAccept(this::adopt);
  }

  private void adopt(String present) {
    log.error("the store is adopted as it is, and this server continues with it. What the earlier store had is lost:"
        + " earlier={}, identity={}", expected, present);
    expected = present;
    missed = 0;
    adopted.run();
  }

  /** Returns how often the store has lost its identity while this server ran. */
  long losses() {
    return losses.get();
  }

  /** Returns the reason why the server is not ready, or an empty list if the store has its identity. */
  List<String> troubles() {
    return missed > 0
        ? List.of("the store has lost its content, or it is another store than before; this server waits "
            + ADOPT_AFTER + " seconds for it to come back, and then continues with the store as it is")
        : List.of();
  }
}
