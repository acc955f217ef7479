package io.foliot.store.redis;

import io.foliot.core.store.StoreException;
import io.foliot.core.store.batch.ReadSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The migration of tasks to their new parts after the number of parts was doubled. Before a process changes a task in
 * its new part, the process reads the old part. This read stores the new number of parts in the old part, which from
 * then on refuses calls that name fewer parts. Tasks that have to migrate therefore no longer change in the old part. A
 * task in the old part is inserted in the new part, unless it exists there. Then it is deleted in the old part. Only
 * then is it changed. Several processes may do all of this concurrently, may repeat it, and may be interrupted at any
 * point.
 *
 * <p>A caller may stall between the read of the old part and the insert. Meanwhile, other callers may migrate, end and
 * delete the task. The stalled caller must not insert the task again. A task in the new part changes only after it was
 * deleted in the old part. So if the stalled caller still found the task in the old part, the task ended after that
 * read. The new part keeps ended tasks for longer than {@link #LATE_MICROS}. The caller reads the clock of the new part
 * before it reads the old part. The new part refuses an insert that comes more than {@link #LATE_MICROS} after that
 * clock reading.
 *
 * <p>If both parts are on one server, the insert is in the server's file before the delete. In a cluster, a server that
 * fails may lose the writes of the window before its failure; {@code RedisStore#durability} returns the length of this
 * window. The lost writes may include inserts of tasks that have just migrated to the server, however old the tasks
 * are. If writes wait for replicas, such tasks are not lost.
 */
final class SlotMigration {
  /** Longest time from the clock reading to the insert: half of {@code GRACE} in prelude.lua. */
  private static final long LATE_MICROS = 5_000_000;
  /** Maximum number of tries. A caller that is late in each of these tries is paused too often to make progress. */
  private static final int MAX_TRIES = 10;
  /** Values per record in the answer of depart.lua; the first is the id. */
  private static final int RECORD_VALUES = 5;
  private static final byte[] NOTHING = {};

  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final Asides asides;
  /** For each new part, the lowest generation that it may give out, as last written there by this process. */
  private final Map<Integer, Long> writtenMinGenerations = new ConcurrentHashMap<>();

  SlotMigration(Link link, Layout layout, Partitions parts, Asides asides) {
    this.asides = asides;
    this.link = link;
    this.layout = layout;
    this.parts = parts;
  }

  /**
   * Names of records and answers that may have to migrate, in the form that the scripts accept.
   *
   * @param ids the ids of records
   * @param keys the hash fields of keys
   * @param answers the hash fields of answers to requests
   */
  record Refs(List<byte[]> ids, List<byte[]> keys, List<byte[]> answers) {
    static Refs of(ReadSet reads) {
      return new Refs(reads.ids().stream().map(RecordCodec::id).toList(),
          reads.keys().stream().map(key -> RecordCodec.field(key.queue(), key.key())).toList(),
          reads.requests().stream().map(RecordCodec::field).toList());
    }

    private void arguments(List<byte[]> to) {
      to.add(Layout.bytes(ids.size()));
      to.add(Layout.bytes(keys.size()));
      to.add(Layout.bytes(answers.size()));
      to.addAll(ids);
      to.addAll(keys);
      to.addAll(answers);
    }
  }

  /** Migrates all named records that are still in the old part. Completes when they are in the given part. */
  CompletableFuture<Void> migrate(Partitions.State state, int part, Refs refs) {
    int old = state.oldOf(part);
    return old < 0 ? CompletableFuture.completedFuture(null) : migrate(state.bits(), old, part, refs, 1);
  }

  private static List<byte[]> arguments(int bits) {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(Layout.bytes(bits));
    return arguments;
  }

  private CompletableFuture<Void> migrate(int bits, int old, int part, Refs refs, int tries) {
    List<byte[]> departing = arguments(bits);
    refs.arguments(departing);
    return link.step(Script.TIME, layout.part(part), arguments(bits)).thenCompose(time -> {
      long notAfter = (Long) time.getFirst() + LATE_MICROS;
      return link.step(Script.DEPART, layout.part(old), departing)
          .thenCompose(reply -> arrive(bits, old, part, notAfter, reply));
    }).thenCompose(arrived -> {
      if (arrived) {
        return CompletableFuture.<Void>completedFuture(null);
      }
      if (tries == MAX_TRIES) {
        throw new StoreException(
            "tasks could not migrate to another slot within the time limit; the calls fail: tries=" + tries, null);
      }
      return migrate(bits, old, part, refs, tries + 1);
    });
  }

  private CompletableFuture<Boolean> arrive(int bits, int old, int part, long notAfter, List<Object> reply) {
    long minGeneration = (Long) reply.getFirst();
    boolean drained = (Long) reply.get(1) == 1;
    List<?> records = (List<?>) reply.get(2);
    List<?> answers = (List<?>) reply.get(3);
    asides.reportMigrating((List<?>) reply.get(4));
    if (records.isEmpty() && answers.isEmpty() && writtenMinGenerations.getOrDefault(part, -1L) >= minGeneration) {
      if (drained) {
        parts.drained(bits, old);
      }
      return CompletableFuture.completedFuture(true);
    }
    List<byte[]> arriving = arguments(bits);
    List<byte[]> leaving = arguments(bits);
    arriving.add(Layout.bytes(notAfter));
    arriving.add(Layout.bytes(minGeneration));
    arriving.add(Layout.bytes(records.size() / RECORD_VALUES));
    leaving.add(Layout.bytes(records.size() / RECORD_VALUES));
    for (int i = 0; i < records.size(); i++) {
      byte[] value = (byte[]) records.get(i);
      arriving.add(value == null ? NOTHING : value);
      if (i % RECORD_VALUES == 0) {
        leaving.add((byte[]) records.get(i));
      }
    }
    for (int i = 0; i < answers.size(); i++) {
      arriving.add((byte[]) answers.get(i));
      if (i % 2 == 0) {
        leaving.add((byte[]) answers.get(i));
      }
    }
    return link.step(Script.ARRIVE, layout.part(part), arriving).thenCompose(done -> {
      if ((Long) done.getFirst() == 0) {
        return CompletableFuture.completedFuture(false);
      }
      writtenMinGenerations.merge(part, minGeneration, Math::max);
      return link.awaitReplicas(layout.part(part))
          .thenCompose(replicated -> link.step(Script.LEAVE, layout.part(old), leaving)).thenApply(left -> {
            if (drained) {
              parts.drained(bits, old);
            }
            return true;
          });
    });
  }
}
