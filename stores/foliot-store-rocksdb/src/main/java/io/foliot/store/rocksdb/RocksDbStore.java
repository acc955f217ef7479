package io.foliot.store.rocksdb;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Backups;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.EndedLeases;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.StoreStatistics;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.TermsByQueue;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import io.foliot.core.store.batch.BatchSteps;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksIterator;

/**
 * A store in a folder of this machine, for one process: durability class D. Each slot has an ordered index {@code
 * wakeAt | id}, which has no entry before its {@linkplain LowWatermarks low watermark}. So a poll skips the deleted
 * entries before the watermark, and needs no read while the watermark is in the future.
 *
 * <p><b>Threads.</b> One thread writes, in group commits (see {@code Writer}). One thread completes calls after their
 * writes, and two threads carry out reads and complete them. Callers' code that continues a stage may run on these
 * three threads. This code must be short, or continue elsewhere ({@code whenCompleteAsync}), and must not wait for
 * another call of the store.
 *
 * <p><b>Fail stop.</b> The store closes itself after a checksum that does not match, and after a failed read, write or
 * sync. Every call then fails, {@link #failure} returns the reason, and {@link RocksDbOptions#onFailure} is called.
 *
 * <p>This class is one file because it implements the SPI, one method per call, on top of the writer and the readers.
 */
public final class RocksDbStore implements TaskStore, Backups, StoreStatistics {
  private static final int READ_THREADS = 2;
  /** Maximum number of waiting reads. A node has fewer callers than this, and each caller waits for its read. */
  private static final int MAX_WAITING_READS = 10_000;

  /** The sources of tokens and of free space, which tests replace. */
  record Seams(Supplier<Token> tokens, ToLongFunction<Path> freeBytes) {
    static Seams real() {
      return new Seams(new SecureTokens(), StoreFolder::usableBytes);
    }
  }

  private final StoreFolder folder;
  private final RocksDbOptions options;
  private final TimeSource clock;
  private final int slotCount;
  private final Database db;
  private final TaskOperations operations;
  private final RecordCache cache;
  private final Unreadables unreadables = new Unreadables();
  private final TaskCounts tally;
  private final Documents documents;
  private final TermsByQueue terms = new TermsByQueue();
  private final CommitTable table;
  private final StoredRecords stored;
  private final Reader reader;
  private final EndedLeases endedLeases;
  private final Writer writer;
  private final Room room;
  private final ThreadPoolExecutor reads;
  private final GuardWriter guard;
  private final FolderLock lock;

  private RocksDbStore(StoreFolder folder, RocksDbOptions options, TimeSource clock, Seams seams, Database db,
      FolderLock lock, boolean isNew) throws IOException {
    this.folder = folder;
    this.options = options;
    this.clock = clock;
    this.db = db;
    Queues queues = new Queues();
    tally = new TaskCounts(queues);
    long floor = isNew ? 0 : readMeta(queues);
    slotCount = isNew ? options.slots() : readSlots();
    LowWatermarks indexWatermarks = new LowWatermarks(slotCount);
    LowWatermarks parkedWatermarks = new LowWatermarks(Math.max(64, queues.count()));
    cache = new RecordCache(options.recordCacheBytes());
    documents = new Documents(db);
    room = new Room(folder.path(), options.reserveBytes(), seams.freeBytes(), clock);
    table = new CommitTable(db, slotCount, queues, tally, cache, unreadables, room, indexWatermarks, parkedWatermarks,
        floor);
    operations = new TaskOperations(table.records(), seams.tokens(), terms, floor);
    stored = table.stored();
    endedLeases = new EndedLeases(this, this::leaseEnds, clock::monotonicNanos);
    reader = new Reader(db, clock, slotCount, queues, tally, indexWatermarks, parkedWatermarks, unreadables);
    reads = new ThreadPoolExecutor(READ_THREADS, READ_THREADS, 0, TimeUnit.SECONDS,
        new LinkedBlockingQueue<>(MAX_WAITING_READS), task -> Writer.daemon(task, "foliot-rocksdb-reads"));
    writer = new Writer(clock, table, operations, db, List.of(indexWatermarks, parkedWatermarks), documents, this::end);
    this.lock = lock;
    writeMeta(isNew, floor);
    guard = new GuardWriter(folder, db::lastSequence);
    guard.update();
  }

