package io.foliot.engine;

import static java.util.Objects.requireNonNull;

import io.foliot.api.Limits;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The lane of a queue on one loop: the due tasks that the loop may start next. Confined to the loop's thread, except
 * {@link Shared}.
 */
final class Lane {
  /**
   * Maximum number of ids in the lane of a pull queue while no worker waits. This is enough for the next poll of a
   * worker.
   */
  private static final int UNPOLLED_ENTRIES = 256;
  /**
   * Longest expected time between two calls of workers for a pull queue. After a longer time the queue is regarded as
   * unpolled.
   */
  private static final long POLLED_NANOS = 50_000_000;
  /**
   * Initial value of the average size of a body. It is the largest permitted size: many new lanes together must not
   * claim more than fits into memory.
   */
  private static final long FIRST_BODY_BYTES = Limits.MAX_PAYLOAD_BYTES;
  /** Memory of an attempt besides its payload, in bytes. */
  static final long ATTEMPT_BYTES = 1 << 10;
  /** Inverse of the weight of the newest body in the average size: the newest body has a weight of an eighth. */
  private static final int BODY_WEIGHT = 8;
  /** Time constant of the average of {@link #settledPerSecond}. */
  private static final double RATE_SECONDS = 5;
  /**
   * Interval between two samples of the flow. It is long enough for several claims. A longer interval would cause more
   * parks: entries without room are parked until a sample has shown that the lane flows.
   */
  private static final long FLOW_SAMPLE_NANOS = 50_000_000;
  /** A lane flows if it will be empty within this many seconds at its latest rate. */
  private static final double FLOW_SECONDS = 2;
  /**
   * For this time after a lane was last empty, it flows whatever its rate, if it has permits. The results of its first
   * claims may take that long.
   */
  private static final long FLOW_CREDIT_NANOS = 500_000_000;

  /**
   * The state of a queue that the loops of a node share.
   *
   * @param permits the queue's permits
   * @param longPolls the workers that wait, for pull queues
   * @param memory the share held by the payloads of the queue's attempts
   */
  record Shared(Permits permits, LongPollQueue longPolls, Budget.Share memory) {}

  /** Weight of the latest claimed entry in the average share of postponed entries. */
  private static final double NEWEST = 1.0 / 16;
  /** Threshold of the share of postponed entries: above it, entries are probed before they are claimed. */
  private static final double MOST = 0.5;

  /**
   * Time after which a probe is repeated. The destination may take much longer to get to the entries that a probe has
   * found due, and most of their tasks may have been postponed since: then each claim would return a few of them, while
   * the due tasks behind them wait.
   */
  static final long PROBE_HOLDS_NANOS = 1_000_000_000;

  /**
   * The slots whose parked tasks are read. A loop reads the slots of its node first: two nodes that read the same slots
   * would claim the same tasks. Once these slots have no more parked tasks, the loop reads all slots of its share.
   * Before that, it reads one page of all of them every 2 s, because the owners of the other slots may have no delivery
   * for this queue, or no permits.
   */
  enum ParkedOf {
    OWN, GLANCE_AT_ALL, ALL
  }

  /** Time that a node reads parked tasks of its own slots only, before it reads a page of all slots. */
  private static final long GLANCE_NANOS = 2_000_000_000;

  private final String name;
  private final Shared shared;
  private final int maxEntries;

  // The settings in force. All are null while the queue is unknown. Only the field queue is set while this node has no
  // delivery for the queue.
  private @Nullable QueueConfig queue;
  private @Nullable Delivery delivery;
  private @Nullable Destination destination;
  private boolean lackIsLogged;

  /** Entries that were neither parked nor probed. */
  private final EntryQueue fresh = new EntryQueue();
  /** Entries that were parked, and entries that were put back. They are claimed first. */
  private final EntryQueue unparked = new EntryQueue();
  /** Entries that a probe has found due. */
  private final EntryQueue probed = new EntryQueue();
  /** Number of these entries, from the first on, that are to be probed again. */
  private int outdated;
  /** When the outdated entries were counted last. */
  private long probedNanos;
  /** Entries with an address, if this is the lane of a pull queue. */
  private final AddressedEntries addressed = new AddressedEntries();
  /** Whether entries with an address may have come that {@link #examine} has not returned yet. */
  private boolean hasNewAddressed;

