package io.foliot.sim;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Due;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A store that takes its time, and whose calls may fail before they took effect or after. It stands for one that answers
 * only what is durable; the planted bugs are what such a store, or the engine's use of it, could get wrong.
 */
final class SimStore implements TaskStore {
  /** What is wrong with it on purpose. */
  enum Bug {
    NONE,
    /** Some submits are answered before they are durable, and a crash forgets them. */
    ACK_BEFORE_SYNC,
    /** Claims are judged by a clock that is half a second fast. */
    CLAIM_EARLY,
    /** A cancel answers before anything has changed. */
    CANCEL_IGNORES_THE_TASK,
    /** A touch answers before anything has changed. */
    TOUCH_IGNORES_THE_TASK,
    /** A reset of a running task forgets its successor. */
    SUCCESSOR_FORGOTTEN,
    /** A claim of a task that runs gets the same claim once more. */
    CLAIM_WITHOUT_COMPARE,
    /** Settles are answered and not written. */
    SETTLE_FORGOTTEN,
    /** Nothing behind the present is ever found: a cursor without a head poll. */
    CURSOR_WITHOUT_HEAD_POLL,
    /** A lease that ended is never looked at again. */
    LEASE_WITHOUT_EXIT,
    /** Every reset gets the generation of the first. */
    GENERATION_REPEATED,
    /** Idempotency keys are not looked at. */
    IDEMPOTENCY_IGNORED
  }

  /**
   * How it behaves.
   *
   * @param maxLatencyMicros of a call, in each direction
   * @param failPerMille calls out of a thousand that fail, half of them after they took effect
   */
  record Manners(long maxLatencyMicros, int failPerMille, Bug bug) {}

  private final MemoryStore store;
  private final Schedule schedule;
  private final SplittableRandom luck;
  private final Manners manners;
  private final Schedule.NodeClock clock;

  private final Map<TaskId, TaskRecord> won = new HashMap<>();
  private final Map<TaskId, Long> firstGenerations = new HashMap<>();
  private boolean healed;
  private boolean down;
  private int failures;

  SimStore(int slots, Schedule schedule, SplittableRandom luck, Manners manners) {
    this.schedule = schedule;
    this.luck = luck;
    this.manners = manners;
    clock = new Schedule.NodeClock(schedule);
    SplittableRandom tokens = luck.split();
    store = new MemoryStore(slots, clock, () -> new io.foliot.core.Token(tokens.nextLong(), tokens.nextLong()));
  }

  void setDown(boolean nowDown) {
    down = nowDown;
  }

  /** From now on nothing fails any more. */
  void heal() {
    healed = true;
    down = false;
  }

  int failures() {
    return failures;
  }

  /** The truth, without delay. */
  Optional<TaskRecord> peek(TaskRef ref) {
    return store.find(ref).toCompletableFuture().join();
  }