  /**
   * Opens the store in a folder, or creates one there. Reads no tasks: opening takes as long as reading the log.
   *
   * @param folder the store's folder, empty or absent for a new store; RocksDB's files go into a subfolder
   * @param clock the store's clock
   * @throws StoreException if the folder is in use, cannot be used, holds a store of another format or other files, or
   *     is damaged; the message contains the cause
   */
  public static RocksDbStore open(Path folder, RocksDbOptions options, TimeSource clock) {
    return open(folder, options, clock, Seams.real());
  }

  /** Returns whether a folder holds a store, whole or damaged. Changes nothing. */
  public static boolean exists(Path folder) {
    return Files.isDirectory(new StoreFolder(folder).rocks());
  }

  static RocksDbStore open(Path path, RocksDbOptions options, TimeSource clock, Seams seams) {
    StoreFolder folder = new StoreFolder(path);
    boolean exists = folder.prepare();
    FolderLock lock = null;
    Database db = null;
    RocksDbStore store = null;
    try {
      lock = FolderLock.of(folder);
      check(folder);
      folder.narrow();
      NativeLibrary.load(folder.path());
      lock.handOver();
      db = openDatabase(folder, options, !exists);
      byte[] format = db.get(Family.META, Layout.META_FORMAT);
      if (format != null) {
        folder.ensureFormat(BytesReader.u32(format, 0));
      }
      RocksDbStore opened = new RocksDbStore(folder, options, clock, seams, db, lock, format == null);
      if (!exists) {
        folder.writeNote();
      }
      opened.guard.start();
      opened.writer.start();
      store = opened;
      return opened;
    } catch (IOException e) {
      throw new StoreException("the folder cannot be used: folder=" + folder.path() + ": " + e, e);
    } finally {
      if (store == null) {
        release(db, lock);
      }
    }
  }

  private static void release(@Nullable Database db, @Nullable FolderLock lock) {
    if (db != null) {
      db.close();
    }
    if (lock != null) {
      lock.close();
    }
  }

  private static void check(StoreFolder folder) throws IOException {
    FolderCheck check = new FolderCheck(folder);
    try {
      check.check();
    } catch (DamagedException e) {
      throw new DamagedException(e.getMessage() + "; the store is not opened, because acknowledged tasks would be "
          + "missing silently, and nothing in its folder was changed; find the damage with 'foliot verify', restore "
          + "the newest backup with 'foliot restore', or ask for help and leave the folder unchanged", e);
    }
    check.removeTails();
  }

  private static Database openDatabase(StoreFolder folder, RocksDbOptions options, boolean create) {
    try {
      return Database.open(folder.rocks(), options, create);
    } catch (StoreException e) {
      throw String.valueOf(e.getMessage()).contains("/LOCK:") ? FolderLock.inUse(folder, e) : e;
    }
  }

