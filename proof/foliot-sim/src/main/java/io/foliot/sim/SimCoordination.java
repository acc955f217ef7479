package io.foliot.sim;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A coordination service like ZooKeeper. A session may end long after its node has died. Notifications may arrive late,
 * twice, or after newer notifications. Sometimes the service reports to each node that the node is the leader and owns
 * all slots.
 */
final class SimCoordination {
  /** A coordinator that reports nothing, for nodes without a coordinator. */
  static final Coordinator ALONE = new Coordinator() {
    @Override
    public String kind() {
      return "alone";
    }

    @Override
    public void join(Member self, Listener listener) {
      // There is nothing to join.
    }

    @Override
    public void update(Member self) {
      // No member is registered, so there is nothing to update.
    }

    @Override
    public void publish(byte[] document, long expectedVersion) {
      // There is no other member to inform.
    }

    @Override
    public void close() {
      // There is nothing to leave.
    }
  };

  private static final long CHECK_MILLIS = 500;
  /** Longest time without contact before a client is suspended. */
  private static final long SUSPENDED_MILLIS = 1_000;
  /** Delay of a punctual notification, and exclusive bound of the delay of a client's write. */
  private static final long WELL_MILLIS = 5;
  /** Exclusive bound of the delay of a late notification. */
  private static final long LATEST_MILLIS = 5_000;
  /**
   * Inverse of three probabilities: that a notification is late, that it is repeated, and that a check ends a session.
   */
  private static final int RARITY = 4;

  private static final class Session {
    final Client client;
    final long number;
    long reachedMillis;
    boolean reportedSuspended;
    boolean reportedLost;

    Session(Client client, long number, long nowMillis) {
      this.client = client;
      this.number = number;
      reachedMillis = nowMillis;
    }
  }

  private final Sim sim;
  private final SplittableRandom random;
  private final int slots;
  private final long sessionMillis;
  private final Map<String, Session> sessions = new TreeMap<>();
  private final List<Client> clients = new ArrayList<>();
  private byte @Nullable [] document;
  private long version;
  private long numbers;
  private boolean away;
  private boolean well;

  SimCoordination(Sim sim, SplittableRandom random) {
    this.sim = sim;
    this.random = random;
    slots = sim.world().store().slots();
    well = sim.world().isCalm();
    sessionMillis = random.nextLong(2_000, 10_000);
    if (sim.world().coordination() == World.Coordination.SERVICE) {
      sim.schedule().afterMillis(CHECK_MILLIS, this::checkSessions);
    }
  }

  Coordinator client(SimNode node, NodeProcess process) {
    return new Client(node, process);
  }

  void setAway(boolean nowAway) {
    away = nowAway;
  }

  boolean isAway() {
    return away;
  }

  /** Reports the true state to all nodes now, and promptly from now on. */
  void heal() {
    well = true;
    away = false;
    reportToAll();
    // Outdated notifications may still arrive, so the state is reported again after the last of them.
    sim.schedule().afterMillis(LATEST_MILLIS, this::reportToAll);
  }

  /** Returns the latest published assignment, or null if none was published. */
  @Nullable
  Assignment assignment() {
    byte[] published = document;
    return published == null ? null : Assignment.decode(published);
  }

  private long now() {
    return sim.schedule().nowMillis();
  }

  private Coordinator.View view() {
    List<Coordinator.Member> members = sessions.values().stream().map(session -> session.client.self).toList();
    Session leader = null;
    for (Session session : sessions.values()) {
      leader = leader == null || session.number < leader.number ? session : leader;
    }
    return new Coordinator.View(Coordinator.Connection.CONNECTED, members,
        leader == null ? null : leader.client.self.node(), document, version);
  }

  private void reportToAll() {
    for (Session session : sessions.values()) {
      report(session.client, view());
    }
  }

  /** Reports a view to a client, perhaps late or twice. */
  private void report(Client client, Coordinator.View view) {
    boolean isLate = !well && random.nextInt(RARITY) == 0;
    client.reportLater(view, isLate ? random.nextLong(LATEST_MILLIS) : WELL_MILLIS);
    if (!well && random.nextInt(RARITY) == 0) {
      sim.coverage().count(Coverage.Case.NOTIFIED_TWICE);
      client.reportLater(view, random.nextLong(LATEST_MILLIS));
    }
  }

  /** Reports to each node that it is the only member and the leader, and owns all slots. */
  void reportAllAsLeaders() {
    sim.coverage().count(Coverage.Case.ALL_NOTIFIED_AS_LEADERS);
    for (Session session : sessions.values()) {
      Coordinator.Member self = session.client.self;
      byte[] everything = Assignment.none(slots).with(List.of(self), slots).encode();
      session.client.reportLater(new Coordinator.View(Coordinator.Connection.CONNECTED, List.of(self), self.node(),
          everything, version), random.nextLong(500));
    }
  }

  /** Reports to each node that there is no member. */
  void reportNoMembers() {
    for (Session session : sessions.values()) {
      session.client.reportLater(new Coordinator.View(Coordinator.Connection.CONNECTED, List.of(), null, null, 0),
          random.nextLong(500));
    }
  }

