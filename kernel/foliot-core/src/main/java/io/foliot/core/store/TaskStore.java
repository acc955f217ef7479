package io.foliot.core.store;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * The SPI of stores. A store holds the truth about all tasks, and all promises of Foliot depend on this contract.
 * {@code TaskStoreContract} of the test kit checks the contract, including races, and every store passes it.
 *
 * <p><b>Batches.</b> A call that changes tasks takes a list and returns one result per item, in the order of the items.
 * The items of a batch take effect as if one after the other. A batch is not a transaction: after a failed call each
 * item may have taken effect or not, and the caller treats its effect as unknown. Only an
 * {@link ItemsFailedException} has the results of the items that took effect. A store refuses items, not batches: an
 * item for which there is no room, or whose record cannot be read, leaves the other items.
 *
 * <p><b>Durability.</b> A stage completes normally only when its results are durable, to the degree that {@link
 * #durability} states. Another caller may read a write before the write is durable. But a final state, a claim, and the
 * stored answer to an idempotent submit become visible only when they are durable.
 *
 * <p><b>Time.</b> All instants are milliseconds since 1970 of the store's own clock. Each step compares due times and
 * leases with that clock as part of the same atomic step.
 *
 * <p><b>Errors.</b> No method throws, and only {@link #close} blocks. A stage fails with
 *
 * <ul>
 * <li>{@link StoreFullException} when the store has too little space; nothing was written. Only a new task needs space:
 * a full store still changes, claims, extends and ends the tasks that it has, if its server can change records at all
 * <li>{@link StoreAwayException} when the store could not be reached; nothing was done
 * <li>another {@link StoreException} when the store is unavailable, closed or broken; the effect is unknown
 * </ul>
 *
 * <p><b>Damage.</b> A record that a shared store cannot read does not make other items of a batch fail. The store sets
 * the task aside, logs an error with the task's id, queue and reason, and reports the task as a {@link SetAside}. From
 * then on the task is FAILED with this reason. The store keeps the bytes of the record as long as dead letters, and
 * refuses a redrive of the task.
 *
 * <p>A record that a newer version of Foliot wrote is not damaged, and a shared store does not change it. A claim
 * returns {@link ClaimResult.Later}. A settle or an extension is refused as stale. A touch or a cancel fails for this
 * item with {@link StoreAwayException}.
 *
 * <p><b>Threads.</b> Any thread may call. A stage completes on a thread of the store, or before the call returns.
 */
public interface TaskStore extends AutoCloseable {
  /**
   * Returns how many slots there are: a power of two from 1 to 65,536. The number may double while the store is open.
   */
  int slotCount();

  /** Returns whether other processes may use the store at the same time. */
  boolean isShared();

  /**
   * Returns a good number of items for one call. With fewer items, the cost of the call itself dominates; with more
   * items, other calls wait longer for their turn.
   */
  default int batchSize() {
    return 250;
  }

  /** Returns the failures that an acknowledged write survives. */
  Durability durability();

  /** Returns the name of the kind of store for messages, such as {@code rocksdb} or {@code memory}. */
  String kind();

  /**
   * Returns a capability beyond this interface, such as {@link Backups}, {@link SlotGrowth} or {@link StoreStatistics};
   * empty if the store does not offer it. Callers request a capability and never test the kind or the class of a store.
   * So a store that forwards calls can offer the capabilities of its delegate. The result is the same while the store
   * is open.
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
   * Inserts tasks. If the key has a live task, that task is reset or kept, or the submit is rejected, as
   * {@link Draft#onConflict} states. The store remembers the idempotency keys of each queue and key. If a draft repeats
   * an idempotency key, the store returns the first answer again ({@link SubmitResult.Kind#REPEATED}). If the digests
   * of the two drafts differ, the draft is refused instead ({@link SubmitResult.Kind#MISMATCHED}). A draft that expects
   * a generation is a compare-and-set: it is refused if the key is in another state ({@link
   * SubmitResult.Kind#CHANGED}).
   */
  CompletionStage<List<SubmitResult>> submit(List<Draft> drafts);

  /**
   * Moves deadlines of live tasks; a task that does not exist is not created. A later deadline usually costs one small
   * write, because the index entry stays. The index entry moves only for an earlier deadline, or if the entry would be
   * due long before the new deadline. If the task runs, its successor is set instead.
   */
  CompletionStage<List<TouchResult>> touch(List<Touch> touches);

  /** Cancels tasks. */
  CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs);

  /**
   * Reads the index entries of tasks that are not parked. The entries of each scan are in ascending order of (wakeAt,
   * id). May miss entries that are written during the call.
   */
  CompletionStage<List<DueSlice>> due(List<DueScan> scans);

  /** Parks tasks that are due and not running, or whose lease has ended. Returns whether each task was parked. */
  CompletionStage<List<Boolean>> park(List<DueEntry> entries);

  /**
   * Reads the parked tasks of a queue, roughly in the order of their wakeAt. A page may be shorter than the limit; only
   * an empty page is the end.
   *
   * @param after the last entry of the previous page, or null for the first page
   */
  CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit);

  /** Returns the queues that have parked tasks in these slots. The result may be a second old. */
  CompletionStage<Set<String>> parkedQueues(SlotSet slots);

  /**
   * Reads when tasks can be claimed next. Changes nothing and locks nothing. May miss writes made during the call, and
   * may return {@link Probed#UNKNOWN} for any task. A scheduler probes to find out which tasks to claim first; a probe
   * never replaces a claim.
   */
  CompletionStage<List<Probed>> probe(List<TaskId> ids);

  /**
   * Claims tasks. The safety of Foliot depends on this step alone. A batch of moves changes only index entries. The
   * store may complete the stage of such a batch before these changes are durable: if a crash undoes a move, the entry
   * is moved again.
   */
  CompletionStage<ClaimBatch> claim(List<Claim> claims);

  /**
   * Moves lease ends of running tasks. An extension is refused if the task is not running, if a cancel of the task is
   * pending, or if the extension does not have the token of the latest claim. It is also refused if the lease has
   * ended. That refusal is final: no extension of the claim succeeds afterwards, not even one that the store has
   * decided before and writes later. Another attempt may then use the permit of this one.
   */
  CompletionStage<List<ExtendResult>> extend(List<Extension> extensions);

  /**
   * Records the ends of attempts. All effects of one settlement, on its task and on the children of an
   * {@link Outcome.Rearm}, are one atomic step.
   */
  CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements);

  /**
   * Makes failed tasks live again, with a new generation, due now. If a task belongs to another queue than the item
   * names, the result is {@link RedriveResult.Kind#NOT_FOUND}, and nothing changes.
   */
  CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives);

  /** Returns the task, live or final; empty if it does not exist, or is no longer kept. */
  CompletionStage<Optional<TaskRecord>> find(TaskRef ref);

  /**
   * Returns the tasks with these ids, in the order of the ids, with an empty result for an absent task. If the records
   * of some tasks cannot be read, the stage fails with an {@link ItemsFailedException} that has all other results.
   */
  CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids);

  /**
   * Pages through a queue's tasks, in no particular order. A call examines a bounded number of records, so a page with
   * a cursor may have fewer tasks than the limit, or none.
   *
   * @param state null for all; READY and DELAYED are distinguished by the store's clock
   * @param cursor the cursor of the previous page, or null for the first page
   * @throws IllegalArgumentException (in the stage) if the cursor is not one of this store
   */
  CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor);

  /**
   * Pages through all live tasks of all queues, in no particular order, to move them to another store. A task that is
   * live from the first page to the last is returned once.
   *
   * @param cursor the cursor of the previous page, or null for the first page
   * @throws IllegalArgumentException (in the stage) if the cursor is not one of this store
   */
  CompletionStage<RecordPage> live(int limit, @Nullable String cursor);

  /**
   * Inserts live tasks as another store had them, with their generations, attempts and leases. A task whose id the
   * store already has is not changed. The result for a task is false if another live task has its key, so that the task
   * was not inserted. Otherwise, the result is true.
   */
  CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks);

  /**
   * Returns how many tasks each queue has, by state. The counts are at most ten seconds old, unless a count takes more
   * than half a second. Queues without tasks may be absent. A task whose lease has ended is counted as delayed. But a
   * count examines only a bounded number of due tasks. If the lease of a task beyond this number has ended, the task
   * may still be counted as running.
   */
  CompletionStage<Map<String, QueueCounts>> counts();

  /**
   * Returns whether a queue has a live task. The result is exact: it includes every write, of any process, that was
   * acknowledged before this call. The cost of the call does not grow with the number of tasks.
   */
  CompletionStage<Boolean> hasLive(String queue);

  /** Returns the clock that decides what is due in a slot, in microseconds since 1970. */
  CompletionStage<Long> timeMicros(int slot);

  /** Returns a document, or empty if there is none. */
  CompletionStage<Optional<Document>> document(DocumentKind kind, String name);

  /** Returns all documents of a kind, sorted by name. */
  CompletionStage<List<Document>> documents(DocumentKind kind);

  /**
   * Writes a document if it still has the expected version.
   *
   * @param expectedVersion the version that the document must have, or 0 if there must be no document
   * @param content the new content, or null to delete the document
   * @return whether it was written
   */
  CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content);

  /** Waits for calls that were accepted, then releases the resources of the store. Later calls fail. */
  @Override
  void close();
}
