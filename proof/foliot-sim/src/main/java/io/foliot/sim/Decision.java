package io.foliot.sim;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The first of the two instants of a write: the store has read the records of a call and decided the call. The write
 * follows later, and has the decided effect if the records are still those that were read. Otherwise, the store decides
 * again at the time of the write.
 */
final class Decision {
  private final long atMicros;
  private final Map<TaskRef, @Nullable TaskRecord> read = new LinkedHashMap<>();

  private Decision(long atMicros) {
    this.atMicros = atMicros;
  }

  /** Reads the records that a call depends on. */
  static Decision of(Function<TaskStore, ? extends CompletionStage<?>> call, TaskStore truth, long nowMicros) {
    Decision decision = new Decision(nowMicros);
    CompletionStage<?> noted = call.apply(decision.new Reads(truth));
    assert noted != null;
    return decision;
  }

  /** Returns the time by which the call was decided. */
  long atMicros() {
    return atMicros;
  }

  /** Returns whether no record has changed since it was read. */
  boolean holds(TaskStore truth) {
    return read.entrySet().stream().allMatch(entry -> recordOf(truth, entry.getKey()) == entry.getValue());
  }

  /** Counts the leases that were running when they were read, but have ended by now. */
  long leasesEndedSince(long nowMillis) {
    long thenMillis = Math.floorDiv(atMicros, 1_000);
    return read.values().stream().filter(record -> record != null && record.state() == TaskState.RUNNING
        && record.leaseEnd() > thenMillis && record.leaseEnd() <= nowMillis).count();
  }

  private static @Nullable TaskRecord recordOf(TaskStore truth, TaskRef ref) {
    return truth.find(ref).toCompletableFuture().join().orElse(null);
  }

  /** Notes the records that a call depends on, instead of making the call. */
  private final class Reads extends ForwardingStore {
    Reads(TaskStore truth) {
      super(truth);
    }

    private <R> CompletionStage<R> note(List<TaskRef> refs) {
      refs.forEach(ref -> read.put(ref, recordOf(delegate, ref)));
      return new CompletableFuture<>();
    }

    private static TaskRef id(TaskId id) {
      return new TaskRef.ById(id);
    }

    @Override
    public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
      return note(drafts.stream().map(draft -> {
        String key = draft.key();
        return key == null ? id(draft.id()) : new TaskRef.ByKey(draft.queue(), key);
      }).toList());
    }

    @Override
    public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
      return note(touches.stream().map(Touch::ref).toList());
    }

    @Override
    public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
      return note(refs);
    }

    @Override
    public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
      return note(entries.stream().map(entry -> id(entry.id())).toList());
    }

    @Override
    public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
      return note(claims.stream().map(claim -> id(claim.id())).toList());
    }

    @Override
    public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
      return note(extensions.stream().map(extension -> id(extension.id())).toList());
    }

    @Override
    public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
      CompletionStage<List<SettleResult>> noted = note(
          settlements.stream().map(settlement -> id(settlement.id())).toList());
      for (AttemptEnd settlement : settlements) {
        if (settlement.outcome() instanceof Outcome.Rearm rearm) {
          noted = note(rearm.children().stream().map(child -> id(child.id())).toList());
        }
      }
      return noted;
    }

    @Override
    public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
      return note(redrives.stream().map(redrive -> id(redrive.id())).toList());
    }
  }
}
