package io.foliot.core.store.batch;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The steps that the stores share. Each store has its own steps for submits and claims. */
public final class BatchSteps {
  /** The step of {@code TaskStore.touch}. */
  public static final BatchStep<Touch, TouchResult> TOUCH = new Plain<>((touch, reads) -> reads.ref(touch.ref()),
      TaskOperations::touch, null);

  /** The step of {@code TaskStore.cancel}. */
  public static final BatchStep<TaskRef, CancelResult> CANCEL = new Plain<>((ref, reads) -> reads.ref(ref),
      TaskOperations::cancel, null);

  /** The step of {@code TaskStore.park}. */
  public static final BatchStep<DueEntry, Boolean> PARK = new Plain<>((entry, reads) -> reads.id(entry.id()),
      TaskOperations::park, false);

  /** The step of {@code TaskStore.extend}. */
  public static final BatchStep<Extension, ExtendResult> EXTEND = new Plain<>(
      (extension, reads) -> reads.id(extension.id()), TaskOperations::extend,
      new ExtendResult(ExtendResult.Kind.STALE, 0));

  /** The step of {@code TaskStore.settle}. */
  public static final BatchStep<AttemptEnd, SettleResult> SETTLE = new Plain<>(BatchSteps::idAndChildren,
      TaskOperations::settle, new SettleResult(SettleResult.Kind.STALE, TaskState.RUNNING, 0));

  /**
   * The step of {@code TaskStore.redrive}. An item names only its task; the store also reads the live task with the
   * same key, if there is one.
   */
  public static final BatchStep<Redrive, RedriveResult> REDRIVE = new Plain<>(
      (redrive, reads) -> reads.id(redrive.id()), TaskOperations::redrive, null);

  /** The step of {@code TaskStore.adopt}. */
  public static final BatchStep<TaskRecord, Boolean> ADOPT = new Plain<>(BatchSteps::idAndKey, TaskOperations::adopt,
      true);

  private BatchSteps() {}

  private static void idAndChildren(AttemptEnd settlement, Reads reads) {
    reads.id(settlement.id());
    if (settlement.outcome() instanceof Outcome.Rearm rearm) {
      rearm.children().forEach(child -> reads.child(child.id()));
    }
  }

  private static void idAndKey(TaskRecord task, Reads reads) {
    TaskId id = task.id();
    String key = task.key();
    reads.id(id);
    if (key != null) {
      reads.key(new KeyName(task.queue(), key));
    }
  }

  /** A method of {@link TaskOperations}. */
  private interface Call<Q, R> {
    List<R> take(TaskOperations operations, List<Q> items, long nowMicros);
  }

  /**
   * A step whose parts are functions.
   *
   * @param names names the records that an item reads
   * @param newer the result of an item if a newer version of Foliot wrote its record; null if the item then fails
   */
  private record Plain<Q, R>(BiConsumer<Q, Reads> names, Call<Q, R> call, @Nullable R newer)
      implements
        BatchStep<Q, R> {
    @Override
    public void wants(Q item, Reads reads) {
      names.accept(item, reads);
    }

    @Override
    public List<R> apply(TaskOperations operations, List<Q> items, long nowMicros) {
      return call.take(operations, items, nowMicros);
    }

    @Override
    public @Nullable R ofNewerVersion(Q item, long nowMicros) {
      return newer;
    }
  }
}
