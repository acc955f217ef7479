package io.foliot.sim;

import io.foliot.api.QueueConfig;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.TaskRecord;
import io.foliot.engine.Engine;
import io.foliot.history.Allowances;
import io.foliot.history.Attempt;
import io.foliot.history.Event;
import io.foliot.history.History;
import io.foliot.history.HistoryChecker;
import io.foliot.history.Lateness;
import io.foliot.history.Reply;
import io.foliot.history.Request;
import io.foliot.history.Target;
import io.foliot.history.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A simulation of a cluster with one thread and a virtual clock. One to five real engines with wrong clocks share a
 * store. The store is slow, fails, and loses the writes that its durability permits it to lose. Notifications of the
 * coordinator are late and repeated, and the receiver fails in many ways. Clients make random calls for 45 s while
 * faults occur. Then all faults end, or enough of them for due tasks to run, and the history is checked. The seed
 * decides everything, including the engines' settings.
 *
 * <p>The simulation has demands beyond the promises that a {@link HistoryChecker} checks. After the heal, a due task
 * begins within a bound, even if some nodes stay broken, and each slot has one owner again. A stop ends within its
 * patience. Tasks are on time if nothing, or only the coordinator, is broken.
 */
public final class Simulation {
  /** Longest time after the heal. */
  private static final long HEALED_MILLIS = 150_000;
  private static final long CHECK_MILLIS = 1_000;
  /** Interval of the checks of the running tasks of a limited queue. */
  private static final long RUNNING_MILLIS = 200;
  /**
   * Maximum number of checks in a row at which a slot may have no owner, or two owners, besides those while two calls
   * in a row of a node go unanswered.
   */
  private static final int MAX_UNEVEN_CHECKS = 8;
  /** Longest time from the heal until the sessions of unreachable nodes have ended and each slot has an owner. */
  private static final long OWNED_MILLIS = 45_000;
  /** Tolerated delay after the heal, besides the store's patience, the lease, the longest backoff and the backlog. */
  private static final long BACK_MILLIS = 10_000;
  /** Time for which the simulation continues after the last task has ended. */
  private static final long QUIET_MILLIS = 12_000;
  /**
   * Tolerated delay in addition to the store's delay: a tick, the turns of loops, and the growth of a destination's
   * limit.
   */
  private static final long CALM_LATE_MILLIS = 700;
  /**
   * Tolerated delay, in addition to the store's delay, if no slot has an owner. The overdue poll then takes a task if
   * two polls have found it overdue by a second.
   */
  private static final long CALM_OVERDUE_MILLIS = 4_000;
  /**
   * Tolerated delay of a dead node's tasks while no new assignment can be made. The overdue poll reads a task once it
   * is a second overdue, at most a second later. Callers move entries in the dead node's slots, so the node may seem to
   * be active. The task is then left to the node for five seconds, and is taken by the next poll.
   */
  private static final long DEAD_NODE_LATE_MILLIS = 1_000 + 1_000 + 5_000 + 1_000;

  /**
   * The result of a simulation.
   *
   * @param verdict the verdict of the history checker
   * @param unmet the demands of the simulation that were not met
   * @param traceHash a hash of all events, which is the same for the same seed
   * @param coverage how often each case was observed, by the name of the case
   */
  public record Outcome(Verdict verdict, List<String> unmet, long traceHash, SortedMap<String, Long> coverage) {
    /** Returns whether every promise was kept and every demand was met. */
    public boolean isGood() {
      return verdict.ok() && unmet.isEmpty();
    }
  }

  private final SimCluster cluster;
  private final World world;
  private final Sim sim;
  private final Schedule schedule;
  private final History history;
  private final List<SimNode> nodes;
  private final List<String> unmet = new ArrayList<>();
  private final SimStore store;
  private final SimCoordination coordination;
  private final SimReceiver receiver;
  private final Clients clients;
  private final Faults faults;
  private final SplittableRandom random;
  private final @Nullable Consumer<String> reader;
  /** The largest number of due tasks at any check since the heal. */
  private long backlog;
  private int unevenChecks;
  private long quietSinceMillis = Long.MAX_VALUE;

