package io.foliot.sim;

import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.JobHeaders;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** The planted bugs of recurring jobs: in planning passes, in changes by callers, and in the tasks of runs. */
final class BrokenJobStores {
  private static final String JOBS = "foliot.jobs";

  private BrokenJobStores() {}

  /** Returns the store with a bug of recurring jobs. */
  static TaskStore of(Bug bug, TaskStore delegate, SimStore.Scene scene) {
    return switch (bug) {
      case PLAN_WITHOUT_SHARDS, SHARDS_WITHOUT_PLAN, SHARDS_TWICE, ENDS_ARE_NOT_POLLED, WAKE_DROPS_SHARDS,
          PLAN_OF_A_LOST_LEASE, LISTENER_IS_FORGOTTEN ->
        new Plans(bug, delegate, scene);
      case PLANNED_BY_NODE_CLOCK -> new NodeTime(delegate, scene);
      case CHANGE_WITHOUT_COMPARE -> new UncheckedChanges(delegate, scene);
      case RUNNING_IS_ENDED -> new HiddenRunning(delegate, scene);
      case LISTENER_COUNTS_AS_ENDED -> new EndedListeners(delegate, scene);
      case STOP_CANCELS_NOTHING -> new IgnoredCancels(delegate, scene);
      // JobCallers does not make the deletion: for a store, it is a write like others.
      case DELETE_CANCELS_NOTHING -> delegate;
      // SimNode does not let its planner know the queues.
      case SHARDS_WITHOUT_BOUND -> delegate;
      case FENCE_STARTS_AGAIN -> new SameFence(delegate, scene);
      default -> throw new IllegalArgumentException("not a bug of jobs: " + bug);
    };
  }

  private static boolean isShard(TaskRecord task) {
    return task.body().headers().containsKey(JobHeaders.JOB);
  }

  /** Writes the result of a planning pass wrongly. */
  private static final class Plans extends BrokenStores.Broken {
    /** Delays, in milliseconds, after which a planning pass polls for ended shards. */
    private static final Set<Long> POLLS = Set.of(1_000L, 2_000L, 30_000L, 600_000L);
    private static final long DAY_MILLIS = 86_400_000;
    /** On average, a rare bug affects one in this many passes. */
    private static final int RARITY = 8;

    private final Bug bug;

    Plans(Bug bug, TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
      this.bug = bug;
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      return delegate.settle(settlements.stream().map(this::wrong).toList());
    }

    private AttemptEnd wrong(AttemptEnd settlement) {
      TaskRecord task = peek(settlement.id());
      if (task == null || !task.queue().equals(JOBS) || !(settlement.outcome() instanceof Outcome.Rearm plan)) {
        return settlement;
      }
      return switch (bug) {
        case PLAN_WITHOUT_SHARDS -> rarely(settlement, new Outcome.Rearm(plan.due(), plan.body(), List.of()));
        case SHARDS_WITHOUT_PLAN -> rarely(settlement, new Outcome.Rearm(plan.due(), null, plan.children()));
        case SHARDS_TWICE -> rarely(settlement, new Outcome.Rearm(plan.due(), plan.body(), twice(plan.children())));
        case ENDS_ARE_NOT_POLLED -> with(settlement, new Outcome.Rearm(unpolled(task, plan.due()), plan.body(),
            plan.children()));
        case LISTENER_IS_FORGOTTEN -> with(settlement, new Outcome.Rearm(plan.due(), plan.body(),
            plan.children().stream().filter(child -> !isAfter(child)).toList()));
        case WAKE_DROPS_SHARDS -> task.successor() == null
            ? settlement
            : with(settlement, new Outcome.Rearm(plan.due(), plan.body(), List.of()));
        default -> ofCurrentClaim(settlement);
      };
    }

    private AttemptEnd rarely(AttemptEnd settlement, Outcome.Rearm wrong) {
      return scene.random.nextInt(RARITY) == 0 ? with(settlement, wrong) : settlement;
    }

    private static AttemptEnd with(AttemptEnd settlement, Outcome.Rearm outcome) {
      return new AttemptEnd(settlement.id(), settlement.generation(), settlement.token(), outcome,
          settlement.begunAt(), settlement.detail(), settlement.note());
    }

