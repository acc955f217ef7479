package io.foliot.core.store;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store in memory, for tests and for applications that can lose their tasks on a restart. Each stage is complete when
 * its call returns; one lock guards all calls.
 */
public final class MemoryStore implements TaskStore {
  private static final Comparator<DueEntry> BY_WAKE = Comparator.comparingLong(DueEntry::wakeAt)
      .thenComparing(DueEntry::id);
  /**
   * Maximum number of expired tasks or answers that one write drops. A write adds at most one task or answer, so
   * expired ones do not accumulate.
   */
  private static final int FORGET_PER_WRITE = 4;

  private record Key(String queue, @Nullable String key, @Nullable String idempotencyKey) {}

  private record Dropped(long dropAt, TaskId id) {}

  private final int slotCount;
  private final TimeSource clock;
  private final TermsByQueue terms = new TermsByQueue();
  private final Table table = new Table();
  private final TaskOperations operations;

  // guarded by this
  private final Map<TaskId, TaskRecord> records = new HashMap<>();
  private final NavigableMap<DueEntry, TaskId>[] index;
  private final Map<String, NavigableMap<DueEntry, TaskId>> parked = new TreeMap<>();
  private final Map<Key, TaskId> keys = new HashMap<>();
  /** Answers to requests with idempotency keys, oldest first. */
  private final SequencedMap<Key, RecordTable.Answered> answers = new LinkedHashMap<>();
  private final NavigableMap<Dropped, TaskId> drops = new TreeMap<>(
      Comparator.comparingLong(Dropped::dropAt).thenComparing(Dropped::id));
  private final Map<DocumentKind, NavigableMap<String, Document>> documents = new HashMap<>();
  private long documentVersion; // the largest version that was ever assigned
  private boolean closed;
  private boolean full;

