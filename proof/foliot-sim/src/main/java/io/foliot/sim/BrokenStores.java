package io.foliot.sim;

import io.foliot.api.Cancellation;
import io.foliot.api.TaskState;
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
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.Probed;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The planted bugs of a store, or of an engine's use of it. */
final class BrokenStores {
  private BrokenStores() {}

  /** Returns the store with a bug. Returns the delegate if the bug is elsewhere. */
  static TaskStore of(Bug bug, TaskStore delegate, SimStore.Scene scene) {
    return switch (bug) {
      case CLAIM_EARLY, LEASE_BY_NODE_CLOCK, CLAIM_WITHOUT_COMPARE, STEALS_LIVE_CLAIMS, RETRY_FORGETS_ATTEMPTS ->
        new Claims(bug, delegate, scene);
      case CLAIM_WITHOUT_WRITE -> new UnwrittenClaims(delegate, scene);
      case SETTLE_WITHOUT_TOKEN, SETTLE_FORGOTTEN -> new Settles(bug, delegate, scene);
      case CANCEL_IGNORES_THE_TASK, CANCEL_IGNORES_THE_CLAIM, TOUCH_IGNORES_THE_TASK, REDRIVE_FORGOTTEN ->
        new IgnoredChanges(bug, delegate, scene);
      case RESET_KEEPS_OLD_CLAIMABLE -> new OldGenerations(delegate, scene);
      case SUCCESSOR_FORGOTTEN, GENERATION_REPEATED, IDEMPOTENCY_IGNORED -> new Submits(bug, delegate, scene);
      case CURSOR_WITHOUT_HEAD_POLL, HEAD_POLL_MISSES_OLD_ENTRIES, EXPIRED_LEASES_ARE_MISSED, OVERDUE_POLL_OFF ->
        new Index(bug, delegate, scene);
      case PARKED_HIDDEN_FROM_OTHER_NODES -> new Parked(delegate, scene);
      case HAS_LIVE_IS_CACHED -> new CachedHasLive(delegate, scene);
      default -> delegate;
    };
  }

  static <R> CompletionStage<R> completed(R result) {
    return CompletableFuture.completedFuture(result);
  }

  /** Returns the result of a call of the simulated store, whose calls complete at once. */
  static <R> R now(CompletionStage<R> stage) {
    return stage.toCompletableFuture().join();
  }

  /** Claims even after the end of the caller's permits. */
  static final class UnlimitedPermits extends ForwardingStore {
    UnlimitedPermits(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      return delegate.claim(claims.stream().map(claim -> new Claim(claim.id(), claim.leaseMillis())).toList());
    }
  }

  /** Returns no running tasks to a query. */
  static final class NoneRunning extends ForwardingStore {
    NoneRunning(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
        @Nullable String cursor) {
      return state == TaskState.RUNNING
          ? completed(new RecordPage(List.of(), null))
          : delegate.query(queue, state, limit, cursor);
    }
  }

  /** Reports each failed submit, touch or cancel as a call without effect. */
  static final class FailuresAsUndone extends ForwardingStore {
    FailuresAsUndone(TaskStore delegate) {
      super(delegate);
    }

    private static <R> CompletionStage<R> undoneIfFailed(CompletionStage<R> stage) {
      return stage.exceptionallyCompose(
          failure -> CompletableFuture.failedFuture(new StoreAwayException("the call had no effect", failure)));
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      return undoneIfFailed(delegate.submit(drafts));
    }

    @Override
    public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
      return undoneIfFailed(delegate.touch(touches));
    }

