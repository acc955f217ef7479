package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Extension;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.testkit.SettableClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that random operations on the store and on {@link MemoryStore} have equal results and leave equal indexes. */
final class OracleTest {
  private static final int ROUNDS = 4;
  private static final int STEPS = 600;
  private static final int KEYS = 9;
  private static final long HOUR = StoreHarness.HOUR;
  // Queues with different retentions of finished and of failed tasks.
  private static final List<String> QUEUES = List.of("hour", "nothing", "seconds", "uneven");
  private static final Map<String, QueueTerms> TERMS = Map.of("hour", terms(HOUR, HOUR), "nothing", terms(0, 0),
      "seconds", terms(20_000, 90_000), "uneven", terms(0, 48 * HOUR));

  @TempDir
  Path folder;

  private static QueueTerms terms(long finished, long failed) {
    return new QueueTerms(3, 5_000, 10 * HOUR, finished, failed);
  }

  @Test
  void resultsAndIndexesEqualThoseOfTheModel() {
    long seed = new Random().nextLong();
    for (int round = 0; round < ROUNDS; round++) {
      run(seed + round, round);
    }
  }

  private void run(long seed, int round) {
    Round stores = new Round(seed, folder.resolve("store-" + round));
    String position = "";
    try {
      for (int step = 0; step < STEPS; step++) {
        position = "seed=" + seed + ", step=" + step;
        stores.step();
        stores.compareIndexes();
        if (step % 50 == 49) {
          stores.compareRecords();
        }
      }
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("the store differs from the model: " + position + ": " + e.getMessage(), e);
    } finally {
      stores.close();
    }
  }

  /** The store and the model, with the random operations on both. */
  private static final class Round {
    private final Random random;
    private final Path path;
    private final SettableClock clock = new SettableClock();
    private final Supplier<Token> tokens = StoreHarness.countingTokens();
    private final MemoryStore model = new MemoryStore(4, clock, StoreHarness.countingTokens());
    private TaskStore store;
    private final List<TaskId> ids = new ArrayList<>();
    private final List<TaskRecord> claimed = new ArrayList<>();
    private final List<Draft> requests = new ArrayList<>();
    private long number;

    Round(long seed, Path path) {
      random = new Random(seed);
      this.path = path;
      store = open();
      TERMS.forEach(model::configure);
    }

    private TaskStore open() {
      TaskStore opened = RocksDbStore.open(path, StoreHarness.SMALL, clock,
          new RocksDbStore.Seams(tokens, any -> Long.MAX_VALUE));
      TERMS.forEach(opened::configure);
      return opened;
    }

    void close() {
      store.close();
    }

    /** Makes a call to both stores, and checks that the results are equal. */
    private <R> R both(Function<TaskStore, CompletionStage<R>> call) {
      R expected = StoreHarness.get(call.apply(model));
      assertThat(StoreHarness.get(call.apply(store))).isEqualTo(expected);
      return expected;
    }

    void step() {
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3 -> submit();
        case 4, 5 -> touch();
        case 6 -> {
          List<TaskRef> refs = some(this::anyRef);
          both(any -> any.cancel(refs));
        }
        case 7, 8 -> park();
        case 9, 10, 11 -> claim();
        case 12, 13, 14 -> settle();
        case 15 -> extend();
        case 16 -> {
          List<Redrive> some = some(() -> new Redrive(anyQueue(), anyId()));
          both(any -> any.redrive(some));
        }
        case 17 -> document();
        case 18 -> advance();
        default -> {
          if (random.nextInt(10) == 0) {
            reopen();
          }
        }
      }
    }

    private void reopen() {
      // The model has no floor of generations. After the advance the recorded floor is in the past and has no effect.
      clock.advance(Duration.ofSeconds(1));
      store.close();
      assertThat(RocksDbStore.verify(path, StoreHarness.SMALL, progress -> {}).damages()).isEmpty();
      store = open();
    }

    private void advance() {
      long millis = switch (random.nextInt(8)) {
        case 0 -> HOUR;
        case 1 -> 100_000;
        case 2 -> 15_000;
        default -> random.nextInt(1_500);
      };
      clock.advance(Duration.ofMillis(millis));
    }

    private <T> List<T> some(Supplier<T> one) {
      List<T> list = new ArrayList<>();
      for (int i = random.nextInt(5); i >= 0; i--) {
        list.add(one.get());
      }
      return list;
    }

    private String anyQueue() {
      return QUEUES.get(random.nextInt(QUEUES.size()));
    }

    private String anyKey() {
      return "key-" + random.nextInt(KEYS);
    }

    private long anyInstant() {
      return clock.wallMillis() + random.nextInt(-1_000, 3_000);
    }

