package io.foliot.engine;

import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreSeal;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All event loops of a node, called as one. Thread-safe.
 *
 * <p>Guarantees: each slot belongs to the share of one loop, and each task to one loop for the life of the engine. The
 * loop of a task is computed from the number of slots at the start, so it stays the same when that number grows.
 */
final class LoopGroup implements SlotOwnership.Loops {
  private final List<EngineLoop> loops;
  private final int firstSlotCount;

  /** Creates a loop for a share of the slots. */
  interface Factory {
    EngineLoop loop(int index, SlotSet share);
  }

  LoopGroup(int count, int slotCount, Factory factory) {
    firstSlotCount = slotCount;
    List<EngineLoop> made = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      made.add(factory.loop(i, share(i, count, slotCount)));
    }
    loops = List.copyOf(made);
  }

  private static SlotSet share(int loop, int loops, int slotCount) {
    BitSet slots = new BitSet();
    for (int slot = loop; slot < slotCount; slot += loops) {
      slots.set(slot);
    }
    return SlotSet.of(slotCount, slots);
  }

  void forEach(Consumer<EngineLoop> action) {
    loops.forEach(action);
  }

  int size() {
    return loops.size();
  }

  /** Returns the loop with an index, from 0. Loop 0 also does the work that only one loop may do. */
  EngineLoop get(int index) {
    return loops.get(index);
  }

  List<LoopStatus> statuses() {
    return loops.stream().map(EngineLoop::status).toList();
  }

  EngineLoop loopOf(TaskId id) {
    return loops.get(id.slot(firstSlotCount) % loops.size());
  }

  /** Returns the store's clock, in milliseconds since 1970. */
  long storeMillis() {
    return Math.floorDiv(loops.getFirst().storeMicros(), 1_000);
  }

  /** Reads the store's clock on each loop. Completes when all loops have read it; fails if a loop could not read it. */
  CompletableFuture<Void> measureClocks() {
    return CompletableFuture.allOf(loops.stream().map(loop -> loop.measureClock().toCompletableFuture())
        .toArray(CompletableFuture<?>[]::new));
  }

  @Override
  public void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption) {
    loops.forEach(loop -> loop.own(owned, assignment, adoption));
  }

  int ownedSlots() {
    return loops.stream().mapToInt(EngineLoop::ownedSlots).sum();
  }

  /** Notifies each loop of the index entries that a write made in its slots. */
  void written(List<DueEntry> entries) {
    if (entries.isEmpty()) {
      return;
    }
    if (loops.size() == 1) {
      loops.getFirst().written(entries);
      return;
    }
    for (EngineLoop loop : loops) {
      List<DueEntry> own = entries.stream().filter(entry -> loopOf(entry.id()) == loop).toList();
      if (!own.isEmpty()) {
        loop.written(own);
      }
    }
  }

  /**
   * Notifies each loop that the settings of a queue have changed, or that this node has begun or ceased to serve the
   * queue.
   */
  void changed(String queue) {
    loops.forEach(loop -> loop.changed(queue));
  }

  void workerWaits(String queue) {
    loops.forEach(loop -> loop.workerWaits(queue));
  }

  void reported(TaskId id, Token token) {
    loopOf(id).reported(token);
  }

  void sealed(StoreSeal.@Nullable State state) {
    loops.forEach(loop -> loop.sealed(state));
  }

  /**
   * Drains each loop, as {@link EngineLoop#drain} does. Completes with true if the attempts of all loops have ended.
   */
  CompletableFuture<Boolean> drain(long afterNanos, long patienceNanos) {
    List<CompletableFuture<Boolean>> drained = new ArrayList<>();
    loops.forEach(loop -> drained.add(loop.drain(afterNanos, patienceNanos)));
    return CompletableFuture.allOf(drained.toArray(CompletableFuture<?>[]::new))
        .thenApply(done -> drained.stream().allMatch(CompletableFuture::join));
  }
}