    @Override
    public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
      return undoneIfFailed(delegate.cancel(refs));
    }
  }

  /** A store with a planted bug. It reads and changes the state of the simulated store through a scene. */
  abstract static class Broken extends ForwardingStore {
    final SimStore.Scene scene;

    Broken(TaskStore delegate, SimStore.Scene scene) {
      super(delegate);
      this.scene = scene;
    }

    /** Returns a task, or null if there is none. */
    final @Nullable TaskRecord peek(TaskRef ref) {
      return now(delegate.find(ref)).orElse(null);
    }

    final @Nullable TaskRecord peek(TaskId id) {
      return peek(new TaskRef.ById(id));
    }

    /** Returns a live task, or null if there is none. */
    final @Nullable TaskRecord live(TaskRef ref) {
      TaskRecord task = peek(ref);
      return task != null && task.isLive() ? task : null;
    }

    final ClaimResult claimOne(Claim claim) {
      return now(delegate.claim(List.of(claim))).results().get(0);
    }

    /**
     * Returns the settlement with the token of the task's latest claim. If the task is delayed, first claims it, even
     * before its due time.
     */
    final AttemptEnd ofCurrentClaim(AttemptEnd settlement) {
      TaskRecord task = peek(settlement.id());
      if (task != null && task.state() == TaskState.DELAYED) {
        long waitMicros = Math.max(0, task.dueAt() * 1_000 - scene.nowMicros());
        ClaimResult claimed = scene.skewed(waitMicros, () -> claimOne(new Claim(settlement.id(), 1)));
        task = claimed instanceof ClaimResult.Won won ? won.task() : task;
      }
      return task == null || task.token() == null
          ? settlement
          : new AttemptEnd(settlement.id(), task.generation(), task.token(), settlement.outcome(), settlement.begunAt(),
              settlement.detail());
    }
  }

  /**
   * Claims tasks wrongly. The bug decides how: early, by the clock of the caller, without a comparison, despite a
   * lease, or as first attempts.
   */
  private static final class Claims extends Broken {
    /** Lead of the store's clock in early claims. */
    private static final long FAST_MICROS = 500_000;
    private final Bug bug;
    private final Map<TaskId, TaskRecord> won = new HashMap<>();

    Claims(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      List<ClaimResult> results = new ArrayList<>();
      for (Claim claim : claims) {
        results.add(wrong(claim));
      }
      return completed(new ClaimBatch(scene.nowMillis(), results));
    }

    private ClaimResult wrong(Claim claim) {
      return switch (bug) {
        case CLAIM_EARLY -> scene.skewed(FAST_MICROS, () -> claimOne(claim));
        case LEASE_BY_NODE_CLOCK -> scene.skewed(scene.callerErrorMicros(), () -> claimOne(claim));
        case CLAIM_WITHOUT_COMPARE -> again(claim);
        case STEALS_LIVE_CLAIMS -> despiteLease(claim);
        default -> asFirstAttempt(claimOne(claim));
      };
    }

    /** Returns the latest won claim of the task again if the given claim does not win. */
    private ClaimResult again(Claim claim) {
      ClaimResult result = claimOne(claim);
      if (result instanceof ClaimResult.Won newWon) {
        won.put(claim.id(), newWon.task());
      }
      TaskRecord old = won.get(claim.id());
      return old != null && !(result instanceof ClaimResult.Won) && !claim.beginsNothing(scene.nowMillis())
          ? new ClaimResult.Won(old)
          : result;
    }

    private ClaimResult despiteLease(Claim claim) {
      TaskRecord task = peek(claim.id());
      if (task == null || claim.beginsNothing(scene.nowMillis()) || task.state() != TaskState.RUNNING) {
        return claimOne(claim);
      }
      long leftMicros = Math.max(0, task.leaseEnd() * 1_000 - scene.nowMicros());
      return scene.skewed(leftMicros, () -> claimOne(claim));
    }

    private static ClaimResult asFirstAttempt(ClaimResult result) {
      return result instanceof ClaimResult.Won newWon
          ? new ClaimResult.Won(newWon.task().edit().attempt(1).done())
          : result;
    }
  }

  /** Claims due tasks without a write. The claim is written together with its settle. */
  private static final class UnwrittenClaims extends Broken {
    /** The lease of each unwritten claim, in milliseconds. */
    private final Map<Token, Long> unwritten = new HashMap<>();

    UnwrittenClaims(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      List<ClaimResult> results = new ArrayList<>();
      for (Claim claim : claims) {
        TaskRecord task = peek(claim.id());
        results.add(task != null && !claim.beginsNothing(scene.nowMillis()) && task.state() == TaskState.DELAYED
            && task.dueAt() <= scene.nowMillis() ? begun(task, claim.leaseMillis()) : claimOne(claim));
      }
      return completed(new ClaimBatch(scene.nowMillis(), results));
    }

    private ClaimResult begun(TaskRecord task, long leaseMillis) {
      Token token = new Token(scene.random.nextLong(), scene.random.nextLong());
      unwritten.put(token, leaseMillis);
      long leaseEnd = scene.nowMillis() + leaseMillis;
      return new ClaimResult.Won(task.edit().state(TaskState.RUNNING).attempt(task.attempt() + 1).token(token)
          .settledAs(null).claimedAt(scene.nowMillis()).leaseEnd(leaseEnd).wakeAt(leaseEnd).parked(false).done());
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      List<SettleResult> results = new ArrayList<>();
      for (AttemptEnd settlement : settlements) {
        Long leaseMillis = unwritten.remove(settlement.token());
        AttemptEnd written = settlement;
        if (leaseMillis != null && claimOne(new Claim(settlement.id(), leaseMillis)) instanceof ClaimResult.Won won
            && won.task().token() != null) {
          written = new AttemptEnd(settlement.id(), won.task().generation(), won.task().token(), settlement.outcome(),
              settlement.begunAt(), settlement.detail());
        }
        results.addAll(now(delegate.settle(List.of(written))));
      }
      return completed(results);
    }
  }

  /** Settles with any token, or forgets one call in ten, on average. */
  private static final class Settles extends Broken {
    private final Bug bug;

    Settles(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      if (bug == Bug.SETTLE_FORGOTTEN) {
        return scene.random.nextInt(10) == 0
            ? completed(settlements.stream()
                .map(settlement -> new SettleResult(SettleResult.Kind.SETTLED, TaskState.FINISHED, 0)).toList())
            : delegate.settle(settlements);
      }
      return delegate.settle(settlements.stream().map(this::ofCurrentClaim).toList());
    }
  }

  /** Reports a change as made, but does not make it. */
  private static final class IgnoredChanges extends Broken {
    private final Bug bug;

    IgnoredChanges(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
      return switch (bug) {
        case CANCEL_IGNORES_THE_TASK -> completed(refs.stream().map(this::cancelled).toList());
        case CANCEL_IGNORES_THE_CLAIM -> completed(refs.stream().map(this::unlessRunning).toList());
        default -> delegate.cancel(refs);
      };
    }

    private CancelResult cancelled(TaskRef ref) {
      TaskRecord live = live(ref);
      return live == null
          ? CancelResult.NOT_FOUND
          : new CancelResult(Cancellation.CANCELLED, live.id(), live.generation());
    }

    private CancelResult unlessRunning(TaskRef ref) {
      TaskRecord live = live(ref);
      return live != null && live.state() == TaskState.RUNNING
          ? new CancelResult(Cancellation.CANCELLED, live.id(), live.generation())
          : now(delegate.cancel(List.of(ref))).get(0);
    }

    @Override
    public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
      return bug == Bug.TOUCH_IGNORES_THE_TASK
          ? completed(touches.stream().map(this::touched).toList())
          : delegate.touch(touches);
    }

    private TouchResult touched(Touch touch) {
      TaskRecord live = live(touch.ref());
      return live == null
          ? TouchResult.NOT_FOUND
          : new TouchResult(TouchResult.Kind.RESET, live.id(), live.generation() + 1,
              touch.due().atMillis(scene.nowMicros()), false);
    }

    @Override
    public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
      if (bug != Bug.REDRIVE_FORGOTTEN) {
        return delegate.redrive(redrives);
      }
      List<RedriveResult> results = new ArrayList<>();
      for (Redrive redrive : redrives) {
        TaskId id = redrive.id();
        TaskRecord task = peek(id);
        results.add(task != null && task.state() == TaskState.FAILED
            ? new RedriveResult(RedriveResult.Kind.REDRIVEN, id, scene.nowMicros(), scene.nowMillis())
            : new RedriveResult(RedriveResult.Kind.NOT_FAILED, id, 0, 0));
      }
      return completed(results);
    }
  }

  /** Returns a cached answer to the question whether a queue has live tasks. */
  private static final class CachedHasLive extends Broken {
    private static final long KEPT_MILLIS = 10_000;

    private record Cached(boolean live, long atMillis) {}

    private final Map<String, Cached> cache = new HashMap<>();

    CachedHasLive(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<Boolean> hasLive(String queue) {
      Cached last = cache.get(queue);
      if (last == null || scene.nowMillis() - last.atMillis() > KEPT_MILLIS) {
        last = new Cached(now(delegate.hasLive(queue)), scene.nowMillis());
        cache.put(queue, last);
      }
      return completed(last.live());
    }
  }

  /** Lets one later claim of a task win the generation that the latest reset of the task has replaced. */
  private static final class OldGenerations extends Broken {
    private final Map<TaskId, TaskRecord> replaced = new HashMap<>();

    OldGenerations(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      List<SubmitResult> results = new ArrayList<>();
      for (Draft draft : drafts) {
        TaskRecord live = draft.key() == null ? null : live(new TaskRef.ByKey(draft.queue(), draft.key()));
        SubmitResult result = now(delegate.submit(List.of(draft))).get(0);
        if (live != null && result.kind() == SubmitResult.Kind.RESET) {
          replaced.put(live.id(), live);
        }
        results.add(result);
      }
      return completed(results);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      List<ClaimResult> results = new ArrayList<>();
      for (Claim claim : claims) {
        TaskRecord old = claim.beginsNothing(scene.nowMillis()) ? null : replaced.get(claim.id());
        if (old != null && old.dueAt() <= scene.nowMillis()) {
          replaced.remove(claim.id());
          long leaseEnd = scene.nowMillis() + claim.leaseMillis();
          results.add(new ClaimResult.Won(old.edit().state(TaskState.RUNNING).attempt(old.attempt() + 1)
              .token(new Token(scene.random.nextLong(), scene.random.nextLong())).settledAs(null)
              .claimedAt(scene.nowMillis()).leaseEnd(leaseEnd).wakeAt(leaseEnd).parked(false).done()));
        } else {
          results.add(claimOne(claim));
        }
      }
      return completed(new ClaimBatch(scene.nowMillis(), results));
    }
  }

  /** Submits without successors, with repeated generations, or without idempotency keys. */
  private static final class Submits extends Broken {
    private final Bug bug;
    private final Map<TaskId, Long> firstGenerations = new HashMap<>();

    Submits(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      return completed(drafts.stream().map(this::one).toList());
    }

    private SubmitResult one(Draft draft) {
      return switch (bug) {
        case IDEMPOTENCY_IGNORED -> plain(new Draft(TaskId.of(scene.nowMillis(), draft.id().hash16(),
            scene.random.nextLong()), draft.queue(), draft.key(), draft.due(), draft.body(), draft.maxAttempts(),
            draft.onConflict(), null));
        case SUCCESSOR_FORGOTTEN -> unlessRunning(draft);
        default -> repeated(plain(draft));
      };
    }

    private SubmitResult plain(Draft draft) {
      return now(delegate.submit(List.of(draft))).get(0);
    }

    private SubmitResult unlessRunning(Draft draft) {
      TaskRecord live = draft.key() == null ? null : live(new TaskRef.ByKey(draft.queue(), draft.key()));
      return live != null && live.state() == TaskState.RUNNING
          ? new SubmitResult(SubmitResult.Kind.RESET_PENDING, live.id(), live.generation() + 1,
              draft.due().atMillis(scene.nowMicros()), TaskState.RUNNING, false)
          : plain(draft);
    }

    private SubmitResult repeated(SubmitResult result) {
      long generation = firstGenerations.computeIfAbsent(result.id(), none -> result.generation());
      return new SubmitResult(result.kind(), result.id(), generation, result.dueAt(), result.state(), result.indexed());
    }
  }

  /** Hides some index entries from scans. */
  private static final class Index extends Broken {
    /** Limit of the overdue poll's first scan of a slot. No other scan from the beginning of a slot has this limit. */
    private static final int OVERDUE_LIMIT = 8;
    /** Time after which an overdue entry is hidden from all scans. */
    private static final long FOUND_MILLIS = 2_000;

    private final Bug bug;

    Index(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
      List<DueSlice> slices = new ArrayList<>();
      for (DueScan scan : scans) {
        slices.add(shown(scan));
      }
      return completed(slices);
    }

    private DueSlice shown(DueScan scan) {
      long nowMillis = scene.nowMillis();
      return switch (bug) {
        case CURSOR_WITHOUT_HEAD_POLL -> only(scan, entry -> entry.wakeAt() > nowMillis);
        case HEAD_POLL_MISSES_OLD_ENTRIES -> only(scan, entry -> entry.wakeAt() > nowMillis - FOUND_MILLIS);
        case EXPIRED_LEASES_ARE_MISSED -> only(scan, entry -> {
          TaskRecord task = peek(entry.id());
          return task == null || task.state() != TaskState.RUNNING;
        });
        default -> only(scan, entry -> !(scan.fromWakeAt() == Long.MIN_VALUE && scan.limit() == OVERDUE_LIMIT));
      };
    }

    private DueSlice only(DueScan scan, Predicate<DueEntry> wanted) {
      DueSlice slice = now(delegate.due(List.of(scan))).get(0);
      List<DueEntry> entries = slice.entries().stream().filter(wanted).toList();
      return new DueSlice(slice.slot(), entries, slice.more() && entries.size() == slice.entries().size());
    }
  }

  /** Returns parked tasks only to the node that parked them. */
  private static final class Parked extends Broken {
    /** The name of the node that parked each task. */
    private final Map<TaskId, String> parkedBy = new HashMap<>();

    Parked(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
      entries.forEach(entry -> parkedBy.putIfAbsent(entry.id(), scene.caller()));
      return delegate.park(entries);
    }

    @Override
    public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
      return delegate.parked(queue, slots, after, Integer.MAX_VALUE).thenApply(entries -> entries.stream()
          .filter(entry -> scene.caller().equals(parkedBy.get(entry.id()))).limit(limit).toList());
    }

    @Override
    public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
      return delegate.parkedQueues(slots);
    }

    @Override
    public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
      return delegate.probe(ids);
    }
  }
}
