package io.foliot.engine.migration;

import io.foliot.api.TaskState;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.SealFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Moves all live tasks, and the documents of queues, calendars and API keys, from one store to another store.
 *
 * <pre>
 * source: open → DRAINING → MOVED          engines that share this store stop within a second or two
 * target: empty → FILLING → open           no engine starts on this store before all tasks are there
 * </pre>
 *
 * <p>Each store is sealed by a document in that store, so that no task is served by both stores. The target's seal also
 * records the progress. An interrupted migration continues from the recorded task, and a task that is sent twice is
 * stored once. At the end both stores are read, and their counts and checksums must be equal; only then is the target
 * opened.
 *
 * <p>Final tasks, including dead letters, stay behind, and so do answers to requests with idempotency keys.
 */
public final class Migration {
  /** Number of tasks that are read and written at a time. */
  static final int PAGE = 1_000;
  /**
   * Maximum time from the setting of a seal to the last write of an engine that the seal forbids. Engines check for a
   * seal each second.
   */
  private static final Duration SEAL_SEEN = Duration.ofSeconds(3);
  private static final long CALL_SECONDS = 60;
  /** Maximum number of unreadable tasks that are listed one by one. */
  private static final int MAX_UNREADABLE = 1_000;
  private static final List<DocumentKind> MOVED_KINDS = List.of(DocumentKind.QUEUE, DocumentKind.CALENDAR,
      DocumentKind.API_KEY);

  private final TaskStore source;
  private final TaskStore target;
  private final String sourceName;
  private final String targetName;
  private final Consumer<String> progress;
  private final Preparation preparation;
  private final List<SetAside> unreadable = new ArrayList<>();

  /**
   * Creates a migration between two open stores.
   *
   * @param sourceName name of the source in messages; it must not contain a secret
   * @param targetName name of the target in messages; it must not contain a secret
   * @param progress receives messages about the progress, often several in a second, in the thread of the migration
   */
  public Migration(TaskStore source, String sourceName, TaskStore target, String targetName,
      Consumer<String> progress) {
    this(source, sourceName, target, targetName, progress, store -> Optional.empty());
  }

  /**
   * Creates a migration as {@link #Migration(TaskStore, String, TaskStore, String, Consumer)} does.
   *
   * @param preparation prepares the live tasks of the source before they are moved
   */
  public Migration(TaskStore source, String sourceName, TaskStore target, String targetName,
      Consumer<String> progress, Preparation preparation) {
    this.preparation = preparation;
    this.source = source;
    this.sourceName = sourceName;
    this.target = target;
    this.targetName = targetName;
    this.progress = progress;
  }

  /** Prepares the live tasks of a source for the move. Live tasks may need data of final ones, which stay behind. */
  @FunctionalInterface
  public interface Preparation {
    /**
     * Prepares the live tasks, when the source is sealed and no engine uses it. May be repeated.
     *
     * @return empty, or why the tasks cannot be moved now and what to wait for
     */
    Optional<String> prepare(TaskStore source);
  }

  /**
   * The result of a migration.
   *
   * @param tasks number of live tasks
   * @param checksum checksum of these tasks, in hexadecimal digits
   * @param settings number of documents: queues, calendars, API keys
   * @param failed number of dead letters that stay behind in the source
   * @param unreadable live tasks that stay behind in the source because their records cannot be read; at most
   *     the first thousand
   */
  public record Result(long tasks, String checksum, long settings, long failed, List<SetAside> unreadable) {
    public Result {
      unreadable = List.copyOf(unreadable);
    }
  }

