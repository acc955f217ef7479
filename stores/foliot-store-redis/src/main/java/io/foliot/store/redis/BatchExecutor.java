package io.foliot.store.redis;

import io.foliot.core.Token;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskOperations;
import io.foliot.core.store.batch.BatchUnit;
import io.foliot.core.store.batch.OptimisticBatch;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The executor of {@linkplain RedisOperation steps}. On the fast path, one script runs many items of one
 * {@linkplain Partitions part}, and the scripts of all parts run concurrently. All other items take the general path:
 * the records are read, {@link TaskOperations} decides, and the changes are written. If a record has changed since the
 * read, nothing is written, and the records are read again. An item on the general path therefore takes effect at the
 * time of its last read, by the clock of its part.
 *
 * <p>Items of one batch for the same task or key stay in order. The fast path gets at most the first of them. The
 * others take the general path afterwards, in order. The changes of one {@link BatchUnit} are written together, or not
 * at all.
 */
final class BatchExecutor {
  /**
   * Maximum number of items of one script. This many items block the server for some milliseconds, and fit Lua's stack.
   */
  private static final int AT_ONCE = 500;
  /**
   * A script of the fast path takes no further item once it has this many bytes of payload. Otherwise it would block
   * the server too long.
   */
  private static final int BYTES_AT_ONCE = 4 << 20;
  /**
   * Maximum number of tries of a unit. A try fails if another caller changes a record of the unit between the read and
   * the write. With ten writers of one key, few units need five tries.
   */
  private static final int MAX_TRIES = 200;
  /**
   * Longest time from a read to the write of the results: half of {@code GRACE} in prelude.lua.
   */
  private static final long LATE_MICROS = 5_000_000;

  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final SlotMigration migration;
  private final Terms terms;
  private final Supplier<Token> tokens;
  private final Asides asides;

  BatchExecutor(Link link, Layout layout, Partitions parts, Terms terms, Supplier<Token> tokens, Asides asides) {
    this.asides = asides;
    this.link = link;
    this.layout = layout;
    this.parts = parts;
    migration = new SlotMigration(link, layout, parts, asides);
    this.terms = terms;
    this.tokens = tokens;
  }

