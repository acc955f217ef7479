package io.foliot.sim;

import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.TaskState;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.Draft;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.RedriveResult;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.Settlement;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.Touch;
import io.foliot.core.store.TouchResult;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Passes every call on; what is wrong with a store is an override. */
abstract class ForwardingStore implements TaskStore {
  final TaskStore sound;

  ForwardingStore(TaskStore sound) {
    this.sound = sound;
  }

  @Override
  public int slotCount() {
    return sound.slotCount();
  }

  @Override
  public boolean isShared() {
    return sound.isShared();
  }

  @Override
  public int batchSize() {
    return sound.batchSize();
  }

  @Override
  public Durability durability() {
    return sound.durability();
  }

  @Override
  public String kind() {
    return sound.kind();
  }

  @Override
  public void configure(String queue, QueueTerms terms) {
    sound.configure(queue, terms);
  }

  @Override
  public CompletionStage<List<SubmitResult>> submit(List<Draft> drafts) {
    return sound.submit(drafts);
  }

  @Override
  public CompletionStage<List<TouchResult>> touch(List<Touch> touches) {
    return sound.touch(touches);
  }

  @Override
  public CompletionStage<List<CancelResult>> cancel(List<TaskRef> refs) {
    return sound.cancel(refs);
  }

  @Override
  public CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return sound.due(scans);
  }

  @Override
  public CompletionStage<List<Boolean>> park(List<DueEntry> entries) {
    return sound.park(entries);
  }

  @Override
  public CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return sound.parked(queue, slots, after, limit);
  }

  @Override
  public CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return sound.parkedQueues(slots);
  }

  @Override
  public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
    return sound.claim(claims);
  }

  @Override
  public CompletionStage<List<ExtendResult>> extend(List<Extension> extensions) {
    return sound.extend(extensions);
  }

  @Override
  public CompletionStage<List<SettleResult>> settle(List<Settlement> settlements) {
    return sound.settle(settlements);
  }

  @Override
  public CompletionStage<List<RedriveResult>> redrive(List<TaskId> ids) {
    return sound.redrive(ids);
  }

  @Override
  public CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    return sound.find(ref);
  }

  @Override
  public CompletionStage<TaskPage> query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor) {
    return sound.query(queue, state, limit, cursor);
  }

  @Override
  public CompletionStage<TaskPage> live(int limit, @Nullable String cursor) {
    return sound.live(limit, cursor);
  }

  @Override
  public CompletionStage<List<Boolean>> adopt(List<TaskRecord> tasks) {
    return sound.adopt(tasks);
  }

  @Override
  public CompletionStage<Map<String, QueueCounts>> counts() {
    return sound.counts();
  }

  @Override
  public CompletionStage<Long> timeMicros(int slot) {
    return sound.timeMicros(slot);
  }

  @Override
  public CompletionStage<Optional<Document>> document(DocumentKind kind, String name) {
    return sound.document(kind, name);
  }

  @Override
  public CompletionStage<List<Document>> documents(DocumentKind kind) {
    return sound.documents(kind);
  }

  @Override
  public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
      byte @Nullable [] content) {
    return sound.writeDocument(kind, name, expectedVersion, content);
  }

  @Override
  public void close() {
    sound.close();
  }
}