  /**
   * Moves all tasks and settings, and blocks until all are moved. May be repeated after a failure, with the same two
   * stores.
   *
   * @param patience how long to wait for the ends of running attempts; tasks that still run after this time are moved
   *     as they are
   * @throws MigrationException if the migration cannot continue
   * @throws StoreException if a store cannot be reached or reports a failure
   * @throws CompletionException if a store does not answer a call within a minute
   */
  public Result run(Duration patience) {
    unreadable.clear();
    Optional<StoreSeal> sourceSeal = sealOf(source);
    StoreSeal resumed = ensureTarget();
    ensureSource(sourceSeal.orElse(null), sealOf(target).isPresent());
    seal(source, StoreSeal.of(StoreSeal.State.DRAINING, targetName));
    seal(target, resumed);
    if (source.isShared()) {
      awaitDrained(patience);
    }
    seal(source, StoreSeal.of(StoreSeal.State.MOVED, targetName));
    if (source.isShared()) {
      progress.accept("waiting for the engines of " + sourceName + " to stop, because the store is sealed");
      LockSupport.parkNanos(SEAL_SEEN.toNanos());
    }
    Optional<String> refusal = preparation.prepare(source);
    if (refusal.isPresent()) {
      throw new MigrationException(refusal.get());
    }
    long settings = moveSettings();
    moveTasks(resumed);
    Fingerprint moved = verify();
    unseal(target);
    return new Result(moved.tasks(), Long.toHexString(moved.sum()), settings, failed(), unreadable);
  }

  private long failed() {
    return await(source.counts()).values().stream().mapToLong(QueueCounts::failed).sum();
  }

  /** Removes the seal of a store, if it has one. Returns whether the store was sealed. */
  public static boolean release(TaskStore store) {
    boolean sealed = sealOf(store).isPresent();
    unseal(store);
    return sealed;
  }

  private StoreSeal ensureTarget() {
    Optional<StoreSeal> there = sealOf(target);
    if (there.isPresent()) {
      StoreSeal seal = there.get();
      if (seal.state() != StoreSeal.State.FILLING || !seal.other().equals(sourceName)) {
        throw new MigrationException(seal);
      }
      progress.accept("continuing after " + seal.tasks() + " tasks");
      return seal;
    }
    RecordPage first = await(target.live(1, null));
    if (!first.tasks().isEmpty() || !first.unreadable().isEmpty()) {
      throw new MigrationException("the target has live tasks already; name a store without any: target=" + targetName);
    }
    return StoreSeal.of(StoreSeal.State.FILLING, sourceName);
  }

  /**
   * Refuses a source if its tasks have moved to another store already, or if the source is itself still being filled.
   * Otherwise the same tasks would run in two stores.
   *
   * @param isResumed whether the target has the seal of an earlier run of this migration
   */
  private void ensureSource(@Nullable StoreSeal seal, boolean isResumed) {
    if (seal == null) {
      return;
    }
    boolean isWhole = seal.state() == StoreSeal.State.DRAINING || (seal.state() == StoreSeal.State.MOVED && isResumed);
    if (!isWhole || !seal.other().equals(targetName)) {
      throw new MigrationException("the source is sealed by another migration: source=" + sourceName + ", state="
          + seal.state() + ", other=" + seal.other() + "; migrate from the store that has the tasks, or release the"
          + " source if it is certain that no other store has them");
    }
  }

  private void awaitDrained(Duration patience) {
    long beganNanos = System.nanoTime();
    LockSupport.parkNanos(SEAL_SEEN.toNanos());
    long running = running();
    while (running > 0 && System.nanoTime() - beganNanos < patience.toNanos()) {
      progress.accept("waiting for attempts under way: running=" + running);
      LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
      running = running();
    }
    if (running > 0) {
      progress.accept("no longer waiting; running tasks are moved as they are, and retried when their leases end:"
          + " running=" + running);
    }
  }

  private long running() {
    long running = 0;
    String cursor = null;
    do {
      RecordPage page = await(source.live(PAGE, cursor));
      running += page.tasks().stream().filter(task -> task.state() == TaskState.RUNNING).count();
      cursor = page.cursor();
    } while (cursor != null);
    return running;
  }