  /**
   * Reports lost contact to unreachable clients, ends their sessions soon or long after the timeout, and opens sessions
   * for clients that have none.
   */
  private void checkSessions() {
    boolean ended = false;
    for (Session session : List.copyOf(sessions.values())) {
      Client client = session.client;
      if (client.isReachable()) {
        session.reachedMillis = now();
        if (session.reportedSuspended || client.missed) {
          session.reportedSuspended = false;
          session.reportedLost = false;
          client.missed = false;
          report(client, view());
        }
        continue;
      }
      long silentMillis = now() - session.reachedMillis;
      if (silentMillis > SUSPENDED_MILLIS && !session.reportedSuspended) {
        session.reportedSuspended = true;
        client.reportLater(view(Coordinator.Connection.SUSPENDED), 0);
      }
      if (silentMillis > sessionMillis && !session.reportedLost) {
        // No message from the service arrives. The client detects by its own clock that its session may have ended.
        session.reportedLost = true;
        client.reportLater(view(Coordinator.Connection.LOST), 0);
      }
      boolean late = silentMillis > 2 * sessionMillis;
      if (!away && silentMillis > sessionMillis && (well || late || random.nextInt(RARITY) == 0)) {
        if (late) {
          sim.coverage().count(Coverage.Case.SESSION_EXPIRED_LATE);
        }
        sessions.remove(client.self.node());
        client.lost = true;
        ended = true;
        sim.trace().add(client.self.node(), "session ends", session.number);
      }
    }
    for (Client client : List.copyOf(clients)) {
      client.registerAgain();
    }
    if (ended) {
      reportToAll();
    }
    sim.schedule().afterMillis(CHECK_MILLIS, this::checkSessions);
  }

  private Coordinator.View view(Coordinator.Connection connection) {
    Coordinator.View seen = view();
    return new Coordinator.View(connection, seen.members(),
        connection == Coordinator.Connection.LOST ? null : seen.leader(), seen.document(), seen.version());
  }

  /** The client of the service in one process. */
  private final class Client implements Coordinator {
    private final SimNode node;
    private final NodeProcess process;
    private Member self;
    private Listener listener = view -> {};
    /** Greatest number of a notification that has arrived. */
    private long receivedNumber;
    /** Number of the latest notification that was sent. */
    private long sentNumber;
    /** Whether the client has no session. */
    private boolean lost;
    /** Whether a notification was lost because the node was cut off. */
    private boolean missed;
    private boolean closed;

    Client(SimNode node, NodeProcess process) {
      this.node = node;
      this.process = process;
      self = new Member(node.name(), "");
    }

    @Override
    public String kind() {
      return "service";
    }

    boolean isReachable() {
      return process.isAlive() && !process.isPaused() && !node.isCutFromCoordination() && !away && !closed;
    }

    @Override
    public void join(Member member, Listener changes) {
      self = member;
      listener = changes;
      lost = true;
      clients.add(this);
    }

    /** Opens a session if the client is reachable and has none, and no older session has the name of the node. */
    void registerAgain() {
      if (!process.isAlive() || closed) {
        clients.remove(this);
        return;
      }
      if (!lost || !isReachable()) {
        return;
      }
      Session old = sessions.get(self.node());
      if (old != null) {
        // This is the session of an earlier process. The name becomes free when that session ends.
        return;
      }
      if (receivedNumber > 0) {
        sim.coverage().count(Coverage.Case.SESSION_LOST);
        reportLater(view(Connection.LOST), 0);
      }
      lost = false;
      sessions.put(self.node(), new Session(this, ++numbers, now()));
      sim.trace().add(self.node(), "session", numbers);
      reportToAll();
    }

    void reportLater(View view, long afterMillis) {
      long mine = ++sentNumber;
      sim.schedule().afterMillis(afterMillis, () -> process.run(() -> {
        if (node.isCutFromCoordination() && view.connection() == Connection.CONNECTED) {
          missed = true;
          return;
        }
        if (mine < receivedNumber) {
          sim.coverage().count(Coverage.Case.NOTIFIED_OUT_OF_ORDER);
        }
        receivedNumber = Math.max(receivedNumber, mine);
        if (!closed) {
          sim.trace().add(self.node(), "notified: " + view.connection(), view.version());
          listener.changed(view);
        }
      }));
    }

    @Override
    public void update(Member member) {
      self = member;
      if (isReachable() && !lost) {
        sim.schedule().afterMillis(random.nextLong(WELL_MILLIS), SimCoordination.this::reportToAll);
      }
    }

    @Override
    public void publish(byte[] published, long expectedVersion) {
      if (!isReachable()) {
        return;
      }
      sim.schedule().afterMillis(random.nextLong(WELL_MILLIS), () -> {
        // The document of a former leader is rejected only if its expected version is outdated.
        if (!away && version == expectedVersion) {
          document = published.clone();
          version++;
          sim.trace().add(self.node(), "published", version);
          reportToAll();
        }
      });
    }

    @Override
    public void close() {
      closed = true;
      clients.remove(this);
      Session session = sessions.get(self.node());
      if (session != null && session.client == this && !node.isCutFromCoordination() && !away) {
        sessions.remove(self.node());
        reportToAll();
      }
    }
  }
}