  private Simulation(long seed, Bug bug, @Nullable Consumer<String> reader) {
    random = new SplittableRandom(seed);
    this.reader = reader;
    cluster = new SimCluster(random, bug, false, reader, this::unmet);
    world = cluster.world();
    sim = cluster.sim();
    schedule = sim.schedule();
    history = cluster.history();
    nodes = cluster.nodes();
    store = cluster.store();
    coordination = cluster.coordination();
    receiver = cluster.receiver();
    clients = new Clients(sim, history, random.split(), store, nodes, this::unmet);
    receiver.setListener(clients);
    faults = cluster.faults(clients::changeSomeQueue);
  }

  /** Runs the simulation of a seed. */
  public static Outcome run(long seed) {
    return run(seed, Bug.NONE, null);
  }

  /** Runs the simulation of a seed. The reader gets a line for each event. */
  public static Outcome run(long seed, Consumer<String> reader) {
    return run(seed, Bug.NONE, reader);
  }

  static Outcome run(long seed, Bug bug, @Nullable Consumer<String> reader) {
    return new Simulation(seed, bug, reader).run();
  }

  private Outcome run() {
    boolean calm = world.isCalm();
    cluster.start();
    clients.putQueues();
    for (int i = 0; i < world.operations(); i++) {
      schedule.afterMillis(10_000 * (calm ? 1 : 0) + 1_000 + random.nextLong(SimCluster.CHAOS_MILLIS), clients::act);
    }
    schedule.afterMillis((calm ? 10_000 : 0) + 1_000, clients::beat);
    if (!calm) {
      schedule.afterMillis(random.nextLong(5_000), clients::liveBriefly);
    }
    cluster.plan(faults);
    schedule.afterMillis(SimCluster.HEAL_MILLIS, this::heal);
    for (long at = RUNNING_MILLIS; at < SimCluster.HEAL_MILLIS + HEALED_MILLIS; at += RUNNING_MILLIS) {
      schedule.afterMillis(at, this::checkRunning);
    }
    for (long at = CHECK_MILLIS; at < SimCluster.HEAL_MILLIS + HEALED_MILLIS; at += CHECK_MILLIS) {
      schedule.afterMillis(at, this::check);
    }
    schedule.runWhile(TimeUnit.MILLISECONDS.toNanos(SimCluster.HEAL_MILLIS + HEALED_MILLIS), () -> !isOver());
    readAll();
    history.runEnded(schedule.nowMillis());
    Verdict verdict = new HistoryChecker(allowances()).check(history);
    if (world.mode() == World.Mode.UNCOORDINATED) {
      ensureOnTimeWithoutCoordinator();
    } else if (calm) {
      ensureOnTime(verdict);
    }
    return new Outcome(verdict, List.copyOf(unmet), hash(), sim.coverage().counts());
  }

  private void heal() {
    clients.end();
    cluster.heal(faults);
  }

  private Allowances allowances() {
    // A settle is repeated until it is answered, or until the lease has ended and the task is claimed again.
    long settleMillis = 2 * world.store().patienceMillis() + world.leaseMillis() + 10_000;
    return new Allowances(0, 0, world.timeoutMillis(), settleMillis, graceMillis(),
        world.isCalm() && !faults.hasKilled());
  }

  private long graceMillis() {
    return world.store().patienceMillis() + world.leaseMillis() + world.maxBackoffMillis() + BACK_MILLIS
        + TimeUnit.SECONDS.toMillis(backlog) / world.leastPerSecond();
  }

  private long hash() {
    long hash = sim.trace().hash();
    for (Event event : history.events()) {
      hash = 31 * hash + event.toString().hashCode();
    }
    return hash;
  }

  // Demands.

