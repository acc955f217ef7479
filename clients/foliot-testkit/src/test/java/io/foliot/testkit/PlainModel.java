package io.foliot.testkit;

import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.Redrive;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The model for {@link MemoryStore}, which is itself the model for all other stores. This class implements the rules of
 * {@link io.foliot.core.store.TaskStore} again, in the shortest way: mutable fields, one list of tasks, and no index.
 * {@link #parked} and {@link #query} ignore limits and cursors. Methods that are not overridden go to an empty
 * MemoryStore. For use by one thread.
 */
final class PlainModel extends WrappedStore {
  private final int slotCount;
  private final TimeSource clock;
  private final List<Task> tasks = new ArrayList<>();
  private final Map<List<@Nullable String>, FirstSubmit> firstSubmits = new HashMap<>();
  private final Map<String, QueueTerms> terms = new HashMap<>();
  private long lastToken;

  /** The digest, the result and the time of the first accepted submit with an idempotency key. */
  private record FirstSubmit(long digest, SubmitResult result, long atMillis) {}

  private static final class Task {
    final Draft draft;
    final long createdAt;
    Body body = Body.EMPTY;
    int maxAttempts;
    TaskState state = TaskState.DELAYED;
    long generation;
    long firstDueAt;
    long dueAt;
    long wakeAt;
    boolean parked;
    int attempt;
    @Nullable
    Token token;
    long claimedAt;
    long leaseEnd;
    boolean leaseClosed;
    boolean reported;
    AttemptRecord.@Nullable End reportedAs;
    boolean cancelRequested;
    boolean outstanding;
    TaskRecord.@Nullable Successor successor;
    List<AttemptRecord> attempts = List.of();
    final Map<Long, TaskNote> notes = new HashMap<>();
    long dropAt;

    Task(Draft draft, long createdAt) {
      this.draft = draft;
      this.createdAt = createdAt;
    }

    boolean isLive() {
      return !state.isFinal();
    }

    TaskState stateAt(long now) {
      return state == TaskState.DELAYED && dueAt <= now ? TaskState.READY : state;
    }

    void waitUntil(long instant) {
      state = TaskState.DELAYED;
      dueAt = instant;
      wakeAt = instant;
      parked = false;
    }

    void remember(AttemptRecord past) {
      List<AttemptRecord> all = Stream.concat(attempts.stream(), Stream.of(past)).toList();
      attempts = all.subList(Math.max(0, all.size() - AttemptRecord.KEPT), all.size());
    }

    void addNote(TaskNote note) {
      notes.merge(generation, note, (earlier, later) -> later.over(earlier));
    }

    TaskRecord record() {
      return TaskRecord.edit(draft.id(), draft.queue(), draft.key()).body(body).createdAt(createdAt)
          .firstDueAt(firstDueAt).maxAttempts(maxAttempts).state(state).generation(generation).dueAt(dueAt)
          .wakeAt(wakeAt).parked(parked).attempt(attempt).token(token).claimedAt(claimedAt).leaseEnd(leaseEnd)
          .cancelRequested(cancelRequested).outstanding(outstanding).successor(successor).attempts(attempts)
          .noted(new TaskRecord.Noted(generation, notes.getOrDefault(generation, TaskNote.NONE))).dropAt(dropAt).done();
    }

    DueEntry entry() {
      return new DueEntry(wakeAt, draft.id(), draft.queue());
    }
  }

  PlainModel(int slotCount, TimeSource clock) {
    super(new MemoryStore(slotCount, clock, () -> new Token(0, 0)));
    this.slotCount = slotCount;
    this.clock = clock;
  }

  private long now() {
    return clock.wallMillis();
  }

  /** Returns the next generation, which is at least the current microsecond. */
  private long after(long generation) {
    return Math.max(generation + 1, clock.wallMicros());
  }

  /** Returns the instant in milliseconds. {@link ModelRun} advances the clock by whole ms, so nothing is rounded. */
  private long instant(Due due) {
    return switch (due) {
      case Due.At at -> at.millis();
      case Due.After after -> now() + after.delayMillis();
    };
  }

  /** Returns a + b, or Long.MAX_VALUE if b is Long.MAX_VALUE, which means no limit. */
  private static long plus(long a, long b) {
    return b == Long.MAX_VALUE ? b : a + b;
  }

  private QueueTerms terms(Task task) {
    return terms.getOrDefault(task.draft.queue(), QueueTerms.DEFAULT);
  }

  private Stream<Task> kept() {
    return tasks.stream().filter(task -> task.isLive() || task.dropAt > now());
  }

  private @Nullable Task get(TaskRef ref) {
    return switch (ref) {
      case TaskRef.ById byId -> get(byId.id());
      case TaskRef.ByKey byKey -> get(byKey.queue(), byKey.key());
    };
  }

  private @Nullable Task get(TaskId id) {
    return kept().filter(task -> task.draft.id().equals(id)).findFirst().orElse(null);
  }

  private @Nullable Task get(String queue, @Nullable String key) {
    List<Task> same = kept()
        .filter(task -> key != null && key.equals(task.draft.key()) && queue.equals(task.draft.queue())).toList();
    return same.stream().filter(Task::isLive).findFirst().orElse(same.isEmpty() ? null : same.getLast());
  }

  private static <Q, R> CompletionStage<List<R>> each(List<Q> items, Function<Q, R> step) {
    return CompletableFuture.completedFuture(items.stream().map(step).toList());
  }

  @Override
  public void configure(String queue, QueueTerms newTerms) {
    terms.put(queue, newTerms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return each(drafts, draft -> {
      Draft.Idempotency request = draft.idempotency();
      if (request == null) {
        return insert(draft);
      }
      List<@Nullable String> name = Arrays.asList(draft.queue(), draft.key(), request.key());
      FirstSubmit known = firstSubmits.get(name);
      if (known != null && now() < known.atMillis() + Draft.Idempotency.KEPT_MILLIS) {
        SubmitResult first = known.result();
        boolean same = known.digest() == request.digest();
        return new SubmitResult(same ? SubmitResult.Kind.REPEATED : SubmitResult.Kind.MISMATCHED, first.id(),
            first.generation(), first.dueAt(), first.state(), false);
      }
      SubmitResult result = insert(draft);
      if (result.kind() != SubmitResult.Kind.REJECTED && result.kind() != SubmitResult.Kind.CHANGED) {
        firstSubmits.put(name, new FirstSubmit(request.digest(), result, now()));
      }
      return result;
    });
  }

  private SubmitResult insert(Draft draft) {
    Task last = get(draft.queue(), draft.key());
    long expected = draft.expectedGeneration();
    boolean live = last != null && last.isLive();
    // 0 is Draft.ANY, and a negative number is Draft.ABSENT.
    boolean met = expected == 0 || (expected < 0 && !live)
        || (last != null && last.state == TaskState.DELAYED && last.generation == expected);
    if (!met) {
      return last == null
          ? new SubmitResult(SubmitResult.Kind.CHANGED, draft.id(), 0, 0, TaskState.FINISHED, false)
          : new SubmitResult(SubmitResult.Kind.CHANGED, last.draft.id(), last.generation, last.dueAt,
              last.stateAt(now()), false);
    }
    if (last == null || !last.isLive()) {
      Task task = new Task(draft, now());
      Body body = draft.body();
      task.body = body == null ? Body.EMPTY : body;
      task.maxAttempts = draft.maxAttempts();
      task.generation = after(last == null ? 0 : last.generation);
      task.firstDueAt = instant(draft.due());
      task.waitUntil(instant(draft.due()));
      tasks.add(task);
      return new SubmitResult(SubmitResult.Kind.CREATED, draft.id(), task.generation, task.dueAt, task.stateAt(now()),
          true);
    }
    SubmitResult.Kind kind = switch (last.cancelRequested || expected > 0 ? OnConflict.RESET : draft.onConflict()) {
      case KEEP -> SubmitResult.Kind.KEPT;
      case REJECT -> SubmitResult.Kind.REJECTED;
      case RESET -> last.state == TaskState.RUNNING || last.outstanding
          ? SubmitResult.Kind.RESET_PENDING
          : SubmitResult.Kind.RESET;
    };
    if (kind == SubmitResult.Kind.KEPT || kind == SubmitResult.Kind.REJECTED) {
      return new SubmitResult(kind, last.draft.id(), last.generation, last.dueAt, last.stateAt(now()), false);
    }
    TouchResult reset = reset(last, instant(draft.due()), draft.body(), draft.maxAttempts());
    return new SubmitResult(kind, last.draft.id(), reset.generation(), reset.dueAt(), last.stateAt(now()),
        reset.indexed());
  }

  private TouchResult reset(Task task, long wanted, @Nullable Body body, int maxAttempts) {
    TaskRecord.Successor old = task.successor;
    if (task.state == TaskState.RUNNING) {
      long first = old == null ? wanted : old.firstDueAt();
      long due = Math.min(wanted, plus(first, terms(task).maxWaitMillis()));
      int attempts = maxAttempts != 0 ? maxAttempts : old == null ? task.maxAttempts : old.maxAttempts();
      long generation = after(old == null ? task.generation : old.generation());
      task.successor = new TaskRecord.Successor(generation, due, first,
          body != null || old == null ? body : old.body(), attempts);
      task.cancelRequested = false;
      return new TouchResult(TouchResult.Kind.RESET_PENDING, task.draft.id(), generation, due, false);
    }
    task.generation = after(task.generation);
    task.attempt = 0;
    task.dueAt = Math.min(wanted, plus(task.firstDueAt, terms(task).maxWaitMillis()));
    task.body = body == null ? task.body : body;
    task.maxAttempts = maxAttempts == 0 ? task.maxAttempts : maxAttempts;
    boolean earlier = task.dueAt < task.wakeAt;
    long ahead = task.dueAt - now();
    // A later deadline moves an entry only if the task is not parked, and only if wakeAt is within the first five
    // eighths of the time from now to the deadline.
    if (earlier || (ahead > 0 && !task.parked && task.wakeAt <= now() + Math.floorDiv(ahead, 8L) * 5)) {
      task.waitUntil(task.dueAt);
    }
    return new TouchResult(task.outstanding ? TouchResult.Kind.RESET_PENDING : TouchResult.Kind.RESET,
        task.draft.id(), task.generation, task.dueAt, earlier);
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return each(touches, touch -> {
      Task task = get(touch.ref());
      if (task != null && !task.isLive() && touch.ref() instanceof TaskRef.ById) {
        return new TouchResult(TouchResult.Kind.ALREADY_FINISHED, task.draft.id(), task.generation, 0, false);
      }
      return task == null || !task.isLive() || task.cancelRequested
          ? TouchResult.NOT_FOUND
          : reset(task, instant(touch.due()), null, 0);
    });
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return each(refs, ref -> {
      Task task = get(ref);
      if (task == null) {
        return CancelResult.NOT_FOUND;
      }
      if (!task.isLive()) {
        return new CancelResult(Cancellation.ALREADY_FINISHED, task.draft.id(), task.generation);
      }
      boolean mayDeliver = task.state == TaskState.RUNNING || task.outstanding;
      task.successor = null;
      if (task.state == TaskState.RUNNING && !task.leaseClosed && now() < task.leaseEnd) {
        task.cancelRequested = true;
      } else {
        loseAttempt(task);
        end(task, TaskState.CANCELLED);
      }
      return new CancelResult(mayDeliver ? Cancellation.CANCEL_PENDING : Cancellation.CANCELLED,
          task.draft.id(), task.generation);
    });
  }

  private static void loseAttempt(Task task) {
    if (task.state == TaskState.RUNNING) {
      task.outstanding = true;
      task.reported = true;
      task.remember(new AttemptRecord(task.generation, task.attempt, task.claimedAt, task.leaseEnd,
          AttemptRecord.End.LEASE_ENDED, ""));
    }
  }

  private void end(Task task, TaskState state) {
    task.state = state;
    task.parked = false;
    task.successor = null;
    task.cancelRequested = false;
    task.dropAt = now()
        + (state == TaskState.FAILED ? terms(task).retainFailedMillis() : terms(task).retainFinishedMillis());
  }

  private static void takeOver(Task task, TaskRecord.Successor next) {
    Body body = next.body();
    task.body = body == null ? task.body : body;
    task.generation = next.generation();
    task.firstDueAt = next.firstDueAt();
    task.maxAttempts = next.maxAttempts();
    task.attempt = 0;
    task.successor = null;
    task.waitUntil(next.dueAt());
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return each(scans, scan -> {
      List<DueEntry> entries = tasks.stream()
          .filter(task -> task.isLive() && !task.parked && task.draft.id().slot(slotCount) == scan.slot())
          .map(Task::entry).filter(entry -> isIn(entry, scan))
          .sorted(Comparator.comparingLong(DueEntry::wakeAt).thenComparing(DueEntry::id)).toList();
      int end = Math.min(entries.size(), scan.limit());
      return new DueSlice(scan.slot(), entries.subList(0, end), end < entries.size());
    });
  }

  private static boolean isIn(DueEntry entry, DueScan scan) {
    TaskId after = scan.after();
    boolean inOrAfterStart = entry.wakeAt() > scan.fromWakeAt()
        || (entry.wakeAt() == scan.fromWakeAt() && (after == null || entry.id().compareTo(after) > 0));
    return inOrAfterStart && entry.wakeAt() <= scan.toWakeAt();
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    Predicate<Task> wanted = task -> task.parked && task.draft.queue().equals(queue);
    return CompletableFuture.completedFuture(tasks.stream().filter(wanted).map(Task::entry).toList());
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return each(entries, entry -> {
      Task task = get(entry.id());
      if (task == null || !task.isLive() || task.parked || task.wakeAt != entry.wakeAt()) {
        return false;
      }
      long ready = task.state == TaskState.RUNNING ? task.leaseEnd : task.dueAt;
      if (ready > now()) {
        task.wakeAt = ready;
        return false;
      }
      if (task.state == TaskState.RUNNING && endsWithItsLease(task)) {
        return false;
      }
      task.parked = true;
      return true;
    });
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return each(ids, id -> {
      Task task = get(id);
      return task == null || !task.isLive()
          ? Probed.UNKNOWN
          : new Probed(task.state == TaskState.RUNNING ? task.leaseEnd : task.dueAt, task.wakeAt);
    });
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return each(claims, this::claimOne).thenApply(results -> new ClaimBatch(now(), results));
  }

  private int allowed(Task task) {
    return task.maxAttempts == 0 ? terms(task).maxAttempts() : task.maxAttempts;
  }

  private boolean endsWithItsLease(Task task) {
    return task.cancelRequested || task.successor != null || task.attempt >= allowed(task);
  }

  private ClaimResult claimOne(Claim claim) {
    Task task = get(claim.id());
    if (task == null || !task.isLive()) {
      return ClaimResult.Gone.ABSENT;
    }
    boolean beginsNothing = claim.beginsNothing(now());
    if (task.state == TaskState.RUNNING && task.leaseEnd <= now() && claim.leaseMillis() > 0
        && (!beginsNothing || endsWithItsLease(task))) {
      loseAttempt(task);
      TaskRecord.Successor next = task.successor;
      if (task.cancelRequested) {
        end(task, TaskState.CANCELLED);
      } else if (next != null) {
        takeOver(task, next);
      } else if (task.attempt >= allowed(task)) {
        end(task, TaskState.FAILED);
      }
      if (!task.isLive()) {
        return new ClaimResult.Gone(task.state, task.draft.queue());
      }
    }
    long ready = task.state == TaskState.RUNNING ? task.leaseEnd : task.dueAt;
    if (ready > now()) {
      task.wakeAt = ready;
      task.parked = false;
      return new ClaimResult.Later(ready);
    }
    if (beginsNothing) {
      return ClaimResult.Ready.READY;
    }
    task.state = TaskState.RUNNING;
    task.attempt++;
    task.token = new Token(7, ++lastToken);
    task.reported = false;
    task.reportedAs = null;
    task.claimedAt = now();
    task.leaseEnd = now() + claim.leaseMillis();
    task.leaseClosed = false;
    task.wakeAt = task.leaseEnd;
    task.parked = false;
    return new ClaimResult.Won(task.record());
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return each(extensions, extension -> {
      Task task = get(extension.id());
      if (task == null) {
        return new ExtendResult(ExtendResult.Kind.NOT_FOUND, 0);
      }
      if (task.state != TaskState.RUNNING || !extension.token().equals(task.token)) {
        return new ExtendResult(ExtendResult.Kind.STALE, 0);
      }
      task.leaseClosed |= task.leaseEnd <= now();
      if (task.cancelRequested) {
        return new ExtendResult(ExtendResult.Kind.CANCELLED, task.leaseClosed ? 0 : task.leaseEnd);
      }
      if (task.leaseClosed) {
        return new ExtendResult(ExtendResult.Kind.STALE, 0);
      }
      long end = Math.min(now() + extension.leaseMillis(), task.claimedAt + terms(task).maxRunMillis());
      task.leaseEnd = Math.max(task.leaseEnd, end);
      task.addNote(extension.note());
      return new ExtendResult(ExtendResult.Kind.EXTENDED, task.leaseEnd);
    });
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return each(settlements, settlement -> {
      Task task = get(settlement.id());
      if (task == null) {
        return new SettleResult(SettleResult.Kind.NOT_FOUND, TaskState.FINISHED, 0);
      }
      Outcome outcome = settlement.outcome();
      AttemptRecord.End end = switch (outcome) {
        case Outcome.Finished finished -> AttemptRecord.End.FINISHED;
        case Outcome.Failed failed -> AttemptRecord.End.FAILED;
        case Outcome.Retry retry -> AttemptRecord.End.RETRIED;
        case Outcome.Rearm rearm -> AttemptRecord.End.REARMED;
        case Outcome.NotBegun notBegun -> AttemptRecord.End.NOT_BEGUN;
      };
      boolean hasToken = settlement.token().equals(task.token);
      if (!hasToken || task.reported || settlement.generation() != task.generation) {
        boolean repeated = hasToken && task.reportedAs == end;
        return new SettleResult(repeated ? SettleResult.Kind.REPEATED : SettleResult.Kind.STALE, task.state, 0);
      }
      task.reported = true;
      task.reportedAs = end;
      task.addNote(settlement.note());
      if (outcome instanceof Outcome.NotBegun && unbegun(task) == Outcome.NotBegun.AT_ONCE + 1) {
        task.attempts = task.attempts.subList(0, task.attempts.size() - 1);
      }
      task.remember(new AttemptRecord(task.generation, task.attempt, settlement.begunAt(), now(), end,
          settlement.detail()));
      settleAs(task, outcome);
      if (outcome instanceof Outcome.Rearm(Due due, Body body, List<Outcome.Child> children) && task.isLive()) {
        children.forEach(this::insert);
      }
      return new SettleResult(SettleResult.Kind.SETTLED, task.state, task.isLive() ? task.wakeAt : 0);
    });
  }

  private void insert(Outcome.Child child) {
    if (get(child.id()) != null) {
      return;
    }
    Task task = new Task(new Draft(child.id(), child.queue(), null, child.due(), child.body(), child.maxAttempts(),
        OnConflict.RESET, null), now());
    task.body = child.body();
    task.maxAttempts = child.maxAttempts();
    task.generation = after(0);
    task.firstDueAt = instant(child.due());
    task.waitUntil(instant(child.due()));
    task.parked = child.parked() && task.dueAt <= now();
    tasks.add(task);
  }

  private static long unbegun(Task task) {
    return task.attempts.reversed().stream().takeWhile(attempt -> attempt.end() == AttemptRecord.End.NOT_BEGUN
        && attempt.generation() == task.generation).count();
  }

  private void settleAs(Task task, Outcome outcome) {
    TaskRecord.Successor next = task.successor;
    if (next != null) {
      takeOver(task, next);
      if (outcome instanceof Outcome.Rearm(Due due, Body body, List<Outcome.Child> children)) {
        if (body != null && next.body() == null) {
          task.body = body;
        }
        if (body != null || !children.isEmpty()) {
          task.attempts = List.of();
          if (instant(due) < task.dueAt) {
            task.generation = after(task.generation);
            task.firstDueAt = instant(due);
            task.waitUntil(instant(due));
          }
        }
      }
    } else if (task.cancelRequested && !(outcome instanceof Outcome.Finished)) {
      end(task, TaskState.CANCELLED);
    } else if (outcome instanceof Outcome.Retry(Due due)) {
      task.waitUntil(instant(due));
    } else if (outcome instanceof Outcome.NotBegun) {
      task.attempt--;
      task.waitUntil(Math.max(task.dueAt,
          instant(unbegun(task) <= Outcome.NotBegun.AT_ONCE ? Due.NOW : Due.after(Outcome.NotBegun.PAUSE_MILLIS))));
    } else if (outcome instanceof Outcome.Rearm(Due due, Body body, List<Outcome.Child> children)) {
      task.generation = after(task.generation);
      task.body = body == null ? task.body : body;
      if (body != null || !children.isEmpty()) {
        task.attempts = List.of();
      }
      task.firstDueAt = instant(due);
      task.attempt = 0;
      task.waitUntil(instant(due));
    } else {
      end(task, outcome instanceof Outcome.Finished ? TaskState.FINISHED : TaskState.FAILED);
    }
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return each(redrives, redrive -> {
      TaskId id = redrive.id();
      Task found = get(id);
      Task task = found == null || !found.draft.queue().equals(redrive.queue()) ? null : found;
      if (task == null || task.state != TaskState.FAILED) {
        return new RedriveResult(task == null ? RedriveResult.Kind.NOT_FOUND : RedriveResult.Kind.NOT_FAILED, id, 0, 0);
      }
      Task holder = get(task.draft.queue(), task.draft.key());
      if (holder != null && holder.isLive()) {
        return new RedriveResult(RedriveResult.Kind.CONFLICT, id, 0, 0);
      }
      String checkpoint = task.notes.getOrDefault(task.generation, TaskNote.NONE).checkpoint();
      task.generation = after(task.generation);
      if (checkpoint != null) {
        task.notes.put(task.generation, new TaskNote(-1, "", checkpoint, ""));
      }
      task.firstDueAt = now();
      task.attempt = 0;
      task.outstanding = false;
      task.waitUntil(now());
      // The latest task of a key must be the last in the list.
      tasks.remove(task);
      tasks.add(task);
      return new RedriveResult(RedriveResult.Kind.REDRIVEN, id, task.generation, task.dueAt);
    });
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return CompletableFuture.completedFuture(
        tasks.stream().anyMatch(task -> task.isLive() && task.draft.queue().equals(queue)));
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return CompletableFuture.completedFuture(Optional.ofNullable(get(ref)).map(Task::record));
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return CompletableFuture.completedFuture(new RecordPage(
        kept().filter(task -> task.draft.queue().equals(queue) && (state == null || task.stateAt(now()) == state))
            .map(Task::record).toList(),
        null));
  }
}