  private boolean hasParked;
  private boolean parkedReadUnderWay;
  private ParkedOf parkedOf = ParkedOf.OWN;
  private boolean ownAreRead;
  private long glanceNanos;
  private @Nullable DueEntry parkedCursor;
  private long parkedRetryNanos;

  private long taken;
  private long takenSampled;
  private double takenPerSecond;
  private long flowNanos;
  private long emptyNanos;
  private long seenNanos;
  private long polledNanos;
  private double laterShare;
  private double deficit;
  private int running;
  private long bodyBytes = FIRST_BODY_BYTES;
  private long settled;
  private long sampled;
  private long sampledNanos = Long.MIN_VALUE;
  private double rate;

  Lane(String name, Shared shared, int maxEntries, long nowNanos) {
    parkedRetryNanos = nowNanos;
    glanceNanos = nowNanos;
    flowNanos = nowNanos;
    emptyNanos = nowNanos;
    seenNanos = nowNanos;
    polledNanos = nowNanos - POLLED_NANOS;
    probedNanos = nowNanos;
    this.name = name;
    this.shared = shared;
    this.maxEntries = maxEntries;
  }

  String name() {
    return name;
  }

  Permits permits() {
    return shared.permits();
  }

  LongPollQueue longPolls() {
    return shared.longPolls();
  }

  Budget.Share memory() {
    return shared.memory();
  }

  void configure(@Nullable QueueConfig newQueue, @Nullable Delivery newDelivery, @Nullable Destination newDestination) {
    queue = newQueue;
    delivery = newDelivery;
    destination = newDestination;
    lackIsLogged = false;
  }

  /**
   * Returns true for the first call after each change of the settings, so that the lack of a delivery is logged once.
   */
  boolean logsLackOfDelivery() {
    boolean first = !lackIsLogged;
    lackIsLogged = true;
    return first;
  }

  @Nullable
  QueueConfig queue() {
    return queue;
  }

  @Nullable
  Delivery delivery() {
    return delivery;
  }

  @Nullable
  Destination destination() {
    return destination;
  }

  boolean isPull() {
    return queue != null && queue.target().type().equals(Target.PULL);
  }

  /** Returns whether workers run the tasks of this queue, so that an address selects some of them. */
  boolean isAddressable() {
    return queue != null && (isPull() || queue.target().type().equals(Target.LOCAL));
  }

  /** Returns whether attempts can be made at all: the queue is known, not paused, and this node has its delivery. */
  boolean isServed() {
    return queue != null && !queue.paused() && (delivery != null || isPull());
  }

  /** Returns whether only a delivery is missing on this node. */
  boolean lacksDelivery() {
    return queue != null && !queue.paused() && delivery == null && !isPull();
  }

  /**
   * Returns whether no worker has waited for tasks of this pull queue on this node within {@link #POLLED_NANOS}. A
   * worker may wait on another node.
   */
  boolean isUnpolled(long nowNanos) {
    return isPull() && longPolls().isEmpty() && nowNanos - polledNanos >= POLLED_NANOS;
  }

  /** Returns whether workers wait while all entries of the lane, if there are any, have addresses. */
  boolean isPolledInVain() {
    return isPull() && unaddressed() == 0 && !longPolls().isEmpty();
  }

  /** Returns whether the lane is served, and has room for one more id. */
  boolean hasRoom() {
    int bound = isPull() && longPolls().isEmpty() ? Math.min(UNPOLLED_ENTRIES, maxEntries) : maxEntries;
    return isServed() && waiting() < bound;
  }

  int waiting() {
    return unaddressed() + addressed.size();
  }

