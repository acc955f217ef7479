package io.foliot.core.store;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The truth. All promises of Foliot depend on this contract. {@code TaskStoreContract} of the test kit checks it, races
 * included, and every store passes it.
 *
 * <p><b>Batches.</b> Every call takes a list and answers one result per item, in the order of the items. The items of a
 * batch act as if one after the other. A batch is not a transaction: after a failed call each item may have taken
 * effect or not, and the caller treats it as unknown, unless the call fails with an {@link ItemsFailedException}, which
 * has the results of the items that took effect.
 *
 * <p><b>Durability.</b> A stage completes normally only when its results are durable, to the degree that
 * {@link #durability} states. Another caller may read a write before it is durable, but no final state, no claim and no
 * answer is seen before it is durable.
 *
 * <p><b>Time.</b> All instants are milliseconds since 1970 of the store's own clock, by which due-ness and leases are
 * judged, inside the step that acts on them.
 *
 * <p><b>Errors.</b> A stage fails with {@link StoreFullException} when a call finds no room and nothing of it was
 * written, with {@link StoreAwayException} when the store could not be asked (nothing was done), and with {@link
 * StoreException} when it is unavailable, closed, or broken, and the effect of the call is unknown. No method blocks
 * and none throws.
 *
 * <p><b>Damage.</b> A record that a shared store cannot read fails no other item of a batch. The store sets it aside,
 * logs an error with its id, queue and the reason, and reports it as a {@link SetAside}: the task is final from then
 * on, FAILED with that reason, its bytes are kept as long as a dead letter is, and a redrive refuses it. A record that
 * a newer version of Foliot wrote is no damage: it is left as it is, a claim answers {@link ClaimResult.Later}, and
 * another change of it fails with {@link StoreAwayException} for that item.
 *
 * <p><b>Threads.</b> Any thread may call; stages complete on threads of the store's, or in the call.
 */
public interface TaskStore extends AutoCloseable {
  /**
   * Returns how many slots there are: a power of two from 1 to 65,536. It may grow while the store is open, by
   * doubling.
   */
  int slotCount();

  /** Returns whether other processes may use it at the same time. */
  boolean isShared();

  /**
   * Returns the number of items at which one call pays for itself: with fewer, the store works more for the call than
   * for them; with more, others wait longer for their turn.
   */
  default int batchSize() {
    return 250;
  }

  /** Returns the faults that an acknowledged write survives. */
  Durability durability();

  /** Returns the name of the kind of store for messages: {@code rocksdb}, {@code memory}. */
  String kind();

  /**
   * Returns a capability beyond this interface, such as {@link Backups}, {@link SlotGrowth} or {@link StoreStatistics};
   * empty if the store does not offer it. Callers ask for a capability, never for a kind or a class of store, so that a
   * store which forwards to another one offers the capabilities of that one. The result is the same while the store is
   * open.
   *
   * <p>A store that implements the interface of a capability offers it.
   */
  default <C> Optional<C> capability(Class<C> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : Optional.empty();
  }

  /**
   * Sets the terms of a queue. The engine calls this before it uses the queue, and again whenever the settings change.
   * Tasks of queues without terms get {@link QueueTerms#DEFAULT}.
   */
  void configure(String queue, QueueTerms terms);

  /**
   * Inserts tasks. Where the key has a live task, it is reset, kept, or the submit rejected, as the draft says. A draft
   * with an idempotency key that is known within its queue and key is answered as it was the first time if its body is
   * the same ({@link SubmitResult.Kind#REPEATED}), else refused. A draft that expects a generation is a compare-and-set
   * ({@link SubmitResult.Kind#CHANGED}).
   */
  CompletionStage<List<SubmitResult>> submit(List<Draft> drafts);

  /**
   * Moves deadlines of live tasks; an absent key is not created. Later is one small write; the index is touched only
   * for an earlier one. Where the task runs, the successor is set instead.
   */
  CompletionStage<List<TouchResult>> touch(List<Touch> touches);

  /** Cancels tasks. */
  CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs);

  /**
   * Reads the index, parked tasks excepted: for each scan the entries in ascending order of (wakeAt, id). May miss
   * entries that are written meanwhile.
   */
  CompletionStage<List<DueSlice>> due(List<DueScan> scans);

  /** Parks tasks that are due and not running, or whose lease has ended. Returns for each whether it was parked. */
  CompletionStage<List<Boolean>> park(List<DueEntry> entries);

  /**
   * Reads the parked tasks of a queue, roughly in the order of their wakeAt. A page may be shorter than the limit; only
   * an empty one is the end.
   *
   * @param after where the last page ended, or null for the beginning
   */
  CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit);

  /** Returns the queues that have parked tasks in these slots. May be a second old. */
  CompletionStage<Set<String>> parkedQueues(SlotSet slots);

  /**
   * Reads when tasks can be claimed next. Changes nothing and locks nothing. May miss writes made meanwhile, and may
   * return {@link Probed#UNKNOWN} for any task. A scheduler probes to find out what to claim first, never instead of a
   * claim.
   */
  CompletionStage<List<Probed>> probe(List<TaskId> ids);

  /**
   * Claims tasks: the one step on which all safety rests. A batch of moves alone only changes index entries, which the
   * store need not make durable before it answers: an entry that comes back at its old place is moved again.
   */
  CompletionStage<ClaimBatch> claim(List<Claim> claims);

  /** Moves the lease end of running tasks; refused without the token of the latest claim, and after a cancel. */
  CompletionStage<List<ExtendResult>> extend(List<Extension> extensions);

  /**
   * Records the ends of attempts. All effects of one settlement, on its task and with the children of an
   * {@link Outcome.Rearm}, are one atomic step.
   */
  CompletionStage<List<SettleResult>> settle(List<Settlement> settlements);

  /**
   * Makes failed tasks live again, with a new generation, due now. A task of another queue than the item names is
   * answered as one that does not exist, and stays as it is.
   */
  CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives);

  /** Returns the task, live or kept. */
  CompletionStage<Optional<TaskRecord>> find(TaskRef ref);

  /** Returns the tasks with these ids, each live, kept or absent, in the order of the ids. */
  CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids);

  /**
   * Pages through a queue's tasks. A page may have fewer tasks than asked for, or none, and still a cursor: a call
   * examines a bounded number of records.
   *
   * @param state null for all; READY and DELAYED are distinguished by the store's clock
   * @param cursor the cursor of the last page, or null for the first
   * @throws IllegalArgumentException (in the stage) if the cursor is not one of this store
   */
  CompletionStage<TaskPage> query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor);

  /**
   * Pages through all live tasks of all queues, in no particular order: for moving to another store. A task that is
   * live all the while is seen once.
   *
   * @param cursor the cursor of the last page, or null for the first
   * @throws IllegalArgumentException (in the stage) if the cursor is not one of this store
   */
  CompletionStage<TaskPage> live(int limit, @Nullable String cursor);

  /**
   * Takes over live tasks as another store had them: with their generations, attempts and leases. Answers of each
   * whether it is here: now, or already, in which case nothing changes; false if another live task has its key.
   */
  CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks);

  /**
   * Returns how many tasks each queue has, by state; may be ten seconds old. Queues with none may be absent. A task
   * whose lease has ended does not count as running, unless it is behind more due tasks than the store examines for a
   * count.
   */
  CompletionStage<Map<String, QueueCounts>> counts();

  /**
   * Returns whether a queue has a live task. The answer is exact: it takes in every write that was answered before this
   * call, by any process. It costs no more for a store with many tasks.
   */
  CompletionStage<Boolean> hasLive(String queue);

  /** Returns the store's clock at a slot, in microseconds since 1970. */
  CompletionStage<Long> timeMicros(int slot);

  /** Returns a small record of configuration. */
  CompletionStage<Optional<Document>> document(DocumentKind kind, String name);

  /** Returns all records of a kind, by name. */
  CompletionStage<List<Document>> documents(DocumentKind kind);

  /**
   * Writes a record if its version is still the one given.
   *
   * @param expectedVersion 0 if there must be none
   * @param content the new content, or null to delete
   * @return whether it was written
   */
  CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content);

  /** Waits for accepted calls, then releases everything the store holds. Later calls fail. */
  @Override
  void close();
}
