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
 * A coordination service like ZooKeeper. Sessions end long after their owner; notifications arrive late, twice, and
 * after newer ones; and at times the service reports to each node that the node leads and owns all slots.
 */
final class SimCoordination {
  /** A coordinator that never reports another node, for nodes without a coordinator. */
  static final Coordinator NOBODY = new Coordinator() {
    @Override
    public String kind() {
      return "nobody";
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
  private static final long SUSPENDED_MILLIS = 1_000;
  private static final long WELL_MILLIS = 5;
  private static final long LATEST_MILLIS = 5_000;
  private static final int OFTEN = 4;

  private static final class Session {
    final Client client;
    final long number;
    long heardMillis;
    boolean toldSuspended;
    boolean toldLost;

    Session(Client client, long number, long nowMillis) {
      this.client = client;
      this.number = number;
      heardMillis = nowMillis;
    }
  }

  private final Sim sim;
  private final SplittableRandom luck;
  private final int slots;
  private final long sessionMillis;
  private final Map<String, Session> sessions = new TreeMap<>();
  private final List<Client> clients = new ArrayList<>();
  private byte @Nullable [] document;
  private long version;
  private long numbers;
  private boolean away;
  private boolean well;

  SimCoordination(Sim sim, SplittableRandom luck) {
    this.sim = sim;
    this.luck = luck;
    slots = sim.world().store().slots();
    well = sim.world().isCalm();
    sessionMillis = luck.nextLong(2_000, 10_000);
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
    tellAll();
    // Once more after the last outdated notification has arrived.
    sim.schedule().afterMillis(LATEST_MILLIS, this::tellAll);
  }

  /** Returns the last published assignment. */
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

  private void tellAll() {
    for (Session session : sessions.values()) {
      tell(session.client, view());
    }
  }

  private void tell(Client client, Coordinator.View view) {
    boolean isLate = !well && luck.nextInt(OFTEN) == 0;
    client.tellLater(view, isLate ? luck.nextLong(LATEST_MILLIS) : WELL_MILLIS);
    if (!well && luck.nextInt(OFTEN) == 0) {
      sim.coverage().count(Coverage.Case.NOTIFIED_TWICE);
      client.tellLater(view, luck.nextLong(LATEST_MILLIS));
    }
  }

  /** Reports to each node that it is the only member, leads, and owns all slots. */
  void tellAllThatTheyLead() {
    sim.coverage().count(Coverage.Case.ALL_TOLD_THEY_LEAD);
    for (Session session : sessions.values()) {
      Coordinator.Member self = session.client.self;
      byte[] everything = Assignment.none(slots).with(List.of(self), slots).encode();
      session.client.tellLater(new Coordinator.View(Coordinator.Connection.CONNECTED, List.of(self), self.node(),
          everything, version), luck.nextLong(500));
    }
  }

  /** Reports to each node that there is no member. */
  void tellAllThatNoMemberIs() {
    for (Session session : sessions.values()) {
      session.client.tellLater(new Coordinator.View(Coordinator.Connection.CONNECTED, List.of(), null, null, 0),
          luck.nextLong(500));
    }
  }

  /** Ends the sessions of silent nodes, soon after their timeout or long after it. */
  private void checkSessions() {
    boolean ended = false;
    for (Session session : List.copyOf(sessions.values())) {
      Client client = session.client;
      if (client.isReachable()) {
        session.heardMillis = now();
        if (session.toldSuspended || client.missed) {
          session.toldSuspended = false;
          session.toldLost = false;
          client.missed = false;
          tell(client, view());
        }
        continue;
      }
      long silentMillis = now() - session.heardMillis;
      if (silentMillis > SUSPENDED_MILLIS && !session.toldSuspended) {
        session.toldSuspended = true;
        client.tellLater(view(Coordinator.Connection.SUSPENDED), 0);
      }
      if (silentMillis > sessionMillis && !session.toldLost) {
        // The service sends no message: clients know by their own clocks that their sessions may have ended.
        session.toldLost = true;
        client.tellLater(view(Coordinator.Connection.LOST), 0);
      }
      boolean late = silentMillis > 2 * sessionMillis;
      if (!away && silentMillis > sessionMillis && (well || late || luck.nextInt(OFTEN) == 0)) {
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
      tellAll();
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
    private long toldNumber;
    private long sentNumber;
    private boolean lost;
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

    /** Opens a session if there is none, unless the name still belongs to an older session. Called until it works. */
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
        // A session of an earlier process: the name is taken until it ends.
        return;
      }
      if (toldNumber > 0) {
        sim.coverage().count(Coverage.Case.SESSION_LOST);
        tellLater(view(Connection.LOST), 0);
      }
      lost = false;
      sessions.put(self.node(), new Session(this, ++numbers, now()));
      sim.trace().add(self.node(), "session", numbers);
      tellAll();
    }

    void tellLater(View view, long afterMillis) {
      long mine = ++sentNumber;
      sim.schedule().afterMillis(afterMillis, () -> process.run(() -> {
        if (node.isCutFromCoordination() && view.connection() == Connection.CONNECTED) {
          missed = true;
          return;
        }
        if (mine < toldNumber) {
          sim.coverage().count(Coverage.Case.NOTIFIED_OUT_OF_ORDER);
        }
        toldNumber = Math.max(toldNumber, mine);
        if (!closed) {
          sim.trace().add(self.node(), "told " + view.connection(), view.version());
          listener.changed(view);
        }
      }));
    }

    @Override
    public void update(Member member) {
      self = member;
      if (isReachable() && !lost) {
        sim.schedule().afterMillis(luck.nextLong(WELL_MILLIS), SimCoordination.this::tellAll);
      }
    }

    @Override
    public void publish(byte[] published, long expectedVersion) {
      if (!isReachable()) {
        return;
      }
      sim.schedule().afterMillis(luck.nextLong(WELL_MILLIS), () -> {
        // Only the version stops a member that has lost the lead meanwhile.
        if (!away && version == expectedVersion) {
          document = published.clone();
          version++;
          sim.trace().add(self.node(), "published", version);
          tellAll();
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
        tellAll();
      }
    }
  }
}
