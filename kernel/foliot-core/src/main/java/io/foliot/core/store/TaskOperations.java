package io.foliot.core.store;

import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls of {@link TaskStore} that change tasks, for stores that decide in their own process. The records are the
 * store's own, or the store has read them from a server. Each call reads from a {@link RecordTable}, applies {@link
 * TaskLife}, and writes the result back. Not thread-safe.
 *
 * <p>An item that is refused, for example because the store has no room for another task, leaves the other items of its
 * call. The call then throws an {@link ItemsFailedException}.
 */
public final class TaskOperations {
  private final RecordTable table;
  private final Supplier<Token> tokens;
  private final TermsByQueue terms;

  private long generationFloor;

  /**
   * Creates operations on a table.
   *
   * @param tokens returns unpredictable tokens, never the same one twice
   * @param terms the terms of the queues, which may change at any time
   * @param generationFloor the smallest generation that may be assigned: callers may already know smaller ones
   */
  public TaskOperations(RecordTable table, Supplier<Token> tokens, TermsByQueue terms, long generationFloor) {
    this.table = table;
    this.tokens = tokens;
    this.terms = terms;
    this.generationFloor = generationFloor;
  }

  private QueueTerms terms(@Nullable TaskRecord record) {
    return record == null ? QueueTerms.DEFAULT : terms.of(record.queue());
  }

  private TaskLife.Now now(long nowMicros) {
    generationFloor = Math.max(generationFloor, nowMicros);
    return new TaskLife.Now(nowMicros, generationFloor);
  }

  /** One item of a call. All that can throw runs before the first write, so an item that throws has no effect. */
  private interface Item<Q, R> {
    R take(Q item, TaskLife.Now now);
  }

  /**
   * Runs the items of a call one after the other. An item that is refused leaves the other items.
   *
   * @throws ItemsFailedException if some items were refused, and others were not
   */
  private <Q, R> List<R> each(List<Q> items, long nowMicros, Item<Q, R> step) {
    TaskLife.Now now = now(nowMicros);
    List<R> results = new ArrayList<>(items.size());
    StoreException refusal = null;
    for (Q item : items) {
      R result = null;
      try {
        result = step.take(item, now);
      } catch (StoreFullException e) {
        refusal = e;
      } catch (StoreException e) {
        // The store itself has failed.
        throw e;
      } catch (RuntimeException e) {
        refusal = new StoreException("an item of a call was refused, and nothing was done for it: " + e, e);
      }
      results.add(result);
    }
    if (refusal != null) {
      throw ItemsFailedException.of(results, refusal);
    }
    return results;
  }

  /** Returns the smallest generation that may be assigned next; it only grows. */
  public long generationFloor() {
    return generationFloor;
  }

  private <R> R take(@Nullable TaskRecord before, TaskLife.Step<R> step) {
    TaskRecord after = step.after();
    if (after != null && after != before) {
      table.write(before, after);
      generationFloor = Math.max(generationFloor, Generations.above(Generations.forgotten(before, after)));
    }
    return step.answer();
  }

