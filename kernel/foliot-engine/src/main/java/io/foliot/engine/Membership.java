package io.foliot.engine;

import io.foliot.core.Scheduler.ClusterNode;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * This node as a member of the cluster: what it publishes about itself, and what it has read about the others.
 * Thread-safe.
 *
 * <p>Guarantees: the clock of a node may differ from the store's by more than the permitted offset. Such a node
 * publishes the offset, and owns no slots until its clock is set. A node without a cluster owns all slots, even with
 * such a clock.
 *
 * <ol>
 * <li>{@link #join} makes the node a member; each view of a shared coordinator goes to the {@link SlotOwnership}.
 * <li>{@link #eachSecond} compares the clocks, and lets the ownership give up members that did not register again.
 * <li>{@link #leave} ends the membership at once, so that other nodes take the slots over while this node still fires.
 * </ol>
 *
 * <p>Due times follow the store's clock, regardless of this node's clock. But a node dates its signatures and its
 * output by its own clock, and a clock that is far off is a sign of a larger problem.
 */
final class Membership {
  private static final System.Logger LOG = System.getLogger(Membership.class.getName());
  /** Smallest change of the clock's offset that is published. */
  private static final long OFFSET_STEP_MILLIS = 10;

  private final Coordinator coordinator;
  private final SlotOwnership ownership;
  private final long maxClockOffsetMillis;
  private volatile Coordinator.@Nullable View view;
  /** The entry of this node that other members read. */
  private volatile Coordinator.Member self;

  Membership(EngineOptions options, TaskStore store, TimeSource clock, Coordinator coordinator,
      SlotOwnership.Loops loops) {
    this.coordinator = coordinator;
    maxClockOffsetMillis = options.maxClockOffsetMillis();
    self = new Coordinator.Member(options.node(), options.zone());
    ownership = new SlotOwnership(options.node(), store, clock, coordinator, loops);
  }

  void join() {
    if (coordinator.isShared()) {
      ownership.begin();
    }
    coordinator.join(self, this::changed);
  }

  /** Handles a change of the members or of the assignment. Called by the coordinator. */
  private void changed(Coordinator.View seen) {
    Coordinator.View before = view;
    view = seen;
    if (before != null && !before.members().isEmpty() && !seen.members().isEmpty()) {
      logChanges(LOG, self.node(), names(before), names(seen));
    }
    if (coordinator.isShared()) {
      ownership.changed(seen);
    }
  }

  private static Set<String> names(Coordinator.View seen) {
    return seen.members().stream().map(Coordinator.Member::node).collect(Collectors.toSet());
  }

  /** Logs which nodes other than this one are gone, and which have joined. */
  static void logChanges(System.Logger log, String self, Set<String> before, Set<String> now) {
    for (String node : before) {
      if (!now.contains(node) && !node.equals(self)) {
        log.log(System.Logger.Level.WARNING, "a node is gone; the others take its slots: node={0}, nodes={1}", node,
            now.size());
      }
    }
    for (String node : now) {
      if (!before.contains(node) && !node.equals(self)) {
        log.log(System.Logger.Level.INFO, "a node has joined: node={0}, nodes={1}", node, now.size());
      }
    }
  }

  /** Leaves the cluster. Returns whether other members take over. */
  boolean leave() {
    coordinator.close();
    Coordinator.View seen = view;
    return seen != null && seen.members().size() > 1;
  }

  /** @param offsetMillis by how much the store's clock is ahead of this node's; negative if it is behind */
  void eachSecond(long offsetMillis) {
    guardClock(offsetMillis);
    if (coordinator.isShared()) {
      ownership.eachSecond();
    }
  }

  private void guardClock(long offsetMillis) {
    Coordinator.Member before = self;
    boolean isRight = Math.abs(offsetMillis) <= maxClockOffsetMillis;
    if (isRight == before.takesSlots() && Math.abs(offsetMillis - before.clockOffsetMillis()) < OFFSET_STEP_MILLIS) {
      return;
    }
    Coordinator.Member now = new Coordinator.Member(before.node(), before.zone(), isRight, offsetMillis);
    self = now;
    coordinator.update(now);
    if (isRight != before.takesSlots() && coordinator.isShared()) {
      if (isRight) {
        LOG.log(System.Logger.Level.INFO, "this node's clock is right again; the node takes slots");
      } else {
        LOG.log(System.Logger.Level.ERROR, "this node''s clock is {0} ms {1} that of the store, and {2} ms are allowed:"
            + " the node takes no slots until the clock is set (NTP)", Math.abs(offsetMillis),
            offsetMillis > 0 ? "behind" : "ahead of", maxClockOffsetMillis);
      }
      ownership.takesSlots(isRight);
    }
  }

  /**
   * Returns whether the clock of this node is wrong: it differs from the store's by more than permitted, and another
   * node's does not. If the clocks of all nodes differ from the store's, the store's clock is wrong.
   */
  boolean isClockWrong() {
    Coordinator.View seen = view;
    return coordinator.isShared() && !self.takesSlots() && seen != null
        && seen.members().stream().anyMatch(member -> !member.node().equals(self.node()) && member.takesSlots());
  }

  /** Returns by how much the store's clock is ahead of this node's, in milliseconds; negative if it is behind. */
  long clockOffsetMillis() {
    return self.clockOffsetMillis();
  }

  /** Returns true if this node is connected to the coordinator, and the coordinator does not list the given node. */
  boolean isGone(String node) {
    Coordinator.View seen = view;
    return coordinator.isShared() && seen != null && seen.connection() == Coordinator.Connection.CONNECTED
        && seen.members().stream().noneMatch(member -> member.node().equals(node));
  }

  /** Returns whether other nodes are members, with or without slots. */
  boolean hasOthers() {
    Coordinator.View seen = view;
    return seen != null && seen.members().stream().anyMatch(member -> !member.node().equals(self.node()));
  }

  /** Returns the name of the leading node, or null if it is not known. */
  @Nullable
  String leader() {
    Coordinator.View seen = view;
    return seen == null ? null : seen.leader();
  }

  /** Returns the node that owns a slot; null if that is not known. */
  @Nullable
  String owner(int slot) {
    return ownership.owner(slot);
  }

  /** Returns all nodes; only this node while no other is known. */
  List<ClusterNode> nodes(int ownedSlots) {
    Coordinator.View seen = view;
    Coordinator.Member me = self;
    List<Coordinator.Member> members = seen == null || seen.members().isEmpty() ? List.of(me) : seen.members();
    return members.stream().map(member -> new ClusterNode(member.node(), member.zone(),
        member.node().equals(me.node()) ? ownedSlots : ownership.slotsOf(member.node()).size(),
        member.takesSlots(), member.clockOffsetMillis())).toList();
  }
}
