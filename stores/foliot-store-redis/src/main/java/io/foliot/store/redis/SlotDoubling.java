package io.foliot.store.redis;

import io.foliot.core.store.SlotGrowth;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;

/**
 * A process that doubles the number of slots of a store while the store is in use. It may be stopped at any point and
 * run again, and several may run concurrently.
 *
 * <pre>
 * the number of parts becomes 2^(n+1), not complete
 * each old part stores the number 2^(n+1), and then refuses calls that name fewer parts
 * for each old part: the tasks that belong in its new part migrate until none is left; then the old part is drained
 * the number 2^(n+1) is marked as complete
 * </pre>
 *
 * Calls do not wait for the doubling: a task that is submitted, touched, claimed or settled meanwhile migrates first
 * (see {@link SlotMigration}). Polls find all due tasks, because they read the index of a slot in its old and its new
 * part. A store that is open keeps the number of slots with which it was opened.
 */
final class SlotDoubling {
  /** Maximum number of bits of a slot's index. The index is the low bits of a hash of 16 bits. */
  private static final int MAX_BITS = 16;
  /** Approximate number of elements that one scan of a part reads. Those of them that must migrate do so together. */
  private static final int SCAN_PAGE = 200;

  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final BatchExecutor calls;

  SlotDoubling(Link link, Layout layout, Partitions parts, BatchExecutor calls) {
    this.link = link;
    this.layout = layout;
    this.parts = parts;
    this.calls = calls;
  }

  /** Implements {@link SlotGrowth#doubleSlots}. */
  SlotGrowth.Progress run(Consumer<SlotGrowth.Progress> progress) {
    try {
      int bits = begin();
      for (int old = 0; old < 1 << (bits - 1); old++) {
        CompletableFuture<List<Object>> sealed = link.step(Script.TIME, layout.part(old), bits(bits));
        assert !sealed.join().isEmpty();
      }
      long migrated = 0;
      SlotGrowth.Progress last = new SlotGrowth.Progress(1 << bits, 0, 0);
      for (int old = 0; old < 1 << (bits - 1); old++) {
        migrated += drain(bits, old);
        last = new SlotGrowth.Progress(1 << bits, old + 1, migrated);
        progress.accept(last);
      }
      grow(bits, true);
      return last;
    } catch (CompletionException e) {
      throw Link.failure(e);
    }
  }

  private static List<byte[]> bits(int bits) {
    List<byte[]> arguments = new ArrayList<>();
    arguments.add(Layout.bytes(bits));
    return arguments;
  }

  /**
   * Doubles the number of parts unless an earlier doubling is incomplete. Returns the binary logarithm of the resulting
   * number.
   */
  int begin() {
    List<Object> known = link.command(CommandType.HMGET, layout.global("slots"), Layout.bytes("bits"),
        Layout.bytes("complete")).join();
    int bits = (int) Layout.number((byte[]) known.getFirst());
    if (bits == Layout.number((byte[]) known.get(1))) {
      if (bits == MAX_BITS) {
        throw new IllegalStateException("there are at most 65536 slots: slots=" + (1 << bits));
      }
      grow(bits + 1, false);
      bits++;
    }
    parts.update(bits);
    return bits;
  }

  private void grow(int bits, boolean complete) {
    List<Object> now = link.step(Script.GROW, List.of(layout.global("slots")),
        List.of(Layout.bytes(bits), Layout.bytes(complete ? 1 : 0))).join();
    parts.update(Math.toIntExact((Long) now.getFirst()), Math.toIntExact((Long) now.get(1)));
  }

  /** Migrates all tasks of an old part that belong in its new part. Returns their number. */
  private long drain(int bits, int old) {
    long migrated = 0;
    long found;
    do {
      found = migrateAll(bits, old, false) + migrateAll(bits, old, true);
      migrated += found;
    } while (found > 0);
    CompletableFuture<List<Object>> noted = link.step(Script.DRAINED, layout.part(old), bits(bits));
    assert !noted.join().isEmpty();
    parts.drained(bits, old);
    return migrated;
  }

  /**
   * Migrates all records, or all answers to requests, that belong in the new part. Returns the number of records that
   * migrated. The server's scan returns each element that exists during the whole scan.
   */
  private long migrateAll(int bits, int old, boolean answers) {
    int part = old + (1 << (bits - 1));
    long migrated = 0;
    String cursor = "0";
    do {
      List<byte[]> arguments = bits(bits);
      arguments.addAll(List.of(Layout.bytes(1 << (bits - 1)), Layout.bytes(answers ? 1 : 0), Layout.bytes(cursor),
          Layout.bytes(SCAN_PAGE)));
      List<Object> found = link.step(Script.CRAWL, layout.part(old), arguments).join();
      cursor = Snapshot.name((byte[]) found.getFirst());
      List<byte[]> names = found.subList(1, found.size()).stream().map(byte[].class::cast).toList();
      SlotMigration.Refs refs = new SlotMigration.Refs(answers ? List.of() : names, List.of(),
          answers ? names : List.of());
      if (found.size() > 1) {
        calls.migration().migrate(parts.state(), part, refs).join();
        migrated += answers ? 0 : found.size() - 1;
      }
    } while (!cursor.equals("0"));
    return migrated;
  }
}