  private <R> CompletionStage<R> call(Supplier<CompletionStage<R>> operation) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    boolean fails = !healed && luck.nextInt(1_000) < manners.failPerMille();
    boolean takesEffect = !fails || luck.nextBoolean();
    schedule.afterMicros(luck.nextLong(manners.maxLatencyMicros() + 1), () -> {
      if (down) {
        failures++;
        answer.completeExceptionally(new StoreException("the store is down", null));
        return;
      }
      CompletionStage<R> result = takesEffect ? operation.get() : null;
      schedule.afterMicros(luck.nextLong(manners.maxLatencyMicros() + 1), () -> {
        if (fails || result == null) {
          failures++;
          answer.completeExceptionally(new StoreException("the connection broke", null));
        } else {
          result.whenComplete((value, failure) -> {
            if (failure == null) {
              answer.complete(value);
            } else {
              answer.completeExceptionally(failure);
            }
          });
        }
      });
    });
    return answer;
  }

  private boolean is(Bug bug) {
    return manners.bug() == bug;
  }

  @Override
  public int slotCount() {
    return store.slotCount();
  }

  @Override
  public boolean isShared() {
    return store.isShared();
  }

  @Override
  public Durability durability() {
    return new Durability("D", 0, "simulated");
  }

  @Override
  public String kind() {
    return "simulated";
  }

  @Override
  public void configure(String queue, QueueTerms terms) {
    store.configure(queue, terms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return call(() -> {
      List<Draft> written = drafts;
      if (is(Bug.IDEMPOTENCY_IGNORED)) {
        written = drafts.stream().map(draft -> new Draft(TaskId.of(schedule.nowMillis(), draft.id().hash16(),
            luck.nextLong()), draft.queue(), draft.key(), draft.due(), draft.body(), draft.maxAttempts(),
            draft.onConflict(), null)).toList();
      }
      List<SubmitResult> results = new ArrayList<>();
      for (Draft draft : written) {
        results.add(submit(draft));
      }
      return CompletableFuture.completedFuture(results);
    });
  }

  private SubmitResult submit(Draft draft) {
    if (is(Bug.ACK_BEFORE_SYNC) && luck.nextInt(20) == 0) {
      return new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), schedule.nowMicros(), dueAt(draft.due()),
          TaskState.DELAYED, true);
    }
    if (is(Bug.SUCCESSOR_FORGOTTEN) && draft.key() != null) {
      TaskRecord live = peek(new TaskRef.ByKey(draft.queue(), draft.key())).orElse(null);
      if (live != null && live.state() == TaskState.RUNNING) {
        return new SubmitResult(SubmitResult.Kind.RESET_PENDING, live.id(), live.generation() + 1, dueAt(draft.due()),
            TaskState.RUNNING, false);
      }
    }
    SubmitResult result = store.submit(List.of(draft)).toCompletableFuture().join().get(0);
    if (is(Bug.GENERATION_REPEATED) && result.kind() != SubmitResult.Kind.REJECTED) {
      long generation = firstGenerations.computeIfAbsent(result.id(), none -> result.generation());
      return new SubmitResult(result.kind(), result.id(), generation, result.dueAt(), result.state(), result.indexed());
    }
    return result;
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return call(() -> {
      if (is(Bug.TOUCH_IGNORES_THE_TASK)) {
        return CompletableFuture.completedFuture(touches.stream().map(this::pretend).toList());
      }
      return store.touch(touches);
    });
  }

  private long dueAt(Due due) {
    return due.atMillis(schedule.nowMicros());
  }

  private TouchResult pretend(Touch touch) {
    TaskRecord live = peek(touch.ref()).filter(TaskRecord::isLive).orElse(null);
    return live == null
        ? TouchResult.NOT_FOUND
        : new TouchResult(TouchResult.Kind.RESET, live.id(), live.generation() + 1, dueAt(touch.due()), false);
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return call(() -> {
      if (is(Bug.CANCEL_IGNORES_THE_TASK)) {
        return CompletableFuture.completedFuture(refs.stream().map(this::pretend).toList());
      }
      return store.cancel(refs);
    });
  }

  private CancelResult pretend(TaskRef ref) {
    TaskRecord live = peek(ref).filter(TaskRecord::isLive).orElse(null);
    return live == null
        ? CancelResult.NOT_FOUND
        : new CancelResult(CancelResult.Kind.CANCELLED, live.id(), live.generation());
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return call(() -> store.due(scans).thenApply(slices -> slices.stream().map(this::seen).toList()));
  }

  private DueSlice seen(DueSlice slice) {
    if (is(Bug.CURSOR_WITHOUT_HEAD_POLL)) {
      long now = schedule.nowMillis();
      return new DueSlice(slice.slot(), slice.entries().stream().filter(entry -> entry.wakeAt() > now).toList(), false);
    }
    if (is(Bug.LEASE_WITHOUT_EXIT)) {
      return new DueSlice(slice.slot(), slice.entries().stream().filter(entry -> peek(new TaskRef.ById(entry.id()))
          .map(task -> task.state() != TaskState.RUNNING).orElse(true)).toList(), false);
    }
    return slice;
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return call(() -> store.park(entries));
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return call(() -> store.parked(queue, slots, after, limit));
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return call(() -> store.parkedQueues(slots));
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return call(() -> {
      if (is(Bug.CLAIM_EARLY)) {
        clock.stepMillis(500);
      }
      CompletionStage<ClaimBatch> claimed = store.claim(claims);
      if (is(Bug.CLAIM_EARLY)) {
        clock.stepMillis(-500);
      }
      return is(Bug.CLAIM_WITHOUT_COMPARE) ? claimed.thenApply(batch -> again(claims, batch)) : claimed;
    });
  }

  private ClaimBatch again(List<Claim> claims, ClaimBatch batch) {
    List<ClaimResult> results = new ArrayList<>();
    for (int i = 0; i < claims.size(); i++) {
      ClaimResult result = batch.results().get(i);
      if (result instanceof ClaimResult.Won fresh) {
        won.put(claims.get(i).id(), fresh.task());
      }
      TaskRecord old = won.get(claims.get(i).id());
      results.add(result instanceof ClaimResult.Gone && old != null ? new ClaimResult.Won(old) : result);
    }
    return new ClaimBatch(batch.nowMillis(), results);
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return call(() -> store.extend(extensions));
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<Settlement> settlements) {
    return call(() -> {
      if (is(Bug.SETTLE_FORGOTTEN) && luck.nextInt(10) == 0) {
        return CompletableFuture.completedFuture(settlements.stream()
            .map(settlement -> new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0)).toList());
      }
      return store.settle(settlements);
    });
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<TaskId> ids) {
    return call(() -> store.redrive(ids));
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return call(() -> store.find(ref));
  }

  @Override
  public CompletionStage<TaskPage> query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor) {
    return call(() -> store.query(queue, state, limit, cursor));
  }

  @Override
  public CompletionStage<TaskPage> live(int limit, @Nullable String cursor) {
    return call(() -> store.live(limit, cursor));
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return call(() -> store.adopt(tasks));
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return call(store::counts);
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return call(() -> store.timeMicros(slot));
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return call(() -> store.document(kind, name));
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return call(() -> store.documents(kind));
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return call(() -> store.writeDocument(kind, name, expectedVersion, content));
  }

  @Override
  public void close() {
    store.close();
  }
}
