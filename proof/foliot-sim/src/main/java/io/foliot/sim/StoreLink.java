package io.foliot.sim;

import io.foliot.api.Cancellation;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
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
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The store that one process calls, behind a faulty network. The network is slow, and loses requests and replies. Some
 * requests arrive after the sender has treated the call as failed.
 */
final class StoreLink implements TaskStore {
  /** Longest delay of a request that arrives after it has failed for its sender. */
  static final long MAX_STRAY_MILLIS = 10_000;
  /** Number of fates of a failed call. */
  private static final int FAILURES = 4;

  /** The fate of a call. */
  private enum Fate {
    FINE, NO_EFFECT, REQUEST_LOST, REPLY_LOST, EFFECT_AFTER_FAILURE
  }

  private final SimStore store;
  private final SimNode node;
  private final NodeProcess process;
  private final Schedule schedule;
  private final SplittableRandom random;
  private final Coverage coverage;
  private final Trace trace;

  StoreLink(SimStore store, SimNode node, NodeProcess process, SplittableRandom random, Sim sim) {
    this.store = store;
    this.node = node;
    this.process = process;
    this.random = random;
    schedule = sim.schedule();
    coverage = sim.coverage();
    trace = sim.trace();
  }

  private Fate fate() {
    if (node.isWell() || random.nextInt(1_000) >= store.behaviour().failPerMille()) {
      return Fate.FINE;
    }
    return switch (random.nextInt(FAILURES)) {
      case 0 -> Fate.NO_EFFECT;
      case 1 -> Fate.REQUEST_LOST;
      case 2 -> Fate.REPLY_LOST;
      default -> Fate.EFFECT_AFTER_FAILURE;
    };
  }

  private long latencyMicros() {
    return random.nextLong(store.behaviour().maxLatencyMicros() + 1);
  }

  private <R> CompletionStage<R> call(Call call, Function<TaskStore, CompletionStage<R>> action) {
    return call(call, action, nothing -> {});
  }

  /** Makes a call with a random fate. {@code seen} gets the result in the store, even if the reply is lost. */
  private <R> CompletionStage<R> call(Call call, Function<TaskStore, CompletionStage<R>> action, Consumer<R> seen) {
    CompletableFuture<R> answer = new CompletableFuture<>();
    Fate fate = fate();
    if (call.isOfClient()) {
      store.clientCallBegan();
    }
    schedule.afterMicros(latencyMicros(), () -> {
      trace.add(node.name(), call + " " + fate, 0);
      boolean sent = process.isAlive() || random.nextBoolean();
      boolean after = sent && fate == Fate.EFFECT_AFTER_FAILURE && call.writes() && !node.isCutFromStore();
      if (sent && !after) {
        arrived(call, action, seen, fate, answer);
      } else if (after) {
        long failedMillis = noticedMillis();
        failed(answer, failedMillis, new StoreException("the connection broke", null));
        schedule.afterMillis(failedMillis + random.nextLong(MAX_STRAY_MILLIS), () -> {
          if (!store.isAway()) {
            coverage.count(Coverage.Case.EFFECT_AFTER_FAILURE);
            trace.add(node.name(), "stray " + call, 0);
            CompletionStage<R> late = store.take(call, node.name(), action);
            late.thenAccept(seen);
          }
          ended(call);
        });
      } else {
        ended(call);
      }
    });
    return answer;
  }

  private void ended(Call call) {
    if (call.isOfClient()) {
      store.clientCallEnded();
    }
  }

