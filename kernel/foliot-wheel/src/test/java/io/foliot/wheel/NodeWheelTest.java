package io.foliot.wheel;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Runs the contract kit against the wheel of {@link WheelTimer}, wrapped in a map from handles to nodes. */
final class NodeWheelTest extends TimerQueueContract {
  /**
   * A node with a deadline in ticks, which may be negative. The deadline in the node's word orders the nodes in the
   * same way, and is not negative.
   */
  private static final class Node extends WheelNode {
    final long handle;
    final long payload;
    long deadlineTick;

    Node(long handle, long payload, long deadlineTick, long deadlineNanos) {
      super(deadlineNanos);
      this.handle = handle;
      this.payload = payload;
      this.deadlineTick = deadlineTick;
    }

    /** Changes the deadline, without a placement. */
    void reset(long tick, long nanos) {
      deadlineTick = tick;
      assertThat(replace(word(), armed(nanos))).isTrue();
    }

    @Override
    int preload() {
      return 0;
    }

    @Override
    void expire() {
      throw new AssertionError("expire was called, but the visitor of this test fires nodes itself");
    }
  }

  /**
   * Maps ticks to deadlines in the same order. A tick is any long, and a deadline has only 62 bits. So only
   * neighbouring ticks keep their distance.
   */
  private static final class Deadlines {
    private final TreeMap<Long, Long> nanos = new TreeMap<>();
    private final Map<Long, Long> ticks = new HashMap<>();

    Deadlines() {
      put(Long.MIN_VALUE, 0);
      put(0, 1L << 61);
      put(Long.MAX_VALUE, (1L << 62) - 1);
    }

    private void put(long tick, long deadlineNanos) {
      nanos.put(tick, deadlineNanos);
      ticks.put(deadlineNanos, tick);
    }

    long nanos(long tick) {
      Long known = nanos.get(tick);
      if (known != null) {
        return known;
      }
      Map.Entry<Long, Long> before = nanos.lowerEntry(tick);
      Map.Entry<Long, Long> after = nanos.higherEntry(tick);
      long low = before.getValue();
      long high = after.getValue();
      // Distances are at most half of the range of a long, because 0 is in the map.
      long fromLow = tick - before.getKey();
      long fromHigh = after.getKey() - tick;
      long middle = (high - low) / 2;
      long deadline = fromLow < fromHigh ? low + Math.min(fromLow, middle) : high - Math.min(fromHigh, middle);
      assertThat(deadline).isStrictlyBetween(low, high);
      put(tick, deadline);
      return deadline;
    }

    long tick(long deadlineNanos) {
      return ticks.get(deadlineNanos);
    }
  }

  private static final class NodeQueue implements TimerQueue, NodeWheel.Visitor {
    final Deadlines deadlines = new Deadlines();
    final NodeWheel wheel;
    Sink sink = (handle, deadline, payload) -> {};
    RuntimeException thrown;
    final Map<Long, Node> live = new LinkedHashMap<>();
    final List<Node> late = new ArrayList<>();
    long handles;
    boolean advancing;

    NodeQueue(long startTick) {
      wheel = new NodeWheel(startTick, 2);
    }

    @Override
    public long schedule(long deadlineTick, long payload) {
      Node node = new Node(++handles, payload, deadlineTick, deadlines.nanos(deadlineTick));
      live.put(node.handle, node);
      place(node);
      return node.handle;
    }

    private void place(Node node) {
      if (node.deadlineTick <= wheel.currentTick()) {
        late.add(node);
      }
      wheel.place(node, node.deadlineTick, WheelNode.deadlineNanos(node.word()));
    }

    @Override
    public boolean cancel(long handle) {
      Node node = live.remove(handle);
      return node != null && node.end(WheelNode.CANCELLED);
    }

    @Override
    public boolean reschedule(long handle, long deadlineTick) {
      Node node = live.get(handle);
      if (node == null) {
        return false;
      }
      if (deadlineTick != node.deadlineTick) {
        node.reset(deadlineTick, deadlines.nanos(deadlineTick));
        place(node);
      }
      return true;
    }

    @Override
    public long nextWake() {
      return wheel.nextWake(this);
    }

    @Override
    public int advance(long nowTick, int limit, Sink sink) {
      requireNonNull(sink);
      if (limit <= 0) {
        throw new IllegalArgumentException();
      }
      if (advancing) {
        throw new IllegalStateException();
      }
      this.sink = sink;
      thrown = null;
      advancing = true;
      // The contract orders timers that were late when they were set by the time of this call, and not by deadline.
      for (Node node : late) {
        if (node.deadlineTick <= wheel.currentTick() && WheelNode.isArmed(node.word())) {
          node.reset(node.deadlineTick, deadlines.nanos(wheel.currentTick()));
        }
      }
      late.clear();
      int touched = wheel.advance(nowTick, deadlines.nanos(nowTick), limit, this);
      advancing = false;
      // Each advance sweeps and stages only a little, so other operations often meet a sweep or a staging in progress.
      wheel.sweepIfWorthwhile(live.size());
      assertThat(wheel.sweep(3)).isNotNegative();
      assertThat(wheel.stage(3, this)).isNotNegative();
      assertThat(wheel.entries()).isGreaterThanOrEqualTo(live.size());
      if (thrown != null) {
        throw thrown;
      }
      return touched;
    }

