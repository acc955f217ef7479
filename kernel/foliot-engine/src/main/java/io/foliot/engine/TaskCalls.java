package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The calls that create and change tasks: submit, touch, run now, cancel, redrive. Thread-safe.
 *
 * <p>Guarantees: the result of a future is durable. The results of submits and redrives are also confirmed ({@link
 * Confirmation}). Before the caller gets the result, the loops get the index entries that are due within the window. So
 * the tasks fire on the millisecond.
 *
 * <ol>
 * <li>A call is checked: its size, its queues, its delay. An invalid call is refused.
 * <li>Calls of a kind are gathered into batches of the store by a {@link GroupCommit}. Submits, touches, cancels and
 * redrives share one {@link Admission}: a call that does not fit is refused before it has any effect.
 * <li>When a batch comes back, the loops get its index entries; then its callers get their answers.
 * </ol>
 *
 * <p>Rejected: one queue of all kinds of calls. A store batch is of one kind, and a submit would wait for the cancels
 * before it.
 */
final class TaskCalls {
  private final TaskStore store;
  private final QueueRegistry registry;
  private final QueueWatch watch;
  private final LoopGroup loops;
  private final DraftMaker maker;
  private final Meter meter;
  private final long windowMillis;

  private final GroupCommit<Draft, SubmitResult> submits;
  private final GroupCommit<Touch, TouchResult> touches;
  private final GroupCommit<TaskRef, CancelResult> cancels;
  private final GroupCommit<Redrive, RedriveResult> redrives;

  /** Creates the calls, with nothing under way. */
  TaskCalls(EngineOptions options, TaskStore store, QueueRegistry registry, QueueWatch watch, LoopGroup loops,
      RandomSource random, TimeSource clock, Meter meter) {
    this.store = store;
    this.registry = registry;
    this.watch = watch;
    this.loops = loops;
    this.meter = meter;
    maker = new DraftMaker(registry, random);
    windowMillis = options.windowMillis();
    Admission admission = new Admission(options.callItems(), options.callBytes());
    submits = new GroupCommit<>("submit", store::submit, this::submitted, admission, clock, meter);
    touches = new GroupCommit<>("touch", store::touch, this::touched, admission, clock, meter);
    cancels = new GroupCommit<>("cancel", store::cancel, GroupCommit::nothing, admission, clock, meter);
    redrives = new GroupCommit<>("redrive", store::redrive, GroupCommit::nothing, admission, clock, meter);
  }

  static void ensureBatch(int size) {
    if (size > Limits.MAX_BATCH) {
      throw new IllegalArgumentException("a batch has at most 10000 items: items=" + size);
    }
  }

  static Duration ensureDelay(Duration delay) {
    if (delay.isNegative() || delay.compareTo(Duration.ofMillis(Limits.MAX_DELAY_MILLIS)) > 0) {
      throw new IllegalArgumentException("a delay is from 0 to 100 years: delay=" + delay);
    }
    return delay;
  }

  // Submits.

  CompletionStage<List<SubmitResult>> submitAll(List<Submission> submissions) {
    ensureBatch(submissions.size());
    return watch.withQueues(submissions.stream().map(Submission::queue).toList(), () -> {
      long bytes = 0;
      for (Submission submission : submissions) {
        bytes += GroupCommit.ITEM_BYTES + (submission.body() == null ? 0 : submission.body().payload().length);
      }
      return submits.call(drafts(submissions), bytes).thenCompose(results -> confirmed(submissions, results));
    });
  }

  /** Writes drafts, as {@link Engine#write} does. An internal queue is never deleted, so no result is confirmed. */
  CompletionStage<List<SubmitResult>> write(List<Draft> drafts) {
    ensureBatch(drafts.size());
    long bytes = 0;
    for (Draft draft : drafts) {
      bytes += GroupCommit.ITEM_BYTES + (draft.body() == null ? 0 : draft.body().payload().length);
    }
    return submits.call(drafts, bytes);
  }

  /** Makes tasks of an internal queue due now, as {@link Engine#wake} does. */
  CompletionStage<List<TouchResult>> wake(String queue, List<String> keys) {
    ensureBatch(keys.size());
    List<Touch> batch = keys.stream().map(key -> new Touch(new TaskRef.ByKey(queue, key), Due.NOW)).toList();
    return touches.call(batch, (long) GroupCommit.ITEM_BYTES * keys.size());
  }