    private TaskId anyId() {
      return ids.isEmpty() || random.nextInt(20) == 0
          ? new TaskId(random.nextLong(), random.nextLong())
          : ids.get(Math.max(0, ids.size() - 1 - random.nextInt(40)));
    }

    private TaskRef anyRef() {
      return random.nextBoolean() ? new TaskRef.ByKey(anyQueue(), anyKey()) : new TaskRef.ById(anyId());
    }

    private @Nullable Body anyBody() {
      int size = switch (random.nextInt(4)) {
        case 0 -> -1;
        case 1 -> random.nextInt(5_000);
        default -> random.nextInt(30);
      };
      if (size < 0) {
        return null;
      }
      byte[] payload = new byte[size];
      random.nextBytes(payload);
      return new Body(payload, "application/json", Map.of("n", "v" + size));
    }

    private Draft anyDraft() {
      if (!requests.isEmpty() && random.nextInt(10) == 0) {
        Draft again = requests.get(random.nextInt(requests.size()));
        Draft.Idempotency named = Objects.requireNonNull(again.idempotency());
        long digest = random.nextInt(3) == 0 ? named.digest() + 1 : named.digest();
        return new Draft(newId(again.queue(), again.key()), again.queue(), again.key(), again.due(), again.body(), 0,
            again.onConflict(), new Draft.Idempotency(named.key(), digest));
      }
      String queue = anyQueue();
      String key = random.nextInt(4) == 0 ? null : anyKey();
      Draft.Idempotency idempotency = random.nextInt(8) == 0 ? new Draft.Idempotency("r" + number, 1) : null;
      OnConflict[] conflicts = OnConflict.values();
      Draft draft = new Draft(newId(queue, key), queue, key, Due.at(anyInstant()), anyBody(), random.nextInt(3),
          conflicts[random.nextInt(conflicts.length)], idempotency);
      if (idempotency != null) {
        requests.add(draft);
      }
      return draft;
    }

    private TaskId newId(String queue, @Nullable String key) {
      number++;
      return TaskId.of(clock.wallMillis(), key == null ? random.nextInt() : SlotHash.of(queue, key), number);
    }

    private void submit() {
      List<Draft> drafts = some(this::anyDraft);
      both(any -> any.submit(drafts)).forEach(result -> ids.add(result.id()));
    }

    private void touch() {
      List<Touch> touches = some(() -> new Touch(anyRef(), Due.at(anyInstant())));
      both(any -> any.touch(touches));
    }

    private void park() {
      List<DueEntry> entries = StoreHarness.index(model);
      if (!entries.isEmpty()) {
        List<DueEntry> some = some(() -> {
          DueEntry entry = entries.get(random.nextInt(entries.size()));
          return random.nextInt(10) == 0 ? new DueEntry(entry.wakeAt() + 1, entry.id(), entry.queue()) : entry;
        });
        both(any -> any.park(some));
      }
    }

    private void claim() {
      List<Claim> claims = some(() -> new Claim(anyId(), 1 + random.nextInt(4_000)));
      List<ClaimResult> expected = StoreHarness.get(model.claim(claims)).results();
      List<ClaimResult> actual = StoreHarness.get(store.claim(claims)).results();
      assertThat(actual.stream().map(Round::comparable)).isEqualTo(expected.stream().map(Round::comparable).toList());
      for (ClaimResult result : expected) {
        if (result instanceof ClaimResult.Won(TaskRecord task)) {
          claimed.add(task);
        }
      }
    }

    /** Returns a form of the result that can be compared. Large payloads are compared by hash codes and checksums. */
    private static Object comparable(ClaimResult result) {
      return result instanceof ClaimResult.Won(TaskRecord task) ? comparable(task) : result;
    }

    private static String comparable(TaskRecord record) {
      return record + " " + record.body() + HexFormat.of().formatHex(StoreHarness.encoded(record))
          + Arrays.hashCode(record.body().payload());
    }

    private TaskRecord anyClaimed() {
      return claimed.get(Math.max(0, claimed.size() - 1 - random.nextInt(6)));
    }