  /** Returns how many entries without an address wait. */
  int unaddressed() {
    return fresh.size() + unparked.size() + probed.size();
  }

  /**
   * Returns how many entries may be claimed. While most entries turn out to be postponed, unprobed entries wait for a
   * probe.
   */
  int claimable() {
    return isMostlyLater() ? unparked.size() + probed.size() + addressed.size() : waiting();
  }

  /**
   * Takes entries that have to be probed before they are claimed, up to a limit, and adds them to a list. The entries
   * whose probes are outdated come first: they would be claimed first.
   */
  void takeUnprobed(int most, long nowNanos, List<DueEntry> to) {
    if (!isMostlyLater() || !isServed()) {
      return;
    }
    if (nowNanos - probedNanos >= PROBE_HOLDS_NANOS) {
      probedNanos = nowNanos;
      outdated = probed.size();
    }
    int left = most;
    for (DueEntry entry = pollOutdated(); entry != null; entry = --left > 0 ? pollOutdated() : null) {
      to.add(entry);
    }
    for (int i = Math.min(left, fresh.size()); i > 0; i--) {
      taken++;
      to.add(requireNonNull(fresh.poll()));
    }
  }

  private @Nullable DueEntry pollOutdated() {
    return outdated > 0 ? pollProbed() : null;
  }

  private @Nullable DueEntry pollProbed() {
    outdated = Math.max(0, outdated - 1);
    return probed.poll();
  }

  /** Adds an entry that a probe has found due. It is claimed after the parked entries, and before the fresh entries. */
  void addProbed(DueEntry entry) {
    probed.add(entry);
  }

  void add(DueEntry entry) {
    fresh.add(entry);
  }

  /** Adds an entry with an address to the lane of a pull queue. */
  void addAddressed(DueEntry entry) {
    addressed.add(entry);
    hasNewAddressed = true;
  }

  /**
   * Appends entries whose leases may have ended to a collection, at most {@code most}. They stay in the lane, and count
   * as probed from now on.
   *
   * @param isAgain whether to include entries that were parked, probed or examined before. A call continues where the
   *     one before has ended
   */
  void examine(boolean isAgain, int most, Collection<DueEntry> to) {
    int limit = to.size() + most;
    if (isAgain) {
      unparked.examineAgain(to, limit - to.size());
      probed.examineAgain(to, limit - to.size());
      addressed.examineAgain(to, limit - to.size());
      if (to.size() < limit) {
        unparked.restart();
        probed.restart();
        addressed.restart();
      }
    }
    while (to.size() < limit && fresh.size() > 0) {
      DueEntry entry = requireNonNull(fresh.poll());
      probed.add(entry);
      to.add(entry);
    }
    if (!isAgain && hasNewAddressed) {
      addressed.examine(to, limit - to.size());
      hasNewAddressed = to.size() == limit;
    }
  }

  /** Removes the entries that a set contains. Returns those that were here. */
  List<DueEntry> remove(Set<DueEntry> which) {
    List<DueEntry> removed = new ArrayList<>();
    unparked.remove(which, removed);
    probed.remove(which, removed);
    outdated = Math.min(outdated, probed.size());
    fresh.remove(which, removed);
    addressed.remove(which, removed);
    return removed;
  }

  /** Removes and returns the entries that no worker of this node may run. */
  Deque<DueEntry> drainUnserved(Seating seating) {
    Deque<DueEntry> unserved = new ArrayDeque<>();
    if (!addressed.isEmpty()) {
      addressed.drain(address -> !seating.isServedHere(name, address), unserved);
    }
    return unserved;
  }

  /**
   * Returns whether the lane, at its latest rate, empties within {@link #FLOW_SECONDS}. A lane that has permits and was
   * empty less than {@link #FLOW_CREDIT_NANOS} ago is regarded as flowing. An empty lane does not flow.
   */
  boolean isFlowing() {
    return waiting() > 0
        && (takenPerSecond * FLOW_SECONDS >= waiting()
            || (seenNanos - emptyNanos < FLOW_CREDIT_NANOS && !permits().isFull(seenNanos)));
  }

