package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Scheduler.UnknownQueueException;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.Document;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.UnreadableException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The queues according to the latest read of this node. Also the state of each queue that the loops of the node share:
 * settings, permits, long polls, destinations. Thread-safe.
 */
final class QueueRegistry {
  private static final System.Logger LOG = System.getLogger(QueueRegistry.class.getName());

  /** Maximum number of concurrent attempts of one delivery: each is a socket, or a thread of the application. */
  private static final int MAX_ATTEMPTS = 16_384;
  /** One part in this many of a delivery's attempts is reserved for destinations that have no attempt. */
  private static final int RESERVED_PART_OF_ATTEMPTS = 4;
  /** Memory of an attempt with the largest payload, in bytes: the least reserve of {@link #memory}. */
  private static final long PAYLOAD_BYTES = Limits.MAX_PAYLOAD_BYTES + Lane.ATTEMPT_BYTES;
  /**
   * Divisor that gives the reserve of {@link #memory}. The reserve is for queues that have no payload in memory.
   * Destinations that hang can use up the other part. Then a queue of another destination gets one payload at a time
   * from the reserve.
   */
  private static final int RESERVED_PART = 2;

  private record Known(QueueConfig queue, long version, long closingSince) {
    static Known of(Document document) {
      QueueCodec.Decoded decoded = QueueCodec.decodeAll(document.content());
      return new Known(decoded.queue(), document.version(), decoded.closingSince());
    }
  }

  /**
   * The time at which a read of all queues began: by this node's monotonic clock, and by this node's estimate of the
   * store's clock.
   */
  record Read(long nanos, long storeMicros) {}

  private final TaskStore store;
  private final TimeSource clock;
  private final int destinationLimit;
  private final Budget memory;
  private final Runnable requestPermits;
  private final Map<String, Delivery> deliveries;
  private final Map<String, Budget> attempts = new HashMap<>();
  /** The internal queues, which belong to deliveries and have no documents. */
  private final Map<String, Known> internal = new HashMap<>();
  private final ConcurrentMap<String, Known> queues = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Lane.Shared> shared = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Destination> destinations = new ConcurrentHashMap<>();
  private final MissingQueues missing;
  // written under the lock of this
  private volatile long changes;
  private volatile Read lastRead;
  private volatile Seating seating = Seating.UNKNOWN;

  QueueRegistry(TaskStore store, TimeSource clock, List<Delivery> deliveries, EngineOptions options,
      Runnable requestPermits) {
    this.requestPermits = requestPermits;
    this.store = store;
    this.clock = clock;
    destinationLimit = options.destinationLimit();
    long reserved = Math.max(PAYLOAD_BYTES, options.callBytes() / RESERVED_PART);
    memory = new Budget(Math.max(0, options.callBytes() - reserved), reserved, PAYLOAD_BYTES);
    missing = new MissingQueues(clock);
    lastRead = new Read(clock.monotonicNanos() - QueueWatch.VALID_NANOS, 0);
    Map<String, Delivery> byType = new HashMap<>();
    for (Delivery delivery : deliveries) {
      if (byType.put(delivery.type(), delivery) != null) {
        throw new IllegalArgumentException("there is one delivery per type: type=" + delivery.type());
      }
      attempts.put(delivery.type(), attempts(delivery));
    }
    this.deliveries = Map.copyOf(byType);
    deliveries.forEach(delivery -> delivery.internalQueues().forEach(queue -> putInternal(delivery, queue)));
  }

  private void putInternal(Delivery delivery, QueueConfig queue) {
    if (!queue.name().startsWith(Limits.INTERNAL_QUEUES) || !queue.target().type().equals(delivery.type())) {
      throw new IllegalArgumentException("an internal queue's name begins with " + Limits.INTERNAL_QUEUES
          + ", and its target is the delivery that brings it: queue=" + queue.name() + ", delivery=" + delivery.type());
    }
    Known known = new Known(queue, 0, QueueCodec.OPEN);
    internal.put(queue.name(), known);
    put(queue.name(), known);
  }

  private static Budget attempts(Delivery delivery) {
    int most = Math.min(delivery.maxInFlight(), MAX_ATTEMPTS);
    int reserved = Math.max(1, most / RESERVED_PART_OF_ATTEMPTS);
    return new Budget(most - reserved, reserved, 1);
  }

  @Nullable
  QueueConfig queue(String name) {
    Known known = queues.get(name);
    return known == null ? null : known.queue();
  }

  /** Returns a queue that callers may name; null if there is none, or if it is internal. */
  @Nullable
  QueueConfig callersQueue(String name) {
    return internal.containsKey(name) ? null : queue(name);
  }

  /** Throws unless a queue accepts tasks, according to the latest read of this node. */
  void ensureOpen(String name) {
    if (queue(name) == null) {
      throw new UnknownQueueException(name);
    }
    if (isClosing(name)) {
      throw new OverloadedException("the queue is being deleted: queue=" + name);
    }
  }

  /** Returns whether a queue is being deleted. */
  boolean isClosing(String name) {
    Known known = queues.get(name);
    return known != null && known.closingSince() != QueueCodec.OPEN;
  }

  /** Returns the queues that are being deleted, and since when, in milliseconds of the store's clock. */
  Map<String, Long> closings() {
    Map<String, Long> closings = new TreeMap<>();
    queues.forEach((name, known) -> {
      if (known.closingSince() != QueueCodec.OPEN) {
        closings.put(name, known.closingSince());
      }
    });
    return closings;
  }

  /** Returns the latest read of all queues that this node has applied. */
  Read lastRead() {
    return lastRead;
  }

  MissingQueues missing() {
    return missing;
  }

