package io.foliot.core.engine;

import io.foliot.core.Clock;
import io.foliot.core.Limits;
import io.foliot.core.Queue;
import io.foliot.core.Target;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.ServedQueues;
import io.foliot.core.store.Due;
import io.foliot.core.store.Document;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The queues as this node knows them, and what its loops share of them: settings, permits, desks, destinations. Any
 * thread.
 */
final class Lines {
  private static final System.Logger LOG = System.getLogger(Lines.class.getName());

  /** Most attempts that one delivery makes at once: each is a socket, or a thread of the application. */
  private static final int MAX_ATTEMPTS = 16_384;
  /** Which part of them is left to destinations that have none. */
  private static final int RESERVED_PART_OF_ATTEMPTS = 4;
  /** The largest payload with what an attempt costs beside it: what the memory has room for whatever others hold. */
  private static final long PAYLOAD_BYTES = Limits.MAX_PAYLOAD_BYTES + Lane.ATTEMPT_BYTES;
  /**
   * The part of the memory for payloads that is left to queues that hold none: half. Destinations that hang one after
   * the other use up the rest geometrically, some eight of them; then each gets one payload of this part, and some
   * thirty more find room for payloads of the largest size.
   */
  private static final int RESERVED_PART = 2;

  private record Known(Queue queue, long version) {}

  private final TaskStore store;
  private final Clock clock;
  private final int destinationLimit;
  private final Budget memory;
  private final Runnable hungry;
  private final Map<String, Delivery> deliveries;
  private final Map<String, Budget> attempts = new HashMap<>();
  private final ConcurrentMap<String, Known> queues = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Lane.Line> lines = new ConcurrentHashMap<>();
  private final ConcurrentMap<String, Destination> destinations = new ConcurrentHashMap<>();
  private final Set<String> leaving = ConcurrentHashMap.newKeySet();
  private final AtomicLong changes = new AtomicLong();

  Lines(TaskStore store, Clock clock, List<Delivery> deliveries, EngineOptions options, Runnable hungry) {
    this.hungry = hungry;
    this.store = store;
    this.clock = clock;
    destinationLimit = options.destinationLimit();
    long reserved = Math.max(PAYLOAD_BYTES, options.callBytes() / RESERVED_PART);
    memory = new Budget(Math.max(0, options.callBytes() - reserved), reserved, PAYLOAD_BYTES);
    Map<String, Delivery> byType = new HashMap<>();
    for (Delivery delivery : deliveries) {
      if (byType.put(delivery.type(), delivery) != null) {
        throw new IllegalArgumentException("there is one delivery per type: type=" + delivery.type());
      }
      attempts.put(delivery.type(), attempts(delivery));
    }
    this.deliveries = Map.copyOf(byType);
  }

  private static Budget attempts(Delivery delivery) {
    int most = Math.min(delivery.maxInFlight(), MAX_ATTEMPTS);
    int reserved = Math.max(1, most / RESERVED_PART_OF_ATTEMPTS);
    return new Budget(most - reserved, reserved, 1);
  }

  @Nullable
  Queue queue(String name) {
    Known known = queues.get(name);
    return known == null ? null : known.queue();
  }

  /** The queue, if tasks may be submitted to it. */
  @Nullable
  Queue open(String name) {
    return leaving.contains(name) ? null : queue(name);
  }

  long version(String name) {
    Known known = queues.get(name);
    return known == null ? 0 : known.version();
  }

  Collection<Queue> queues() {
    return queues.values().stream().map(Known::queue).toList();
  }

  /** No more submits to this queue, or again. */
  void leave(String name, boolean leaves) {
    if (leaves) {
      leaving.add(name);
    } else {
      leaving.remove(name);
    }
  }

  /** How often something was learnt about queues; to be asked before the store is. */
  long changes() {
    return changes.get();
  }

  /** The settings of a queue as they are from now on; null if it is gone. */
  void put(String name, @Nullable Queue queue, long version) {
    changes.incrementAndGet();
    if (queue == null) {
      queues.remove(name);
    } else {
      store.configure(name, QueueTerms.of(queue));
      line(name).permits().configure(queue, store.isShared(), clock.monotonicNanos());
      queues.put(name, new Known(queue, version));
    }
  }

  /**
   * All settings as the store had them when it was asked; answers the names of the queues that are different now.
   * Nothing, if something newer was learnt since: the store had not yet written it, perhaps.
   */
  Set<String> replaceAll(List<Document> documents, long changesWhenAsked) {
    if (!changes.compareAndSet(changesWhenAsked, changesWhenAsked + 1)) {
      return Set.of();
    }
    Set<String> changed = new TreeSet<>(queues.keySet());
    for (Document document : documents) {
      try {
        Known read = new Known(QueueCodec.decode(document.content()), document.version());
        // The version alone does not tell: a store that has forgotten its last writes gives theirs out again.
        if (read.equals(queues.get(document.name()))) {
          changed.remove(document.name());
        } else {
          put(document.name(), read.queue(), read.version());
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
        put(name, null, 0);
      }
    }
    return changed;
  }

  Lane.Line line(String queue) {
    return lines.computeIfAbsent(queue, none -> new Lane.Line(new Permits(hungry), new PullDesk(), new Budget.Share()));
  }

  /** The memory for the payloads of attempts, in bytes. */
  Budget memory() {
    return memory;
  }

  /** The delivery of a target, whether or not it serves the queue at the moment. */
  @Nullable
  Delivery delivery(Target target) {
    return deliveries.get(target.type());
  }

  /** The delivery that can make attempts of a queue on this node now. */
  @Nullable
  Delivery serving(Queue queue) {
    Delivery delivery = delivery(queue.target());
    ServedQueues served = delivery == null ? null : delivery.servedQueues();
    return served == null || served.contains(queue.name()) ? delivery : null;
  }

  /** Whether this node may serve queues that other nodes do not. */
  boolean isSelective() {
    return deliveries.values().stream().anyMatch(delivery -> delivery.servedQueues() != null);
  }

  Collection<Delivery> deliveries() {
    return deliveries.values();
  }

  /** What fails together: of handlers in this process each for itself. */
  Destination destination(Delivery delivery, Queue queue) {
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
   * Returns what follows a failed attempt: another one after the queue's backoff, or later if the receiver asked for
   * it; or none, if they are used up.
   *
   * @param asked the wait that the receiver asked for, or null
   */
  static Outcome failed(TaskRecord task, Queue queue, @Nullable Duration asked, double luck) {
    return failed(task, queue, asked == null
        ? queue.retry().backoffMillis(task.attempt(), luck)
        : queue.retry().backoffMillis(task.attempt(), ceilMillis(asked), luck));
  }

  /** Returns what follows a failed attempt: another one after that wait; or none, if they are used up. */
  static Outcome failed(TaskRecord task, Queue queue, long waitMillis) {
    return task.attempt() >= task.attemptsAllowed(QueueTerms.of(queue))
        ? new Outcome.Failed()
        : new Outcome.Retry(Due.after(waitMillis));
  }

  /** Returns what follows an attempt whose task is to fire again, which it does no sooner than {@link Limits} says. */
  static Outcome again(Duration next) {
    return new Outcome.Rearm(Due.after(Math.max(Limits.MIN_NEXT_MILLIS, ceilMillis(next))));
  }

  /** Returns the milliseconds of a duration, rounded up: nothing is early. */
  static long ceilMillis(Duration duration) {
    long millis = duration.toMillis();
    return duration.toNanosPart() % 1_000_000 == 0 ? millis : millis + 1;
  }
}