  /** Measures how fast entries leave the lane; called in each turn. */
  void sampleFlow(long nowNanos) {
    seenNanos = nowNanos;
    emptyNanos = waiting() == 0 ? nowNanos : emptyNanos;
    polledNanos = isPull() && !longPolls().isEmpty() ? nowNanos : polledNanos;
    long sinceNanos = nowNanos - flowNanos;
    if (sinceNanos >= FLOW_SAMPLE_NANOS) {
      takenPerSecond = (taken - takenSampled) * 1e9 / sinceNanos;
      takenSampled = taken;
      flowNanos = nowNanos;
    }
  }

  /**
   * Removes and returns the next entry to claim: parked entries come first, then those that a probe has found due. The
   * lane must not be empty.
   */
  DueEntry take() {
    taken++;
    DueEntry entry = unparked.poll();
    if (entry == null) {
      entry = pollProbed();
    }
    return entry == null ? requireNonNull(fresh.poll()) : entry;
  }

  /**
   * Takes the next entry that a waiting worker may run, and reserves a place at that worker. Returns null if no waiting
   * worker may run an entry. Entries with an address come first: fewer workers may run them.
   */
  AddressedEntries.@Nullable Matched takeForWorker(Seating seating) {
    AddressedEntries.Matched matched = addressed.isEmpty() ? null : addressed.match(longPolls(), seating);
    if (matched != null) {
      taken++;
      return matched;
    }
    LongPollQueue.Waiter waiter = claimable() - addressed.size() > 0 ? longPolls().reserve() : null;
    return waiter == null ? null : new AddressedEntries.Matched(take(), waiter);
  }

  /** Puts back an entry that was taken and found due. It is claimed like a parked entry, before the fresh entries. */
  void putBack(DueEntry entry) {
    taken--;
    unparked(entry);
  }

  /** Records whether a claimed entry turned out to be postponed. */
  void judged(boolean later) {
    laterShare += ((later ? 1 : 0) - laterShare) * NEWEST;
  }

  /**
   * Returns whether most of the entries taken recently turned out to be postponed. Then entries are probed before they
   * are claimed.
   */
  boolean isMostlyLater() {
    return laterShare > MOST;
  }

  /** Removes and returns all entries. */
  Deque<DueEntry> drain() {
    Deque<DueEntry> all = drainUnaddressed();
    addressed.drain(address -> true, all);
    return all;
  }

  /** Removes and returns the entries that any worker may run. */
  Deque<DueEntry> drainUnaddressed() {
    Deque<DueEntry> all = new ArrayDeque<>();
    unparked.drainTo(all);
    probed.drainTo(all);
    outdated = 0;
    fresh.drainTo(all);
    return all;
  }

  // The parked tasks in the store.

  /** Records that this node or another node has parked tasks of this queue. */
  void parked() {
    hasParked = true;
  }

  boolean hasParked() {
    return hasParked;
  }

  /**
   * Returns whether to read parked entries now.
   *
   * @param low the number of entries without an address in the lane below which parked entries are read
   */
  boolean needsParked(long nowNanos, int low) {
    return parkedWaitNanos(nowNanos, low) == 0;
  }

  /**
   * Returns the time until parked entries are to be read again. It is {@link Long#MAX_VALUE} if none are known, a read
   * is under way, enough entries wait here, or no worker waits for one.
   */
  long parkedWaitNanos(long nowNanos, int low) {
    return hasParked && !parkedReadUnderWay && isServed() && unaddressed() < low
        && !(isPull() && longPolls().isEmpty())
            ? Math.max(0, parkedRetryNanos - nowNanos)
            : Long.MAX_VALUE;
  }

