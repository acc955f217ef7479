package io.foliot.store.redis;

import io.foliot.core.SlotHash;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Generations;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.TaskRecord;
import java.util.List;

/** The steps that have no script of their own. */
final class RareStep {
  private RareStep() {}

  /** Cancels. */
  static final class Cancel implements Step<TaskRef, CancelResult> {
    @Override
    public int hash16(TaskRef ref) {
      return TouchStep.hash16(ref);
    }

    @Override
    public void wants(TaskRef ref, Wanted wanted) {
      wanted.ref(ref);
    }

    @Override
    public List<CancelResult> apply(TaskOperations operations, List<TaskRef> refs, long nowMicros) {
      return operations.cancel(refs, nowMicros);
    }
  }

  /** Extensions of leases. */
  static final class Extend implements Step<Extension, ExtendResult> {
    @Override
    public int hash16(Extension extension) {
      return extension.id().hash16();
    }

    @Override
    public void wants(Extension extension, Wanted wanted) {
      wanted.id(extension.id());
    }

    @Override
    public List<ExtendResult> apply(TaskOperations operations, List<Extension> extensions, long nowMicros) {
      return operations.extend(extensions, nowMicros);
    }

    @Override
    public ExtendResult ofNewerVersion(Extension extension, long nowMicros) {
      return new ExtendResult(ExtendResult.Kind.STALE, 0);
    }
  }

  /** Redrives. */
  static final class Redrives implements Step<Redrive, RedriveResult> {
    @Override
    public int hash16(Redrive redrive) {
      return redrive.id().hash16();
    }

    @Override
    public void wants(Redrive redrive, Wanted wanted) {
      wanted.id(redrive.id());
    }

    @Override
    public boolean withHolders() {
      return true;
    }

    @Override
    public List<RedriveResult> apply(TaskOperations operations, List<Redrive> redrives,
        long nowMicros) {
      return operations.redrive(redrives, nowMicros);
    }
  }

  /** Tasks of another store that are taken over. */
  static final class Adopt implements Step<TaskRecord, Boolean> {
    @Override
    public int hash16(TaskRecord task) {
      return task.key() == null ? task.id().hash16() : SlotHash.of(task.queue(), task.key());
    }

    @Override
    public void wants(TaskRecord task, Wanted wanted) {
      wanted.id(task.id());
      if (task.key() != null) {
        wanted.key(task.queue(), task.key());
      }
    }

    @Override
    public Script reader() {
      return Script.READ_TO_SUBMIT;
    }

    @Override
    public long shown(TaskRecord task) {
      return Generations.above(Generations.shown(task));
    }

    @Override
    public List<Boolean> apply(TaskOperations operations, List<TaskRecord> tasks, long nowMicros) {
      return operations.adopt(tasks, nowMicros);
    }

    @Override
    public Boolean ofNewerVersion(TaskRecord task, long nowMicros) {
      return true;
    }
  }
}