  /** Runs a step for each item, with the same results as if the items ran one after another. */
  <Q, R> CompletionStage<List<R>> run(RedisOperation<Q, R> step, List<Q> items) {
    StoreException refusal = link.refusal();
    if (refusal != null) {
      return CompletableFuture.failedFuture(refusal);
    }
    if (items.isEmpty()) {
      return CompletableFuture.completedFuture(List.of());
    }
    try {
      return new Batch<>(step, List.copyOf(items)).run();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  Asides asides() {
    return asides;
  }

  SlotMigration migration() {
    return migration;
  }

  /**
   * Returns a new list with the first argument of a script. The caller appends the other arguments.
   *
   * @param bits the binary logarithm of the number of parts
   */
  List<byte[]> arguments(int bits) {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(Layout.bytes(bits));
    return arguments;
  }

  private final class Batch<Q, R> {
    private final RedisOperation<Q, R> step;
    private final List<Q> items;
    private final OptimisticBatch<Q, R> batch;

    Batch(RedisOperation<Q, R> step, List<Q> items) {
      this.step = step;
      this.items = items;
      batch = new OptimisticBatch<>(step.general(), items);
    }

    CompletionStage<List<R>> run() {
      return runAll().thenCompose(done -> replicated()).thenApply(done -> batch.results())
          .exceptionally(thrown -> {
            throw Link.failure(thrown);
          });
    }

    /**
     * Records a StoreException as the failure of all items that have no result yet, and keeps the results of the
     * others. Rethrows other exceptions.
     */
    private @Nullable Void failed(Throwable thrown) {
      batch.fail(storeFailure(thrown));
      return null;
    }

    private StoreException storeFailure(Throwable thrown) {
      RuntimeException known = Link.failure(thrown);
      if (known instanceof StoreException reason) {
        return reason;
      }
      throw known;
    }

    /**
     * Waits until enough replicas have the writes. If a server has too few replicas, only the items of this server lose
     * their results.
     */
    private CompletableFuture<Void> replicated() {
      if (!link.waitsForReplicas()) {
        return CompletableFuture.completedFuture(null);
      }
      Partitions.State state = parts.state();
      Map<Integer, List<Integer>> byPart = new TreeMap<>();
      for (int i = 0; i < items.size(); i++) {
        if (batch.result(i) != null) {
          byPart.computeIfAbsent(state.of(step.hash16(items.get(i))), none -> new ArrayList<>()).add(i);
        }
      }
      Iterator<CompletableFuture<@Nullable Void>> waits = link
          .awaitReplicas(byPart.keySet().stream().map(layout::part).toList()).iterator();
      List<CompletableFuture<@Nullable Void>> known = new ArrayList<>();
      byPart.values().forEach(places -> known.add(waits.next().exceptionally(thrown -> {
        places.forEach(batch::withdraw);
        return failed(thrown);
      })));
      return CompletableFuture.allOf(known.toArray(new CompletableFuture<?>[0]));
    }

    private CompletableFuture<Void> runAll() {
      List<Integer> forGeneral = Collections.synchronizedList(new ArrayList<>());
      RedisOperation.Hot<Q, R> hot = step.hot();
      List<Integer> all = IntStream.range(0, items.size()).boxed().toList();
      CompletableFuture<Void> fast;
      if (hot == null) {
        forGeneral.addAll(all);
        fast = CompletableFuture.completedFuture(null);
      } else {
        Partitions.State state = parts.state();
        fast = migrate(state, all).thenCompose(migrated -> {
          if (migrated != null) {
            return fast(hot, state, migrated, forGeneral);
          }
          forGeneral.addAll(all);
          return CompletableFuture.<Void>completedFuture(null);
        });
      }
      return fast.thenCompose(done -> {
        List<Integer> rest = new ArrayList<>(forGeneral);
        Collections.sort(rest);
        return rest.isEmpty() ? CompletableFuture.<Void>completedFuture(null) : general(rest);
      });
    }

    /**
     * Migrates the records of the items out of their old parts, if the number of parts is being doubled. If the
     * migration to a part fails, only the items of this part fail. Returns the other items, in order; null if the store
     * has more parts than {@code state} says.
     */
    private CompletableFuture<@Nullable List<Integer>> migrate(Partitions.State state, List<Integer> indices) {
      if (state.complete()) {
        return CompletableFuture.completedFuture(indices);
      }
      Map<Integer, List<Integer>> byPart = new TreeMap<>();
      List<Integer> migrated = Collections.synchronizedList(new ArrayList<>());
      for (Integer index : indices) {
        int part = state.of(step.hash16(items.get(index)));
        if (state.oldOf(part) >= 0) {
          byPart.computeIfAbsent(part, none -> new ArrayList<>()).add(index);
        } else {
          migrated.add(index);
        }
      }
      Queue<StoreException> reasons = new ConcurrentLinkedQueue<>();
      List<CompletableFuture<Void>> migrations = new ArrayList<>();
      byPart.forEach((part, some) -> migrations.add(migration
          .migrate(state, part, SlotMigration.Refs.of(batch.reads(some)))
          .thenRun(() -> migrated.addAll(some))
          .exceptionally(thrown -> {
            reasons.add(storeFailure(thrown));
            return null;
          })));
      return CompletableFuture.allOf(migrations.toArray(new CompletableFuture<?>[0])).handle((done, failure) -> {
        if (failure == null) {
          reasons.forEach(batch::fail);
          List<Integer> inOrder = new ArrayList<>(migrated);
          Collections.sort(inOrder);
          return inOrder;
        }
        RuntimeException thrown = Link.failure(failure);
        if (thrown instanceof MovedException moved) {
          parts.update(moved.bits());
          return null;
        }
        throw thrown;
      });
    }

    /** Runs the fast path of some items. Adds the indices of items that need the general path to {@code forGeneral}. */
    private CompletableFuture<Void> fast(RedisOperation.Hot<Q, R> hot, Partitions.State state, List<Integer> indices,
        List<Integer> forGeneral) {
      int bits = state.bits();
      Map<Integer, List<Integer>> byPart = new TreeMap<>();
      Set<Object> names = new HashSet<>();
      boolean named = true;
      for (Integer i : indices) {
        Object name = hot.name(items.get(i));
        // An item must not overtake an earlier item that has the same task, or that may have the same task.
        named = named && name != null;
        if (!named || !names.add(name) || !hot.isUsual(items.get(i))) {
          forGeneral.add(i);
        } else {
          byPart.computeIfAbsent(state.of(step.hash16(items.get(i))), none -> new ArrayList<>()).add(i);
        }
      }
      List<CompletableFuture<?>> calls = new ArrayList<>();
      Link.Pipeline pipeline = link.pipeline();
      byPart.forEach((part, some) -> {
        for (int from = 0; from < some.size();) {
          int to = from;
          for (long bytes = 0; to < some.size() && to - from < AT_ONCE && bytes < BYTES_AT_ONCE; to++) {
            bytes += hot.bytes(items.get(some.get(to)));
          }
          calls.add(fast(hot, bits, part, some.subList(from, to), forGeneral, pipeline));
          from = to;
        }
      });
      pipeline.send();
      return CompletableFuture.allOf(calls.toArray(new CompletableFuture<?>[0]));
    }

    private CompletableFuture<?> fast(RedisOperation.Hot<Q, R> hot, int bits, int part, List<Integer> indices,
        List<Integer> forGeneral, Link.Pipeline pipeline) {
      List<Q> some = new ArrayList<>(indices.size());
      indices.forEach(index -> some.add(items.get(index)));
      List<byte[]> arguments = arguments(bits);
      hot.arguments(some, arguments);
      return pipeline.step(hot.script(), layout.part(part), arguments).handle((reply, problem) -> {
        if (problem != null) {
          RuntimeException known = Link.failure(problem);
          if (known instanceof MovedException moved) {
            parts.update(moved.bits());
          } else if (!(known instanceof StoreFullException)) {
            return failed(problem);
          }
          // A full server refuses the whole script. The general path refuses only the items that need room.
          forGeneral.addAll(indices);
          return null;
        }
        List<@Nullable R> answers = new ArrayList<>(some.size());
        hot.answers(reply, some, answers);
        for (int i = 0; i < some.size(); i++) {
          R answer = answers.get(i);
          if (answer == null) {
            forGeneral.add(indices.get(i));
          } else {
            batch.answer(indices.get(i), answer);
          }
        }
        return null;
      });
    }

    private CompletableFuture<Void> general(List<Integer> indices) {
      Partitions.State state = parts.state();
      return migrate(state, indices)
          .thenCompose(migrated -> migrated == null ? general(indices) : general(state, migrated))
          .exceptionally(this::failed);
    }

    private CompletableFuture<Void> general(Partitions.State state, List<Integer> indices) {
      int bits = state.bits();
      Map<Integer, List<Integer>> byPart = new TreeMap<>();
      for (Integer index : indices) {
        byPart.computeIfAbsent(state.of(step.hash16(items.get(index))), none -> new ArrayList<>()).add(index);
      }
      List<CompletableFuture<?>> calls = new ArrayList<>();
      byPart.forEach((part, some) -> {
        CompletableFuture<Void> last = CompletableFuture.completedFuture(null);
        for (int from = 0; from < some.size(); from += AT_ONCE) {
          List<Integer> chunk = some.subList(from, Math.min(some.size(), from + AT_ONCE));
          last = last.thenCompose(done -> general(bits, part, chunk, 1).exceptionally(this::failed));
        }
        calls.add(last);
      });
      return CompletableFuture.allOf(calls.toArray(new CompletableFuture<?>[0]));
    }

    private CompletableFuture<Void> general(int bits, int part, List<Integer> indices, int tries) {
      Snapshot snapshot = new Snapshot(batch.reads(indices), step.withBodies(), step.withHolders());
      return read(step.reader(), bits, part, snapshot)
          .thenCompose(reply -> {
            snapshot.fill(reply);
            List<Snapshot.Damaged> damaged = snapshot.toSetAside();
            return damaged.isEmpty()
                ? write(bits, part, indices, snapshot)
                : asides.setAside(arguments(bits), part, damaged).thenApply(done -> indices);
          }).handle((conflicts, failure) -> {
            if (failure != null) {
              RuntimeException thrown = Link.failure(failure);
              if (thrown instanceof MovedException moved) {
                parts.update(moved.bits());
                return indices;
              }
              throw thrown;
            }
            return conflicts;
          }).thenCompose(again -> {
            if (again.isEmpty()) {
              return CompletableFuture.<Void>completedFuture(null);
            }
            if (tries == MAX_TRIES) {
              throw new StoreException("a task changed between each read and write of a step, because too many callers"
                  + " change it at once: tries=" + tries, null);
            }
            return bits == parts.state().bits() ? general(bits, part, again, tries + 1) : general(again);
          });
    }

    /** Reads records. If a server without memory refuses the read, reads without the right to insert tasks. */
    private CompletableFuture<List<Object>> read(Script reader, int bits, int part, Snapshot snapshot) {
      return link.step(reader, layout.part(part), snapshot.arguments(arguments(bits))).toCompletableFuture()
          .exceptionallyCompose(thrown -> {
            RuntimeException known = Link.failure(thrown);
            if (reader == Script.READ || !(known instanceof StoreFullException full)) {
              return CompletableFuture.failedFuture(known);
            }
            snapshot.full(full);
            return read(Script.READ, bits, part, snapshot);
          });
    }

    /**
     * Decides items by the records that were read, and writes the results. Returns the indices of the items that need
     * another try, in order.
     */
    private CompletableFuture<List<Integer>> write(int bits, int part, List<Integer> indices, Snapshot snapshot) {
      List<byte[]> arguments = arguments(bits);
      arguments.add(Layout.bytes(snapshot.nowMicros() + LATE_MICROS));
      UnitWrite write = new UnitWrite(snapshot, arguments);
      List<BatchUnit<R>> changed = new ArrayList<>();
      for (BatchUnit<R> unit : batch.decide(indices, snapshot, snapshot.nowMicros(), snapshot.minGeneration(), tokens,
          terms.byQueue())) {
        if (unit.isUnchanged()) {
          batch.answer(unit);
        } else {
          write.add(unit,
              unit.places().stream().mapToLong(index -> step.minGeneration(items.get(index))).max().orElse(0));
          changed.add(unit);
        }
      }
      if (changed.isEmpty()) {
        return CompletableFuture.completedFuture(List.of());
      }
      return link.step(Script.WRITE, layout.part(part), arguments).thenApply(reply -> {
        byte[] written = (byte[]) reply.getFirst();
        List<Integer> again = new ArrayList<>();
        for (int i = 0; i < changed.size(); i++) {
          if (written[i] == 1) {
            batch.answer(changed.get(i));
          } else {
            again.addAll(changed.get(i).places());
          }
        }
        Collections.sort(again);
        return again;
      });
    }
  }
}
