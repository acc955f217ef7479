package io.foliot.core.store;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** The terms that a store was {@linkplain TaskStore#configure given} for its queues. Thread-safe. */
public final class TermsByQueue {
  private final Map<String, QueueTerms> terms = new ConcurrentHashMap<>();

  /** Creates an empty set of terms. */
  public TermsByQueue() {}

  /** Sets the terms of a queue. */
  public void configure(String queue, QueueTerms queueTerms) {
    terms.put(queue, queueTerms);
  }

  /** Returns the terms of a queue, or {@link QueueTerms#DEFAULT} if none were set. */
  public QueueTerms of(String queue) {
    return terms.getOrDefault(queue, QueueTerms.DEFAULT);
  }

  /** Passes each queue with terms to an action, in no particular order. */
  public void forEach(BiConsumer<String, QueueTerms> action) {
    terms.forEach(action);
  }
}
