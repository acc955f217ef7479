package io.foliot.store.redis;

import static java.util.Objects.requireNonNull;

import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SetAside;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.KeyName;
import io.foliot.core.store.batch.ReadSet;
import io.foliot.core.store.batch.RecordOverlay;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.UnreadableException;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The calls of the store that only read. Thread-safe. */
final class Reads {
  private static final Comparator<DueEntry> BY_WAKE = Comparator.comparingLong(DueEntry::wakeAt)
      .thenComparing(DueEntry::id);
  private static final byte[] NOTHING = {};
  private static final int ID_BYTES = 16;
  /**
   * Maximum number of ids in one call of a script, and approximate number of records that one call scans. Such a call
   * takes the server about a millisecond.
   */
  private static final int SCAN_PAGE = 1_000;
  /** Maximum number of script calls of one query. It bounds the query's time if few records pass the filter. */
  private static final int MAX_READS = 32;
  /**
   * Minimum number of parked tasks that are requested from each part, unless the limit of the read is smaller. Equal
   * shares of the limit could be too small, because the parts may have unequal numbers of parked tasks.
   */
  private static final int PARKED_PER_PART = 16;
  /** Argument of scan.lua, in place of a state, that selects all live tasks. */
  private static final int LIVE = 254;
  /** Argument of scan.lua, in place of a state, that selects tasks in all states. */
  private static final int ALL = 255;

  private final Link link;
  private final Layout layout;
  private final Partitions parts;
  private final BatchExecutor calls;
  private final int slotCount;

  Reads(Link link, Layout layout, Partitions parts, BatchExecutor calls, int slotCount) {
    this.link = link;
    this.layout = layout;
    this.parts = parts;
    this.calls = calls;
    this.slotCount = slotCount;
  }