  private void check() {
    int owned = 0;
    int ownedByMembers = 0;
    int served = 0;
    for (SimNode node : nodes) {
      Engine engine = node.engine();
      if (engine != null) {
        owned += engine.cluster().ownedSlots();
        ownedByMembers += isMember(node) ? engine.cluster().ownedSlots() : 0;
        served++;
        if (reader != null) {
          reader.accept(node.name() + " owns " + engine.cluster().ownedSlots() + ": " + engine.status() + ", paused="
              + Clients.QUEUES.stream().filter(name -> engine.queue(name).map(QueueConfig::paused).orElse(false))
                  .toList());
        }
      }
    }
    int slots = world.store().slots();
    if (owned > slots) {
      sim.coverage().count(Coverage.Case.SLOT_WITH_TWO_OWNERS);
    } else if (owned < slots && served > 0) {
      sim.coverage().count(Coverage.Case.SLOT_WITHOUT_OWNER);
    }
    long healedMillis = schedule.nowNanos() / 1_000_000 - SimCluster.HEAL_MILLIS;
    if (healedMillis > 0) {
      checkOverdue(healedMillis);
      if (healedMillis > OWNED_MILLIS) {
        // A node whose calls fail at random sometimes loses its slots, and gets them back.
        unevenChecks = isCoordinated() && ownedByMembers != slots ? unevenChecks + 1 : 0;
        if (unevenChecks > maxUnevenChecks()) {
          unmet("each slot has one owner again: slots=" + slots + ", owned=" + ownedByMembers);
        }
        nodes.forEach(this::ensureServes);
        nodes.stream().filter(node -> node.isWell()).forEach(this::ensureKnowsQueues);
      }
    }
  }

  /** Returns whether a node must own a share of the slots after the sessions of all unreachable nodes have ended. */
  private boolean isMember(SimNode node) {
    boolean cut = world.coordination() == World.Coordination.STORE
        ? node.isCutFromStore()
        : node.isCutFromCoordination();
    return node.isUp() && !node.process().isPaused() && !cut;
  }

  private boolean isCoordinated() {
    return world.coordination() == World.Coordination.STORE
        || (world.coordination() == World.Coordination.SERVICE && !coordination.isAway());
  }

  private long maxUnevenChecks() {
    return MAX_UNEVEN_CHECKS + 2 * world.store().patienceMillis() / CHECK_MILLIS;
  }

  private void ensureKnowsQueues(SimNode node) {
    Engine engine = node.engine();
    for (String name : Clients.QUEUES) {
      QueueConfig known = engine == null ? null : engine.queue(name).orElse(null);
      if (!clients.queue(name).equals(known)) {
        unmet("a healthy node knows the latest settings: node=" + node.name() + ", queue=" + known);
      }
    }
  }

  private void ensureServes(SimNode node) {
    Engine engine = node.engine();
    if (node.isWell() && (engine == null || !engine.status().ready())) {
      unmet(
          "a healthy node is ready again: node=" + node.name() + ", status=" + (engine == null ? "" : engine.status()));
    }
  }

  /**
   * Checks that all nodes together keep the limit of a queue, on a store that loses no writes. A claim is ignored if
   * its node never received the answer: the task is running in the store, but no node runs it.
   */
  private void checkRunning() {
    long now = schedule.nowMillis();
    List<String> running = store.live().stream().filter(task -> task.queue().equals(Clients.LIMITED)
        && task.state() == TaskState.RUNNING && task.leaseEnd() > now && receiver.hasBegun(task.token()))
        .map(task -> task.id() + " since " + task.claimedAt() + " until " + task.leaseEnd()).toList();
    if (running.size() == Clients.LIMIT) {
      sim.coverage().count(Coverage.Case.LIMIT_REACHED);
    }
    if (running.size() > Clients.LIMIT && world.store().kind() != SimStore.Kind.REDIS) {
      unmet("a limit holds for all nodes together: limit=" + Clients.LIMIT + ", running=" + running);
    }
  }

