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
 * Everything an engine sees of the world. With these replaced, it runs under one thread and a virtual clock.
 *
 * @param clock wall and monotonic time
 * @param loops makes the event loops
 * @param random the source of ids, jitter and trace contexts; called by one thread at a time
 * @param store the store of the tasks; not closed by the engine
 * @param coordinator reports the other nodes; closed by the engine
 * @param deliveries one per type; closed by the engine
 * @param meter counts events
 */
public record Environment(TimeSource clock, Supplier<EventLoop> loops, RandomGenerator random, TaskStore store,
    Coordinator coordinator, List<Delivery> deliveries, Meter meter) {
  public Environment {
    deliveries = List.copyOf(deliveries);
  }
}
