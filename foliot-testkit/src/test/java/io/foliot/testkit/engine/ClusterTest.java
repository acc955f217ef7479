package io.foliot.testkit.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Body;
import io.foliot.core.Meter;
import io.foliot.core.Queue;
import io.foliot.core.Submission;
import io.foliot.core.Target;
import io.foliot.core.Token;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.coordination.StoreCoordinator;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.engine.Engine;
import io.foliot.core.engine.EngineOptions;
import io.foliot.core.engine.Environment;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import io.foliot.testkit.ManualEventLoop;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Several engines over one store, under one thread and a settable clock. */
final class ClusterTest {
  private static final int SLOTS = 16;

  private final SettableClock clock = new SettableClock();
  private final ManualLoops loops = new ManualLoops(clock);
  private final SplittableRandom luck = new SplittableRandom(3);
  private final MemoryStore store = new MemoryStore(SLOTS, clock, () -> new Token(luck.nextLong(), luck.nextLong()));
  private final TaskStore shared = new RemoteStore().over(store);
  private final List<Long> lateMillis = new ArrayList<>();
  private final List<String> fired = new ArrayList<>();
  private final Map<String, Integer> firedBy = new HashMap<>();

  /** Never says anything, as where there is none. */
  private static final class Silence implements Coordinator {
    @Override
    public String kind() {
      return "silence";
    }

    @Override
    public void join(Member self, Listener listener) {}

    @Override
    public void publish(byte[] document, long expectedVersion) {}

    @Override
    public void close() {}
  }

  private final class Node {
    final List<ManualEventLoop> own = new ArrayList<>();
    final Engine engine;

    Node(String name, boolean coordinated) {
      LocalDelivery delivery = new LocalDelivery(Runnable::run).handle("q", attempt -> {
        fired.add(new String(attempt.task().body().payload(), java.nio.charset.StandardCharsets.UTF_8));
        lateMillis.add(clock.wallMillis() - attempt.task().dueAt());
        firedBy.merge(name, 1, Integer::sum);
        return new Answer.Done("");
      });
      Coordinator coordinator = coordinated ? new StoreCoordinator(shared, clock, loop()) : new Silence();
      engine = new Engine(EngineOptions.defaults(name),
          new Environment(clock, this::loop, luck.split(), shared, coordinator,
              List.of(delivery), Meter.NONE));
      engine.start().join();
      loops.runUntilIdle();
    }

    ManualEventLoop loop() {
      ManualEventLoop loop = loops.newLoop();
      own.add(loop);
      return loop;
    }

    void die() {
      own.forEach(ManualEventLoop::close);
    }

    void submit(int from, int to, Duration delay) {
      List<Submission> tasks = new ArrayList<>();
      for (int i = from; i < to; i++) {
        tasks.add(Submission.after("q", delay, Body.json(Integer.toString(i))));
      }
      CompletableFuture<?> done = engine.submitAll(tasks);
      loops.runUntilIdle();
      assertThat(done).isCompleted();
    }
  }

  private void putQueue(Node node) {
    CompletableFuture<Queue> put = node.engine.putQueue(Queue.of("q", Target.local()));
    loops.runUntilIdle();
    assertThat(put).isCompleted();
  }

  private void ensureEachOnce(int tasks) {
    assertThat(fired).hasSize(tasks);
    assertThat(new HashSet<>(fired)).hasSize(tasks);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isNotNegative());
  }

  @Test
  void nodesShareTheWorkAndFireOnTheMillisecond() {
    Node a = new Node("a", true);
    Node b = new Node("b", true);
    Node c = new Node("c", true);
    putQueue(a);
    loops.advance(Duration.ofSeconds(5));
    // Beyond the window, so that the owners fire them, and not who wrote them.
    a.submit(0, 300, Duration.ofMinutes(2));
    b.submit(300, 600, Duration.ofMillis(700));
    loops.advance(Duration.ofSeconds(1));
    assertThat(fired).hasSize(300);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isBetween(0L, 1L));
    loops.advance(Duration.ofMinutes(3));
    ensureEachOnce(600);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isBetween(0L, 1L));
    assertThat(firedBy.keySet()).containsExactlyInAnyOrder("a", "b", "c");
    assertThat(c.engine.status().ready()).isTrue();
  }

  @Test
  void whatADeadNodeLeavesIsFiredWithinSeconds() {
    Node a = new Node("a", true);
    Node b = new Node("b", true);
    putQueue(a);
    loops.advance(Duration.ofSeconds(5));
    a.submit(0, 500, Duration.ofMinutes(2));
    loops.advance(Duration.ofSeconds(118));
    b.die();
    loops.advance(Duration.ofSeconds(20));
    ensureEachOnce(500);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isLessThanOrEqualTo(5_000L));
  }

  @Test
  void withoutAnyCoordinatorEverythingFiresWithinSeconds() {
    Node a = new Node("a", false);
    new Node("b", false);
    putQueue(a);
    a.submit(0, 500, Duration.ofMinutes(2));
    loops.advance(Duration.ofMinutes(3));
    ensureEachOnce(500);
    assertThat(lateMillis).allSatisfy(late -> assertThat(late).isLessThanOrEqualTo(5_000L));
  }

  @Test
  void nodesThatComeAndGoLoseNothing() {
    Node first = new Node("a", true);
    putQueue(first);
    loops.advance(Duration.ofSeconds(3));
    int next = 0;
    List<Node> nodes = new ArrayList<>(List.of(first));
    Set<String> names = new HashSet<>();
    for (int round = 0; round < 60; round++) {
      first.submit(next, next + 20, Duration.ofMillis(luck.nextInt(40_000)));
      next += 20;
      if (nodes.size() > 1 && luck.nextBoolean()) {
        Node gone = nodes.remove(1 + luck.nextInt(nodes.size() - 1));
        gone.die();
      } else {
        String name = "n" + round;
        names.add(name);
        nodes.add(new Node(name, true));
      }
      loops.advance(Duration.ofSeconds(1));
    }
    loops.advance(Duration.ofMinutes(3));
    ensureEachOnce(next);
    assertThat(firedBy.keySet()).containsAnyElementsOf(names);
  }
}
