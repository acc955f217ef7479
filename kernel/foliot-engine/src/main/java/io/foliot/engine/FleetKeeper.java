package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Scheduler.OverloadedException;
import io.foliot.core.Stages;
import io.foliot.core.TaskReason;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.UnreadableException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Publishes the workers of this node, and reads the workers of all nodes. Passive; confined to the first loop's thread,
 * except the methods that any thread may call.
 *
 * <p>Guarantees: an error here costs time and never safety, because a claim decides which worker runs a task. A worker
 * that calls a live node has a seat within seconds, unless no seat is free. If a worker stops calling, the {@link
 * WorkerRoster} of its node drops the worker. Within seconds after that, the worker is gone for all nodes. If the node
 * itself dies, its workers are gone after {@link Vouchers#VALID_MICROS}, or sooner if the coordinator reports that the
 * node is gone. If the coordinator reports a live node as gone, that node vouches again in time, so its workers keep
 * their seats.
 *
 * <ol>
 * <li>Once a second, or twice a second while there are workers, the keeper asks the {@link WorkerRoster} for the live
 * workers. This node itself is a worker if it has handlers of its own. The keeper vouches for these workers in a
 * document of this node. It writes this document every three seconds, and when the workers change.
 * <li>It reads the documents of all nodes, and the document with the seats ({@link FleetRecord}).
 * <li>If a worker of this node has no seat, or if a worker with a seat is gone, the keeper writes the seats by
 * compare-and-set. If another node was faster, the next turn reads the seats again.
 * <li>A fleet that differs from the previous one becomes the {@link Seating} of the lanes, and goes to the deliveries.
 * </ol>
 *
 * <p>The keeper reads the seats even while this node has no workers. A worker that polls this node for the first time
 * may be disabled, and only the seats show this. Until the first read, every worker is regarded as disabled. A store
 * that is not shared has one node. That node vouches for nothing, and reads the seats only at its start and after each
 * write of the seats.
 */
final class FleetKeeper {
  private static final System.Logger LOG = System.getLogger(FleetKeeper.class.getName());
  private static final String SEATS = Fleet.SEATS;
  private static final String NODES = "node/";
  private static final long VOUCH_NANOS = 3_000_000_000L;
  /**
   * Maximum age of valid vouchers if the coordinator reports that their node is gone. A live node writes new vouchers
   * after half of this time.
   */
  private static final long OVERDUE_MICROS = 6_000_000L;
  /** Time from the end of a node's vouchers until another node deletes their document. */
  private static final long FORGET_MICROS = 3_600_000_000L;
  /** Pause between two reads while there are no workers. */
  private static final long READ_NANOS = 1_000_000_000L;
  /** Pause between two reads while there are workers, so that the tasks of a stopped worker soon begin elsewhere. */
  private static final long READ_SOON_NANOS = 500_000_000L;
  /** Maximum number of tries of one call to change the seats. */
  private static final int MOST_CHANGES = 20;

  /** Number of seats in use at which a warning is logged: four fifths. */
  private static final int NEARLY_FULL = FleetRecord.MAX / 5 * 4;

  /** The slot whose clock is read. The documents are in the same database as slot 0. */
  private static final int CLOCK_SLOT = 0;

  /**
   * The answer to a read of the fleet.
   *
   * @param micros the store's clock, read before the documents
   * @param documents the documents; null if this node has read them and no other node can change them
   */
  private record Read(long micros, @Nullable List<Document> documents) {}

  private final TaskStore store;
  private final QueueRegistry registry;
  private final Inbox inbox;
  private final String node;
  private final String zone;
  private final Predicate<String> isGone;
  private final WorkerRoster roster = new WorkerRoster();
  private final Vouchers.Sightings sightings = new Vouchers.Sightings();

  private volatile Fleet fleet = Fleet.EMPTY;
  /** The queues of the workers that call this node and get no seat. */
  private volatile Set<String> unseated = Set.of();

  // the loop's thread
  private boolean underWay;
  private boolean hasLeft;
  private boolean hasRead;
  private Map<WorkerId, WorkerRoster.Present> vouched = Map.of();
  private long vouchedNanos;
  private long ownVersion;
  private FleetRecord seats = FleetRecord.EMPTY;
  private long seatsVersion;
  private boolean isNearlyFullLogged;
  private boolean isFullLogged;
  private long turnedNanos;
  /** Whether a turn is due at once. */
  private boolean isUrgent = true;
  /** Calls that have changed the seats, and wait until this node has read the change. */
  private final List<CompletableFuture<Boolean>> changes = new ArrayList<>();

  /** @param isGone whether the coordinator reports that a node is gone */
  FleetKeeper(TaskStore store, QueueRegistry registry, EngineOptions options, Inbox inbox, Predicate<String> isGone) {
    this.store = store;
    this.registry = registry;
    this.inbox = inbox;
    this.isGone = isGone;
    node = options.node();
    zone = options.zone();
  }

  // Any thread.

  WorkerRoster roster() {
    return roster;
  }

  /** Returns the latest fleet that was read; empty before the first read. */
  Fleet fleet() {
    return fleet;
  }

  /** Returns why workers of a queue that call this node get no tasks, or none with an address. */
  Set<TaskReason> heldBack(String queue) {
    Set<TaskReason> reasons = EnumSet.noneOf(TaskReason.class);
    if (unseated.contains(queue)) {
      reasons.add(TaskReason.NO_SEAT);
    }
    if (roster.hasRefused(queue)) {
      reasons.add(TaskReason.TOO_MANY_WORKERS);
    }
    return reasons;
  }

  /**
   * Enables or disables a worker. The stage completes with true if the worker has a seat, and with false if it has
   * none. When it completes with true, this node has read the change: a worker that was disabled gets no task of a
   * later claim.
   */
  CompletionStage<Boolean> enable(String worker, boolean isEnabled) {
    return enable(worker, isEnabled, MOST_CHANGES);
  }

  private CompletionStage<Boolean> enable(String worker, boolean isEnabled, int attempts) {
    return store.document(DocumentKind.FLEET, SEATS).thenCompose(found -> {
      FleetRecord record = found.map(FleetKeeper::decoded).orElse(FleetRecord.EMPTY);
      FleetRecord next = record.enabled(worker, isEnabled);
      if (next == null) {
        return CompletableFuture.completedFuture(false);
      }
      long version = found.map(Document::version).orElse(0L);
      return store.writeDocument(DocumentKind.FLEET, SEATS, version, next.encode()).thenCompose(written -> {
        if (written) {
          CompletableFuture<Boolean> seen = new CompletableFuture<>();
          inbox.post(nowNanos -> {
            hasRead = false;
            isUrgent = true;
            changes.add(seen);
          });
          return seen;
        }
        if (attempts <= 1) {
          return CompletableFuture.failedFuture(new OverloadedException(
              "the worker is unchanged, because other calls kept changing the seats; try again: worker=" + worker));
        }
        return enable(worker, isEnabled, attempts - 1);
      });
    });
  }

  /** Requests a read of the fleet at once, because a worker has stopped. */
  void left() {
    inbox.post(nowNanos -> isUrgent = true);
  }

  /** Withdraws this node's vouchers at once, because it stops and other nodes take over. */
  void leave() {
    inbox.post(nowNanos -> {
      hasLeft = true;
      isUrgent = true;
    });
  }

  // The loop's thread.

  void turn(long nowNanos) {
    long restNanos = fleet.hasWorkers() ? READ_SOON_NANOS : READ_NANOS;
    if (!underWay && (isUrgent || nowNanos - turnedNanos >= restNanos)) {
      isUrgent = false;
      turnedNanos = nowNanos;
      read(nowNanos);
    }
  }

  /**
   * Reads the store's clock, and then the documents. A voucher that had ended at the earlier of the two reads had ended
   * at the later one too. A clock that is read before this call may be older than the documents by any time, because
   * the monotonic clock of a suspended machine stops.
   */
  private void read(long nowNanos) {
    Map<WorkerId, WorkerRoster.Present> own = own(nowNanos);
    List<CompletableFuture<Boolean>> awaiting = List.copyOf(changes);
    changes.clear();
    underWay = true;
    CompletionStage<Read> read = Stages.call(() -> store.timeMicros(CLOCK_SLOT))
        .thenCompose(micros -> read(own, nowNanos, micros));
    inbox.after(read, (found, failure, answeredNanos) -> {
      underWay = false;
      // After a failure the latest fleet is kept: a failed read is no evidence that workers are gone.
      if (found == null) {
        changes.addAll(awaiting);
        return;
      }
      found(found, own);
      awaiting.forEach(each -> each.complete(true));
    });
  }

  private CompletionStage<Read> read(Map<WorkerId, WorkerRoster.Present> own, long nowNanos, long micros) {
    if (!store.isShared() && hasRead) {
      return CompletableFuture.completedFuture(new Read(micros, null));
    }
    return vouch(own, nowNanos, micros).thenCompose(done -> store.documents(DocumentKind.FLEET))
        .thenApply(documents -> new Read(micros, documents));
  }

  /**
   * Returns the workers that call this node, and also the node itself if it has handlers of its own. Returns none if
   * the node has left.
   */
  private Map<WorkerId, WorkerRoster.Present> own(long nowNanos) {
    if (hasLeft) {
      return Map.of();
    }
    Map<WorkerId, WorkerRoster.Present> own = roster.alive(nowNanos);
    Set<String> served = new TreeSet<>();
    for (QueueConfig queue : registry.callersQueues()) {
      if (queue.target().type().equals(Target.LOCAL) && registry.serving(queue) != null) {
        served.add(queue.name());
      }
    }
    if (!served.isEmpty()) {
      own.put(WorkerId.of(node), new WorkerRoster.Present(zone, served));
    }
    return own;
  }

  private CompletionStage<Boolean> vouch(Map<WorkerId, WorkerRoster.Present> own, long nowNanos, long nowMicros) {
    boolean isDue = !own.equals(vouched) || (!own.isEmpty() && nowNanos - vouchedNanos >= VOUCH_NANOS);
    if (!store.isShared() || !isDue) {
      return CompletableFuture.completedFuture(true);
    }
    byte[] content = own.isEmpty() ? null : new Vouchers(nowMicros + Vouchers.VALID_MICROS, own).encode();
    return store.writeDocument(DocumentKind.FLEET, NODES + node, ownVersion, content).thenApply(written -> {
      if (written) {
        inbox.post(at -> {
          vouched = own;
          vouchedNanos = nowNanos;
        });
      }
      return written;
    });
  }

  private void found(Read found, Map<WorkerId, WorkerRoster.Present> own) {
    List<Document> documents = found.documents();
    if (documents == null) {
      seat(own, live(Map.of(), own), found.micros());
    } else {
      found(documents, own, found.micros());
    }
  }

  private void found(List<Document> documents, Map<WorkerId, WorkerRoster.Present> own, long nowMicros) {
    Map<String, Vouchers> vouchers = new TreeMap<>();
    FleetRecord read = FleetRecord.EMPTY;
    seatsVersion = 0;
    ownVersion = 0;
    for (Document document : documents) {
      if (document.name().equals(SEATS)) {
        read = decoded(document);
        seatsVersion = document.version();
      } else if (document.name().equals(NODES + node)) {
        ownVersion = document.version();
      } else if (document.name().startsWith(NODES)) {
        other(document, vouchers, nowMicros);
      }
    }
    seats = read;
    hasRead = true;
    seat(own, live(vouchers, own), nowMicros);
  }

  private void other(Document document, Map<String, Vouchers> vouchers, long nowMicros) {
    String other = document.name().substring(NODES.length());
    try {
      Vouchers found = Vouchers.decode(document.content());
      if (sightings.holds(other, found, nowMicros)) {
        if (!isGone.test(other) || found.untilMicros() > nowMicros + Vouchers.VALID_MICROS - OVERDUE_MICROS) {
          vouchers.put(other, found);
        }
        return;
      }
      if (found.untilMicros() + FORGET_MICROS >= nowMicros) {
        return;
      }
    } catch (UnreadableException e) {
      LOG.log(System.Logger.Level.WARNING, "cannot read the workers of a node; deleting its document: node="
          + other, e);
    }
    inbox.after(Stages.call(() -> store.writeDocument(DocumentKind.FLEET, document.name(), document.version(), null)),
        (deleted, failure, nowNanos) -> {});
  }

  private static FleetRecord decoded(Document document) {
    try {
      return FleetRecord.decode(document.content());
    } catch (UnreadableException e) {
      LOG.log(System.Logger.Level.ERROR, "cannot read the seats of the workers; assigning new seats", e);
      return FleetRecord.EMPTY;
    }
  }

  /**
   * Returns all live workers. If this node and another node vouch for a worker, the worker is regarded as calling this
   * node.
   */
  private Map<WorkerId, FleetRecord.Live> live(Map<String, Vouchers> vouchers,
      Map<WorkerId, WorkerRoster.Present> own) {
    Map<WorkerId, FleetRecord.Live> live = new HashMap<>();
    vouchers.forEach((other, vouching) -> vouching.workers().forEach((worker, present) -> live.put(worker,
        new FleetRecord.Live(present.zone(), present.queues(), other))));
    own.forEach((worker, present) -> live.put(worker,
        new FleetRecord.Live(present.zone(), present.queues(), node)));
    return live;
  }

  private void seat(Map<WorkerId, WorkerRoster.Present> own, Map<WorkerId, FleetRecord.Live> live, long nowMicros) {
    FleetRecord next = seats.seated(live, own.keySet(), nowMicros);
    publish(seats.fleet(live, nowMicros), nowMicros);
    warnIfFull(next, own, nowMicros);
    if (next == seats || underWay) {
      return;
    }
    underWay = true;
    inbox.after(Stages.call(() -> store.writeDocument(DocumentKind.FLEET, SEATS, seatsVersion, next.encode())),
        (written, failure, nowNanos) -> {
          underWay = false;
          if (Boolean.TRUE.equals(written)) {
            seats = next;
            publish(next.fleet(live, nowMicros), nowMicros);
          }
          // The next turn reads the seats and their version again.
          hasRead = false;
        });
  }

  private void warnIfFull(FleetRecord next, Map<WorkerId, WorkerRoster.Present> own, long nowMicros) {
    int inUse = next.charged(nowMicros);
    boolean isNearlyFull = inUse >= NEARLY_FULL;
    if (isNearlyFull && !isNearlyFullLogged) {
      LOG.log(System.Logger.Level.WARNING, "most seats of workers are in use. Without a seat, a worker gets only tasks"
          + " without an address: seats={0}, max={1}", inUse, FleetRecord.MAX);
    }
    isNearlyFullLogged = isNearlyFull;
    Set<WorkerId> seated = next.seated();
    WorkerId one = null;
    Set<String> queues = new HashSet<>();
    for (Map.Entry<WorkerId, WorkerRoster.Present> worker : own.entrySet()) {
      if (!seated.contains(worker.getKey())) {
        one = worker.getKey();
        queues.addAll(worker.getValue().queues());
      }
    }
    unseated = queues;
    if (one != null && !isFullLogged) {
      LOG.log(System.Logger.Level.WARNING, "a worker has no seat, because its API key has its share of the seats, or"
          + " no seat is free. It gets only tasks without an address: worker={0}, seats={1}, max={2}",
          one.name(), inUse, FleetRecord.MAX);
    }
    isFullLogged = one != null;
  }

  private void publish(Fleet found, long nowMicros) {
    if (registry.seating().isKnown() && found.equals(fleet)) {
      return;
    }
    // The first fleet is published even if it has no workers: planners and polling workers wait for it.
    fleet = found;
    registry.seat(Seating.of(found, node));
    registry.deliveries()
        .forEach((Delivery delivery) -> delivery.fleetChanged(found, Math.floorDiv(nowMicros, 1_000L)));
  }
}