  private void checkOverdue(long healedMillis) {
    List<TaskRecord> live = store.live();
    long now = schedule.nowMillis();
    backlog = Math.max(backlog, live.stream().filter(task -> dueSince(task) <= now).count());
    for (TaskRecord task : live) {
      Long restored = clients.restoredMillis(task.queue());
      if (restored == null) {
        continue;
      }
      long overdueMillis = Math.min(now - Math.max(dueSince(task), restored), healedMillis);
      if (overdueMillis > graceMillis()) {
        unmet("a due task begins soon after the heal: overdueMillis=" + overdueMillis + ", task=" + task.id()
            + ", state=" + task.state() + ", parked=" + task.parked() + ", queue=" + task.queue() + ", backlog="
            + backlog);
      }
    }
    boolean quiet = live.isEmpty() && !store.isAwaited();
    quietSinceMillis = quiet ? Math.min(quietSinceMillis, now) : Long.MAX_VALUE;
  }

  /**
   * Returns the instant from which a task can be claimed: when it is due or its lease ends, but not before its latest
   * change, which may have made it visible.
   */
  private static long dueSince(TaskRecord task) {
    return Math.max(task.state() == TaskState.RUNNING ? task.leaseEnd() : task.dueAt(), task.changedAt());
  }

  private boolean isOver() {
    long now = schedule.nowMillis();
    boolean owned = schedule.nowNanos() / 1_000_000 > SimCluster.HEAL_MILLIS + OWNED_MILLIS
        + 2 * maxUnevenChecks() * CHECK_MILLIS;
    return owned && quietSinceMillis != Long.MAX_VALUE && now - quietSinceMillis > QUIET_MILLIS;
  }

  private void unmet(String what) {
    if (unmet.size() < 10) {
      unmet.add(what);
    }
  }

  private void ensureOnTime(Verdict verdict) {
    Lateness late = verdict.late(Lateness.Phase.FAULT_FREE);
    // Up to four calls precede an attempt, and each call has a latency in both directions.
    long wayMillis = 8 * world.store().maxLatencyMicros() / 1_000;
    long most = wayMillis + (world.coordination() == World.Coordination.NONE ? CALM_OVERDUE_MILLIS : CALM_LATE_MILLIS);
    if (late.p99Millis() > most) {
      unmet("no task is late where nothing is broken: mostMillis=" + most + ", late=" + late);
    }
  }

  /**
   * Checks that no first attempt is late while only the coordinator is unreachable. The overdue polls of the live nodes
   * take a dead node's task. A task that the dead node had claimed waits
   * for the end of its lease, and so does a reset of such a task.
   */
  private void ensureOnTimeWithoutCoordinator() {
    long most = 8 * world.store().maxLatencyMicros() / 1_000
        + (faults.hasKilled() ? DEAD_NODE_LATE_MILLIS : CALM_LATE_MILLIS);
    for (Event event : history.events()) {
      if (event instanceof Event.Began(long delivery, long atMillis, Attempt attempt)) {
        long since = Math.max(attempt.dueAtMillis(), faults.leaseEndMillis(attempt.taskId()));
        if (attempt.attempt() == 1 && atMillis - since > most) {
          unmet("no task is late while only the coordinator is unreachable: mostMillis=" + most + ", lateMillis="
              + (atMillis - since) + ", delivery=" + delivery + ", task=" + attempt.taskId());
        }
      }
    }
  }

  /** Reads each task that a call has created or reset, and records its state at the end in the history. */
  private void readAll() {
    for (Event event : history.events()) {
      if (event instanceof Event.Answered answered && answered.reply() instanceof Reply.Placed placed) {
        read(placed.taskId());
      }
    }
  }

  private void read(String id) {
    long op = history.invoked(schedule.nowMillis(), new Request.Read(new Target.Task(id)));
    Reply reply = store.peek(new TaskRef.ById(TaskId.parse(id))).<Reply>map(
        task -> new Reply.Found(id, task.generation(), stateOf(task.state()))).orElseGet(Reply.NotFound::new);
    history.answered(op, schedule.nowMillis(), reply);
  }

  private static Reply.State stateOf(TaskState state) {
    return switch (state) {
      case DELAYED, READY, RUNNING -> Reply.State.LIVE;
      case FINISHED -> Reply.State.FINISHED;
      case FAILED -> Reply.State.FAILED;
      case CANCELLED -> Reply.State.CANCELLED;
    };
  }
}