  private @Nullable TaskRecord read(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> table.get(byId.id());
      case TaskRef.ByKey byKey -> table.byKey(byKey.queue(), byKey.key());
    };
  }

  /** Performs {@link TaskStore#submit} on the table. */
  public List<SubmitResult> submit(List<Draft> drafts, long nowMicros) {
    return each(drafts, nowMicros, this::submit);
  }

  private SubmitResult submit(Draft draft, TaskLife.Now now) {
    Draft.Idempotency idempotency = draft.idempotency();
    if (idempotency == null) {
      return insert(draft, now);
    }
    RecordTable.Answered known = table.answered(draft.queue(), draft.key(), idempotency.key());
    if (known != null && known.dropAt() > now.millis()) {
      SubmitResult first = known.result();
      SubmitResult.Kind kind = known.digest() == idempotency.digest()
          ? SubmitResult.Kind.REPEATED
          : SubmitResult.Kind.MISMATCHED;
      return new SubmitResult(kind, first.id(), first.generation(), first.dueAt(), first.state(), false);
    }
    SubmitResult result = insert(draft, now);
    if (result.kind().isPlaced()) {
      table.remember(draft.queue(), draft.key(), idempotency.key(), new RecordTable.Answered(idempotency.digest(),
          result, now.millis() + Draft.Idempotency.KEPT_MILLIS));
    }
    return result;
  }

  private SubmitResult insert(Draft draft, TaskLife.Now now) {
    TaskRecord last = draft.key() == null ? null : table.byKey(draft.queue(), draft.key());
    TaskLife.Step<SubmitResult> step = TaskLife.submit(last, draft, terms.of(draft.queue()), now);
    boolean created = step.answer().kind() == SubmitResult.Kind.CREATED;
    if (created) {
      table.ensureRoom();
    }
    return take(created ? null : last, step);
  }

  /** Performs {@link TaskStore#touch} on the table. */
  public List<TouchResult> touch(List<Touch> touches, long nowMicros) {
    return each(touches, nowMicros, (touch, now) -> {
      TaskRecord record = read(touch.ref());
      boolean byId = touch.ref() instanceof TaskRef.ById;
      return take(record, TaskLife.touch(record, touch.due(), byId, terms(record), now));
    });
  }

  /** Performs {@link TaskStore#cancel} on the table. */
  public List<CancelResult> cancel(List<TaskRef> refs, long nowMicros) {
    return each(refs, nowMicros, (ref, now) -> {
      TaskRecord record = read(ref);
      return take(record, TaskLife.cancel(record, terms(record), now));
    });
  }

  /** Performs {@link TaskStore#park} on the table. */
  public List<Boolean> park(List<DueEntry> entries, long nowMicros) {
    return each(entries, nowMicros, (entry, now) -> {
      TaskRecord record = table.get(entry.id());
      return take(record, TaskLife.park(record, entry.wakeAt(), terms(record), now));
    });
  }

  /** Performs {@link TaskStore#claim} on the table. */
  public ClaimBatch claim(List<Claim> claims, long nowMicros) {
    return new ClaimBatch(now(nowMicros).millis(), each(claims, nowMicros, (claim, now) -> {
      TaskRecord record = table.get(claim.id());
      return take(record, TaskLife.claim(record, claim, tokens.get(), terms(record), now));
    }));
  }

  /** Performs {@link TaskStore#extend} on the table. */
  public List<ExtendResult> extend(List<Extension> extensions, long nowMicros) {
    return each(extensions, nowMicros, (extension, now) -> {
      TaskRecord record = table.get(extension.id());
      return take(record, TaskLife.extend(record, extension, terms(record), now));
    });
  }

  /** Performs {@link TaskStore#settle} on the table. */
  public List<SettleResult> settle(List<AttemptEnd> settlements, long nowMicros) {
    return each(settlements, nowMicros, this::settle);
  }

  private SettleResult settle(AttemptEnd settlement, TaskLife.Now now) {
    TaskRecord record = table.get(settlement.id());
    TaskLife.Step<SettleResult> step = TaskLife.settle(record, settlement, terms(record), now);
    SettleResult result = step.answer();
    boolean inserts = result.kind() == SettleResult.Kind.SETTLED && !result.state().isFinal()
        && settlement.outcome() instanceof Outcome.Rearm;
    List<TaskRecord> children = inserts ? children((Outcome.Rearm) settlement.outcome(), now) : List.of();
    if (!children.isEmpty()) {
      table.ensureRoom();
    }
    take(record, step);
    children.forEach(child -> table.write(null, child));
    return result;
  }

  private List<TaskRecord> children(Outcome.Rearm rearm, TaskLife.Now now) {
    List<TaskRecord> children = new ArrayList<>(rearm.children().size());
    for (Outcome.Child child : rearm.children()) {
      if (table.get(child.id()) == null) {
        children.add(TaskLife.child(child, now));
      }
    }
    return children;
  }

  /** Performs {@link TaskStore#redrive} on the table. */
  public List<RedriveResult> redrive(List<Redrive> redrives, long nowMicros) {
    return each(redrives, nowMicros, (redrive, now) -> {
      TaskRecord found = table.get(redrive.id());
      TaskRecord record = found == null || !found.queue().equals(redrive.queue()) ? null : found;
      return take(record, TaskLife.redrive(record, redrive.id(), keyIsLive(record), now));
    });
  }

  /** Performs {@link TaskStore#adopt} on the table. */
  public List<Boolean> adopt(List<TaskRecord> tasks, long nowMicros) {
    for (TaskRecord task : tasks) {
      if (!task.isLive()) {
        throw new IllegalArgumentException("only a live task can be adopted: task=" + task);
      }
    }
    return each(tasks, nowMicros, (task, now) -> adopt(task));
  }

  private boolean adopt(TaskRecord task) {
    if (table.get(task.id()) != null) {
      return true;
    }
    if (keyIsLive(task)) {
      return false;
    }
    table.ensureRoom();
    table.write(null, task);
    generationFloor = Math.max(generationFloor, Generations.above(Generations.shown(task)));
    return true;
  }

  private boolean keyIsLive(@Nullable TaskRecord record) {
    if (record == null || record.key() == null) {
      return false;
    }
    TaskRecord holder = table.byKey(record.queue(), record.key());
    return holder != null && holder.isLive();
  }
}