    private List<Outcome.Child> twice(List<Outcome.Child> children) {
      List<Outcome.Child> both = new ArrayList<>(children);
      children.forEach(child -> both.add(new Outcome.Child(
          TaskId.of(scene.nowMillis(), child.id().hash16(), scene.random.nextLong()), child.queue(), child.due(),
          child.body(), child.maxAttempts(), child.parked())));
      return both;
    }

    /** Returns whether a child is the listener that runs after the last shard of a run. */
    private static boolean isAfter(Outcome.Child child) {
      return child.body().headers().containsKey(JobHeaders.RUN_RESULT);
    }

    /** Returns the due time of the next pass, or a day later if the next pass only polls for ended shards. */
    private static Due unpolled(TaskRecord task, Due due) {
      return due instanceof Due.At at && POLLS.contains(at.millis() - task.claimedAt())
          ? Due.at(at.millis() + DAY_MILLIS)
          : due;
    }
  }

  /** Gives a planning pass the time of its node instead of the time of the store. */
  private static final class NodeTime extends BrokenStores.Broken {
    NodeTime(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      ClaimBatch batch = BrokenStores.now(delegate.claim(claims));
      long errorMillis = scene.callerErrorMicros() / 1_000;
      return BrokenStores.completed(new ClaimBatch(batch.nowMillis(), batch.results().stream()
          .map(result -> result instanceof ClaimResult.Won won && won.task().queue().equals(JOBS)
              ? new ClaimResult.Won(won.task().edit().claimedAt(won.task().claimedAt() + errorMillis).done())
              : result)
          .toList()));
    }
  }

  /** Writes a change of a job even if the record has changed since the caller read it. */
  private static final class UncheckedChanges extends BrokenStores.Broken {
    UncheckedChanges(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      return delegate.submit(drafts.stream().map(draft -> draft.queue().equals(JOBS)
          ? new Draft(draft.id(), draft.queue(), draft.key(), draft.due(), draft.body(), draft.maxAttempts(),
              OnConflict.RESET, draft.idempotency())
          : draft).toList());
    }
  }

  /** Does not return running shards, so they seem to have ended. */
  private static final class HiddenRunning extends BrokenStores.Broken {
    HiddenRunning(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
      return BrokenStores.completed(BrokenStores.now(delegate.find(ids)).stream()
          .map(found -> found.filter(task -> !isShard(task) || task.state() != TaskState.RUNNING)).toList());
    }
  }

  /** Returns a running listener as a task that has succeeded. */
  private static final class EndedListeners extends BrokenStores.Broken {
    EndedListeners(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
      return BrokenStores.completed(BrokenStores.now(delegate.find(ids)).stream()
          .map(found -> found.map(task -> task.body().headers().containsKey(JobHeaders.PHASE)
              && task.state() == TaskState.RUNNING ? task.edit().state(TaskState.FINISHED).done() : task))
          .toList());
    }
  }

  /** Reports shards as cancelled, but does not cancel them. */
  private static final class IgnoredCancels extends BrokenStores.Broken {
    IgnoredCancels(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
      return BrokenStores.completed(refs.stream().map(this::cancelled).toList());
    }

    private CancelResult cancelled(TaskRef ref) {
      TaskRecord live = live(ref);
      return live != null && isShard(live)
          ? new CancelResult(Cancellation.CANCELLED, live.id(), live.generation())
          : BrokenStores.now(delegate.cancel(List.of(ref))).get(0);
    }
  }

  /** Returns every claimed shard with the generation 1. */
  private static final class SameFence extends BrokenStores.Broken {
    SameFence(TaskStore delegate, SimStore.Scene scene) {
      super(delegate, scene);
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      ClaimBatch batch = BrokenStores.now(delegate.claim(claims));
      return BrokenStores.completed(new ClaimBatch(batch.nowMillis(), batch.results().stream()
          .map(result -> result instanceof ClaimResult.Won won && isShard(won.task())
              ? new ClaimResult.Won(won.task().edit().generation(1).done())
              : result)
          .toList()));
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      return delegate.settle(settlements.stream().map(settlement -> {
        TaskRecord task = peek(settlement.id());
        return task == null || !isShard(task)
            ? settlement
            : new AttemptEnd(settlement.id(), task.generation(), settlement.token(), settlement.outcome(),
                settlement.begunAt(), settlement.detail(), settlement.note());
      }).toList());
    }
  }
}
