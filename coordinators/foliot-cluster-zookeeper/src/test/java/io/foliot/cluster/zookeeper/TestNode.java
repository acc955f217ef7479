package io.foliot.cluster.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.coordination.Coordinator.View;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A member of a cluster, which records the views that its coordinator reports. */
final class TestNode implements AutoCloseable {
  static final Duration BOUND = Duration.ofSeconds(30);
  private static final long POLL_NANOS = 5_000_000;

  final Member member;
  final List<View> views = new CopyOnWriteArrayList<>();
  final ZooKeeperCoordinator coordinator;
  private final ThreadEventLoop loop;
  private final AtomicLong skippedNanos = new AtomicLong();

  TestNode(String name, String zone, ZooKeeperOptions options) {
    member = new Member(name, zone);
    SystemClock system = new SystemClock();
    TimeSource clock = new TimeSource() {
      @Override
      public long wallMicros() {
        return system.wallMicros();
      }

      @Override
      public long monotonicNanos() {
        return system.monotonicNanos() + skippedNanos.get();
      }
    };
    loop = new ThreadEventLoop(clock, Thread.ofPlatform().daemon().name("node-" + name).factory());
    coordinator = new ZooKeeperCoordinator(options, clock, loop);
    coordinator.join(member, views::add);
  }

  /** Returns the last view that was reported, or null if there is none yet. */
  @Nullable
  View view() {
    return views.isEmpty() ? null : views.getLast();
  }

  /** Returns whether the last reported view has this state of the connection. */
  boolean reports(Connection connection) {
    View view = view();
    return view != null && view.connection() == connection;
  }

  boolean leads() {
    View view = view();
    return view != null && member.node().equals(view.leader());
  }

  byte @Nullable [] document() {
    View view = view();
    return view == null ? null : view.document();
  }

  long version() {
    View view = view();
    return view == null ? 0 : view.version();
  }

  /** Moves the monotonic clock of this node forward. */
  void skip(Duration time) {
    skippedNanos.addAndGet(time.toNanos());
    loop.wake();
  }

  /** Stops the loop of this node, but not its ZooKeeper client, which keeps the session alive while connected. */
  void halt() {
    loop.close();
  }

  /**
   * Returns whether all of these nodes are connected, report exactly these nodes as members, and report the same one of
   * them as the leader.
   */
  static boolean agree(List<TestNode> alive) {
    List<Member> members = alive.stream().map(node -> node.member).sorted(Comparator.comparing(Member::node)).toList();
    return alive.stream().allMatch(node -> {
      View view = node.view();
      return view != null && view.connection() == Connection.CONNECTED && view.members().equals(members);
    }) && alive.stream().filter(TestNode::leads).count() == 1 && alive.stream().map(node -> {
      View view = node.view();
      return view == null || view.leader() == null ? "" : view.leader();
    }).distinct().count() == 1;
  }

  static void awaitAgreed(List<TestNode> alive) {
    await("these nodes report each other and the same leader: " + alive, () -> agree(alive));
  }

  static void awaitAgreed(TestNode... alive) {
    awaitAgreed(List.of(alive));
  }

  /** Waits until a condition holds, for at most {@link #BOUND}. Returns how long that took. */
  static Duration await(String what, BooleanSupplier condition) {
    long begun = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - begun).as(what).isLessThan(BOUND.toNanos());
      LockSupport.parkNanos(POLL_NANOS);
    }
    return Duration.ofNanos(System.nanoTime() - begun);
  }

  @Override
  public void close() {
    coordinator.close();
  }

  @Override
  public String toString() {
    return member.node() + " with view " + view();
  }
}
