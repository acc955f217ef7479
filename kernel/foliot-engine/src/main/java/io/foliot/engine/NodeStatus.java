package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.core.Scheduler.ClusterStatus;
import io.foliot.core.Scheduler.DestinationStatus;
import io.foliot.core.Scheduler.EngineStatus;
import io.foliot.core.Scheduler.LaneStatus;
import io.foliot.core.Scheduler.QueueStatus;
import io.foliot.core.Unready;
import io.foliot.core.store.QueueCounts;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The status of a node, its queues and its cluster, from figures that the loops have published. Thread-safe. */
final class NodeStatus {
  /** Longest time between two turns of a loop that is not stalled: an idle loop turns ten times a second. */
  private static final long STALL_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final Environment environment;
  private final EngineOptions options;
  private final TaskStore store;
  private final QueueRegistry registry;
  private final LoopGroup loops;
  private final ParkedHeads parkedHeads;
  private final Membership membership;
  private final CallGate gate;

  NodeStatus(EngineOptions options, Environment environment, QueueRegistry registry, LoopGroup loops,
      ParkedHeads parkedHeads, Membership membership, CallGate gate) {
    this.options = options;
    this.environment = environment;
    store = environment.store();
    this.registry = registry;
    this.loops = loops;
    this.parkedHeads = parkedHeads;
    this.membership = membership;
    this.gate = gate;
  }

  ClusterStatus cluster() {
    int ownedSlots = loops.ownedSlots();
    return new ClusterStatus(options.node(), options.zone(), membership.leader(), membership.nodes(ownedSlots),
        store.slotCount(), ownedSlots, store.kind(), store.durability(), environment.coordinator().kind(),
        loops.get(0).storeOffsetMicros());
  }

  EngineStatus engine() {
    List<LaneStatus> lanes = new ArrayList<>();
    int wheelEntries = 0;
    long oldest = parkedHeads.overdueMillis(loops.storeMillis());
    for (LoopStatus status : loops.statuses()) {
      lanes.addAll(status.lanes());
      wheelEntries += status.wheelEntries();
      oldest = Math.max(oldest, status.oldestDueMillis());
      oldest = status.overdueElsewhere().values().stream().reduce(oldest, Math::max);
    }
    List<DestinationStatus> destinations = registry.destinations().stream()
        .map(one -> new DestinationStatus(one.name(), one.limit(), one.running())).toList();
    return new EngineStatus(wheelEntries, merged(lanes), destinations, oldest, unready(), registry.missing().names());
  }

  private List<Unready> unready() {
    if (gate.failure().isDone()) {
      return List.of(new Unready.Failed(gate.failure().join()));
    }
    if (!gate.isRunning() || gate.isStopped()) {
      return List.of(gate.isStopped() ? new Unready.Stopping() : new Unready.NotStarted());
    }
    StoreSeal sealed = gate.seal();
    List<Unready> reasons = new ArrayList<>();
    if (sealed != null) {
      reasons.add(new Unready.Sealed(sealed));
    }
    if (membership.isClockWrong()) {
      reasons.add(new Unready.ClockOff(membership.clockOffsetMillis()));
    }
    for (int i = 0; i < loops.size(); i++) {
      long sinceTurnNanos = loops.get(i).sinceTurnNanos();
      if (sinceTurnNanos > STALL_NANOS) {
        reasons.add(new Unready.LoopStalled(i, TimeUnit.NANOSECONDS.toMillis(sinceTurnNanos)));
      } else {
        switch (loops.get(i).status().store()) {
          case SERVING -> {
            // No reason.
          }
          case FULL -> reasons.add(new Unready.StoreFull());
          case AWAY -> reasons.add(new Unready.StoreAway());
        }
      }
    }
    return reasons.stream().distinct().toList();
  }

  /** Merges the lanes that a queue has on several loops. */
  private static List<LaneStatus> merged(List<LaneStatus> lanes) {
    Map<String, LaneStatus> byQueue = new TreeMap<>();
    for (LaneStatus lane : lanes) {
      byQueue.merge(lane.queue(), lane,
          (a, b) -> new LaneStatus(a.queue(), a.waiting() + b.waiting(), a.running() + b.running(),
              a.hasParked() || b.hasParked(), Math.max(a.oldestDueMillis(), b.oldestDueMillis())));
    }
    return List.copyOf(byQueue.values());
  }

  List<QueueStatus> queues(Map<String, QueueCounts> counts) {
    return registry.callersQueues().stream()
        .map(queue -> of(queue, counts.getOrDefault(queue.name(), QueueCounts.NONE)))
        .sorted(Comparator.comparing(status -> status.queue().name())).toList();
  }

  private QueueStatus of(QueueConfig queue, QueueCounts counts) {
    double rate = 0;
    long lagMillis = parkedHeads.overdueMillis(queue.name(), loops.storeMillis());
    for (LoopStatus status : loops.statuses()) {
      rate += status.settledPerSecond().getOrDefault(queue.name(), 0.0);
      lagMillis = Math.max(lagMillis, status.overdueElsewhere().getOrDefault(queue.name(), 0L));
      for (LaneStatus lane : status.lanes()) {
        if (lane.queue().equals(queue.name())) {
          lagMillis = Math.max(lagMillis, lane.oldestDueMillis());
        }
      }
    }
    return new QueueStatus(queue, counts, rate, Duration.ofMillis(lagMillis));
  }
}