  private long moveSettings() {
    long moved = 0;
    for (DocumentKind kind : MOVED_KINDS) {
      for (Document document : await(source.documents(kind))) {
        copy(kind, document);
        moved++;
      }
    }
    // The seats are copied as well, because the ids of addressed tasks name seats.
    Optional<Document> seats = await(source.document(DocumentKind.FLEET, Fleet.SEATS));
    if (seats.isPresent()) {
      copy(DocumentKind.FLEET, seats.get());
    }
    return moved;
  }

  private void copy(DocumentKind kind, Document document) {
    Optional<Document> there = await(target.document(kind, document.name()));
    boolean same = there.isPresent() && Arrays.equals(there.get().content(), document.content());
    if (!same && !await(target.writeDocument(kind, document.name(), there.map(Document::version).orElse(0L),
        document.content()))) {
      throw new MigrationException("another process writes to the target; ensure that none uses it: target="
          + targetName);
    }
  }

  private void moveTasks(StoreSeal resumed) {
    long tasks = resumed.tasks();
    String cursor = resumed.cursor();
    CompletionStage<RecordPage> next = source.live(PAGE, cursor);
    do {
      RecordPage page = await(next);
      cursor = page.cursor();
      if (cursor != null) {
        // The next page is read while this one is written.
        next = source.live(PAGE, cursor);
      }
      adopt(page.tasks());
      tasks += page.tasks().size();
      if (cursor != null) {
        seal(target, new StoreSeal(StoreSeal.State.FILLING, sourceName, cursor, tasks));
      }
      progress.accept("moved " + tasks + " tasks");
    } while (cursor != null);
  }

  private void adopt(List<TaskRecord> tasks) {
    List<Boolean> adopted = await(target.adopt(tasks));
    int refused = adopted.indexOf(false);
    if (refused >= 0) {
      TaskRecord task = tasks.get(refused);
      throw new MigrationException("the target has another live task of this key; cancel one of the two: queue="
          + task.queue() + ", key=" + task.key());
    }
  }

  /**
   * Lists the unreadable tasks of the whole source. The parts that an earlier, interrupted migration has read are
   * included.
   */
  private void noteUnreadable() {
    String cursor = null;
    do {
      RecordPage page = await(source.live(PAGE, cursor));
      for (SetAside task : page.unreadable()) {
        if (unreadable.size() < MAX_UNREADABLE) {
          unreadable.add(task);
        }
      }
      cursor = page.cursor();
    } while (cursor != null);
  }

  private Fingerprint verify() {
    noteUnreadable();
    Fingerprint before = Fingerprint.of(source, far -> progress.accept("checking the source: " + far));
    Fingerprint after = Fingerprint.of(target, far -> progress.accept("checking the target: " + far));
    if (!before.equals(after)) {
      throw new MigrationException("the stores differ, and the target stays sealed: source: " + before + "; target: "
          + after
          + ". Another process has written to one of them; make sure that no old server runs, empty the target, release"
          + " the source, and begin again");
    }
    return after;
  }

  private static Optional<StoreSeal> sealOf(TaskStore store) {
    return await(store.document(DocumentKind.CLUSTER, StoreSeal.NAME))
        .map(document -> SealFormat.decode(document.content()));
  }

  private static void unseal(TaskStore store) {
    write(store, null);
  }

  private static void seal(TaskStore store, StoreSeal seal) {
    write(store, SealFormat.encode(seal));
  }

  private static void write(TaskStore store, byte @Nullable [] content) {
    long version = await(store.document(DocumentKind.CLUSTER, StoreSeal.NAME)).map(Document::version).orElse(0L);
    if ((version != 0 || content != null)
        && !await(store.writeDocument(DocumentKind.CLUSTER, StoreSeal.NAME, version, content))) {
      throw new MigrationException("another migration is under way with one of these stores");
    }
  }

  static <T> T await(CompletionStage<T> call) {
    CompletableFuture<T> answer = call.toCompletableFuture();
    try {
      return answer.orTimeout(CALL_SECONDS, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof StoreException failed ? failed : e;
    }
  }
}
