package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares the queue with a sorted list, after every step of random histories. */
final class DueQueueTest {
  private static final int SEEDS = 100;
  private static final int STEPS = 60;

  /** Distances of deadlines: of one tick, equal ones, of a long slack, and too wide for a sort key. */
  private static final long[] SPREADS = {1L << 16, 1, 1L << 38, 1L << 40, 1L << 61};

  /** Sizes of slots: a few timers, blocks of the sort and others. */
  private static final int[] SIZES = {1, 2, 64, 65, 129, 1000, 5000};

  private static final class Node extends WheelNode {
    final long deadlineNanos;

    Node(long deadlineNanos, int stamp) {
      super(deadlineNanos);
      this.deadlineNanos = deadlineNanos;
      this.stamp = stamp;
    }

    @Override
    int preload() {
      return 0;
    }

    @Override
    void expire() {}

    @Override
    public String toString() {
      return "#" + stamp + "@" + deadlineNanos;
    }
  }

  private static final class History {
    private final Random random;
    private final long spread;
    private final DueQueue queue = new DueQueue();
    private final List<Node> model = new ArrayList<>();
    /** Close to the wrap of the stamps, so that some histories cross it. */
    private int stamps = Integer.MAX_VALUE - 500;

    History(long seed) {
      random = new Random(seed);
      spread = SPREADS[random.nextInt(SPREADS.length)];
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(8)) {
          case 0, 1 -> collect(SIZES[random.nextInt(SIZES.length)]);
          case 2 -> add();
          case 3 -> dropDead();
          case 4 -> pollAll(model.size());
          default -> pollAll(random.nextInt(100));
        }
        check();
      }
      pollAll(model.size());
      check();
    }

    private void collect(int count) {
      // Only an empty queue is filled from a slot. The slot may turn out to have fewer timers than it has entries.
      pollAll(model.size());
      queue.beginCollecting(count);
      boolean inOrder = random.nextInt(4) == 0;
      long deadlineNanos = spread;
      for (int i = random.nextInt(2); i < count; i++) {
        deadlineNanos = inOrder ? deadlineNanos + random.nextInt(3) : random.nextLong(spread);
        Node node = node(deadlineNanos);
        queue.collect(node, node.stamp, deadlineNanos);
      }
      queue.endCollecting();
    }

    private void add() {
      for (int i = random.nextInt(200); i >= 0; i--) {
        add(random.nextLong(spread));
      }
    }

    private void add(long deadlineNanos) {
      Node node = node(deadlineNanos);
      queue.add(node, node.stamp, deadlineNanos);
    }

    private Node node(long deadlineNanos) {
      Node node = new Node(deadlineNanos, ++stamps);
      model.add(node);
      return node;
    }

    private void dropDead() {
      List<Node> dead = model.stream().filter(node -> random.nextInt(3) == 0).toList();
      for (Node node : dead) {
        if (random.nextBoolean()) {
          node.end(WheelNode.CANCELLED);
        } else {
          node.stamp--;
        }
      }
      assertThat(queue.dropDead()).isEqualTo(dead.size());
      model.removeAll(dead);
    }

    private void pollAll(int count) {
      // List.sort is stable, so equal deadlines keep the order of their arrival.
      model.sort(Comparator.comparingLong(node -> node.deadlineNanos));
      List<Node> polled = new ArrayList<>();
      for (int i = 0; i < count && !queue.isEmpty(); i++) {
        long earliest = queue.earliest();
        Node node = (Node) queue.poll();
        assertThat(earliest).isEqualTo(node.deadlineNanos);
        assertThat(queue.polledStamp()).isEqualTo(node.stamp);
        polled.add(node);
      }
      List<Node> expected = model.subList(0, Math.min(count, model.size()));
      assertThat(polled).isEqualTo(expected);
      expected.clear();
    }

    private void check() {
      assertThat(queue.size()).isEqualTo(model.size());
      assertThat(queue.isEmpty()).isEqualTo(model.isEmpty());
      List<WheelNode> visited = new ArrayList<>();
      queue.forEach(visited::add);
      assertThat(visited).hasSize(model.size());
      assertThat(new HashSet<>(visited)).isEqualTo(new HashSet<>(model));
      assertThat(queue.earliest())
          .isEqualTo(model.stream().mapToLong(node -> node.deadlineNanos).min().orElse(Long.MAX_VALUE));
    }
  }

  @Test
  void pollsInTheOrderOfDeadlinesAndThenOfArrivals() {
    for (long seed = 0; seed < SEEDS; seed++) {
      try {
        new History(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }
}