  Collection<QueueConfig> queues() {
    return queues.values().stream().map(Known::queue).toList();
  }

  /** Returns the queues that callers see. */
  Collection<QueueConfig> callersQueues() {
    return queues().stream().filter(queue -> !internal.containsKey(queue.name())).toList();
  }

  /** Returns how many reads of queues this node has applied; callers read this number before they read the store. */
  long changes() {
    return changes;
  }

  /**
   * Sets the settings of a queue that were read from the store. Returns false if this node has applied another read
   * since this read began; the caller must then read again.
   *
   * @param document null if the store does not have the queue
   * @param changesBefore the number of {@link #changes} before the read
   */
  synchronized boolean put(String name, @Nullable Document document, long changesBefore) {
    if (changes != changesBefore) {
      return false;
    }
    changes++;
    put(name, document == null ? null : Known.of(document));
    return true;
  }

  private void put(String name, @Nullable Known known) {
    Known own = internal.get(name);
    if (own != null && own != known) {
      return; // No document changes an internal queue.
    }
    if (known == null) {
      queues.remove(name);
    } else {
      store.configure(name, QueueTerms.of(known.queue()));
      shared(name).permits().configure(known.queue(), store.isShared(), clock.monotonicNanos());
      queues.put(name, known);
    }
  }

  /**
   * Sets the settings of all queues that were read from the store. Returns the names of the queues that are different
   * now. Returns null, and changes nothing, if this node has applied another read since this read began: the documents
   * may be older than that read.
   */
  synchronized @Nullable Set<String> replaceAll(List<Document> documents, long changesBefore, Read read) {
    if (changes != changesBefore) {
      return null;
    }
    changes++;
    Set<String> changed = new TreeSet<>(queues.keySet());
    changed.removeAll(internal.keySet());
    for (Document document : documents) {
      try {
        Known known = Known.of(document);
        // The version alone is not enough: a store that has lost its latest writes assigns their versions again.
        if (known.equals(queues.get(document.name()))) {
          changed.remove(document.name());
        } else {
          put(document.name(), known);
          changed.add(document.name());
        }
      } catch (UnreadableException | IllegalArgumentException e) {
        LOG.log(System.Logger.Level.ERROR,
            "cannot read the settings of a queue; keeping the last known ones, if any: queue=" + document.name(),
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

  Lane.Shared shared(String queue) {
    return shared.computeIfAbsent(queue,
        none -> new Lane.Shared(new Permits(requestPermits), new LongPollQueue(queue, this::seating),
            new Budget.Share()));
  }

  /** Returns which worker may run which addressed task. */
  Seating seating() {
    return seating;
  }

  /** Sets which worker may run which addressed task from now on. */
  void seat(Seating next) {
    seating = next;
  }

  /** Returns the memory for the payloads of attempts, in bytes. */
  Budget memory() {
    return memory;
  }

  /** Returns the delivery for a target's type, whichever queues it serves now; null if this node has none. */
  @Nullable
  Delivery delivery(Target target) {
    return deliveries.get(target.type());
  }

  /** Returns the delivery that can make attempts of a queue on this node now, or null if there is none. */
  @Nullable
  Delivery serving(QueueConfig queue) {
    Delivery delivery = delivery(queue.target());
    ServedQueues served = delivery == null ? null : delivery.servedQueues();
    return served == null || served.contains(queue.name()) ? delivery : null;
  }

  /** Returns whether this node may serve queues that other nodes do not. */
  boolean isSelective() {
    return deliveries.values().stream().anyMatch(delivery -> delivery.servedQueues() != null);
  }

  Collection<Delivery> deliveries() {
    return deliveries.values();
  }

  /** Returns the destination of a queue's attempts; each handler of this process is a destination of its own. */
  Destination destination(Delivery delivery, QueueConfig queue) {
    Target target = queue.target();
    String name = delivery.type() + ":"
        + (target.type().equals(Target.LOCAL) ? queue.name() : delivery.destination(target));
    Budget shared = Objects.requireNonNull(attempts.get(delivery.type()));
    return destinations.computeIfAbsent(name, none -> new Destination(name, destinationLimit, shared));
  }

  Collection<Destination> destinations() {
    return destinations.values();
  }

  /**
   * Returns the outcome of a failed attempt. This is a final failure if the attempts are used up. Otherwise it is a
   * retry after the queue's backoff, or later if the receiver asked for that.
   *
   * @param requested the wait that the receiver asked for, or null
   */
  static Outcome failed(TaskRecord task, QueueConfig queue, @Nullable Duration requested, double random) {
    return failed(task, queue, requested == null
        ? queue.retry().backoffMillis(task.attempt(), random)
        : queue.retry().backoffMillis(task.attempt(), ceilMillis(requested), random));
  }

  /**
   * Returns the outcome of a failed attempt: a final failure if the attempts are used up, else a retry after the given
   * wait.
   */
  static Outcome failed(TaskRecord task, QueueConfig queue, long waitMillis) {
    return task.attempt() >= task.attemptsAllowed(QueueTerms.of(queue))
        ? new Outcome.Failed()
        : new Outcome.Retry(Due.after(waitMillis));
  }

  /** Returns the outcome of an attempt whose task fires again, no sooner than {@link Limits} permits. */
  static Outcome again(Duration next) {
    return new Outcome.Rearm(Due.after(Math.max(Limits.MIN_NEXT_MILLIS, ceilMillis(next))));
  }

  /** Returns the milliseconds of a duration, rounded up, so that nothing is early. */
  static long ceilMillis(Duration duration) {
    long millis = duration.toMillis();
    return duration.toNanosPart() % 1_000_000 == 0 ? millis : millis + 1;
  }
}
