package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.TaskId;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Document;
import io.foliot.core.store.DueEntry;
import io.foliot.core.store.DueScan;
import io.foliot.core.store.DueSlice;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The components of a loop, without the loop. A test advances the time and answers the calls to the store. */
final class LoopRig {
  static final int SLOTS = 4;
  static final int LANE_ENTRIES = 8;
  static final int READY_ENTRIES = 1_000;
  static final int BATCH = 4;
  /** Range of the look-ahead, in milliseconds. */
  static final long WINDOW_MILLIS = 5_000;
  /** Nanoseconds of a millisecond. */
  static final long MILLI = 1_000_000;
  /** Nanoseconds of a second. */
  static final long SECOND = 1_000 * MILLI;
  static final long START_MILLIS = 1_000_000;

  /** A call to the store, which the test answers. */
  record Call(String name, List<Object> arguments, CompletableFuture<Object> answer) {
    @SuppressWarnings("unchecked")
    <T> List<T> items() {
      return (List<T>) arguments.getFirst();
    }
  }

  private static final EventLoop SLEEPING = new EventLoop() {
    @Override
    public void start(Duty duty) {}

    @Override
    public void wake() {}

    @Override
    public void close() {}
  };

  long nowNanos = 50 * SECOND;
  boolean isShared;
  /** Whether reads of the store's clock are answered at once. */
  boolean isClockKnown;
  int slotCount = SLOTS;
  Durability durability = new Durability("D", 0, "");
  int wakes;
  final List<Call> calls = new ArrayList<>();
  /** The metered calls to the store: name, number of items, and "failed" if the call failed. */
  final List<String> meterCalls = new ArrayList<>();
  /** The queue of each attempt that was reported because its lease had ended. */
  final List<String> leasesEnded = new ArrayList<>();
  /** The queue of each task that was reported as found late. */
  final List<String> foundLate = new ArrayList<>();
  final List<DeliveryAttempt> delivered = new ArrayList<>();
  final List<CompletableFuture<Answer>> answers = new ArrayList<>();
  /** The times at which the store has recovered, in monotonic nanoseconds. */
  final List<Long> recoveries = new ArrayList<>();
  /** The result of each check of a target by the delivery. */
  CompletableFuture<Void> check = CompletableFuture.completedFuture(null);
  /** The slots that were reported as added, one set per report. */
  final List<SlotSet> added = new ArrayList<>();

  final Meter meter = new Meter() {
    @Override
    public void storeCall(String call, int items, long durationMicros, boolean failed) {
      meterCalls.add(call + " " + items + (failed ? " failed" : ""));
    }

    @Override
    public void leaseEnded(String queue) {
      leasesEnded.add(queue);
    }

    @Override
    public void foundLate(String queue) {
      foundLate.add(queue);
    }
  };

  final TimeSource nodeClock = new TimeSource() {
    @Override
    public long wallMicros() {
      return START_MILLIS * 1_000;
    }

    @Override
    public long monotonicNanos() {
      return nowNanos;
    }
  };

  private final Delivery delivery = new Delivery() {
    @Override
    public String type() {
      return Target.LOCAL;
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      return check;
    }

    @Override
    public String destination(Target target) {
      return "here";
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      delivered.add(attempt);
      CompletableFuture<Answer> answer = new CompletableFuture<>();
      answers.add(answer);
      return answer;
    }

    @Override
    public void close() {}
  };

  final EngineOptions options = EngineOptions.builder("n1").wheelEntries(1_000).laneEntries(LANE_ENTRIES)
      .readyEntries(READY_ENTRIES).build();
  final TaskStore store = (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(),
      new Class<?>[]{TaskStore.class}, (proxy, method, arguments) -> {
        if (method.getName().equals("timeMicros") && isClockKnown) {
          return CompletableFuture.completedFuture(nowMillis() * 1_000);
        }
        if (CompletionStage.class.isAssignableFrom(method.getReturnType())) {
          CompletableFuture<Object> answer = new CompletableFuture<>();
          calls.add(new Call(method.getName(), arguments == null ? List.of() : Arrays.asList(arguments), answer));
          return answer;
        }
        return switch (method.getName()) {
          case "isShared" -> isShared;
          case "slotCount" -> slotCount;
          case "durability" -> durability;
          case "kind" -> "recorded";
          case "batchSize" -> BATCH;
          case "configure" -> null;
          default -> throw new AssertionError(method.getName());
        };
      });
  final Inbox inbox = new Inbox(new EventLoop() {
    @Override
    public void start(Duty duty) {}

    @Override
    public void wake() {
      wakes++;
    }

    @Override
    public void close() {}
  });

