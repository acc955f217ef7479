package io.foliot.store.redis;

import io.foliot.core.SlotHash;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Generations;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.BatchStep;
import io.foliot.core.store.batch.BatchSteps;

/** The steps that have no fast path. */
final class RareStep {
  private RareStep() {}

  /** The step that cancels tasks. */
  static final class Cancel implements RedisOperation<TaskRef, CancelResult> {
    @Override
    public BatchStep<TaskRef, CancelResult> general() {
      return BatchSteps.CANCEL;
    }

    @Override
    public int hash16(TaskRef ref) {
      return TouchStep.hash16(ref);
    }
  }

  /** The step that extends leases. */
  static final class Extend implements RedisOperation<Extension, ExtendResult> {
    @Override
    public BatchStep<Extension, ExtendResult> general() {
      return BatchSteps.EXTEND;
    }

    @Override
    public int hash16(Extension extension) {
      return extension.id().hash16();
    }
  }

  /** The step that redrives failed tasks. */
  static final class Redrives implements RedisOperation<Redrive, RedriveResult> {
    @Override
    public BatchStep<Redrive, RedriveResult> general() {
      return BatchSteps.REDRIVE;
    }

    @Override
    public int hash16(Redrive redrive) {
      return redrive.id().hash16();
    }

    @Override
    public boolean withHolders() {
      return true;
    }
  }

  /** The step that adopts tasks of another store. */
  static final class Adopt implements RedisOperation<TaskRecord, Boolean> {
    @Override
    public BatchStep<TaskRecord, Boolean> general() {
      return BatchSteps.ADOPT;
    }

    @Override
    public int hash16(TaskRecord task) {
      return task.key() == null ? task.id().hash16() : SlotHash.of(task.queue(), task.key());
    }

    @Override
    public Script reader() {
      return Script.READ_TO_SUBMIT;
    }

    @Override
    public long minGeneration(TaskRecord task) {
      return Generations.above(Generations.shown(task));
    }
  }
}
