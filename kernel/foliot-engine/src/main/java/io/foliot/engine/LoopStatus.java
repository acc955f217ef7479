package io.foliot.engine;

import io.foliot.core.Scheduler.LaneStatus;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The state of a loop, which the loop publishes to other threads a few times a second.
 *
 * @param wheelEntries entries in the loop's wheel
 * @param oldestDueMillis by how much the oldest task that waits in a lane is overdue; 0 if none is
 * @param overdueElsewhere for each queue, by how many milliseconds its oldest task in the slots of other nodes is
 *     overdue; those nodes should have fired the task
 * @param store the health of the store; {@code FULL} also while the {@link RoomGate} is closed
 */
record LoopStatus(int wheelEntries, List<LaneStatus> lanes, Map<String, Double> settledPerSecond, long oldestDueMillis,
    Map<String, Long> overdueElsewhere, StoreHealth.State store) {
  /** Status of a loop before its first turn. */
  static final LoopStatus NONE = new LoopStatus(0, List.of(), Map.of(), 0, Map.of(), StoreHealth.State.AWAY);

  static LoopStatus of(LookAhead lookAhead, Lanes lanes, WatchedSlots slots, StoreHealth.State store, long nowMillis,
      long nowNanos) {
    List<LaneStatus> published = new ArrayList<>();
    Map<String, Double> settled = new HashMap<>();
    long oldest = Long.MAX_VALUE;
    for (Lane lane : lanes.all()) {
      published.add(of(lane, nowMillis));
      settled.put(lane.name(), lane.settledPerSecond(nowNanos));
      oldest = Math.min(oldest, lane.oldest());
    }
    return new LoopStatus(lookAhead.size(), List.copyOf(published), Map.copyOf(settled), overdue(oldest, nowMillis),
        slots.overdueElsewhere(nowMillis), store);
  }

  static LaneStatus of(Lane lane, long nowMillis) {
    return new LaneStatus(lane.name(), lane.waiting(), lane.running(), lane.hasParked(),
        overdue(lane.oldest(), nowMillis));
  }

  private static long overdue(long oldest, long nowMillis) {
    return oldest == Long.MAX_VALUE ? 0 : Math.max(0, nowMillis - oldest);
  }
}