  final QueueRegistry registry = new QueueRegistry(store, nodeClock, List.of(delivery), options, () -> {});
  final StoreClock clock = new StoreClock(START_MILLIS * 1_000, nowNanos);
  final StoreHealth health = new StoreHealth(meter, recoveries::add, new StoreOutage(1), nowNanos);
  final IndexReads reads = new IndexReads(store, inbox, 100);
  final Moves moves = new Moves(100);
  final Lanes lanes = new Lanes(options, registry, clock, moves, reads);
  final OverduePoll overdue = new OverduePoll("n1", SLOTS, 10, nowNanos);
  final WatchedSlots slots = new WatchedSlots(SlotSet.all(SLOTS), overdue, reads, health, lanes, meter,
      new WatchedSlots.Listener() {
        @Override
        public void doubled(int slotCountBefore) {}

        @Override
        public void added(SlotSet more, long atNanos) {
          added.add(more);
        }
      }, BATCH);
  final LookAhead lookAhead = new LookAhead(reads, health, clock, slots, WINDOW_MILLIS, 1_000, START_MILLIS, nowNanos,
      () -> {});
  final RandomSource random = new RandomSource(new SplittableRandom(7));

  LoopRig() {
    registry.seat(Seating.of(Fleet.EMPTY, "n1"));
  }

  long nowMillis() {
    return clock.millis(nowNanos);
  }

  void advance(long millis) {
    nowNanos += millis * MILLI;
  }

  /** Returns the environment of an engine over this store. Its event loops never run; the test turns the engine. */
  Environment environment(Coordinator coordinator) {
    return new Environment(nodeClock, () -> SLEEPING, new SplittableRandom(7), store, coordinator, List.of(delivery),
        meter);
  }

  /** Returns a loop that only the test turns. */
  EngineLoop loop(EngineOptions loopOptions, Coordinator coordinator, SlotSet share) {
    return new EngineLoop(loopOptions, environment(coordinator), SLEEPING, registry, new StoreOutage(1),
        new RoomGate(),
        new EndHints(List.of(), (queue, keys) -> {}), random, share,
        () -> {}, nanos -> {});
  }

  /** Turns all loops until they have read all entries and have published their counts. */
  void turn(LoopGroup loops, DueEntry... entries) {
    for (int i = 0; i < 4; i++) {
      loops.forEach(EngineLoop::turn);
      answerAll(entries);
    }
    advance(250);
    loops.forEach(EngineLoop::turn);
  }

  /** Answers all calls as a store that has only these entries. */
  void answerAll(DueEntry... entries) {
    List<DueEntry> all = List.of(entries);
    for (Call call : List.copyOf(calls)) {
      calls.remove(call);
      answer(call, switch (call.name()) {
        case "timeMicros" -> clock.micros(nowNanos);
        case "due" -> call.<DueScan>items().stream().map(scan -> new DueSlice(scan.slot(), all.stream()
            .filter(entry -> entry.id().slot(slotCount) == scan.slot() && entry.wakeAt() <= scan.toWakeAt()).toList(),
            false)).toList();
        case "parkedQueues" -> Set.of();
        case "parked" -> List.of();
        default -> throw new AssertionError(call);
      });
    }
  }

  void handle() {
    for (Inbox.Message message = inbox.poll(); message != null; message = inbox.poll()) {
      message.handle(nowNanos);
    }
  }

  Call onlyCall(String name) {
    assertThat(calls).singleElement().satisfies(call -> assertThat(call.name()).isEqualTo(name));
    return calls.removeFirst();
  }

  void answer(Call call, Object result) {
    call.answer().complete(result);
    handle();
  }

  void fail(Call call) {
    failInPart(call);
  }

  /** Fails a call whose items have these results; null for an item that failed. */
  void failInPart(Call call, @Nullable Object... results) {
    StoreException away = new StoreException("the store is unavailable", null);
    call.answer().completeExceptionally(ItemsFailedException.of(Arrays.asList(results), away));
    handle();
  }

  /** Fails a call because the store has no room; the items have these results, with null for an item without room. */
  void full(Call call, @Nullable Object... results) {
    call.answer().completeExceptionally(
        ItemsFailedException.of(Arrays.asList(results), new StoreFullException("no room in this test")));
    handle();
  }

  void queue(QueueConfig queue) {
    assertThat(registry.put(queue.name(), new Document(queue.name(), 1, QueueCodec.encode(queue)),
        registry.changes())).isTrue();
    Lane lane = lanes.find(queue.name());
    if (lane != null) {
      lanes.configure(lane, nowNanos);
    }
  }

  void local(String name) {
    queue(QueueConfig.of(name, Target.local()));
  }

  Lane lane(String queue) {
    return lanes.lane(queue, nowNanos);
  }

  static DueEntry entry(int slot, long wakeAt, int number, String queue) {
    DueEntry entry = new DueEntry(wakeAt, TaskId.of(number, slot, number), queue);
    assertThat(entry.id().slot(SLOTS)).isEqualTo(slot);
    return entry;
  }

  static ClaimBatch claimed(ClaimResult... results) {
    return new ClaimBatch(START_MILLIS, List.of(results));
  }

  /** Returns the task of an entry as a claim leaves it. */
  TaskRecord claimed(DueEntry entry, long leaseMillis) {
    return TaskRecord.edit(entry.id(), entry.queue(), null).dueAt(entry.wakeAt()).state(TaskState.RUNNING)
        .generation(1).attempt(1).token(new Token(entry.id().high(), entry.id().low())).body(Body.json("1"))
        .leaseEnd(nowMillis() + leaseMillis).done();
  }
}