  private <T> CompletionStage<T> call(Supplier<CompletableFuture<T>> call) {
    if (link.isClosed()) {
      return CompletableFuture.failedFuture(new StoreException("the store is closed", null));
    }
    try {
      return call.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static <T> CompletableFuture<List<T>> all(List<CompletableFuture<T>> stages) {
    return CompletableFuture.allOf(stages.toArray(new CompletableFuture<?>[0]))
        .thenApply(done -> stages.stream().map(CompletableFuture::join).toList());
  }

  /** Makes a call, and repeats it if a part refuses the call because there are more parts than the call names. */
  private <T> CompletableFuture<T> retryIfMoved(Function<Integer, CompletableFuture<T>> call) {
    int bits = parts.state().bits();
    return call.apply(bits).exceptionallyCompose(failure -> {
      RuntimeException thrown = Link.failure(failure);
      if (thrown instanceof MovedException moved && moved.bits() > bits) {
        parts.update(moved.bits());
        return retryIfMoved(call);
      }
      return CompletableFuture.failedFuture(thrown);
    });
  }

  CompletionStage<List<DueSlice>> due(List<DueScan> scans) {
    return call(() -> retryIfMoved(bits -> {
      Link.Pipeline pipeline = link.pipeline();
      List<CompletableFuture<DueSlice>> slices = new ArrayList<>();
      for (DueScan scan : scans) {
        List<CompletableFuture<List<DueEntry>>> read = new ArrayList<>();
        for (int part = scan.slot(); part < 1 << bits; part += slotCount) {
          read.add(entries(pipeline, bits, part, ":due", scan.fromWakeAt(), scan.after(), scan.toWakeAt(),
              scan.limit() + 1));
        }
        slices.add(all(read).thenApply(found -> slice(scan, found)));
      }
      pipeline.send();
      return all(slices);
    }));
  }

  private static DueSlice slice(DueScan scan, List<List<DueEntry>> found) {
    List<DueEntry> entries = found.size() == 1 ? found.getFirst() : merged(found);
    return entries.size() > scan.limit()
        ? new DueSlice(scan.slot(), List.copyOf(entries.subList(0, scan.limit())), true)
        : new DueSlice(scan.slot(), entries, false);
  }

  private static List<DueEntry> merged(List<List<DueEntry>> found) {
    return found.stream().flatMap(List::stream).sorted(BY_WAKE).distinct().toList();
  }

  private CompletableFuture<List<DueEntry>> entries(Link.Pipeline pipeline, int bits, int part, String set, long from,
      @Nullable TaskId after, long to, int limit) {
    if (after == null) {
      return pipeline.command(CommandType.ZRANGEBYSCORE, layout.of(part, set), score(from), score(to),
          Layout.bytes("WITHSCORES"), Layout.bytes("LIMIT"), Layout.bytes("0"), Layout.bytes(limit))
          .thenApply(Reads::entries);
    }
    List<byte[]> arguments = calls.arguments(bits);
    arguments.addAll(List.of(Layout.bytes(set), score(from), RecordCodec.id(after), score(to), Layout.bytes(limit)));
    return pipeline.step(Script.DUE, layout.part(part), arguments).thenApply(Reads::entries);
  }

  private static byte[] score(long instant) {
    return Layout.bytes(!Terms.isExact(instant) ? instant < 0 ? "-inf" : "+inf" : Long.toString(instant));
  }

  private static List<DueEntry> entries(List<Object> reply) {
    List<DueEntry> entries = new ArrayList<>(reply.size() / 2);
    for (int i = 0; i < reply.size(); i += 2) {
      BytesReader member = new BytesReader((byte[]) reply.get(i));
      TaskId id = member.id();
      entries.add(new DueEntry(Layout.number((byte[]) reply.get(i + 1)), id,
          member.text(((byte[]) reply.get(i)).length - ID_BYTES)));
    }
    return entries;
  }

  /** Returns whether a part may have tasks of these slots. The numbers of slots and parts may differ. */
  private static boolean mayHave(SlotSet slots, int bits, int part) {
    int common = Math.min(slots.slotCount(), 1 << bits);
    for (int slot = part & (common - 1); slot < slots.slotCount(); slot += common) {
      if (slots.contains(slot)) {
        return true;
      }
    }
    return false;
  }

  CompletionStage<List<DueEntry>> parked(String queue, SlotSet slots, @Nullable DueEntry after, int limit) {
    return call(() -> retryIfMoved(bits -> {
      Link.Pipeline pipeline = link.pipeline();
      List<CompletableFuture<List<DueEntry>>> read = new ArrayList<>();
      int perPart = Math.min(limit, Math.max(PARKED_PER_PART, 2 * limit / Math.max(1, slots.size())));
      for (int part = 0; part < 1 << bits; part++) {
        if (mayHave(slots, bits, part)) {
          read.add(entries(pipeline, bits, part, ":parked:" + queue, after == null ? Long.MIN_VALUE : after.wakeAt(),
              after == null ? null : after.id(), Long.MAX_VALUE, perPart));
        }
      }
      pipeline.send();
      return all(read).thenCompose(found -> {
        List<DueEntry> firsts = firsts(found, perPart, limit);
        List<DueEntry> page = firsts.stream().filter(entry -> slots.contains(entry.id())).toList();
        // A part may also have tasks of slots that were not requested. If all entries belong to such slots, the read
        // continues, because an empty page would mean that no entries follow.
        return page.isEmpty() && !firsts.isEmpty()
            ? parked(queue, slots, firsts.getLast(), limit).toCompletableFuture()
            : CompletableFuture.completedFuture(page);
      });
    }));
  }

  /**
   * Returns the first entries of all parts, in order. If {@code perPart} entries were read from a part, the part may
   * have more entries, which come after the last of these. So the result ends at that last entry: the result must not
   * skip any entry of the part. If there are several such parts, the result ends at the earliest of their last entries.
   */
  private static List<DueEntry> firsts(List<List<DueEntry>> found, int perPart, int limit) {
    DueEntry end = found.stream().filter(entries -> entries.size() == perPart).map(List::getLast).min(BY_WAKE)
        .orElse(null);
    return merged(found).stream().filter(entry -> end == null || BY_WAKE.compare(entry, end) <= 0).limit(limit)
        .toList();
  }

  CompletionStage<Set<String>> parkedQueues(SlotSet slots) {
    return call(() -> {
      int bits = parts.state().bits();
      Link.Pipeline pipeline = link.pipeline();
      List<CompletableFuture<List<Object>>> read = new ArrayList<>();
      for (int part = 0; part < 1 << bits; part++) {
        if (mayHave(slots, bits, part)) {
          read.add(pipeline.command(CommandType.SMEMBERS, layout.of(part, ":parked")));
        }
      }
      pipeline.send();
      return all(read).thenApply(found -> {
        Set<String> queues = new HashSet<>();
        found.forEach(members -> members.forEach(queue -> queues.add(text(queue))));
        return queues;
      });
    });
  }

  /**
   * Reads when tasks can be claimed, and the times of their index entries. A task that has not yet migrated to its part
   * is reported as absent; its claim migrates it.
   */
  CompletionStage<List<Probed>> probe(List<TaskId> ids) {
    return each(ids, Script.PROBE, in -> new Probed(in.u64(), in.u64()));
  }

  /** Returns the lease ends of tasks in milliseconds since 1970; {@link Long#MIN_VALUE} if a task is not running. */
  CompletionStage<List<Long>> leaseEnds(List<TaskId> ids) {
    return each(ids, Script.LEASES, BytesReader::u64);
  }

  /**
   * Runs a script in each part, for the ids of that part. Returns the answers in the order of the ids. If a part fails,
   * the stage fails with the answers of the other parts ({@link ItemsFailedException}).
   */
  private <T> CompletionStage<List<T>> each(List<TaskId> ids, Script script, Function<BytesReader, T> reading) {
    return call(() -> retryIfMoved(bits -> {
      Map<Integer, List<Integer>> placesOfPart = new HashMap<>();
      for (int i = 0; i < ids.size(); i++) {
        placesOfPart.computeIfAbsent(ids.get(i).slot(1 << bits), none -> new ArrayList<>()).add(i);
      }
      AtomicReferenceArray<@Nullable T> found = new AtomicReferenceArray<>(ids.size());
      Link.Pipeline pipeline = link.pipeline();
      AtomicReference<@Nullable StoreException> failure = new AtomicReference<>();
      List<CompletableFuture<Boolean>> read = new ArrayList<>();
      placesOfPart.forEach((part, places) -> {
        for (int from = 0; from < places.size(); from += SCAN_PAGE) {
          List<Integer> some = places.subList(from, Math.min(places.size(), from + SCAN_PAGE));
          List<byte[]> arguments = calls.arguments(bits);
          some.forEach(place -> arguments.add(RecordCodec.id(ids.get(place))));
          read.add(pipeline.step(script, layout.part(part), arguments).thenApply(reply -> {
            BytesReader in = new BytesReader((byte[]) reply.getFirst());
            some.forEach(place -> found.set(place, reading.apply(in)));
            return true;
          }).exceptionally(thrown -> {
            if (!(Link.failure(thrown) instanceof StoreException reason)) {
              throw Link.failure(thrown);
            }
            failure.set(reason);
            return false;
          }));
        }
      });
      pipeline.send();
      return all(read).thenApply(done -> {
        StoreException reason = failure.get();
        if (reason != null) {
          throw ItemsFailedException.of(IntStream.range(0, ids.size()).<@Nullable T>mapToObj(found::get).toList(),
              reason);
        }
        return IntStream.range(0, ids.size()).mapToObj(place -> requireNonNull(found.get(place))).toList();
      });
    }));
  }

  private static String text(Object bytes) {
    return Snapshot.name((byte[]) bytes);
  }

  CompletionStage<Optional<TaskRecord>> find(TaskRef ref) {
    ReadSet reads = new ReadSet();
    reads.ref(ref);
    return call(() -> retryIfMoved(bits -> {
      Partitions.State state = parts.state();
      return snapshot(state, state.of(TouchStep.hash16(ref)), reads).thenApply(snapshot -> found(ref, snapshot));
    }));
  }

  /** Returns the tasks in the order of the ids. The parts are read concurrently. */
  CompletionStage<List<Optional<TaskRecord>>> find(List<TaskId> ids) {
    return call(() -> retryIfMoved(bits -> {
      Partitions.State state = parts.state();
      Map<Integer, List<TaskId>> byPart = new HashMap<>();
      ids.forEach(id -> byPart.computeIfAbsent(state.of(id.hash16()), none -> new ArrayList<>()).add(id));
      List<CompletableFuture<Map<TaskId, Optional<TaskRecord>>>> read = new ArrayList<>();
      byPart.forEach((part, some) -> {
        for (int from = 0; from < some.size(); from += SCAN_PAGE) {
          List<TaskId> chunk = some.subList(from, Math.min(some.size(), from + SCAN_PAGE));
          ReadSet reads = new ReadSet();
          chunk.forEach(reads::id);
          read.add(snapshot(state, part, reads).thenApply(snapshot -> {
            Map<TaskId, Optional<TaskRecord>> found = new HashMap<>();
            chunk.stream().filter(id -> !snapshot.isOfNewerVersion(id))
                .forEach(id -> found.put(id, found(new TaskRef.ById(id), snapshot)));
            return found;
          }));
        }
      });
      return all(read).thenApply(done -> {
        Map<TaskId, Optional<TaskRecord>> found = new HashMap<>();
        done.forEach(found::putAll);
        TaskId unread = ids.stream().filter(id -> !found.containsKey(id)).findFirst().orElse(null);
        if (unread != null) {
          List<@Nullable Optional<TaskRecord>> some = new ArrayList<>(ids.size());
          ids.forEach(id -> some.add(found.get(id)));
          throw ItemsFailedException.of(some, newer(unread));
        }
        return ids.stream().map(found::get).map(Objects::requireNonNull).toList();
      });
    }));
  }

  /** Reads records of one part. If live records are damaged, sets them aside and reads again. */
  private CompletableFuture<Snapshot> snapshot(Partitions.State state, int part, ReadSet reads) {
    return calls.migration().migrate(state, part, SlotMigration.Refs.of(reads)).thenCompose(here -> {
      Snapshot snapshot = new Snapshot(reads, true, false);
      return link.step(Script.READ, layout.part(part), snapshot.arguments(calls.arguments(state.bits())))
          .thenCompose(reply -> {
            snapshot.fill(reply);
            List<Snapshot.Damaged> damaged = snapshot.toSetAside();
            return damaged.isEmpty()
                ? CompletableFuture.completedFuture(snapshot)
                : calls.asides().setAside(calls.arguments(state.bits()), part, damaged)
                    .thenCompose(done -> snapshot(state, part, reads));
          });
    });
  }

  private static Optional<TaskRecord> found(TaskRef ref, Snapshot snapshot) {
    TaskId id = switch (ref) {
      case TaskRef.ById byId -> byId.id();
      case TaskRef.ByKey byKey -> snapshot.holder(new KeyName(byKey.queue(), byKey.key()));
    };
    if (id != null && snapshot.isOfNewerVersion(id)) {
      throw newer(id);
    }
    return id == null
        ? Optional.empty()
        : Optional.ofNullable(new RecordOverlay(snapshot, snapshot.nowMillis()).get(id));
  }

  private static StoreAwayException newer(TaskId id) {
    return new StoreAwayException("a newer version of Foliot wrote the task, and only that version can read it: task="
        + id + "; ask a node that runs that version", null);
  }

  CompletionStage<Long> timeMicros(int slot) {
    return call(() -> retryIfMoved(bits -> link.step(Script.TIME, layout.part(slot), calls.arguments(bits)))
        .thenApply(reply -> (Long) reply.getFirst()));
  }

  CompletionStage<Map<String, QueueCounts>> counts() {
    return call(() -> {
      Link.Pipeline pipeline = link.pipeline();
      List<CompletableFuture<List<Object>>> read = new ArrayList<>();
      for (int part = 0; part < parts.state().count(); part++) {
        read.add(pipeline.command(CommandType.HGETALL, layout.of(part, ":count")));
      }
      pipeline.send();
      return all(read).thenApply(found -> {
        // Per queue: the number of parked tasks, then the numbers of tasks in the states 1 to 5 of EnumCodes.
        Map<String, long[]> sums = new HashMap<>();
        found.forEach(counts -> {
          for (int i = 0; i < counts.size(); i += 2) {
            String field = text(counts.get(i));
            int colon = field.lastIndexOf(':');
            long[] sum = sums.computeIfAbsent(field.substring(0, colon), none -> new long[6]);
            char state = field.charAt(colon + 1);
            sum[state == 'p' ? 0 : state - '0'] += Layout.number((byte[]) counts.get(i + 1));
          }
        });
        Map<String, QueueCounts> counts = new HashMap<>();
        sums.forEach((queue, sum) -> counts.put(queue,
            new QueueCounts(sum[1], sum[0], sum[2], sum[3], sum[4], sum[5])));
        counts.values().removeIf(QueueCounts.NONE::equals);
        return counts;
      });
    });
  }

  /**
   * Returns whether a queue has a live task. The counts decide, because every script writes them together with the
   * tasks. A migrating task is inserted in its new part before it is deleted in its old part, so the old parts are read
   * first. If a part refuses the call because there are more parts by now, all parts are read again.
   */
  CompletionStage<Boolean> hasLive(String queue) {
    return call(() -> retryIfMoved(bits -> {
      int count = 1 << bits;
      int first = parts.state().complete() ? count : count / 2;
      return hasLive(queue, bits, 0, first).thenCompose(found -> found || first == count
          ? CompletableFuture.completedFuture(found)
          : hasLive(queue, bits, first, count));
    }));
  }

  private CompletableFuture<Boolean> hasLive(String queue, int bits, int fromPart, int toPart) {
    Link.Pipeline pipeline = link.pipeline();
    List<CompletableFuture<List<Object>>> checks = new ArrayList<>();
    List<CompletableFuture<List<Object>>> read = new ArrayList<>();
    for (int part = fromPart; part < toPart; part++) {
      checks.add(pipeline.step(Script.TIME, layout.part(part), calls.arguments(bits)));
      read.add(pipeline.command(CommandType.HMGET, layout.of(part, ":count"), Layout.bytes(queue + ":1"),
          Layout.bytes(queue + ":2")));
    }
    pipeline.send();
    return all(checks).thenCombine(all(read), (passed, found) -> found.stream().flatMap(List::stream)
        .anyMatch(number -> number != null && Layout.number((byte[]) number) > 0));
  }

  /**
   * The position of a scan: a part, the server's cursor, and the last returned task at that cursor, or null if there is
   * none.
   */
  private record Cursor(int part, String scan, @Nullable TaskId after) {
    private static final Pattern TEXT = Pattern.compile("r-(\\d{1,5})-(\\d{1,20})-([0-9a-f-]{36})?");

    static Cursor parse(@Nullable String text) {
      if (text == null) {
        return new Cursor(0, "0", null);
      }
      Matcher found = TEXT.matcher(text);
      if (!found.matches()) {
        throw new IllegalArgumentException("the cursor is not one of this store: cursor=" + text);
      }
      String after = found.group(3);
      return new Cursor(Integer.parseInt(found.group(1)), found.group(2), after == null ? null : TaskId.parse(after));
    }

    @Override
    public String toString() {
      return "r-" + part + "-" + scan + "-" + (after == null ? "" : after);
    }
  }

  CompletionStage<RecordPage> query(String queue, @Nullable TaskState state, int limit, @Nullable String cursor) {
    int wanted = state == null ? ALL : switch (state) {
      case READY -> 0;
      case DELAYED -> 1;
      case RUNNING -> 2;
      case FINISHED -> 3;
      case FAILED -> 4;
      case CANCELLED -> 5;
    };
    return call(() -> page(queue, wanted, limit, Cursor.parse(cursor), new Found(), 1));
  }

  CompletionStage<RecordPage> live(int limit, @Nullable String cursor) {
    return call(() -> page("", LIVE, limit, Cursor.parse(cursor), new Found(), 1));
  }

  /** A page under construction. Used by one thread at a time. */
  private static final class Found {
    final List<TaskRecord> tasks = new ArrayList<>();
    final List<SetAside> unreadable = new ArrayList<>();

    int size() {
      return tasks.size() + unreadable.size();
    }

    RecordPage page(@Nullable String cursor) {
      return new RecordPage(tasks, cursor, unreadable);
    }
  }

  private CompletableFuture<RecordPage> page(String queue, int wanted, int limit, Cursor at, Found found, int reads) {
    if (at.part() >= parts.state().count()) {
      return CompletableFuture.completedFuture(found.page(null));
    }
    return retryIfMoved(bits -> {
      List<byte[]> arguments = calls.arguments(bits);
      TaskId after = at.after();
      arguments.addAll(List.of(Layout.bytes(at.scan()), Layout.bytes(SCAN_PAGE),
          after == null ? NOTHING : RecordCodec.id(after),
          Layout.bytes(limit - found.size()), queue.isEmpty() ? NOTHING : Layout.bytes(queue), Layout.bytes(wanted)));
      return link.step(Script.SCAN, layout.part(at.part()), arguments);
    }).thenCompose(reply -> {
      String scan = text(reply.getFirst());
      byte[] last = (byte[]) reply.get(1);
      TaskId after = last.length == 0 ? null : RecordCodec.id(last);
      List<Snapshot.Damaged> damaged = new ArrayList<>();
      for (int i = 2; i < reply.size(); i += 4) {
        TaskId id = RecordCodec.id((byte[]) reply.get(i));
        byte[] value = (byte[]) reply.get(i + 1);
        try {
          found.tasks.add(Snapshot.decoded(id, value, (byte[]) reply.get(i + 2), (byte[]) reply.get(i + 3), true));
        } catch (UnreadableException e) {
          if (wanted == LIVE) {
            // Only a migration to another store reads all live tasks, and the migration must not change its source.
            found.unreadable.add(new SetAside(id, "", e.getMessage() + ""));
          } else if (!(e instanceof NewerVersionException)) {
            damaged.add(new Snapshot.Damaged(id, value, e));
          }
        }
      }
      if (!damaged.isEmpty()) {
        return calls.asides().setAside(calls.arguments(parts.state().bits()), at.part(), damaged)
            .thenCompose(done -> finishOrContinue(queue, wanted, limit, at, found, reads, scan, after));
      }
      return finishOrContinue(queue, wanted, limit, at, found, reads, scan, after);
    });
  }

  private CompletableFuture<RecordPage> finishOrContinue(String queue, int wanted, int limit, Cursor at, Found found,
      int reads, String scan, @Nullable TaskId after) {
    Cursor next = scan.equals("0") && after == null
        ? new Cursor(at.part() + 1, "0", null)
        : new Cursor(at.part(), scan, after);
    return found.size() >= limit || reads == MAX_READS
        ? CompletableFuture.completedFuture(
            found.page(next.part() >= parts.state().count() ? null : next.toString()))
        : page(queue, wanted, limit, next, found, reads + 1);
  }
}