    private void settle() {
      if (!claimed.isEmpty()) {
        List<AttemptEnd> settlements = some(() -> {
          TaskRecord task = anyClaimed();
          Outcome outcome = switch (random.nextInt(6)) {
            case 0 -> new Outcome.Failed();
            case 3 -> new Outcome.NotBegun();
            case 1 -> new Outcome.Retry(Due.at(anyInstant()));
            case 2 -> new Outcome.Rearm(Due.at(anyInstant()));
            default -> new Outcome.Finished();
          };
          return new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()), outcome,
              task.claimedAt(), "detail " + random.nextInt(), anyNote());
        });
        both(any -> any.settle(settlements));
      }
    }

    private TaskNote anyNote() {
      return random.nextInt(3) > 0
          ? TaskNote.NONE
          : new TaskNote(random.nextDouble(), "m" + random.nextInt(9), "c".repeat(random.nextInt(5_000)), "");
    }

    private void extend() {
      if (!claimed.isEmpty()) {
        List<Extension> extensions = some(() -> {
          TaskRecord task = anyClaimed();
          return new Extension(task.id(), Objects.requireNonNull(task.token()), random.nextInt(9_000), anyNote());
        });
        both(any -> any.extend(extensions));
      }
    }

    private void document() {
      String name = "d" + random.nextInt(3);
      long version = random.nextInt(6);
      byte[] content = random.nextInt(3) == 0 ? null : new byte[]{(byte) random.nextInt()};
      both(any -> any.writeDocument(DocumentKind.CALENDAR, name, version, content));
      assertThat(StoreHarness.get(store.documents(DocumentKind.CALENDAR))).usingRecursiveComparison()
          .isEqualTo(StoreHarness.get(model.documents(DocumentKind.CALENDAR)));
    }

    void compareIndexes() {
      assertThat(StoreHarness.index(store)).isEqualTo(StoreHarness.index(model));
      compareScans();
      BitSet bits = new BitSet();
      bits.set(random.nextInt(4));
      SlotSet slots = random.nextBoolean() ? SlotSet.all(4) : SlotSet.of(4, bits);
      for (String queue : QUEUES) {
        List<DueEntry> parked = StoreHarness.parked(model, queue);
        assertThat(StoreHarness.parked(store, queue)).isEqualTo(parked);
        DueEntry after = parked.isEmpty() ? null : parked.get(random.nextInt(parked.size()));
        int limit = 1 + random.nextInt(4);
        both(any -> any.parked(queue, slots, after, limit));
      }
      both(any -> any.parkedQueues(slots).thenApply(names -> names));
      TaskRef ref = anyRef();
      assertThat(StoreHarness.get(store.find(ref)).map(Round::comparable))
          .isEqualTo(StoreHarness.get(model.find(ref)).map(Round::comparable));
    }

    /** Compares scans between random instants, and then the next page of each scan that has more entries. */
    private void compareScans() {
      List<DueScan> scans = some(() -> {
        long from = random.nextBoolean() ? Long.MIN_VALUE : anyInstant();
        return new DueScan(random.nextInt(4), from, random.nextInt(4) == 0 ? anyId() : null, anyInstant(),
            1 + random.nextInt(5));
      });
      List<DueSlice> slices = both(any -> any.due(scans));
      List<DueScan> next = new ArrayList<>();
      for (int i = 0; i < slices.size(); i++) {
        DueSlice slice = slices.get(i);
        if (slice.more()) {
          DueEntry last = slice.entries().getLast();
          next.add(new DueScan(slice.slot(), last.wakeAt(), last.id(), scans.get(i).toWakeAt(), 3));
        }
      }
      both(any -> any.due(next));
    }

    void compareRecords() {
      for (String queue : QUEUES) {
        for (TaskState state : new @Nullable TaskState[]{null, TaskState.DELAYED, TaskState.READY, TaskState.RUNNING,
            TaskState.FINISHED, TaskState.FAILED, TaskState.CANCELLED}) {
          assertThat(all(store, queue, state)).as("%s %s", queue, state).isEqualTo(all(model, queue, state));
        }
        QueueCounts expected = StoreHarness.get(model.counts()).getOrDefault(queue, QueueCounts.NONE);
        QueueCounts actual = StoreHarness.get(store.counts()).getOrDefault(queue, QueueCounts.NONE);
        assertThat(List.of(actual.delayed(), actual.parked(), actual.running()))
            .isEqualTo(List.of(expected.delayed(), expected.parked(), expected.running()));
        // The store counts expired tasks until their bucket is dropped.
        assertThat(actual.finished()).isGreaterThanOrEqualTo(expected.finished());
        assertThat(actual.failed()).isGreaterThanOrEqualTo(expected.failed());
        assertThat(actual.cancelled()).isGreaterThanOrEqualTo(expected.cancelled());
      }
    }

    private List<String> all(TaskStore any, String queue, @Nullable TaskState state) {
      List<TaskRecord> found = new ArrayList<>();
      String cursor = null;
      do {
        RecordPage page = StoreHarness.get(any.query(queue, state, 1 + random.nextInt(20), cursor));
        found.addAll(page.tasks());
        cursor = page.cursor();
      } while (cursor != null);
      return found.stream().sorted(Comparator.comparing(TaskRecord::id)).map(Round::comparable).toList();
    }
  }
}