  /**
   * Begins a read of parked tasks.
   *
   * @param sharesSlots whether this node has some of the slots, and other nodes have the rest
   * @return the slots to read
   */
  ParkedOf readParked(boolean sharesSlots, long nowNanos) {
    ParkedOf before = parkedOf;
    boolean isMidway = before == ParkedOf.OWN && parkedCursor != null;
    if (!sharesSlots || ownAreRead) {
      parkedOf = ParkedOf.ALL;
    } else {
      parkedOf = isMidway && nowNanos - glanceNanos >= GLANCE_NANOS ? ParkedOf.GLANCE_AT_ALL : ParkedOf.OWN;
    }
    if (parkedOf != before) {
      parkedCursor = null;
    }
    if (parkedOf != ParkedOf.OWN || !isMidway) {
      glanceNanos = nowNanos;
    }
    parkedReadUnderWay = true;
    return parkedOf;
  }

  /** Returns the entry where the latest read ended: the next read begins after it. Null at the beginning. */
  @Nullable
  DueEntry parkedCursor() {
    return parkedCursor;
  }

  void unparked(DueEntry entry) {
    if (isPull() && !entry.id().address().isAnywhere()) {
      addressed.add(entry);
    } else {
      unparked.add(entry);
    }
  }

  /**
   * Handles the end of a read of parked tasks. If the read returned no task, the next read begins at {@code retryNanos}
   * or later. But if this node read its own slots from the beginning and found no task, it reads all slots without this
   * pause.
   *
   * @param first the first entry that was read, or null if there was none
   * @param last the last entry that was read, or null if there was none
   */
  void parkedReadEnded(@Nullable DueEntry first, @Nullable DueEntry last, long retryNanos) {
    parkedReadUnderWay = false;
    boolean fromTheBeginning = parkedCursor == null;
    if (parkedOf == ParkedOf.OWN && first == null) {
      ownAreRead = true;
      // After a round over own slots the lane pauses: other nodes may begin to read all slots at the same time.
      parkedRetryNanos = fromTheBeginning ? parkedRetryNanos : retryNanos;
      return;
    }
    if (fromTheBeginning) {
      hasParked = first != null;
    }
    parkedCursor = last;
    if (last == null) {
      parkedRetryNanos = retryNanos;
      ownAreRead = false;
    }
  }

  /** Handles the failure of a read of parked tasks. */
  void parkedReadFailed(long retryNanos) {
    parkedReadUnderWay = false;
    parkedCursor = null;
    parkedRetryNanos = retryNanos;
  }

  /** Returns the wakeAt of the oldest entry of the lane, or {@link Long#MAX_VALUE} if there is no entry. */
  long oldest() {
    return Math.min(Math.min(fresh.oldest(), addressed.oldest()), Math.min(unparked.oldest(), probed.oldest()));
  }

  // Shares.

  int priority() {
    return queue == null ? 0 : queue.priority();
  }

  /** Adds to the lane's credit, at most up to a limit. Returns the credit in whole tasks. */
  int credit(double share, int most) {
    deficit = Math.min(most, deficit + share);
    return (int) deficit;
  }

  void spend(int count) {
    deficit = Math.max(0, deficit - count);
  }

  // Attempts.

  void begun(long bytes) {
    running++;
    bodyBytes += (bytes - bodyBytes) / BODY_WEIGHT;
  }

  void ended() {
    running--;
  }

  int running() {
    return running;
  }

  /** Returns the expected memory of an attempt, in bytes. */
  long attemptBytes() {
    return bodyBytes + ATTEMPT_BYTES;
  }

  void countSettled() {
    settled++;
  }

  /**
   * Returns how many attempts end per second, as an exponential average with a time constant of {@link #RATE_SECONDS};
   * 0 at the first call. Called a few times a second.
   */
  double settledPerSecond(long nowNanos) {
    double seconds = (nowNanos - sampledNanos) / 1e9;
    if (sampledNanos != Long.MIN_VALUE && seconds > 0) {
      double share = 1 - Math.exp(-seconds / RATE_SECONDS);
      rate += ((settled - sampled) / seconds - rate) * share;
    }
    sampled = settled;
    sampledNanos = nowNanos;
    return rate;
  }
}