    @Override
    public long placeTick(long deadlineNanos) {
      return deadlines.tick(deadlineNanos);
    }

    @Override
    public long visit(WheelNode reached, long deadlineNanos) {
      Node node = (Node) reached;
      if (!WheelNode.isArmed(node.word())) {
        return NodeWheel.GONE;
      }
      if (node.deadlineTick > wheel.currentTick()) {
        return deadlines.nanos(node.deadlineTick);
      }
      assertThat(node.end(WheelNode.FIRED)).isTrue();
      live.remove(node.handle);
      try {
        sink.accept(node.handle, node.deadlineTick, node.payload);
      } catch (RuntimeException e) {
        thrown = e;
      }
      return NodeWheel.GONE;
    }

    @Override
    public int size() {
      return live.size();
    }

    @Override
    public long currentTick() {
      return wheel.currentTick();
    }

    @Override
    public void forEach(Sink visitor) {
      requireNonNull(visitor);
      for (Node node : List.copyOf(live.values())) {
        visitor.accept(node.handle, node.deadlineTick, node.payload);
      }
    }
  }

  @Override
  protected TimerQueue create(long startTick) {
    return new NodeQueue(startTick);
  }

  /** Returns false, because the wheel wakes for cancelled timers and touches them until a sweep removes them. */
  @Override
  protected boolean wakesAsModelled() {
    return false;
  }

  @Override
  protected boolean wakesForCancelled() {
    return true;
  }

  /** The sink gets all timers in one advance, because the visitor catches exceptions, as the driver of timers does. */
  @Override
  @Test
  void aThrowingSinkLosesOnlyTheTimerItReceived() {
    TimerQueue queue = create(0);
    for (int i = 0; i < 3; i++) {
      queue.schedule(4, i);
    }
    List<Long> seen = new ArrayList<>();
    assertThatThrownBy(() -> queue.advance(4, 10, (handle, deadline, payload) -> {
      seen.add(payload);
      throw new IllegalStateException("poison");
    })).hasMessage("poison");
    assertThat(seen).containsExactly(0L, 1L, 2L);
  }