  private CompletionStage<List<SubmitResult>> confirmed(List<Submission> submissions, List<SubmitResult> results) {
    Confirmation confirmation = new Confirmation(store, watch);
    for (int i = 0; i < results.size(); i++) {
      SubmitResult result = results.get(i);
      if (result.kind().isPlaced()) {
        confirmation.add(submissions.get(i).queue(), result.id(), result.generation());
      }
    }
    return confirmation.await(results);
  }

  /** Returns the drafts of submissions, as {@link Engine#drafts} does. */
  List<Draft> drafts(List<Submission> submissions) {
    ensureBatch(submissions.size());
    return maker.drafts(submissions, loops.storeMillis());
  }

  /** Informs the loops of tasks that are written and visible. */
  void submitted(List<Draft> drafts, List<SubmitResult> results) {
    OutcomeCounter counter = new OutcomeCounter(meter, "");
    List<DueEntry> written = new ArrayList<>();
    long horizon = loops.storeMillis() + windowMillis;
    for (int i = 0; i < drafts.size(); i++) {
      SubmitResult result = results.get(i);
      String queue = drafts.get(i).queue();
      counter.add(queue, result.kind());
      if (result.indexed() && result.dueAt() <= horizon) {
        written.add(new DueEntry(result.dueAt(), result.id(), queue));
      }
    }
    counter.report();
    loops.written(written);
  }

  // Touches, cancels.

  CompletionStage<List<TouchResult>> touch(String queue, List<String> keys, Duration delay) {
    ensureBatch(keys.size());
    Due due = Due.after(QueueRegistry.ceilMillis(ensureDelay(delay)));
    List<Touch> batch = new ArrayList<>(keys.size());
    for (String key : keys) {
      Limits.ensureKey(key);
      batch.add(new Touch(new TaskRef.ByKey(queue, key), due));
    }
    return watch.withQueue(queue, known -> touches.call(batch, (long) GroupCommit.ITEM_BYTES * keys.size()));
  }

  private void touched(List<Touch> items, List<TouchResult> results) {
    List<DueEntry> written = new ArrayList<>();
    long horizon = loops.storeMillis() + windowMillis;
    OutcomeCounter counter = new OutcomeCounter(meter, "touch_");
    for (int i = 0; i < items.size(); i++) {
      TouchResult result = results.get(i);
      TaskId id = result.id();
      // If a task is touched by its id, its queue is not known here. The method runNow then informs the loop.
      if (items.get(i).ref() instanceof TaskRef.ByKey byKey) {
        counter.add(byKey.queue(), result.kind());
        if (result.indexed() && id != null && result.dueAt() <= horizon) {
          written.add(new DueEntry(result.dueAt(), id, byKey.queue()));
        }
      }
    }
    counter.report();
    loops.written(written);
  }

  CompletionStage<TouchResult> runNow(TaskId id) {
    return store.find(new TaskRef.ById(id)).thenCompose(found -> {
      if (found.isEmpty()) {
        return CompletableFuture.completedFuture(TouchResult.NOT_FOUND);
      }
      List<Touch> batch = List.of(new Touch(new TaskRef.ById(id), Due.NOW));
      return touches.call(batch, GroupCommit.ITEM_BYTES).thenApply(results -> {
        TouchResult result = results.get(0);
        if (result.indexed()) {
          loops.written(List.of(new DueEntry(result.dueAt(), id, found.get().queue())));
        }
        return result;
      });
    });
  }

  CompletionStage<CancelResult> cancel(TaskRef ref) {
    return cancels.call(List.of(ref), GroupCommit.ITEM_BYTES).thenApply(results -> results.get(0));
  }

  // Redrive.

  CompletionStage<List<RedriveResult>> redrive(String queue, List<TaskId> ids) {
    ensureBatch(ids.size());
    List<Redrive> items = ids.stream().map(id -> new Redrive(queue, id)).toList();
    return watch.withQueue(queue, known -> {
      registry.ensureOpen(queue);
      return redrives.call(items, (long) GroupCommit.ITEM_BYTES * items.size());
    }).thenCompose(results -> redriven(queue, results));
  }

  private CompletionStage<List<RedriveResult>> redriven(String queue, List<RedriveResult> results) {
    List<RedriveResult> live = results.stream().filter(result -> result.kind() == RedriveResult.Kind.REDRIVEN).toList();
    loops.written(live.stream().map(result -> new DueEntry(result.dueAt(), result.id(), queue)).toList());
    Confirmation confirmation = new Confirmation(store, watch);
    live.forEach(result -> confirmation.add(queue, result.id(), result.generation()));
    return confirmation.await(results);
  }
}
