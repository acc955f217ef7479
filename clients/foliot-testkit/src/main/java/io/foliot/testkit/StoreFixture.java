package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Base of the kit's parts: the store under test, and blocking calls to that store. */
abstract class StoreFixture {
  static final String QUEUE = "orders";
  static final String OTHER_QUEUE = "mails";
  /** An hour in milliseconds. */
  static final long HOUR = 3_600_000;
  /** Start of the index, in milliseconds since 1970. It is negative, because a due time may be before 1970. */
  static final long EVER = Long.MIN_VALUE;
  /** End of the index. */
  static final long FOR_EVER = Long.MAX_VALUE;
  /** Longest wait for a call. If a store takes longer, the test assumes that the store hangs. */
  private static final long CALL_SECONDS_MAX = 60;
  /** Longest delay allowed for a store's counts and for its list of queues with parked tasks. */
  private static final int LAG_SECONDS_MAX = 12;

  private TaskStore store;

  abstract TaskStore openEmpty();

  abstract TaskStore openAgain(TaskStore old);

  abstract void pass(Duration time);

  abstract long tickMillis();

  /**
   * Opens a second store on the data of the store under test, whose calls can be held. Returns null, as by default, if
   * the store under test decides each call and writes its result in one step.
   */
  protected @Nullable HeldStore openHeld() {
    return null;
  }