  private <R> void arrived(Call call, Function<TaskStore, CompletionStage<R>> action, Consumer<R> seen, Fate fate,
      CompletableFuture<R> answer) {
    if (node.isCutFromStore() || fate == Fate.REQUEST_LOST || fate == Fate.EFFECT_AFTER_FAILURE) {
      ended(call);
      failed(answer, noticedMillis(), new StoreException("the connection broke", null));
      return;
    }
    if (store.isAway() || fate == Fate.NO_EFFECT) {
      coverage.count(Coverage.Case.NO_EFFECT);
      ended(call);
      boolean known = fate == Fate.NO_EFFECT || random.nextBoolean();
      failed(answer, 0, known
          ? new StoreAwayException("the call had no effect", null)
          : new StoreException("the store is unavailable", null));
      return;
    }
    int connections = store.connections();
    long holdMicros = node.isWell() ? 0 : store.holdMicros(call);
    if (holdMicros == 0) {
      taken(call, store.take(call, node.name(), action), seen, fate, connections, answer);
      return;
    }
    Decision decision = store.decide(action);
    schedule.afterMicros(holdMicros, () -> {
      if (store.connections() == connections) {
        trace.add(node.name(), "held " + call, 0);
        taken(call, store.take(call, node.name(), action, decision), seen, fate, connections, answer);
      } else {
        ended(call);
        failed(answer, noticedMillis(), new StoreException("the connection broke", null));
      }
    });
  }

  private <R> void taken(Call call, CompletionStage<R> result, Consumer<R> seen, Fate fate, int connections,
      CompletableFuture<R> answer) {
    ended(call);
    result.whenComplete((value, failure) -> {
      if (failure == null) {
        seen.accept(value);
      }
    });
    schedule.afterMicros(latencyMicros(), () -> {
      if (fate == Fate.REPLY_LOST || store.connections() != connections || node.isCutFromStore()) {
        coverage.countLostReply(call);
        failed(answer, noticedMillis(), new StoreException("the connection broke", null));
      } else {
        process.run(() -> received(call, result, connections, answer));
      }
    });
  }

  private <R> void received(Call call, CompletionStage<R> result, int connections, CompletableFuture<R> answer) {
    if (store.connections() != connections) {
      // The process was paused, and the connection broke before the process could read the reply.
      coverage.countLostReply(call);
      answer.completeExceptionally(new StoreException("the connection broke", null));
      return;
    }
    result.whenComplete((value, failure) -> {
      if (failure == null) {
        answer.complete(value);
      } else {
        answer.completeExceptionally(failure);
      }
    });
  }

  /** Returns the time until the sender detects a loss: 0 if the connection was reset, else the sender's patience. */
  private long noticedMillis() {
    return random.nextBoolean() ? 0 : store.behaviour().patienceMillis();
  }

  private <R> void failed(CompletableFuture<R> answer, long afterMillis, StoreException failure) {
    schedule.afterMillis(afterMillis, () -> process.run(() -> answer.completeExceptionally(failure)));
  }

