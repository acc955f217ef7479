package io.foliot.testkit;

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
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One random history, run on a store and on a model. The same calls at the same instants must return equal results.
 * After each step the indexes of the slots of recent tasks must be equal, and after every {@link #FULL_CHECK_STEPS}
 * steps all indexes. The comparison omits tokens, the parts of a record that {@link Compared} lacks, and the detail of
 * an attempt whose lease has ended.
 */
final class ModelRun {
  private static final List<String> QUEUES = List.of("orders", "mails");
  private static final int KEYS_MAX = 6;
  private static final int IDS_WATCHED = 24;
  /** Number of steps from one full comparison to the next. */
  private static final int FULL_CHECK_STEPS = 25;

  private final Random random;
  private final SettableClock clock;
  private final TaskStore store;
  private final TaskStore model;
  private final int keys;
  private final int scaleMillis;
  private final List<TaskId> ids = new ArrayList<>();
  private final List<WonClaim> claims = new ArrayList<>();

  /** A claim that was won on the store and on the model, with the token of each. */
  private record WonClaim(TaskRecord task, Token token, Token modelToken) {}

  /** The parts of a record that must be equal on the store and on the model. */
  private record Compared(TaskId id, String queue, @Nullable String key, Body body, long createdAt, long firstDueAt,
      int maxAttempts, TaskState state, long generation, long dueAt, long wakeAt, boolean parked, int attempt,
      long leaseEnd, boolean cancelRequested, boolean outstanding, TaskRecord.@Nullable Successor successor,
      List<AttemptRecord> attempts, TaskNote note, long dropAt) {
    static Compared of(TaskRecord task) {
      boolean live = task.isLive();
      boolean running = task.state() == TaskState.RUNNING;
      List<AttemptRecord> attempts = task.attempts().stream()
          .map(past -> new AttemptRecord(past.generation(), past.attempt(), past.begunAt(), past.endedAt(), past.end(),
              past.end() == AttemptRecord.End.LEASE_ENDED ? "" : past.detail()))
          .toList();
      return new Compared(task.id(), task.queue(), task.key(), task.body(), task.createdAt(), task.firstDueAt(),
          task.maxAttempts(), task.state(), task.generation(), task.dueAt(), live ? task.wakeAt() : 0, task.parked(),
          task.attempt(), running ? task.leaseEnd() : 0, task.cancelRequested(), task.outstanding(), task.successor(),
          attempts, task.note(), live ? 0 : task.dropAt());
    }
  }

  ModelRun(long seed, SettableClock clock, TaskStore store, TaskStore model) {
    random = new Random(seed);
    this.clock = clock;
    this.store = store;
    this.model = model;
    keys = 1 + random.nextInt(KEYS_MAX);
    scaleMillis = 1 << random.nextInt(2, 12);
    long retentionMillis = 1L << random.nextInt(20);
    for (String queue : QUEUES) {
      configure(queue, new QueueTerms(1 + random.nextInt(4),
          random.nextBoolean() ? Long.MAX_VALUE : scaleMillis * (1L + random.nextInt(4)), scaleMillis * 3L,
          retentionMillis, retentionMillis));
    }
  }

  private void configure(String queue, QueueTerms terms) {
    store.configure(queue, terms);
    model.configure(queue, terms);
  }

  void run(int steps) {
    for (int step = 0; step < steps; step++) {
      // At least a millisecond passes, so a generation does not depend on other generations of the same microsecond.
      clock.advance(Duration.ofMillis(1 + (random.nextInt(3) == 0 ? random.nextInt(scaleMillis) : 0)));
      step();
      checkIndex();
      if (step % FULL_CHECK_STEPS == 0) {
        checkAll();
      }
    }
    checkAll();
  }

  private void step() {
    switch (random.nextInt(17)) {
      case 0, 1, 2 -> same("submit", some(3, this::draft), TaskStore::submit).forEach(result -> watch(result.id()));
      case 3, 4 -> same("touch", some(3, () -> new Touch(ref(), due())), TaskStore::touch);
      case 5 -> same("cancel", some(2, this::ref), TaskStore::cancel);
      case 6, 7, 8, 9 -> claim();
      case 10, 11, 12 -> settle();
      case 13, 16 -> extend();
      case 14 -> same("park", some(4, this::entry), TaskStore::park);
      default -> same("redrive", some(3, () -> new Redrive(queue(), id())), TaskStore::redrive);
    }
    if (random.nextInt(8) == 0) {
      same("probe", some(6, this::id), TaskStore::probe);
    }
  }

  private <T> List<T> some(int max, Supplier<T> one) {
    List<T> items = new ArrayList<>();
    int count = 1 + random.nextInt(max);
    for (int i = 0; i < count; i++) {
      items.add(one.get());
    }
    return items;
  }

  private static <T> T get(CompletionStage<T> stage) {
    return StoreFixture.get(stage);
  }

  private <Q, R> List<R> same(String call, List<Q> items,
      BiFunction<TaskStore, List<Q>, CompletionStage<List<R>>> method) {
    List<R> expected = get(method.apply(model, items));
    List<R> actual = get(method.apply(store, items));
    assertThat(actual).as("%s of %s", call, items).isEqualTo(expected);
    return actual;
  }

  private void watch(TaskId id) {
    if (!ids.contains(id)) {
      ids.add(id);
    }
    if (ids.size() > IDS_WATCHED) {
      ids.removeFirst();
    }
  }

  private String queue() {
    return QUEUES.get(random.nextInt(4) == 0 ? 1 : 0);
  }

  private String key() {
    return "key/" + random.nextInt(keys);
  }

  private long instant() {
    return clock.wallMillis() + switch (random.nextInt(8)) {
      case 0 -> 0;
      case 1 -> 3_600_000L * 24 * 365 * random.nextInt(100);
      case 2 -> -3_600_000L * random.nextInt(1_000_000);
      default -> random.nextInt(-scaleMillis, 2 * scaleMillis);
    };
  }

  private Due due() {
    return random.nextInt(3) == 0 ? Due.after(Math.max(0, instant() - clock.wallMillis())) : Due.at(instant());
  }

  private TaskId newId(int hash16) {
    return TaskId.of(clock.wallMillis(), hash16, random.nextLong());
  }

  private TaskId id() {
    return ids.isEmpty() || random.nextInt(20) == 0
        ? newId(random.nextInt())
        : ids.get(random.nextInt(ids.size()));
  }

  private TaskRef ref() {
    return switch (random.nextInt(claims.isEmpty() ? 2 : 3)) {
      case 0 -> new TaskRef.ById(id());
      case 1 -> new TaskRef.ByKey(queue(), key());
      default -> new TaskRef.ById(recentClaim().task().id());
    };
  }

  private Draft draft() {
    String queue = queue();
    String key = random.nextInt(6) == 0 ? null : key();
    TaskId id = newId(key == null ? random.nextInt() : SlotHash.of(queue, key));
    Body body = random.nextInt(3) == 0 ? null : payload();
    OnConflict onConflict = switch (random.nextInt(6)) {
      case 0 -> OnConflict.KEEP;
      case 1 -> OnConflict.REJECT;
      default -> OnConflict.RESET;
    };
    Draft.Idempotency idempotency = key == null || random.nextInt(3) > 0
        ? null
        : new Draft.Idempotency("request " + random.nextInt(10), random.nextInt(2));
    Draft draft = new Draft(id, queue, key, due(), body, random.nextInt(3), onConflict, idempotency);
    return key == null || random.nextInt(5) > 0 ? draft : draft.expecting(expectedGeneration(queue, key));
  }

  private long expectedGeneration(String queue, String key) {
    long last = get(model.find(new TaskRef.ByKey(queue, key))).map(TaskRecord::generation).orElse(Draft.ABSENT);
    return random.nextInt(4) == 0 ? Draft.ABSENT : random.nextInt(4) == 0 ? last + 1 : last;
  }

  private Body payload() {
    return new Body(new byte[random.nextInt(40)], "text/plain", Map.of("n", "" + random.nextInt(3)));
  }

  private DueEntry entry() {
    TaskId id = id();
    TaskRecord task = get(model.find(new TaskRef.ById(id))).orElse(null);
    return task == null
        ? new DueEntry(clock.wallMillis(), id, QUEUES.getFirst())
        : new DueEntry(random.nextInt(6) == 0 ? task.dueAt() : task.wakeAt(), id, task.queue());
  }

  private void claim() {
    List<Claim> items = some(6, () -> random.nextInt(4) == 0
        ? random.nextBoolean() ? Claim.move(id()) : Claim.end(id())
        : new Claim(id(), 1 + random.nextInt((random.nextBoolean() ? 2 : 50) * scaleMillis),
            random.nextInt(4) == 0 ? clock.wallMillis() - 1 + random.nextInt(2) : Long.MAX_VALUE));
    ClaimBatch expected = get(model.claim(items));
    ClaimBatch actual = get(store.claim(items));
    assertThat(actual.nowMillis()).isEqualTo(expected.nowMillis());
    assertThat(actual.results()).hasSameSizeAs(expected.results());
    for (int i = 0; i < items.size(); i++) {
      if (actual.results().get(i) instanceof ClaimResult.Won(TaskRecord task)
          && expected.results().get(i) instanceof ClaimResult.Won(TaskRecord twin)) {
        assertThat(Compared.of(task)).as("claim of %s", items.get(i)).isEqualTo(Compared.of(twin));
        claims.add(new WonClaim(task, StoreFixture.tokenOf(task), StoreFixture.tokenOf(twin)));
      } else {
        assertThat(actual.results().get(i)).as("claim of %s", items.get(i)).isEqualTo(expected.results().get(i));
      }
    }
  }

  private WonClaim recentClaim() {
    int back = random.nextInt(4) == 0 ? random.nextInt(20) : random.nextInt(3);
    return claims.get(Math.max(0, claims.size() - 1 - back));
  }

  private void settle() {
    if (claims.isEmpty()) {
      return;
    }
    List<AttemptEnd> items = new ArrayList<>();
    List<AttemptEnd> twins = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0; i--) {
      WonClaim won = recentClaim();
      Outcome outcome = switch (random.nextInt(8)) {
        case 0 -> new Outcome.Failed();
        case 1, 2 -> new Outcome.Retry(due());
        case 3 -> rearm(won.task().id());
        case 4, 5 -> new Outcome.NotBegun();
        default -> new Outcome.Finished();
      };
      long generation = won.task().generation() + (random.nextInt(20) == 0 ? 1 : 0);
      String detail = "detail " + random.nextInt(10);
      TaskNote note = note();
      items.add(
          new AttemptEnd(won.task().id(), generation, won.token(), outcome, won.task().claimedAt(), detail, note));
      twins
          .add(new AttemptEnd(won.task().id(), generation, won.modelToken(), outcome, won.task().claimedAt(), detail,
              note));
    }
    assertThat(get(store.settle(items))).as("settle of %s", items).isEqualTo(get(model.settle(twins)));
  }

  private TaskNote note() {
    return random.nextInt(3) > 0
        ? TaskNote.NONE
        : new TaskNote(random.nextInt(-1, 3) / 2.0, random.nextBoolean() ? "" : "at " + random.nextInt(9),
            random.nextBoolean() ? null : "checkpoint " + random.nextInt(9), random.nextBoolean() ? "" : "line");
  }

  private Outcome.Rearm rearm(TaskId id) {
    if (random.nextInt(3) == 0) {
      return new Outcome.Rearm(due());
    }
    List<Outcome.Child> children = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      TaskId child = newId(id.hash16());
      watch(child);
      children.add(new Outcome.Child(child, queue(), due(), payload(), random.nextInt(3), random.nextBoolean()));
    }
    List<TaskId> known = ids.stream().filter(other -> other.hash16() == id.hash16())
        .filter(other -> children.stream().noneMatch(child -> child.id().equals(other))).toList();
    if (!known.isEmpty() && random.nextBoolean()) {
      children.add(new Outcome.Child(known.get(random.nextInt(known.size())), queue(), due(), payload(), 0, false));
    }
    return new Outcome.Rearm(due(), random.nextBoolean() ? payload() : null, children);
  }

  private void extend() {
    if (claims.isEmpty()) {
      return;
    }
    WonClaim won = recentClaim();
    long leaseMillis = random.nextInt(4 * scaleMillis);
    TaskId id = won.task().id();
    TaskNote note = note();
    assertThat(get(store.extend(List.of(new Extension(id, won.token(), leaseMillis, note))))).as("extend of %s", id)
        .isEqualTo(get(model.extend(List.of(new Extension(id, won.modelToken(), leaseMillis, note)))));
  }

  private void checkIndex() {
    TreeSet<Integer> slots = new TreeSet<>();
    ids.forEach(id -> slots.add(id.slot(store.slotCount())));
    checkIndex(new ArrayList<>(slots));
    TaskRef ref = ref();
    assertThat(get(store.find(ref)).map(Compared::of)).as("find of %s", ref)
        .isEqualTo(get(model.find(ref)).map(Compared::of));
  }

  private void checkIndex(List<Integer> slots) {
    List<DueScan> scans = new ArrayList<>();
    Map<Integer, DueEntry> pivots = new HashMap<>();
    for (int slot : slots) {
      scans.add(new DueScan(slot, Long.MIN_VALUE, null, Long.MAX_VALUE, 100_000));
    }
    for (DueSlice slice : same("due", scans, TaskStore::due)) {
      if (!slice.entries().isEmpty()) {
        pivots.put(slice.slot(), slice.entries().get(random.nextInt(slice.entries().size())));
      }
    }
    same("due from", slots.stream().filter(pivots::containsKey).map(slot -> page(slot, pivots.get(slot))).toList(),
        TaskStore::due);
    for (String queue : QUEUES) {
      Function<TaskStore, List<DueEntry>> parked = from -> get(
          from.parked(queue, SlotSet.all(from.slotCount()), null, 100_000)).stream()
          .sorted(Comparator.comparingLong(DueEntry::wakeAt).thenComparing(DueEntry::id)).toList();
      assertThat(parked.apply(store)).as("parked of %s", queue).isEqualTo(parked.apply(model));
    }
  }

  private DueScan page(int slot, @Nullable DueEntry pivot) {
    assertThat(pivot).isNotNull();
    long from = pivot == null ? 0 : pivot.wakeAt();
    TaskId after = pivot == null || random.nextBoolean() ? null : pivot.id();
    long to = random.nextBoolean() ? Long.MAX_VALUE : from + random.nextInt(scaleMillis);
    return new DueScan(slot, from, after, to, 1 + random.nextInt(3));
  }

  private void checkAll() {
    checkIndex(IntStream.range(0, store.slotCount()).boxed().toList());
    for (String queue : QUEUES) {
      for (TaskState state : TaskState.values()) {
        assertThat(queried(store, queue, state)).as("%s of %s", state, queue).isEqualTo(queried(model, queue, state));
      }
      assertThat(get(store.hasLive(queue))).as("live tasks of %s", queue).isEqualTo(get(model.hasLive(queue)));
    }
  }

  private static List<Compared> queried(TaskStore from, String queue, TaskState state) {
    List<Compared> found = new ArrayList<>();
    String cursor = null;
    do {
      RecordPage page = get(from.query(queue, state, 20, cursor));
      page.tasks().forEach(task -> found.add(Compared.of(task)));
      cursor = page.cursor();
    } while (cursor != null);
    found.sort(Comparator.comparing(Compared::id));
    return found;
  }
}
