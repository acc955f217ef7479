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
 * Forwards every call to another store. A subclass overrides the calls that it counts, delays, or breaks on purpose.
 */
public abstract class ForwardingStore implements TaskStore {
  /** The store to which the calls are forwarded. */
  protected final TaskStore delegate;

  /** @param delegate the store to forward to; closing this store closes the delegate */
  protected ForwardingStore(TaskStore delegate) {
    this.delegate = delegate;
  }

  @Override
  public int slotCount() {
    return delegate.slotCount();
  }

  @Override
  public boolean isShared() {
    return delegate.isShared();
  }

  @Override
  public int batchSize() {
    return delegate.batchSize();
  }

  @Override
  public Durability durability() {
    return delegate.durability();
  }

  @Override
  public String kind() {
    return delegate.kind();
  }

  /**
   * Returns a capability of this store itself, or else of the delegate. The calls of a capability of the delegate do
   * not pass through this store.
   */
  @Override
  public <C> Optional<C> capability(Class<C> type) {
    return type.isInstance(this) ? Optional.of(type.cast(this)) : delegate.capability(type);
  }

  @Override
  public void configure(String queue, QueueTerms terms) {
    delegate.configure(queue, terms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return delegate.submit(drafts);
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return delegate.touch(touches);
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return delegate.cancel(refs);
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return delegate.due(scans);
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return delegate.park(entries);
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return delegate.parked(queue, slots, after, limit);
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return delegate.parkedQueues(slots);
  }

  @Override
  public CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return delegate.probe(ids);
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return delegate.claim(claims);
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return delegate.extend(extensions);
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<AttemptEnd> settlements) {
    return delegate.settle(settlements);
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<Redrive> redrives) {
    return delegate.redrive(redrives);
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return delegate.find(ref);
  }

  @Override
  public CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return delegate.find(ids);
  }

  @Override
  public CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit,
      @Nullable String cursor) {
    return delegate.query(queue, state, limit, cursor);
  }

  @Override
  public CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return delegate.live(limit, cursor);
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return delegate.adopt(tasks);
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return delegate.counts();
  }

  @Override
  public CompletionStage<Boolean> hasLive(String queue) {
    return delegate.hasLive(queue);
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return delegate.timeMicros(slot);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return delegate.document(kind, name);
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return delegate.documents(kind);
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return delegate.writeDocument(kind, name, expectedVersion, content);
  }

  @Override
  public void close() {
    delegate.close();
  }
}
