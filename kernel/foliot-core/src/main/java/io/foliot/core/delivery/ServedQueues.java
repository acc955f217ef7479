package io.foliot.core.delivery;

import java.util.function.Consumer;

/**
 * The queues for which a delivery can make attempts in this process at the moment. Due tasks of the delivery's other
 * queues are parked until a node can deliver them. Thread-safe.
 */
public interface ServedQueues {
  /** Returns whether attempts of this queue can be made now. */
  boolean contains(String queue);

  /**
   * Adds a listener, which is called with the name of a queue whenever this node begins or ceases to serve the
   * queue. The listener must not block.
   */
  void addListener(Consumer<String> listener);
}
