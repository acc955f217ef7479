package io.foliot.engine;

import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.store.SlotSet;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.UnreadableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The slots that this node owns, as the coordinator reports them. While this node leads, this class also assigns all
 * slots.
 *
 * <p>Ownership divides the work and never decides which node may claim. So ownership need not end when the coordinator
 * is unavailable: a node keeps its slots, and polls them, until it reads a newer assignment. A lost session takes no
 * slots away either: once the node is a member again, it reads the assignment that was published meanwhile. An
 * assignment that is missing or cannot be decoded is not regarded as newer. A node must give up its slots at once in
 * two cases only: its clock is wrong, or another process has its name.
 *
 * <p>When the coordinator comes back, the sessions of all members may have ended. The first member that registers again
 * would lead, and give all slots to itself. So for five seconds a leader whose own session was lost also gives slots to
 * the members of its latest report before the loss.
 *
 * <p>Thread-safe.
 */
final class SlotOwnership {
  private static final System.Logger LOG = System.getLogger(SlotOwnership.class.getName());
  /** Maximum time that live members take to register again, once the coordinator answers. */
  private static final long REGISTER_NANOS = Duration.ofSeconds(5).toNanos();

  /** Receives each change of the ownership. */
  @FunctionalInterface
  interface Loops {
    /**
     * Sets the slots of this node from now on.
     *
     * @param assignment the owners of the other slots
     * @param adoption whether slots of other nodes may be adopted
     */
    void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption);
  }

  private final String node;
  private final TaskStore store;
  private final TimeSource clock;
  private final Coordinator coordinator;
  private final Loops loops;

  // guarded by this
  private Coordinator.@Nullable View view;
  /** The assignment that was read last. */
  private Assignment assignment;
  private boolean isPublished;
  private boolean takesSlots = true;
  /** The members in the coordinator's latest report that showed this node as connected. */
  private List<Coordinator.Member> members = List.of();
  private boolean isSessionLost;
  /** The members before a lost session, which may yet register again. */
  private List<Coordinator.Member> awaited = List.of();
  private long awaitedUntilNanos;

  /** Creates the ownership of a node that has no report of the coordinator yet, and owns nothing. */
  SlotOwnership(String node, TaskStore store, TimeSource clock, Coordinator coordinator, Loops loops) {
    this.node = node;
    this.store = store;
    this.clock = clock;
    this.coordinator = coordinator;
    this.loops = loops;
    assignment = Assignment.none(store.slotCount());
  }

  /** Takes all slots from the loops until an assignment is read. */
  synchronized void begin() {
    informLoops();
  }

  /** Applies a report of the coordinator. */
  synchronized void changed(Coordinator.View seen) {
    boolean wasConnected = view != null && view.connection() == Connection.CONNECTED;
    view = seen;
    switch (seen.connection()) {
      case SUSPENDED, LOST -> {
        if (wasConnected) {
          LOG.log(System.Logger.Level.WARNING, "the coordinator does not answer; this node keeps its slots");
        }
        isSessionLost |= seen.connection() == Connection.LOST;
      }
      case DISPLACED -> isSessionLost = true;
      case CONNECTED -> connected(seen);
    }
    informLoops();
    lead();
  }

  private void connected(Coordinator.View seen) {
    Assignment read = read(seen);
    isPublished = read != null;
    assignment = read == null ? assignment : read;
    if (isSessionLost) {
      isSessionLost = false;
      awaited = members;
      awaitedUntilNanos = clock.monotonicNanos() + REGISTER_NANOS;
    }
    members = seen.members();
    // A member that registers again and then leaves is gone.
    awaited = awaited.stream().filter(one -> !isAmong(one, members)).toList();
  }

  private static boolean isAmong(Coordinator.Member one, List<Coordinator.Member> others) {
    return others.stream().anyMatch(other -> other.node().equals(one.node()));
  }

  private static @Nullable Assignment read(Coordinator.View seen) {
    byte[] document = seen.document();
    try {
      return document == null ? null : Assignment.decode(document);
    } catch (UnreadableException e) {
      LOG.log(System.Logger.Level.ERROR,
          "cannot decode the slot assignment; keeping the one that was read last: version=" + seen.version(), e);
      return null;
    }
  }

  /** Returns the owner of a slot by the assignment that was read last, or null if the slot has none. */
  synchronized @Nullable String owner(int slot) {
    return assignment.owner(slot);
  }

  /** Sets whether this node is to have slots. */
  synchronized void takesSlots(boolean now) {
    takesSlots = now;
    informLoops();
  }

  /** Gives up the awaited members once their time is over; called once a second. */
  synchronized void eachSecond() {
    if (!awaited.isEmpty() && clock.monotonicNanos() - awaitedUntilNanos >= 0) {
      awaited = List.of();
      lead();
    }
  }

  /** Returns the slots of a member by the assignment that was read last. */
  synchronized SlotSet slotsOf(String member) {
    SlotSet owned = SlotSet.of(assignment.slotCount(), assignment.slotsOf(member));
    while (owned.slotCount() < store.slotCount()) {
      owned = owned.doubled();
    }
    return owned;
  }

  private void informLoops() {
    Connection connection = view == null ? Connection.SUSPENDED : view.connection();
    if (!takesSlots || connection == Connection.DISPLACED) {
      loops.own(SlotSet.of(store.slotCount(), new BitSet()), assignment, OverduePoll.Adoption.FORBIDDEN);
    } else {
      loops.own(slotsOf(node), assignment, connection == Connection.CONNECTED
          ? OverduePoll.Adoption.ENDING
          : OverduePoll.Adoption.ALLOWED);
    }
  }

  /** Publishes a new assignment, if this node leads and the published one is missing or outdated. */
  private void lead() {
    Coordinator.View seen = view;
    if (seen == null || seen.connection() != Connection.CONNECTED || !node.equals(seen.leader())) {
      return;
    }
    List<Coordinator.Member> takers = new ArrayList<>(seen.members());
    takers.addAll(awaited);
    takers.removeIf(member -> !member.takesSlots());
    Assignment wanted = assignment.with(takers, store.slotCount());
    if (!isPublished || !wanted.equals(assignment)) {
      coordinator.publish(wanted.encode(), seen.version());
    }
  }
}
