package io.foliot.core.engine;

import io.foliot.core.Clock;
import io.foliot.core.Queue;
import io.foliot.core.Target;
import io.foliot.core.delivery.Delivery;

import io.foliot.core.store.Due;
import io.foliot.core.store.Document;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The queues as this node knows them, and what its loops share of them: settings, permits, desks, destinations. Any
 * thread.
 */
final class Lines {
  private static final System.Logger LOG = System.getLogger(Lines.class.getName());

  private record Known(Queue queue, long version, long closingSince) {
    static Known of(Document document) {
      QueueCodec.Decoded decoded = QueueCodec.decodeAll(document.content());
      return new Known(decoded.queue(), document.version(), decoded.closingSince());
    }
  }

  /** When a read of all queues began: by this node's monotonic clock, and by the store's clock as this node reckons it. */
  record Read(long nanos, long storeMicros) {}

  private final TaskStore store;
  private final Clock clock;
  private final int destinationLimit;
  private final Runnable hungry;
  private final Map<String, Delivery> deliveries;
  private final ConcurrentMap<String, Known> queues = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Lane.Line> lines = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Destination> destinations = new ConcurrentHashMap<>();
  private final MissingQueues missing;
  // written under the lock of this
  private volatile long changes;
  private volatile Read lastRead;

  Lines(TaskStore store, Clock clock, List<Delivery> deliveries, int destinationLimit, Runnable hungry) {
    this.hungry = hungry;
    this.store = store;
    this.clock = clock;
    this.destinationLimit = destinationLimit;
    missing = new MissingQueues(clock);
    lastRead = new Read(clock.monotonicNanos() - QueueWatch.VALID_NANOS, 0);
    Map<String, Delivery> byType = new HashMap<>();
    for (Delivery delivery : deliveries) {
      if (byType.put(delivery.type(), delivery) != null) {
        throw new IllegalArgumentException("there is one delivery per type: type=" + delivery.type());
      }
    }
    this.deliveries = Map.copyOf(byType);
  }

  @Nullable
  Queue queue(String name) {
    Known known = queues.get(name);
    return known == null ? null : known.queue();
  }

  /** Whether a queue is being deleted. */
  boolean isClosing(String name) {
    Known known = queues.get(name);
    return known != null && known.closingSince() != QueueCodec.OPEN;
  }

  /** The queues that are being deleted, and since when. */
  Map<String, Long> closings() {
    Map<String, Long> closings = new TreeMap<>();
    queues.forEach((name, known) -> {
      if (known.closingSince() != QueueCodec.OPEN) {
        closings.put(name, known.closingSince());
      }
    });
    return closings;
  }

  /** The last read of all queues by which they are known here. */
  Read lastRead() {
    return lastRead;
  }

  MissingQueues missing() {
    return missing;
  }

  Collection<Queue> queues() {
    return queues.values().stream().map(Known::queue).toList();
  }

  /** How often something was learnt about queues; to be asked before the store is. */
  long changes() {
    return changes;
  }

  /**
   * The settings of a queue as the store had them when it was asked; null if it is gone. Returns false if something newer was
   * learnt since; then the store is to be asked again.
   */
  synchronized boolean put(String name, @Nullable Document document, long changesWhenAsked) {
    if (changes != changesWhenAsked) {
      return false;
    }
    changes++;
    put(name, document == null ? null : Known.of(document));
    return true;
  }

  private void put(String name, @Nullable Known known) {
    if (known == null) {
      queues.remove(name);
    } else {
      store.configure(name, QueueTerms.of(known.queue()));
      line(name).permits().configure(known.queue(), store.isShared(), clock.monotonicNanos());
      queues.put(name, known);
    }
  }

  /**
   * All settings as the store had them when it was asked; returns the names of the queues that are different now, or null if
   * something newer was learnt since: the store had not yet written it, perhaps.
   */
  synchronized @Nullable Set<String> replaceAll(List<Document> documents, long changesWhenAsked, Read read) {
    if (changes != changesWhenAsked) {
      return null;
    }
    changes++;
    Set<String> changed = new TreeSet<>(queues.keySet());
    for (Document document : documents) {
      try {
        Known known = Known.of(document);
        // The version alone does not tell: a store that has forgotten its last writes gives theirs out again.
        if (known.equals(queues.get(document.name()))) {
          changed.remove(document.name());
        } else {
          put(document.name(), known);
          changed.add(document.name());
        }
      } catch (IllegalArgumentException e) {
        LOG.log(System.Logger.Level.ERROR,
            "a queue is set aside, its settings cannot be read: queue=" + document.name(),
            e);
        changed.remove(document.name());
      }
    }
    for (String name : changed) {
      if (documents.stream().noneMatch(document -> document.name().equals(name))) {
        put(name, (Known) null);
      }
    }
    lastRead = read;
    return changed;
  }

  Lane.Line line(String queue) {
    return lines.computeIfAbsent(queue, none -> new Lane.Line(new Permits(hungry), new PullDesk()));
  }

  @Nullable
  Delivery delivery(Target target) {
    return deliveries.get(target.type());
  }

  Collection<Delivery> deliveries() {
    return deliveries.values();
  }

  Destination destination(Delivery delivery, Target target) {
    String name = delivery.type() + ":" + delivery.destination(target);
    return destinations.computeIfAbsent(name, none -> new Destination(name, destinationLimit));
  }

  Collection<Destination> destinations() {
    return destinations.values();
  }

  /**
   * What follows a failed attempt: another one after the wait the receiver asked for, or the queue's backoff; or none, if
   * they are used up.
   *
   * @param afterMillis the wait that was asked for, or negative
   */
  static Outcome failed(TaskRecord task, Queue queue, long afterMillis, double luck) {
    if (task.attempt() >= task.attemptsAllowed(QueueTerms.of(queue))) {
      return new Outcome.Failed();
    }
    long waitMillis = afterMillis >= 0 ? afterMillis : queue.retry().backoffMillis(task.attempt(), luck);
    return new Outcome.Retry(Due.after(waitMillis));
  }
}