  private long readMeta(Queues queues) {
    long floor = 0;
    try (RocksIterator iterator = db.iterator(Family.META)) {
      List<byte[][]> counts = new ArrayList<>();
      for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
        byte[] key = iterator.key();
        byte[] value = iterator.value();
        if (Arrays.equals(key, Layout.META_FLOOR)) {
          floor = BytesReader.u64(value, 0);
        } else if (key.length == 5 && key[0] == Layout.META_QUEUE) {
          queues.set(BytesReader.u32(key, 1), new BytesReader(value).text());
        } else if ((key.length == 5 && key[0] == Layout.META_LIVE)
            || (key.length == 10 && key[0] == Layout.META_KEPT)) {
          counts.add(new byte[][]{key, value});
        }
      }
      Database.check(iterator);
      counts.forEach(count -> tally.read(count[0], count[1]));
    }
    tally.publish();
    return floor;
  }

  private int readSlots() {
    byte[] stored = db.get(Family.META, Layout.META_SLOTS);
    if (stored == null) {
      throw new DamagedException("the store has no record of its number of slots: folder=" + folder.path(), null);
    }
    return BytesReader.u32(stored, 0);
  }

  /**
   * Writes the properties of a new store. Also writes the floor of generations, because an older version may not have
   * written it.
   */
  private void writeMeta(boolean isNew, long floor) {
    Batch batch = new Batch(db.familyIds(), 256);
    Bytes key = new Bytes(16);
    if (isNew) {
      batch.put(Family.META, key.clear().bytes(Layout.META_SLOTS), new Bytes(4).u32(slotCount));
      batch.put(Family.META, key.clear().bytes(Layout.META_FORMAT), new Bytes(4).u32(StoreFolder.FORMAT));
    }
    batch.put(Family.META, key.clear().bytes(Layout.META_FLOOR), new Bytes(8).u64(floor));
    db.write(batch);
  }

  @Override
  public int slotCount() {
    return slotCount;
  }

  @Override
  public boolean isShared() {
    return false;
  }

  @Override
  public Durability durability() {
    return new Durability("D", 0,
        "RocksDB, every commit synced to its log before it is answered, except moves of index entries");
  }

  @Override
  public String kind() {
    return "rocksdb";
  }

  @Override
  public void configure(String queue, QueueTerms queueTerms) {
    terms.configure(queue, queueTerms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return Slices.call(List.copyOf(drafts), this::submitSlice);
  }

  private CompletionStage<List<SubmitResult>> submitSlice(List<Draft> items) {
    long bytes = 0;
    for (Draft draft : items) {
      bytes += draft.body() == null ? 0 : draft.body().payload().length;
    }
    return writer.call(new Operation<>(items.size(), bytes, wants -> {
      for (Draft draft : items) {
        wants.newId(draft.id());
        if (draft.key() != null) {
          wants.key(new KeyName(draft.queue(), draft.key()));
        }
      }
    }, now -> readable(items,
        draft -> draft.key() != null && stored.isUnreadable(new KeyName(draft.queue(), draft.key())),
        some -> operations.submit(some, now))));
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return Slices.call(List.copyOf(touches), items -> writer.call(new Operation<>(items.size(), 0,
        wants -> items.forEach(touch -> wants.ref(touch.ref())),
        now -> readable(items, touch -> stored.isUnreadable(touch.ref()), some -> operations.touch(some, now)))));
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return Slices.call(List.copyOf(refs), items -> writer.call(new Operation<>(items.size(), 0,
        wants -> items.forEach(wants::ref),
        now -> readable(items, stored::isUnreadable, some -> operations.cancel(some, now)))));
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    List<DueEntry> items = List.copyOf(entries);
    return writer.call(new Operation<>(items.size(), 0, wants -> items.forEach(entry -> wants.id(entry.id())),
        now -> operations.park(items, now)));
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    List<TaskId> items = List.copyOf(ids);
    return read(() -> reader.probe(items));
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    List<Claim> items = List.copyOf(claims);
    // A batch of moves changes only wakeAt and parked of tasks, and their index entries. A move that a power loss
    // undoes is made again.
    boolean onlyMoves = items.stream().allMatch(claim -> claim.leaseMillis() == 0);
    Consumer<StoredRecords> wants = wanted -> items.forEach(claim -> wanted.id(claim.id()));
    Operation.Step<ClaimBatch> step = now -> operations.claim(items, now);
    return writer.call(onlyMoves
        ? Operation.move(items.size(), wants, step)
        : Operation.claim(items.size(), wants, step));
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    List<Extension> items = List.copyOf(extensions);
    return writer.call(new Operation<>(items.size(), 0, wants -> items.forEach(item -> wants.id(item.id())),
        now -> operations.extend(items, now)));
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    List<AttemptEnd> items = List.copyOf(settlements);
    long bytes = 0;
    for (AttemptEnd item : items) {
      bytes += item.outcome() instanceof Outcome.Rearm rearm ? rearm.bytes() : 0;
    }
    return writer.call(
        new Operation<>(items.size(), bytes, wants -> items.forEach(item -> BatchSteps.SETTLE.wants(item, wants)),
            now -> operations.settle(items, now)));
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    List<Redrive> items = List.copyOf(redrives);
    return writer.call(new Operation<>(items.size(), 0, wants -> {}, now -> operations.redrive(items, now)));
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    List<TaskRecord> items = List.copyOf(tasks);
    long bytes = 0;
    for (TaskRecord task : items) {
      bytes += task.body().payload().length;
    }
    return writer.call(new Operation<>(items.size(), bytes, wants -> {
      for (TaskRecord task : items) {
        BatchSteps.ADOPT.wants(task, wants);
      }
    }, now -> readable(items,
        task -> task.key() != null && stored.isUnreadable(new KeyName(task.queue(), task.key())),
        some -> operations.adopt(some, now))));
  }

  /**
   * Runs the items whose tasks can be read. An item with an unreadable task fails without any effect, because the
   * result of resetting or cancelling this task is not known.
   */
  private <T, R> List<R> readable(List<T> items, Predicate<T> isUnreadable, Function<List<T>, List<R>> step) {
    if (unreadables.count() == 0) {
      // The live records of the items were read before this check, so all of them can be read.
      return step.apply(items);
    }
    List<T> some = items.stream().filter(isUnreadable.negate()).toList();
    if (some.size() == items.size()) {
      return step.apply(items);
    }
    List<? extends @Nullable Object> results;
    try {
      results = step.apply(some);
    } catch (ItemsFailedException e) {
      results = e.results();
    } catch (StoreFullException e) {
      results = Collections.nCopies(some.size(), null);
    }
    List<@Nullable Object> all = new ArrayList<>(items.size());
    Iterator<? extends @Nullable Object> next = results.iterator();
    for (T item : items) {
      all.add(isUnreadable.test(item) ? null : next.next());
    }
    throw ItemsFailedException.of(all, new StoreAwayException("a task cannot be read by this Foliot, and nothing was "
        + "done to it; the log names the task and the reason", null));
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    byte[] copy = content == null ? null : content.clone();
    return writer.call(new Operation<>(1, copy == null ? 0 : copy.length, wants -> {},
        now -> documents.write(kind, name, expectedVersion, copy, table.batch())));
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    boolean needsRead = false;
    for (DueScan scan : scans) {
      if (scan.slot() < 0 || scan.slot() >= slotCount || scan.limit() < 1) {
        return CompletableFuture.failedFuture(new IllegalArgumentException(
            "a scan must have a slot of this store and a limit of at least 1: slots=" + slotCount + ", scan=" + scan));
      }
      needsRead |= !reader.findsNothing(scan);
    }
    if (needsRead) {
      List<DueScan> items = List.copyOf(scans);
      return read(() -> items.stream().map(reader::due).toList());
    }
    return inline(() -> scans.stream().map(scan -> new DueSlice(scan.slot(), List.<DueEntry>of(), false)).toList());
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return read(() -> reader.parked(queue, slots, after, limit));
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return slots.isAll() ? inline(() -> reader.parkedQueues(slots)) : read(() -> reader.parkedQueues(slots));
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return read(() -> reader.find(ref));
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    List<TaskId> items = List.copyOf(ids);
    return read(() -> reader.find(items));
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return read(() -> reader.query(queue, state, limit, cursor));
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return read(() -> reader.live(limit, cursor));
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return inline(tally::published).thenCompose(endedLeases::correct);
  }

  private CompletionStage<List<Long>> leaseEnds(List<TaskId> ids) {
    return read(() -> reader.leaseEnds(ids));
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    // The writer runs calls in order of arrival, apart from claims. So the result includes all tasks whose creation was
    // accepted before this call.
    return writer.call(new Operation<>(1, 0, wants -> {}, now -> table.hasLive(queue)));
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return inline(clock::wallMicros);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return read(() -> documents.find(kind, name));
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return read(() -> documents.all(kind));
  }

  private <R> CompletionStage<R> inline(Supplier<R> answer) {
    try {
      writer.ensureOpen();
      return CompletableFuture.completedFuture(answer.get());
    } catch (StoreException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private <R> CompletionStage<R> read(Supplier<R> step) {
    CompletableFuture<R> stage = new CompletableFuture<>();
    try {
      writer.ensureOpen();
      reads.execute(() -> {
        try {
          stage.complete(step.get());
        } catch (MalformedException | NewerVersionException | StoreAwayException | ItemsFailedException e) {
          // Only the records that this call wants cannot be read.
          stage.completeExceptionally(e);
        } catch (StoreException e) {
          writer.fail(e);
          stage.completeExceptionally(e);
        } catch (Throwable e) {
          stage.completeExceptionally(e);
        }
      });
    } catch (StoreException e) {
      stage.completeExceptionally(e);
    } catch (RejectedExecutionException e) {
      StoreException reason = reads.isShutdown()
          ? new StoreException("the store is closed", e)
          : new StoreException("too many reads wait: reads=" + MAX_WAITING_READS, e);
      stage.completeExceptionally(reason);
    }
    return stage;
  }

  /** Returns the reason why the store has closed itself, or empty if it has not. */
  public Optional<StoreException> failure() {
    return Optional.ofNullable(writer.failure());
  }

  /** {@inheritDoc} Files that have not changed are not copied again. */
  @Override
  public synchronized Backup backup(Path target) {
    writer.ensureOpen();
    try (BackupFolder backups = new BackupFolder(target)) {
      return backups.add(db);
    }
  }

  /**
   * Returns the backups in a folder, oldest first.
   *
   * @throws StoreException if the folder cannot be read
   */
  public static List<Backup> backups(Path folder) {
    try (BackupFolder backups = new BackupFolder(folder)) {
      return backups.list();
    }
  }

  /**
   * Creates a store from the latest backup in a folder.
   *
   * @param emptyFolder the folder of the new store; must be absent or empty
   * @throws StoreException if there is no backup, the folder is not empty, or a file does not match its checksum
   */
  public static void restore(Path backups, Path emptyFolder) {
    try (BackupFolder from = new BackupFolder(backups)) {
      from.restoreLatest(new StoreFolder(emptyFolder));
    }
  }

  /**
   * Reads all data of a closed store, and checks it against its checksums and for consistency. Writes nothing.
   *
   * @param progress called often with a line of text about the progress; must be quick
   * @throws StoreException if there is no store of a known format, the store is open, or the folder cannot be read
   */
  public static VerifyReport verify(Path folder, RocksDbOptions options, Consumer<String> progress) {
    return new Verification(new StoreFolder(folder), options, progress).run();
  }

  /**
   * Returns true if no process has the store in a folder open, or if the folder holds no store.
   *
   * @throws StoreException if the folder cannot be read
   */
  public static boolean isFree(Path folder) {
    StoreFolder store = new StoreFolder(folder);
    try {
      return !Files.isDirectory(store.rocks()) || FolderLock.isFree(store);
    } catch (IOException e) {
      throw new StoreException("the folder cannot be read: folder=" + folder + ": " + e, e);
    }
  }

  /**
   * Returns the store's counters and sizes, some of them read from RocksDB.
   *
   * @throws StoreException if the store is closed
   */
  public synchronized StoreStats stats() {
    writer.ensureOpen();
    Writer.Done done = writer.done();
    return new StoreStats(done.commits(), done.syncs(), done.items(), done.prepareNanos() / 1_000,
        done.syncNanos() / 1_000,
        done.lastItems(), done.lastSyncNanos() / 1_000, writer.waitingItems(), cache.size(), cache.bytes(),
        room.lastFreeBytes(), db.logBytes(), db.number("rocksdb.total-sst-files-size"),
        db.number("rocksdb.cur-size-all-mem-tables"), unreadables.count());
  }

  @Override
  public List<Figure> figures() {
    return stats().figures();
  }

  /** Releases all resources. Runs at the end of the writer thread, after a close or a failure. */
  private void end() {
    reads.shutdown();
    try {
      while (!reads.awaitTermination(1, TimeUnit.MINUTES)) {
        // A read cannot be interrupted, but it is bounded.
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    guard.stop();
    synchronized (this) {
      long lastSequence = db.lastSequence();
      reader.close();
      db.close();
      guard.finish(lastSequence);
      lock.close();
    }
    StoreException failure = writer.failure();
    if (failure != null) {
      options.onFailure().accept(failure);
    }
  }

  @Override
  public void close() {
    writer.close();
  }
}