  @BeforeEach
  void openStore() {
    store = openEmpty();
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  final TaskStore store() {
    return store;
  }

  final void reopenStore() {
    store = openAgain(store);
  }

  /** Continues with another store that has no tasks. */
  final void openAnother() {
    store.close();
    store = openEmpty();
  }

  static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(CALL_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("the call failed: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("the call did not return: seconds=" + CALL_SECONDS_MAX, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  static <T> T one(CompletionStage<List<T>> stage) {
    List<T> results = get(stage);
    assertThat(results).as("one result per item").hasSize(1);
    return results.getFirst();
  }

  /** Returns the time of the store's clock, in milliseconds since 1970. */
  final long now() {
    return Math.floorDiv(get(store.timeMicros(0)), 1_000L);
  }

  /** Lets a number of ticks pass. Due times and lease ends that were fewer ticks away are then in the past. */
  final void pass(int ticks) {
    pass(Duration.ofMillis(ticks * tickMillis()));
  }

  /** Waits for a condition that a store may fulfil with a delay of at most {@value #LAG_SECONDS_MAX} s. */
  final void eventually(BooleanSupplier condition, String description) {
    for (int second = 0; !condition.getAsBoolean(); second++) {
      assertThat(second).as("%s, seconds", description).isLessThan(LAG_SECONDS_MAX);
      pass(Duration.ofSeconds(1));
    }
  }

  final SlotSet allSlots() {
    return SlotSet.all(store.slotCount());
  }

  final SlotSet slots(int... slots) {
    BitSet bits = new BitSet();
    for (int slot : slots) {
      bits.set(slot);
    }
    return SlotSet.of(store.slotCount(), bits);
  }

  final int slotOf(TaskId id) {
    return id.slot(store.slotCount());
  }

  /** Returns an id with a given slot hash, so a test can create several tasks in one slot. */
  static TaskId idIn(int hash16) {
    return TaskId.of(System.currentTimeMillis(), hash16, ThreadLocalRandom.current().nextLong());
  }

  static TaskId newId(String queue, @Nullable String key) {
    return idIn(key == null ? ThreadLocalRandom.current().nextInt() : SlotHash.of(queue, key));
  }

  static Body body(String text) {
    return Body.json("\"" + text + "\"");
  }

  static Draft draft(@Nullable String key, long dueAt) {
    return draft(key, dueAt, OnConflict.RESET);
  }

  static Draft draft(@Nullable String key, long dueAt, OnConflict onConflict) {
    return new Draft(newId(QUEUE, key), QUEUE, key, Due.at(dueAt), body("of " + key), 0, onConflict, null);
  }

  static Draft draftIn(int hash16, long dueAt) {
    return new Draft(idIn(hash16), QUEUE, null, Due.at(dueAt), null, 0, OnConflict.RESET, null);
  }

  /** Returns the due time of a draft that is due at an instant, not after a delay. */
  static long dueAt(Draft draft) {
    return ((Due.At) draft.due()).millis();
  }

  static Draft withDue(Draft draft, Due due) {
    return new Draft(draft.id(), draft.queue(), draft.key(), due, draft.body(), draft.maxAttempts(),
        draft.onConflict(), draft.idempotency());
  }

  static Draft withBody(Draft draft, @Nullable Body body) {
    return new Draft(draft.id(), draft.queue(), draft.key(), draft.due(), body, draft.maxAttempts(),
        draft.onConflict(), draft.idempotency());
  }

  static Draft withAttempts(Draft draft, int maxAttempts) {
    return new Draft(draft.id(), draft.queue(), draft.key(), draft.due(), draft.body(), maxAttempts,
        draft.onConflict(), draft.idempotency());
  }

  static Draft withQueue(Draft draft, String queue) {
    return new Draft(newId(queue, draft.key()), queue, draft.key(), draft.due(), draft.body(), draft.maxAttempts(),
        draft.onConflict(), draft.idempotency());
  }

  /**
   * Returns the draft with an idempotency key. Without a task key, the idempotency key determines the slot, so a store
   * finds the task of a repeated request in the slot of the draft.
   */
  static Draft withIdempotency(Draft draft, String key, long digest) {
    TaskId id = draft.key() == null ? idIn(SlotHash.of(draft.queue(), key)) : draft.id();
    return new Draft(id, draft.queue(), draft.key(), draft.due(), draft.body(), draft.maxAttempts(),
        draft.onConflict(), new Draft.Idempotency(key, digest));
  }

  /** Returns terms with a maximum number of attempts. */
  static QueueTerms attempts(int maxAttempts) {
    return new QueueTerms(maxAttempts, Long.MAX_VALUE, 24 * HOUR, HOUR, HOUR);
  }

  static QueueTerms maxWait(long maxWaitMillis) {
    return new QueueTerms(5, maxWaitMillis, 24 * HOUR, HOUR, HOUR);
  }

  static QueueTerms maxRun(long maxRunMillis) {
    return new QueueTerms(5, Long.MAX_VALUE, maxRunMillis, HOUR, HOUR);
  }

  static QueueTerms retention(long finishedMillis, long failedMillis) {
    return new QueueTerms(5, Long.MAX_VALUE, 24 * HOUR, finishedMillis, failedMillis);
  }

  static TaskRef.ByKey key(String key) {
    return new TaskRef.ByKey(QUEUE, key);
  }

  static TaskRef.ById id(TaskId id) {
    return new TaskRef.ById(id);
  }

  final SubmitResult submit(Draft draft) {
    return one(store.submit(List.of(draft)));
  }

  final SubmitResult submit(@Nullable String key, long dueAt) {
    return submit(draft(key, dueAt));
  }

  /** Submits a draft and asserts that this creates a task. */
  final TaskId created(Draft draft) {
    SubmitResult result = submit(draft);
    assertThat(result.kind()).isEqualTo(SubmitResult.Kind.CREATED);
    return result.id();
  }

  final TaskId created(@Nullable String key, long dueAt) {
    return created(draft(key, dueAt));
  }

  /** Creates a task that is due. */
  final TaskId due(@Nullable String key) {
    return created(key, now());
  }

  final TouchResult touch(TaskRef ref, long dueAt) {
    return one(store.touch(List.of(new Touch(ref, Due.at(dueAt)))));
  }

  final CancelResult cancel(TaskRef ref) {
    return one(store.cancel(List.of(ref)));
  }

  final Cancellation cancelKind(TaskRef ref) {
    return cancel(ref).kind();
  }

  final ClaimResult claim(TaskId id) {
    return claim(id, HOUR);
  }

  final ClaimResult claim(TaskId id, long leaseMillis) {
    ClaimBatch batch = get(store.claim(List.of(new Claim(id, leaseMillis))));
    assertThat(batch.results()).as("one result per item").hasSize(1);
    return batch.results().getFirst();
  }

  /** Claims a task and asserts that the claim is won. */
  final TaskRecord won(TaskId id) {
    return won(id, HOUR);
  }

  final TaskRecord won(TaskId id, long leaseMillis) {
    return won(claim(id, leaseMillis));
  }

  static TaskRecord won(ClaimResult result) {
    assertThat(result).isInstanceOf(ClaimResult.Won.class);
    return ((ClaimResult.Won) result).task();
  }

  static long later(ClaimResult result) {
    assertThat(result).isInstanceOf(ClaimResult.Later.class);
    return ((ClaimResult.Later) result).wakeAt();
  }

  static ClaimResult.Gone gone(ClaimResult result) {
    assertThat(result).isInstanceOf(ClaimResult.Gone.class);
    return (ClaimResult.Gone) result;
  }

  /** Claims a task and lets the lease end without a settle. */
  final TaskRecord lost(TaskId id) {
    TaskRecord claimed = won(id, tickMillis());
    pass(2);
    return claimed;
  }

  static Extension extension(TaskRecord claimed, long leaseMillis) {
    return new Extension(claimed.id(), tokenOf(claimed), leaseMillis);
  }

  final ExtendResult extend(TaskRecord claimed, long leaseMillis) {
    return one(store.extend(List.of(extension(claimed, leaseMillis))));
  }

  static Token tokenOf(TaskRecord claimed) {
    assertThat(claimed.token()).as("a claimed task has a token").isNotNull();
    return Optional.ofNullable(claimed.token()).orElseThrow();
  }

  static AttemptEnd settlement(TaskRecord claimed, Outcome outcome) {
    return new AttemptEnd(claimed.id(), claimed.generation(), tokenOf(claimed), outcome, claimed.claimedAt(), "detail");
  }

  final SettleResult settle(TaskRecord claimed, Outcome outcome) {
    return one(store.settle(List.of(settlement(claimed, outcome))));
  }

  /** Settles an attempt and asserts that the settlement is recorded. */
  final SettleResult settled(TaskRecord claimed, Outcome outcome) {
    SettleResult result = settle(claimed, outcome);
    assertThat(result.kind()).isEqualTo(SettleResult.Kind.SETTLED);
    return result;
  }

  final SettleResult finish(TaskRecord claimed) {
    return settled(claimed, new Outcome.Finished());
  }

  /** Creates a task that has failed permanently. */
  final TaskId failed(@Nullable String key) {
    TaskId id = due(key);
    settled(won(id), new Outcome.Failed());
    return id;
  }

  final RedriveResult redrive(TaskId id) {
    return redrive(QUEUE, id);
  }

  final RedriveResult redrive(String queue, TaskId id) {
    return one(store.redrive(List.of(new Redrive(queue, id))));
  }

  final List<RedriveResult> redriveAll(TaskId... ids) {
    return get(store.redrive(Stream.of(ids).map(id -> new Redrive(QUEUE, id)).toList()));
  }

  final Optional<TaskRecord> find(TaskRef ref) {
    return get(store.find(ref));
  }

  final TaskRecord record(TaskId id) {
    Optional<TaskRecord> found = find(id(id));
    assertThat(found).as("task %s", id).isPresent();
    TaskRecord record = found.orElseThrow();
    assertThat(record.id()).isEqualTo(id);
    return record;
  }

  /** Returns the index entry of a live task, parked or not. */
  final DueEntry entry(TaskId id) {
    TaskRecord record = record(id);
    return new DueEntry(record.wakeAt(), id, record.queue());
  }

  final boolean park(TaskId id) {
    return one(store.park(List.of(entry(id))));
  }

  /** Creates a task that is due and parked. */
  final TaskId parked(Draft draft) {
    TaskId id = created(draft);
    assertThat(park(id)).isTrue();
    return id;
  }

  final DueSlice scan(int slot, long from, @Nullable TaskId after, long to, int limit) {
    return one(store.due(List.of(new DueScan(slot, from, after, to, limit))));
  }

  /** Returns the whole index of a slot. */
  final List<DueEntry> index(int slot) {
    return indexBetween(slot, EVER, FOR_EVER);
  }

  final List<DueEntry> indexBetween(int slot, long from, long to) {
    List<DueEntry> entries = new ArrayList<>();
    DueSlice slice = scan(slot, from, null, to, 1_000);
    entries.addAll(slice.entries());
    while (slice.more()) {
      DueEntry last = entries.getLast();
      slice = scan(slot, last.wakeAt(), last.id(), to, 1_000);
      assertThat(slice.entries()).as("the page after %s", last).isNotEmpty().doesNotContain(last);
      entries.addAll(slice.entries());
    }
    return entries;
  }

  /** Returns the wakeAt of each entry that a task has in the index of its slot. A parked task has no such entry. */
  final List<Long> wakes(TaskId id) {
    return index(slotOf(id)).stream().filter(entry -> entry.id().equals(id)).map(DueEntry::wakeAt).toList();
  }

  /** Returns all parked entries of a queue. */
  final List<DueEntry> allParked(String queue) {
    return get(store.parked(queue, allSlots(), null, 100_000));
  }
}
