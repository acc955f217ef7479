package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.testkit.ManualEventLoop;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Several engines over one store, on one thread with a settable clock. The delivery of each node records its attempts
 * in {@link #fired}.
 */
final class Cluster {
  private static final int SLOTS = 16;
  /** The time between two turns of the loop of a paused node. These turns do nothing. */
  private static final long PAUSED_TURN_NANOS = 1_000_000_000;

  final SettableClock clock = new SettableClock();
  final ManualLoops loops = new ManualLoops(clock);
  final SplittableRandom random = new SplittableRandom(3);
  final MemoryStore store = new MemoryStore(SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong()));
  final RemoteStore remote = new RemoteStore();
  final List<Fired> fired = new ArrayList<>();
  final Map<String, Integer> firedBy = new HashMap<>();
  Function<DeliveryAttempt, CompletableFuture<Answer>> behaviour = attempt -> CompletableFuture
      .completedFuture(new Answer.Done(""));
  int running;
  int mostRunning;
  private final TaskStore shared = remote.over(store);
  /** The connection of all coordinators to the store, which can fail while the engines still reach the store. */
  final RemoteStore coordination = new RemoteStore();
  private final TaskStore coordinating = coordination.over(store);

  /** An attempt that a node delivered. */
  record Fired(String text, String node, long lateMillis, long atMillis) {}

  /** A coordinator that never calls its listener, so that the node gets no view of the cluster. */
  private static final class NoCoordinator implements Coordinator {
    @Override
    public String kind() {
      return "none";
    }

    @Override
    public void join(Member self, Listener listener) {}

    @Override
    public void update(Member self) {}

    @Override
    public void publish(byte[] document, long expectedVersion) {}

    @Override
    public void close() {}
  }

  /** The queues for which a node has handlers. */
  static final class Handlers implements ServedQueues {
    private final Set<String> queues = new HashSet<>();
    private final List<Consumer<String>> listeners = new ArrayList<>();

    void add(String queue) {
      queues.add(queue);
      listeners.forEach(listener -> listener.accept(queue));
    }

    void remove(String queue) {
      queues.remove(queue);
      listeners.forEach(listener -> listener.accept(queue));
    }

    @Override
    public boolean contains(String queue) {
      return queues.contains(queue);
    }

    @Override
    public void addListener(Consumer<String> listener) {
      listeners.add(listener);
    }
  }

  /** An engine and its delivery. */
  final class Node implements Delivery {
    final List<ManualEventLoop> nodeLoops = new ArrayList<>();
    final Engine engine;
    private final String name;
    private final @Nullable Handlers handlers;
    private boolean paused;
    /** Offset of the node's wall clock from the store's; negative if the node's clock is behind. */
    long aheadMillis;
    /** Total time that the node's machine was suspended. */
    private long sleptNanos;
    private final TimeSource ownClock = new TimeSource() {
      @Override
      public long wallMicros() {
        return clock.wallMicros() + 1_000 * aheadMillis;
      }

      @Override
      public long monotonicNanos() {
        return clock.monotonicNanos() - sleptNanos;
      }
    };

    Node(String name, boolean coordinated, @Nullable Handlers handlers) {
      this(EngineOptions.defaults(name), coordinated, handlers);
    }

    Node(EngineOptions options, boolean coordinated, @Nullable Handlers handlers) {
      String name = options.node();
      this.name = name;
      this.handlers = handlers;
      Coordinator coordinator = coordinated
          ? new StoreCoordinator(coordinating, ownClock, loop())
          : new NoCoordinator();
      engine = new Engine(options,
          new Environment(ownClock, this::loop, random.split(), shared, coordinator, List.of(this), Meter.NONE));
      engine.start().join();
      loops.runUntilIdle();
    }

    /** Returns a loop whose turns do nothing while the node is paused. */
    private EventLoop loop() {
      ManualEventLoop loop = loops.newLoop();
      nodeLoops.add(loop);
      return new EventLoop() {
        @Override
        public void start(Duty duty) {
          loop.start(() -> paused ? clock.monotonicNanos() + PAUSED_TURN_NANOS : duty.turn() + sleptNanos);
        }

        @Override
        public void wake() {
          loop.wake();
        }

        @Override
        public void close() {
          loop.close();
        }
      };
    }

    String name() {
      return name;
    }

    void pause() {
      paused = true;
    }

    void resume() {
      paused = false;
      nodeLoops.forEach(ManualEventLoop::wake);
    }

    /** Suspends the node's machine, whose monotonic clock stops for this time. */
    void sleep(Duration time) {
      sleep(time, () -> advance(time));
    }

    /** Suspends the node's machine for a time, in which {@code meanwhile} lets the other nodes run. */
    void sleep(Duration time, Runnable meanwhile) {
      pause();
      meanwhile.run();
      sleptNanos += time.toNanos();
      resume();
    }

    void die() {
      nodeLoops.forEach(ManualEventLoop::close);
    }

    void submit(int from, int to, Duration delay) {
      List<Submission> tasks = new ArrayList<>();
      for (int i = from; i < to; i++) {
        tasks.add(Submission.after("q", delay, Body.json(Integer.toString(i))));
      }
      done(engine.submitAll(tasks));
    }

    void putQueue(QueueConfig queue) {
      done(engine.putQueue(queue));
    }

    @Override
    public String type() {
      return Target.LOCAL;
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      assertThat(target.type()).isEqualTo(Target.LOCAL);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public String destination(Target target) {
      return "here";
    }

    @Override
    public @Nullable ServedQueues servedQueues() {
      return handlers;
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      String text = new String(attempt.task().body().payload(), StandardCharsets.UTF_8);
      long now = clock.wallMillis();
      fired.add(new Fired(text, name, now - attempt.task().dueAt(), now));
      firedBy.merge(name, 1, Integer::sum);
      running++;
      mostRunning = Math.max(mostRunning, running);
      return behaviour.apply(attempt).whenComplete((answer, failure) -> running--);
    }

    @Override
    public void close() {
      // Nothing to close.
    }
  }

  Node node(String name) {
    return new Node(name, true, null);
  }

  Node node(String name, int nodeLoops) {
    return new Node(EngineOptions.builder(name).loops(nodeLoops).build(), true, null);
  }

  Node withoutCoordinator(String name) {
    return new Node(name, false, null);
  }

  /** Returns a node that delivers only tasks of the queues of {@code handlers}. */
  Node node(String name, Handlers handlers) {
    return new Node(name, true, handlers);
  }

  private void done(CompletableFuture<?> call) {
    loops.runUntilIdle();
    assertThat(call).isCompleted();
  }

  void advance(Duration time) {
    loops.advance(time);
  }

  /** Ensures that exactly this many tasks have fired, each once and none early. */
  void ensureEachOnce(int tasks) {
    assertThat(fired).hasSize(tasks);
    assertThat(new HashSet<>(fired.stream().map(Fired::text).toList())).hasSize(tasks);
    ensureLateBy(0, Long.MAX_VALUE);
  }

  void ensureLateBy(long leastMillis, long mostMillis) {
    assertThat(fired).allSatisfy(each -> assertThat(each.lateMillis()).isBetween(leastMillis, mostMillis));
  }
}
