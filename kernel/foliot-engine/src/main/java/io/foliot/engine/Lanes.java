package io.foliot.engine;

import io.foliot.api.QueueConfig;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.DueEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lanes of one loop. The entries of due tasks go into these lanes. Passive; confined to the loop's thread.
 *
 * <p>Guarantees: an id is in the lanes, or in a call of the loop, at most once. The lanes together, and the overflow,
 * are bounded. An entry that finds no room delays no entry of another queue. Lanes that are full leave room to every
 * other lane.
 *
 * <ol>
 * <li>{@link #ready} skips an entry that waits to be moved ({@link Moves#covers}), or whose id is known already.
 * <li>An entry goes into the lane of its queue if the lane has {@linkplain #room room}. Half of the room for entries is
 * a common pool of all lanes, and the other half is divided equally. So a lane has room even if stalled lanes have
 * filled the pool.
 * <li>An entry with an address goes to the overflow if the lane is full or if no worker of this node may run the task
 * ({@link Seating}). In the lane of a pull queue, an entry with an address waits under this address, and delays no
 * other entry.
 * <li>If there are other nodes, and no worker polls this node for a pull queue, that queue's entries without an address
 * go to the overflow. Once these entries are parked, another node finds them if workers poll it.
 * <li>If the lane is full and flows, an entry without an address is let go: it stays in the index, and a head poll
 * brings it back when there is room. Parking it would cost a second write for a task that is claimed a moment later.
 * <li>If the lane is full and stalled, or its queue is not served, the entry goes to the overflow. {@link Parking}
 * moves the entries of the overflow into the parked ranges of their queues. If entries come faster than the store parks
 * them, the overflow fills up; further entries are then let go.
 * <li>The part of the loop that takes an entry reports one of three results: the entry has {@linkplain #leave left} the
 * index; the entry is {@linkplain #forget forgotten}, so a poll may find it again; or the entry is put back.
 * </ol>
 *
 * <p>Lanes take turns: {@link #rotate} changes which lane comes first. Rejected: a single priority queue of entries. A
 * Foliot queue whose destination hangs would fill it.
 */
final class Lanes {
  /** Fewest parked entries that are worth a read while the lane has other entries. */
  private static final int MIN_PARKED = 256;

  private final EngineOptions options;
  /** This node as the worker of its own handlers. */
  private final WorkerId self;
  private final QueueRegistry registry;
  private final StoreClock clock;
  private final Moves moves;
  private final IndexReads reads;

  private final Map<String, Lane> byQueue = new HashMap<>();
  private final List<Lane> rotation = new ArrayList<>();
  private int first;
  private int waiting;
  /** Number of entries let go so far: their lanes were full and flowed, or the overflow was full. */
  private long letGo;
  /** Ids that wait in a lane or the overflow, or are inside a call. */
  private final Set<TaskId> known = new HashSet<>();
  private final Deque<DueEntry> overflow = new ArrayDeque<>();
  private boolean isOverflowing;
  private boolean hasOthers;
  private Seating seating = Seating.UNKNOWN;

  /** Creates an empty set of lanes. Each lane is created when it is first requested. */
  Lanes(EngineOptions options, QueueRegistry registry, StoreClock clock, Moves moves, IndexReads reads) {
    this.options = options;
    self = WorkerId.of(options.node());
    this.registry = registry;
    this.clock = clock;
    this.moves = moves;
    this.reads = reads;
  }

  // The lanes.

  /** Returns the lane of a queue; creates it if there is none. */
  Lane lane(String queue, long nowNanos) {
    Lane lane = byQueue.get(queue);
    if (lane == null) {
      lane = new Lane(queue, registry.shared(queue), options.laneEntries(), nowNanos);
      byQueue.put(queue, lane);
      rotation.add(lane);
      configure(lane, nowNanos);
      // The fleet may have changed since the workers that wait for this lane were added.
      lane.longPolls().followFleet();
    }
    return lane;
  }

  /** Returns the lane of a queue, or null if there is none yet. */
  @Nullable
  Lane find(String queue) {
    return byQueue.get(queue);
  }

  Collection<Lane> all() {
    return rotation;
  }

  int size() {
    return rotation.size();
  }

  /** Returns a lane by its place in the order of creation. */
  Lane at(int place) {
    return rotation.get(place);
  }

  /** Returns the lane at a position of the rotation, counted from the lane whose turn it is. */
  Lane inTurn(int place) {
    return rotation.get((first + place) % rotation.size());
  }

  /** Passes the turn to the next lane. */
  void rotate() {
    first = rotation.isEmpty() ? 0 : (first + 1) % rotation.size();
  }

  /** Reads the settings of a lane's queue again. */
  void configure(Lane lane, long nowNanos) {
    QueueConfig queue = registry.queue(lane.name());
    Delivery delivery = queue == null ? null : registry.serving(queue);
    Destination destination = delivery == null || queue == null ? null : registry.destination(delivery, queue);
    boolean wasPull = lane.isPull();
    lane.configure(queue, delivery, destination);
    if (!lane.isServed() || wasPull != lane.isPull()) {
      // The lane of a pull queue keeps entries with an address apart; the lane of any other queue does not.
      drain(lane);
    }
    if (!lane.isServed() || !lane.isPull()) {
      lane.longPolls().close(nowNanos);
    }
    if (lane.isServed()) {
      lane.parked();
    }
  }

  private void drain(Lane lane) {
    toOverflow(lane.drain());
  }

  /** Moves entries that were removed from a lane to the overflow. */
  private void toOverflow(Deque<DueEntry> drained) {
    waiting -= drained.size();
    overflow.addAll(drained);
    isOverflowing |= isOverflowFull();
  }

  /**
   * Records whether there are other nodes. If there are, moves the entries without an address of unpolled pull queues
   * to the overflow.
   */
  void dropUnpolled(boolean others, long nowNanos) {
    hasOthers = others;
    if (others) {
      for (Lane lane : rotation) {
        if (lane.waiting() > 0 && lane.isUnpolled(nowNanos)) {
          toOverflow(lane.drainUnaddressed());
        }
      }
    }
  }

  /**
   * Applies the current seating. Moves an entry to the overflow if no worker of this node may run its task any more.
   */
  void followFleet() {
    Seating now = registry.seating();
    if (now == seating) {
      return;
    }
    seating = now;
    for (Lane lane : rotation) {
      toOverflow(lane.drainUnserved(now));
      lane.longPolls().followFleet();
    }
  }

  /** Returns the seating that the lanes use. */
  Seating seating() {
    return seating;
  }

  /** Returns whether workers wait at a lane for tasks that other nodes may have parked. */
  boolean arePolledInVain() {
    return hasOthers && rotation.stream().anyMatch(Lane::isPolledInVain);
  }

  // Entries that come.

  /** Takes an entry that is due. */
  void ready(DueEntry entry, long nowNanos) {
    if (!moves.covers(entry, clock, nowNanos) && known.add(entry.id()) && !place(entry, nowNanos)) {
      if (isOverflowFull()) {
        letGo(entry);
      } else {
        toOverflow(entry);
      }
    }
  }

  /** Takes an entry that was read in the index. Returns whether the entry was added to a lane or to the overflow. */
  boolean found(DueEntry entry, long nowNanos) {
    if (reads.isOvertaken(entry)) {
      return false;
    }
    int before = waiting + overflow.size();
    ready(entry, nowNanos);
    return waiting + overflow.size() > before;
  }

  private void toOverflow(DueEntry entry) {
    overflow.add(entry);
    isOverflowing |= isOverflowFull();
  }

  private void letGo(DueEntry entry) {
    known.remove(entry.id());
    letGo++;
  }

  /**
   * Puts an entry into its lane, or lets it go. Returns false if neither is possible; the caller then parks the entry.
   */
  private boolean place(DueEntry entry, long nowNanos) {
    Lane lane = lane(entry.queue(), nowNanos);
    Address address = entry.id().address();
    if (!address.isAnywhere() && lane.isAddressable()) {
      return place(lane, address, entry);
    }
    if (hasOthers && lane.isUnpolled(nowNanos)) {
      return false;
    }
    if (lane.hasRoom() && room(lane) > 0) {
      lane.add(entry);
      waiting++;
      return true;
    }
    if (lane.isFlowing()) {
      letGo(entry);
      return true;
    }
    return false;
  }

  /**
   * Puts an entry into its lane if the lane has room and a worker of this node may run the task. Otherwise returns
   * false. The caller then parks the entry, so that a node with such a worker finds the entry.
   */
  private boolean place(Lane lane, Address address, DueEntry entry) {
    if (!isServedHere(lane, address) || !lane.hasRoom() || room(lane) <= 0) {
      return false;
    }
    if (lane.isPull()) {
      lane.addAddressed(entry);
    } else {
      lane.add(entry);
    }
    waiting++;
    return true;
  }

  private boolean isServedHere(Lane lane, Address address) {
    return lane.isPull()
        ? seating.isServedHere(lane.name(), address)
        : seating.serves(self, lane.name(), address);
  }

  /** Returns whether an entry would be parked as soon as it is due, because no worker of this node may run it. */
  boolean isForAnotherNode(TaskId id, String queue, long nowNanos) {
    Address address = id.address();
    if (address.isAnywhere()) {
      return false;
    }
    Lane lane = lane(queue, nowNanos);
    return lane.isAddressable() && !isServedHere(lane, address);
  }

  /**
   * Takes an entry that was read from the parked range. Skips an entry with an address if no worker of this node can
   * take its task now.
   */
  void unparked(Lane lane, DueEntry entry) {
    if (isWanted(lane, entry.id().address()) && known.add(entry.id())) {
      lane.unparked(entry);
      waiting++;
    }
  }

  private boolean isWanted(Lane lane, Address address) {
    if (address.isAnywhere() || !lane.isAddressable()) {
      return true;
    }
    return lane.isPull()
        ? lane.longPolls().isWaitedFor(seating, address)
        : seating.serves(self, lane.name(), address);
  }

  /** Takes back an entry that a probe has found due: it is claimed before the entries that still need a probe. */
  void probed(DueEntry entry, long nowNanos) {
    Lane lane = lane(entry.queue(), nowNanos);
    if (lane.isServed()) {
      lane.addProbed(entry);
      waiting++;
    } else {
      toOverflow(entry);
    }
  }

  /** Takes back an entry that was taken and found due: it is claimed before the fresh entries of its lane. */
  void putBack(Lane lane, DueEntry entry) {
    lane.putBack(entry);
    waiting++;
  }

  // Entries that go.

  /** Takes the next entry of a pull queue's lane that a waiting worker may run; null if there is none. */
  AddressedEntries.@Nullable Matched takeForWorker(Lane lane) {
    AddressedEntries.Matched matched = lane.takeForWorker(seating);
    waiting -= matched == null ? 0 : 1;
    return matched;
  }

  /** Takes the next entry of a lane, which must not be empty. */
  DueEntry take(Lane lane) {
    waiting--;
    return lane.take();
  }

  /** Takes at most {@code most} entries that have to be probed before they are claimed. */
  List<DueEntry> takeUnprobed(int most, long nowNanos) {
    List<DueEntry> entries = new ArrayList<>();
    for (int i = 0; i < rotation.size() && entries.size() < most; i++) {
      inTurn(i).takeUnprobed(most - entries.size(), nowNanos, entries);
    }
    waiting -= entries.size();
    return entries;
  }

  /**
   * Returns entries of lanes that do not flow, at most {@code most}: they wait, and their leases may have ended. The
   * entries stay in their lanes.
   *
   * @param isAgain whether to include entries that were examined before. A call continues where the one before has
   *     ended
   */
  List<DueEntry> stalled(boolean isAgain, int most) {
    List<DueEntry> entries = new ArrayList<>();
    for (int i = 0; i < rotation.size() && entries.size() < most && waiting > 0; i++) {
      Lane lane = inTurn(i);
      if (lane.isServed() && lane.waiting() > 0 && !lane.isFlowing()) {
        lane.examine(isAgain, most - entries.size(), entries);
      }
    }
    return entries;
  }

  /** Removes entries whose tasks cannot be claimed. Returns those that were in their lanes, and not in a call. */
  List<DueEntry> remove(Set<DueEntry> which) {
    List<DueEntry> removed = new ArrayList<>();
    for (String queue : which.stream().map(DueEntry::queue).collect(Collectors.toSet())) {
      Lane lane = byQueue.get(queue);
      if (lane != null) {
        removed.addAll(lane.remove(which));
      }
    }
    waiting -= removed.size();
    removed.forEach(this::leave);
    return removed;
  }

  /**
   * Takes at most {@code most} entries to park. If the lane of an entry has room by now, the entry goes into the lane
   * instead. If the lane is full and flows, an entry without an address is let go.
   */
  List<DueEntry> takeOverflow(int most, long nowNanos) {
    List<DueEntry> entries = new ArrayList<>();
    while (!overflow.isEmpty() && entries.size() < most) {
      DueEntry entry = overflow.remove();
      if (!place(entry, nowNanos)) {
        entries.add(entry);
      }
    }
    isOverflowing &= overflow.size() > options.readyEntries() / 2;
    return entries;
  }

  /** Forgets an id whose entry has left the index: a read that began before must not bring it back. */
  void leave(DueEntry entry) {
    known.remove(entry.id());
    reads.overtakes(entry);
  }

  /** Forgets an id: a poll may find it again. */
  void forget(DueEntry entry) {
    known.remove(entry.id());
  }

  /** Returns a handler that forgets these entries if the given handler throws: a poll may find them again. */
  <R> CallPipe.Handler<R> orForget(List<DueEntry> entries, CallPipe.Handler<R> handler) {
    return (results, nowNanos) -> {
      boolean done = false;
      try {
        handler.answered(results, nowNanos);
        done = true;
      } finally {
        if (!done) {
          entries.forEach(this::forget);
        }
      }
    };
  }

  // Figures.

  /** Returns how many entries wait in all lanes. */
  int waiting() {
    return waiting;
  }

  /**
   * Returns how many more entries a lane may take under the limit of all lanes together; 0 or less if none. A lane may
   * fill the common pool, and may always hold its own share.
   */
  int room(Lane lane) {
    return Math.max(pool() - waiting, share() - lane.waiting());
  }

  private int pool() {
    return options.readyEntries() / 2;
  }

  private int share() {
    return Math.max(1, (options.readyEntries() - pool()) / rotation.size());
  }

  /**
   * Returns how many parked entries to read for a lane; 0 for no read. If the lane has entries, it reads only when
   * there is room for {@link #MIN_PARKED} entries, or for half of its share if that is less. Otherwise a lane that is
   * always full would read its parked entries one by one.
   *
   * @param most the maximum number of entries of a read
   */
  int parkedPage(Lane lane, int most) {
    int room = room(lane);
    int least = lane.unaddressed() == 0 ? 1 : Math.clamp(share() / 2, 1, MIN_PARKED);
    return room < least ? 0 : Math.min(most, room);
  }

  boolean hasOverflow() {
    return !overflow.isEmpty();
  }

  /**
   * Returns whether the overflow is full, because the store parks its entries too slowly. A full overflow takes no
   * further entry of the index.
   */
  boolean isOverflowFull() {
    return overflow.size() >= options.readyEntries();
  }

  /** Returns whether the overflow was full, and has been more than half full since then. */
  boolean isOverflowing() {
    return isOverflowing;
  }

  /** Returns how many entries have been let go so far. */
  long letGo() {
    return letGo;
  }

  /** Returns whether entries wait, and none of them in a stalled lane. */
  boolean isFlowing() {
    return waiting > 0 && rotation.stream().allMatch(lane -> lane.waiting() == 0 || lane.isFlowing());
  }
}