  /**
   * Creates an empty store.
   *
   * @param slotCount a power of two from 1 to 65,536
   * @param tokens returns unpredictable tokens, never the same one twice
   */
  public MemoryStore(int slotCount, TimeSource clock, Supplier<Token> tokens) {
    if (slotCount < 1 || Integer.bitCount(slotCount) != 1 || slotCount > 1 << 16) {
      throw new IllegalArgumentException(
          "the number of slots must be a power of two, at most 65536: slots=" + slotCount);
    }
    this.slotCount = slotCount;
    this.clock = clock;
    operations = new TaskOperations(table, tokens, terms, 0);
    index = newIndex(slotCount);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static NavigableMap<DueEntry, TaskId>[] newIndex(int slotCount) {
    NavigableMap<DueEntry, TaskId>[] index = new NavigableMap[slotCount];
    for (int i = 0; i < slotCount; i++) {
      index[i] = new TreeMap<>(BY_WAKE);
    }
    return index;
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
    return new Durability("NONE", 0, "everything is in memory");
  }

  @Override
  public String kind() {
    return "memory";
  }

  @Override
  public void configure(String queue, QueueTerms queueTerms) {
    terms.configure(queue, queueTerms);
  }

  /**
   * Sets whether the store refuses new tasks, as another store does whose disk is full. Tasks of the store can still be
   * changed and ended. For tests.
   */
  public synchronized void setFull(boolean isFull) {
    full = isFull;
  }

  private synchronized <R> CompletionStage<R> call(Supplier<R> step) {
    if (closed) {
      return CompletableFuture.failedFuture(new StoreException("the store is closed", null));
    }
    try {
      return CompletableFuture.completedFuture(step.get());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return call(() -> operations.submit(drafts, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return call(() -> operations.touch(touches, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return call(() -> operations.cancel(refs, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return call(() -> operations.park(entries, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return call(() -> ids.stream().map(id -> {
      TaskRecord record = table.get(id);
      return record == null ? Probed.UNKNOWN : Probed.of(record);
    }).toList());
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return call(() -> operations.claim(claims, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return call(() -> operations.extend(extensions, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return call(() -> operations.settle(settlements, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return call(() -> operations.redrive(redrives, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return call(() -> operations.adopt(tasks, clock.wallMicros()));
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return call(() -> scans.stream().map(this::slice).toList());
  }

  private DueSlice slice(DueScan scan) {
    if (index[scan.slot()].isEmpty()) {
      return new DueSlice(scan.slot(), List.of(), false);
    }
    TaskId after = scan.after();
    NavigableMap<DueEntry, TaskId> from = after == null
        ? index[scan.slot()].tailMap(new DueEntry(scan.fromWakeAt(), new TaskId(0, 0), ""), true)
        : index[scan.slot()].tailMap(new DueEntry(scan.fromWakeAt(), after, ""), false);
    List<DueEntry> entries = new ArrayList<>();
    for (DueEntry entry : from.keySet()) {
      if (entry.wakeAt() > scan.toWakeAt()) {
        return new DueSlice(scan.slot(), entries, false);
      }
      if (entries.size() == scan.limit()) {
        return new DueSlice(scan.slot(), entries, true);
      }
      entries.add(entry);
    }
    return new DueSlice(scan.slot(), entries, false);
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return call(() -> {
      NavigableMap<DueEntry, TaskId> all = parked.getOrDefault(queue, new TreeMap<>(BY_WAKE));
      NavigableMap<DueEntry, TaskId> from = after == null ? all : all.tailMap(after, false);
      return from.keySet().stream().filter(entry -> slots.contains(entry.id())).limit(limit).toList();
    });
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return call(() -> {
      Set<String> queues = new HashSet<>();
      parked.forEach((queue, entries) -> {
        if (entries.keySet().stream().anyMatch(entry -> slots.contains(entry.id()))) {
          queues.add(queue);
        }
      });
      return queues;
    });
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return call(() -> Optional.ofNullable(switch (ref) {
      case TaskRef.ById byId -> table.get(byId.id());
      case TaskRef.ByKey byKey -> table.byKey(byKey.queue(), byKey.key());
    }));
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return call(() -> ids.stream().map(id -> Optional.ofNullable(table.get(id))).toList());
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return call(() -> {
      long nowMillis = clock.wallMillis();
      return page(limit, cursor, record -> record.queue().equals(queue)
          && (state == null || record.stateAt(nowMillis) == state) && isKept(record, nowMillis));
    });
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return call(() -> page(limit, cursor, TaskRecord::isLive));
  }

  private RecordPage page(int limit, @Nullable String cursor, Predicate<TaskRecord> wanted) {
    TaskId after = cursor == null ? new TaskId(0, 0) : TaskId.parse(cursor);
    List<TaskRecord> found = records.values().stream().filter(record -> record.id().compareTo(after) > 0)
        .filter(wanted).sorted(Comparator.comparing(TaskRecord::id)).limit(limit + 1L).toList();
    return found.size() <= limit
        ? new RecordPage(found, null)
        : new RecordPage(found.subList(0, limit), found.get(limit - 1).id().toString());
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return call(() -> {
      Map<String, QueueCounts> counts = new HashMap<>();
      long nowMillis = clock.wallMillis();
      for (TaskRecord record : records.values()) {
        if (isKept(record, nowMillis)) {
          counts.merge(record.queue(), one(record, nowMillis), MemoryStore::sum);
        }
      }
      return counts;
    });
  }

  private static boolean isKept(TaskRecord record, long nowMillis) {
    return record.isLive() || record.dropAt() > nowMillis;
  }

  private static QueueCounts one(TaskRecord record, long nowMillis) {
    boolean hasEnded = record.state() == TaskState.RUNNING && record.leaseEnd() <= nowMillis;
    TaskState state = hasEnded ? TaskState.DELAYED : record.state();
    return new QueueCounts(state == TaskState.DELAYED ? 1 : 0, record.parked() ? 1 : 0,
        state == TaskState.RUNNING ? 1 : 0, state == TaskState.FINISHED ? 1 : 0, state == TaskState.FAILED ? 1 : 0,
        state == TaskState.CANCELLED ? 1 : 0);
  }

  private static QueueCounts sum(QueueCounts a, QueueCounts b) {
    return new QueueCounts(a.delayed() + b.delayed(), a.parked() + b.parked(), a.running() + b.running(),
        a.finished() + b.finished(), a.failed() + b.failed(), a.cancelled() + b.cancelled());
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return call(() -> records.values().stream().anyMatch(record -> record.isLive() && record.queue().equals(queue)));
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return call(clock::wallMicros);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return call(() -> Optional.ofNullable(kind(kind).get(name)));
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return call(() -> List.copyOf(kind(kind).values()));
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return call(() -> {
      Document old = kind(kind).get(name);
      if ((old == null ? 0 : old.version()) != expectedVersion) {
        return false;
      }
      if (content == null) {
        kind(kind).remove(name);
      } else {
        long version = old == null ? documentVersion + 1 : old.version() + 1;
        documentVersion = Math.max(documentVersion, version);
        kind(kind).put(name, new Document(name, version, content.clone()));
      }
      return true;
    });
  }

  private NavigableMap<String, Document> kind(DocumentKind kind) {
    return documents.computeIfAbsent(kind, none -> new TreeMap<>());
  }

  @Override
  public synchronized void close() {
    closed = true;
  }

  private final class Table implements RecordTable {
    @Override
    public void ensureRoom() {
      if (full) {
        throw new StoreFullException("the store in memory was told to be full, so new tasks are refused");
      }
    }

    @Override
    public @Nullable TaskRecord get(TaskId id) {
      TaskRecord record = records.get(id);
      return record != null && isKept(record, clock.wallMillis()) ? record : null;
    }

    @Override
    public @Nullable TaskRecord byKey(String queue, String key) {
      TaskId id = keys.get(new Key(queue, key, null));
      return id == null ? null : get(id);
    }

    @Override
    public void write(@Nullable TaskRecord before, TaskRecord after) {
      if (before != null && before.isLive()) {
        entries(before).remove(entry(before));
      }
      records.put(after.id(), after);
      if (after.isLive()) {
        entries(after).put(entry(after), after.id());
        if (after.key() != null) {
          keys.put(new Key(after.queue(), after.key(), null), after.id());
        }
      } else {
        drops.put(new Dropped(after.dropAt(), after.id()), after.id());
        forget();
      }
    }

    private NavigableMap<DueEntry, TaskId> entries(TaskRecord record) {
      return record.parked()
          ? parked.computeIfAbsent(record.queue(), none -> new TreeMap<>(BY_WAKE))
          : index[record.id().slot(slotCount)];
    }

    private static DueEntry entry(TaskRecord record) {
      return new DueEntry(record.wakeAt(), record.id(), record.queue());
    }

    private void forget() {
      long nowMillis = clock.wallMillis();
      Iterator<Dropped> oldest = drops.keySet().iterator();
      for (int i = 0; i < FORGET_PER_WRITE && oldest.hasNext(); i++) {
        Dropped dropped = oldest.next();
        if (dropped.dropAt() > nowMillis) {
          return;
        }
        oldest.remove();
        TaskRecord record = records.get(dropped.id());
        if (record != null && !isKept(record, nowMillis)) {
          records.remove(dropped.id());
          if (record.key() != null) {
            keys.remove(new Key(record.queue(), record.key(), null), record.id());
          }
        }
      }
    }

    @Override
    public RecordTable.@Nullable Answered answered(String queue, @Nullable String key, String idempotencyKey) {
      return answers.get(new Key(queue, key, idempotencyKey));
    }

    @Override
    public void remember(String queue, @Nullable String key, String idempotencyKey, RecordTable.Answered answered) {
      Iterator<RecordTable.Answered> oldest = answers.values().iterator();
      for (int i = 0; i < FORGET_PER_WRITE && oldest.hasNext() && oldest.next().dropAt() <= clock.wallMillis(); i++) {
        oldest.remove();
      }
      answers.putLast(new Key(queue, key, idempotencyKey), answered);
    }
  }
}