  @Override
  public int slotCount() {
    return store.behaviour().slots();
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public int batchSize() {
    return store.behaviour().batchSize();
  }

  @Override
  public Durability durability() {
    long windowMillis = store.behaviour().windowMillis();
    return new Durability(windowMillis > 0 ? "B" : "D", windowMillis, "simulated");
  }

  @Override
  public String kind() {
    return "simulated";
  }

  @Override
  public void configure(String queue, QueueTerms terms) {
    CompletionStage<Boolean> configured = store.take(Call.WRITE_DOCUMENT, node.name(), truth -> {
      truth.configure(queue, terms);
      return CompletableFuture.completedFuture(true);
    });
    assert configured.toCompletableFuture().isDone();
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return call(Call.SUBMIT, truth -> truth.submit(drafts), results -> results.forEach(result -> {
      switch (result.kind()) {
        case RESET_PENDING -> coverage.count(Coverage.Case.RESET_OF_RUNNING);
        case KEPT -> coverage.count(Coverage.Case.SUBMIT_KEPT);
        case REJECTED -> coverage.count(Coverage.Case.SUBMIT_REJECTED);
        case REPEATED -> coverage.count(Coverage.Case.SUBMIT_REPEATED);
        case CREATED, RESET, MISMATCHED, CHANGED -> {
          // These need no count.
        }
      }
    }));
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return call(Call.TOUCH, truth -> truth.touch(touches));
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return call(Call.CANCEL, truth -> truth.cancel(refs), results -> results.forEach(result -> {
      if (result.kind() == Cancellation.CANCEL_PENDING) {
        coverage.count(Coverage.Case.CANCEL_OF_RUNNING);
      }
    }));
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return call(Call.DUE, truth -> truth.due(scans));
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return call(Call.PARK, truth -> truth.park(entries), results -> {
      if (results.contains(true)) {
        coverage.count(Coverage.Case.PARKED);
      }
    });
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return call(Call.READ_PARKED, truth -> truth.parked(queue, slots, after, limit), entries -> {
      if (!entries.isEmpty()) {
        coverage.count(Coverage.Case.PARKED_READ_BACK);
      }
    });
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return call(Call.READ_PARKED, truth -> truth.parkedQueues(slots));
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return call(Call.PROBE, truth -> truth.probe(ids));
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return call(Call.CLAIM, truth -> truth.claim(claims), batch -> batch.results().forEach(this::seen));
  }

  private void seen(ClaimResult result) {
    switch (result) {
      case ClaimResult.Won won -> won(won.task());
      case ClaimResult.Later later -> coverage.count(Coverage.Case.CLAIM_LATER);
      case ClaimResult.Gone gone -> coverage.count(Coverage.Case.CLAIM_GONE);
      case ClaimResult.Ready ready -> coverage.count(Coverage.Case.MOVE_FOUND_READY);
    }
  }

  private void won(TaskRecord task) {
    trace.add(node.name(), "won " + task.id(), task.generation());
    coverage.count(Coverage.Case.CLAIM_WON);
    List<AttemptRecord> attempts = task.attempts();
    if (!attempts.isEmpty() && attempts.getLast().end() == AttemptRecord.End.LEASE_ENDED) {
      coverage.count(Coverage.Case.CLAIM_AFTER_LEASE_END);
    }
    if (!node.owns(task.id().slot(slotCount()))) {
      coverage.count(Coverage.Case.CLAIMED_BY_NON_OWNER);
    }
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return call(Call.EXTEND, truth -> truth.extend(extensions));
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return call(Call.SETTLE, truth -> truth.settle(settlements), results -> results.forEach(result -> {
      switch (result.kind()) {
        case STALE, NOT_FOUND -> coverage.count(Coverage.Case.SETTLE_REFUSED);
        case REPEATED -> coverage.count(Coverage.Case.SETTLE_REPEATED);
        case SETTLED -> {
          if (result.state() == TaskState.FAILED) {
            coverage.count(Coverage.Case.DEAD_LETTER);
          }
        }
      }
    }));
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return call(Call.REDRIVE, truth -> truth.redrive(redrives), results -> results.forEach(result -> {
      if (result.kind() == RedriveResult.Kind.REDRIVEN) {
        coverage.count(Coverage.Case.REDRIVEN);
      }
    }));
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return call(Call.FIND, truth -> truth.find(ref));
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return call(Call.FIND, truth -> truth.find(ids));
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return call(Call.FIND, truth -> truth.query(queue, state, limit, cursor));
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return call(Call.FIND, truth -> truth.live(limit, cursor));
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return call(Call.SUBMIT, truth -> truth.adopt(tasks));
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return call(Call.FIND, TaskStore::counts);
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return call(Call.FIND, truth -> truth.hasLive(queue));
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return call(Call.TIME, truth -> truth.timeMicros(slot));
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return call(Call.READ_DOCUMENT, truth -> truth.document(kind, name));
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return call(Call.READ_DOCUMENT, truth -> truth.documents(kind));
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return call(Call.WRITE_DOCUMENT, truth -> truth.writeDocument(kind, name, expectedVersion, content), written -> {
      if (written && content == null && kind == DocumentKind.QUEUE) {
        coverage.count(Coverage.Case.QUEUE_DELETED);
        store.queueDeleted(name);
      }
    });
  }

  @Override
  public void close() {
    // The store outlives the process.
  }
}
