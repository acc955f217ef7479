package io.foliot.engine;

import io.foliot.core.EventLoop;
import io.foliot.core.Meter;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.TaskStore;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Everything that an engine takes from outside. A test replaces these parts, and runs the engine on one thread with a
 * virtual clock.
 *
 * @param clock wall and monotonic time
 * @param loops creates the event loops, one per call
 * @param random the source of ids, jitter and trace contexts; called by one thread at a time
 * @param store the store of the tasks; not closed by the engine
 * @param coordinator reports the other nodes; closed by the engine
 * @param deliveries the deliveries, one per type of target; closed by the engine
 * @param meter counts events; a failure of it is logged, and has no other effect
 */
public record Environment(TimeSource clock, Supplier<EventLoop> loops, RandomGenerator random, TaskStore store,
    Coordinator coordinator, List<Delivery> deliveries, Meter meter) {
  public Environment {
    deliveries = List.copyOf(deliveries);
    meter = GuardedMeter.of(meter);
  }
}