  @Test
  void deadEntriesAreSweptOnceTheyOutnumberTheLiveOnes() {
    NodeQueue queue = new NodeQueue(0);
    List<Long> handles = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      handles.add(queue.schedule(1000 + i % 5000, i));
    }
    for (int i = 0; i < handles.size(); i++) {
      if (i % 20 != 0) {
        queue.cancel(handles.get(i));
      }
    }
    queue.wheel.sweepIfWorthwhile(queue.size());
    int examined = queue.wheel.sweep(Integer.MAX_VALUE);
    assertThat(examined).isEqualTo(100_000);
    assertThat(queue.wheel.entries()).isEqualTo(5000);
    List<Long> fired = new ArrayList<>();
    queue.advance(6000, Integer.MAX_VALUE, (handle, deadline, payload) -> fired.add(payload));
    assertThat(fired).hasSize(5000).allMatch(payload -> payload % 20 == 0);
  }

  @Test
  void aTimerOfLevel1DoesNotMoveBeforeItFires() {
    NodeQueue queue = new NodeQueue(0);
    for (int i = 0; i < 1000; i++) {
      queue.schedule(64 + i * 37 % 4000, i);
    }
    List<Long> deadlines = new ArrayList<>();
    int touched = queue.advance(4096, Integer.MAX_VALUE, (handle, deadline, payload) -> deadlines.add(deadline));
    assertThat(deadlines).hasSize(1000).isSorted();
    assertThat(touched).isEqualTo(1000);
  }

  @Test
  void aTimerPlacedInAnOpenSlotKeepsTheOrder() {
    NodeQueue queue = new NodeQueue(0);
    for (int i = 0; i < 1000; i++) {
      queue.schedule(64 + i % 64, i);
    }
    List<Long> deadlines = new ArrayList<>();
    queue.advance(70, Integer.MAX_VALUE, (handle, deadline, payload) -> deadlines.add(deadline));
    for (int tick = 71; tick < 140; tick++) {
      queue.schedule(tick, -tick);
      queue.schedule(tick + (140 - tick) / 2, tick);
      queue.advance(tick, Integer.MAX_VALUE, (handle, deadline, payload) -> deadlines.add(deadline));
    }
    assertThat(queue.isEmpty()).isTrue();
    assertThat(deadlines).hasSize(1000 + 2 * 69).isSorted();
  }

  @Test
  void aSweptWheelOfCancelledTimersHasNoNextWake() {
    NodeQueue queue = new NodeQueue(0);
    long far = queue.schedule(1_000_000, 1);
    queue.cancel(far);
    queue.wheel.sweepIfWorthwhile(0);
    assertThat(queue.wheel.sweep(10)).isEqualTo(1);
    assertThat(queue.wheel.nextWake(queue)).isEqualTo(TimerQueue.NEVER);
  }

  @Test
  void aNodePostponedWithoutPlacingFiresAtTheNewDeadline() {
    for (long number = 0; number < 200; number++) {
      long seed = number;
      Random random = new Random(seed);
      NodeQueue queue = new NodeQueue(0);
      for (int i = 0; i < 300; i++) {
        queue.schedule(1 + random.nextInt(10_000), i);
      }
      long now = 0;
      while (!queue.isEmpty()) {
        for (Node node : queue.live.values()) {
          if (random.nextInt(10) == 0) {
            long tick = node.deadlineTick + random.nextInt(5000);
            node.reset(tick, queue.deadlines.nanos(tick));
          }
        }
        now += random.nextInt(1000);
        long nowTick = now;
        Set<Long> due = new HashSet<>();
        queue.live.values().stream().filter(node -> node.deadlineTick <= nowTick).forEach(node -> due.add(node.handle));
        List<Long> deadlines = new ArrayList<>();
        queue.advance(nowTick, Integer.MAX_VALUE, (handle, deadline, payload) -> {
          assertThat(due.remove(handle)).as("seed %s", seed).isTrue();
          deadlines.add(deadline);
        });
        assertThat(due).as("seed %s, tick %s", seed, nowTick).isEmpty();
        assertThat(deadlines).as("seed %s", seed).isSorted();
      }
    }
  }

  /** A visitor that throws at random where the wheel may run out of memory: before the wheel adds a node to a list. */
  private static final class FailingVisitor implements NodeWheel.Visitor {
    final Random random;
    final NodeWheel wheel = new NodeWheel(0, 2);
    boolean fails;

    FailingVisitor(Random random) {
      this.random = random;
    }

    private void mayFail() {
      if (fails && random.nextInt(50) == 0) {
        throw new OutOfMemoryError("simulated");
      }
    }

    @Override
    public long placeTick(long deadlineNanos) {
      mayFail();
      return deadlineNanos;
    }

    @Override
    public long visit(WheelNode node, long deadlineNanos) {
      mayFail();
      if (((Node) node).deadlineTick > wheel.currentTick()) {
        return ((Node) node).deadlineTick;
      }
      assertThat(node.end(WheelNode.FIRED)).isTrue();
      return NodeWheel.GONE;
    }
  }

  @Test
  void aFailureLosesNoNode() {
    int failures = 0;
    for (long seed = 0; seed < 500; seed++) {
      Random random = new Random(seed);
      FailingVisitor visitor = new FailingVisitor(random);
      List<Node> nodes = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        long tick = 1L + random.nextInt(10_000);
        Node node = new Node(i, i, tick, tick);
        nodes.add(node);
        visitor.wheel.place(node, node.deadlineTick, node.deadlineTick);
      }
      visitor.fails = true;
      try {
        for (long now = 0; now <= 20_000; now += random.nextInt(500)) {
          Node reset = nodes.get(random.nextInt(nodes.size()));
          if (WheelNode.isArmed(reset.word())) {
            long tick = reset.deadlineTick + random.nextInt(5000);
            reset.reset(tick, tick);
          }
          int touched = visitor.wheel.advance(now, now, 1 + random.nextInt(50), visitor);
          int staged = visitor.wheel.stage(3, visitor);
          assertThat(touched + staged).isNotNegative();
        }
      } catch (OutOfMemoryError e) {
        failures++;
        Set<WheelNode> found = new HashSet<>();
        visitor.wheel.removeAll(found::add);
        assertThat(found).as("seed %s", seed)
            .containsAll(nodes.stream().filter(node -> WheelNode.isArmed(node.word())).toList());
      }
    }
    assertThat(failures).isGreaterThan(400);
  }

  @Test
  void aNodeMovedNearerManyTimesDoesNotPileUpEntries() {
    NodeQueue queue = new NodeQueue(0);
    long handle = queue.schedule(1_000_000, 1);
    int most = 0;
    for (int i = 0; i < 100_000; i++) {
      queue.reschedule(handle, i % 3 == 0 ? 50 : i % 3 == 1 ? 1_000_000 : 100);
      queue.wheel.sweepIfWorthwhile(queue.size());
      queue.wheel.sweep(100);
      most = Math.max(most, queue.wheel.entries());
    }
    assertThat(most).isLessThan(200);
    List<Long> fired = new ArrayList<>();
    queue.advance(1_000_000, Integer.MAX_VALUE, (h, deadline, payload) -> fired.add(payload));
    assertThat(fired).containsExactly(1L);
  }
}
