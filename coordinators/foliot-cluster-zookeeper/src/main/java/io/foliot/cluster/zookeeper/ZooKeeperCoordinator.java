package io.foliot.cluster.zookeeper;

import io.foliot.cluster.zookeeper.Reading.Seen;
import io.foliot.core.EventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import javax.security.auth.login.Configuration;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Watcher;
import org.jspecify.annotations.Nullable;

/**
 * Coordination through ZooKeeper. A member is an ephemeral node, the leader is the member with the smallest sequential
 * node, and the document is a node that the leader writes by compare-and-set.
 *
 * <p>Once a {@linkplain #BEAT beat} a member checks that its own node exists and belongs to its session, creates it if
 * not, and reads the other members. Watches and Curator's connection events only cause this check at once. The
 * next check corrects the result of any failure of sessions, nodes or ZooKeeper, and of any lost event.
 *
 * <p>A member that dies is gone when its session times out; one that leaves is gone at once. ZooKeeper is tried for
 * ever; a client that has not reached it for long is replaced by a new one, because there are states that one does not
 * come out of by itself.
 */
public final class ZooKeeperCoordinator implements Coordinator {
  // A poll: own node (created or replaced) -> reading -> listener. One at a time; a poll that is older than the last
  // change of the connection is dropped. All on the loop's thread, to which the threads of Curator and ZooKeeper post.
  //
  // Rejected: Curator's PersistentNode and CuratorCache, each with state and threads of its own, which heal one by one;
  // the order in which they do after a lost session would be ours to guess.

  /** Result of {@link #kind}. */
  public static final String KIND = "zookeeper";
  /** The interval at which a member verifies its registration. */
  public static final Duration BEAT = Duration.ofSeconds(1);

  private static final System.Logger LOG = System.getLogger(ZooKeeperCoordinator.class.getName());
  /** The time without a connection after which a client is replaced; doubles each time. */
  private static final long PATIENCE_MIN_NANOS = Duration.ofSeconds(10).toNanos();
  private static final long PATIENCE_MAX_NANOS = Duration.ofMinutes(1).toNanos();
  /** Sessions of this process that ZooKeeper may still have nodes of; they time out one after the other. */
  private static final int OWN_SESSIONS = 8;
  /** The time that {@link #close} waits for ZooKeeper's answer. */
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(1);

  private final ZooKeeperOptions options;
  private final Paths paths;
  private final TimeSource clock;
  private final EventLoop loop;
  private final ConcurrentLinkedQueue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final Watcher watcher = event -> post(this::pollSoon);
  private final Deque<Long> ownSessions = new ArrayDeque<>();

  // the loop's thread, and the closing thread once the loop has ended
  private @Nullable Ensemble ensemble;
  // loop's thread only
  private @Nullable Member self;
  private @Nullable Listener listener;
  private @Nullable Reading reading;
  private @Nullable Election election;
  private @Nullable View told;
  private long toldChangeId;
  private @Nullable Throwable failure;
  /**
   * Value of this member's znode since this process began, or null. Once set, a znode of another session is another
   * process's.
   */
  private @Nullable Member registeredAs;
  private boolean displaced;
  /** True if the last document could not be written. */
  private boolean unwritten;
  /** True if the next read is reported even if nothing has changed. */
  private boolean tellAgain;
  private boolean underWay;
  private int polls;
  private long beatNanos;
  private long begunNanos;
  private long aliveNanos;
  private long silentNanos;
  private long patienceNanos = PATIENCE_MIN_NANOS;

  /**
   * Creates a coordinator that is not a member yet, and has not connected.
   *
   * @param loop calls it; its own
   * @throws IllegalArgumentException if SASL is wanted and the JVM has no such section, or TLS and a file cannot be
   *     opened
   */
  public ZooKeeperCoordinator(ZooKeeperOptions options, TimeSource clock, EventLoop loop) {
    if (options.login() instanceof ZooKeeperOptions.Login.Sasl login && !hasSection(login.section())) {
      throw new IllegalArgumentException("the JVM's JAAS configuration has no such section: section=" + login.section()
          + "; name its file with -Djava.security.auth.login.config=FILE");
    }
    if (options.tls() != null) {
      options.tls().ensureOpen();
    }
    this.options = options;
    this.clock = clock;
    this.loop = loop;
    paths = new Paths(options.root());
  }

  private static boolean hasSection(String section) {
    try {
      return Configuration.getConfiguration().getAppConfigurationEntry(section) != null;
    } catch (SecurityException e) {
      return false;
    }
  }

  @Override
  public String kind() {
    return KIND;
  }

  /** @throws IllegalArgumentException if the member's name cannot be part of a path */
  @Override
  public void join(Member member, Listener changes) {
    paths.ensureMember(member.node());
    inbox.add(() -> {
      self = member;
      listener = changes;
      aliveNanos = clock.monotonicNanos();
      beatNanos = aliveNanos;
      connect(aliveNanos);
    });
    loop.start(this::turn);
  }

  @Override
  public void update(Member member) {
    post(() -> {
      self = member;
      pollSoon();
    });
  }

  @Override
  public void publish(byte[] document, long expectedVersion) {
    post(() -> {
      View view = told;
      Ensemble through = ensemble;
      if (view == null || through == null || self == null || view.connection() != Connection.CONNECTED
          || !self.node().equals(view.leader())) {
        return;
      }
      CompletionStage<Boolean> written = expectedVersion == 0
          ? through.create(paths.assignment(), document, CreateMode.PERSISTENT)
          : through.write(paths.assignment(), document, Math.toIntExact(expectedVersion - 1));
      after(written, (done, thrown) -> {
        // A publisher has read the document before, and reads it again if it has changed.
        tellAgain |= done == null || !done;
        if (done != null) {
          unwritten = false;
          pollSoon();
        } else if (!unwritten) {
          unwritten = true;
          LOG.log(System.Logger.Level.WARNING,
              "the assignment cannot be written to ZooKeeper, and is tried again each second", cause(thrown));
        }
      });
    });
  }

  private void post(Runnable message) {
    inbox.add(message);
    loop.wake();
  }

  /** Runs the continuation of a stage on the loop's thread. */
  private <T> void after(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> then) {
    stage.whenComplete((result, thrown) -> post(() -> then.accept(result, thrown)));
  }

  private void pollSoon() {
    beatNanos = clock.monotonicNanos();
  }

  private long turn() {
    for (Runnable message = inbox.poll(); message != null; message = inbox.poll()) {
      guarded(message);
    }
    guarded(this::beat);
    return beatNanos;
  }

  private static void guarded(Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, "a step of coordination through ZooKeeper failed; retrying", e);
    }
  }

  private void beat() {
    Member member = self;
    long now = clock.monotonicNanos();
    if (member == null) {
      beatNanos = now + BEAT.toNanos();
      return;
    }
    if (underWay && now - begunNanos >= sessionNanos()) {
      dropPoll();
    }
    Ensemble through = ensemble;
    if (through != null && through.isConnected()) {
      silentNanos = now;
      patienceNanos = PATIENCE_MIN_NANOS;
      if (!underWay && now - beatNanos >= 0) {
        beatNanos = now + BEAT.toNanos();
        poll(member, through, now);
      }
    } else {
      suspended();
      if (now - silentNanos >= patienceNanos) {
        patienceNanos = Math.min(PATIENCE_MAX_NANOS, 2 * patienceNanos);
        connect(now);
      }
    }
    if (now - aliveNanos >= sessionNanos()) {
      lost();
    }
    if (now - beatNanos >= 0) {
      beatNanos = now + BEAT.toNanos();
    }
  }

  private long sessionNanos() {
    Ensemble through = ensemble;
    long agreedMillis = through == null ? 0 : through.sessionTimeoutMillis();
    return Duration.ofMillis(Math.max(agreedMillis, options.sessionTimeout().toMillis())).toNanos();
  }

  // The connection.

  /** Takes a new client in the place of the one there was. */
  private void connect(long now) {
    Ensemble old = ensemble;
    if (old != null) {
      leave(old);
    }
    forget();
    ensemble = null;
    silentNanos = now;
    ensemble = new Ensemble(options, (from, state) -> post(() -> {
      if (from == ensemble) {
        changed(state);
      }
    }));
  }

  private void changed(ConnectionState state) {
    switch (state) {
      case CONNECTED, RECONNECTED -> pollSoon();
      case SUSPENDED -> suspended();
      case LOST -> {
        forget();
        lost();
      }
      case READ_ONLY -> throw new IllegalStateException("a client that did not ask for it is read-only");
    }
  }

  /** Forgets everything that belonged to a session. */
  private void forget() {
    dropPoll();
    reading = null;
    resign();
  }

  private void resign() {
    if (election != null) {
      election.close();
      election = null;
    }
  }

  /** Drops the poll under way; its late results are outdated. */
  private void dropPoll() {
    polls++;
    underWay = false;
  }

  private void suspended() {
    if (told != null && told.connection() == Connection.CONNECTED) {
      dropPoll();
      tell(Connection.SUSPENDED, null);
    }
  }

  /** Reports a lost connection once. A member whose name another process has taken stays displaced. */
  private void lost() {
    if (told == null || (told.connection() != Connection.LOST && told.connection() != Connection.DISPLACED)) {
      Throwable why = failure;
      LOG.log(System.Logger.Level.WARNING,
          "ZooKeeper does not answer; this node keeps its slots, takes no others, and tries for ever: servers="
              + options.servers() + (why == null ? "" : ", failure=" + why));
      tell(Connection.LOST, null);
    }
  }

  // A poll.

  /** Checks its own node, then reads the members, the leader, and the document. */
  private void poll(Member member, Ensemble through, long now) {
    Reading with = reading(through);
    int number = ++polls;
    underWay = true;
    begunNanos = now;
    Election standing = election;
    String candidate = standing == null ? null : standing.candidate();
    CompletableFuture<@Nullable Seen> seen = register(member, through, with.session())
        .thenCompose(mine -> mine ? with.read() : CompletableFuture.completedFuture(null));
    after(seen, (found, thrown) -> {
      if (number != polls) {
        return;
      }
      underWay = false;
      if (thrown != null) {
        failure = cause(thrown);
        LOG.log(System.Logger.Level.DEBUG, "a poll of ZooKeeper failed", failure);
        suspended();
        return;
      }
      aliveNanos = begunNanos;
      if (found == null) {
        displaced(member);
        return;
      }
      failure = null;
      stand(member, through, candidate, found);
      connected(member, found);
    });
  }

  /** Returns the state that this session has read; empty in a new session. */
  private Reading reading(Ensemble through) {
    Reading own = reading;
    long session = through.session();
    if (own != null && own.session() == session) {
      return own;
    }
    if (!ownSessions.contains(session)) {
      ownSessions.add(session);
    }
    if (ownSessions.size() > OWN_SESSIONS) {
      ownSessions.remove();
    }
    long agreedMillis = through.sessionTimeoutMillis();
    if (agreedMillis != options.sessionTimeout().toMillis()) {
      LOG.log(System.Logger.Level.INFO, "ZooKeeper has set a different session timeout: wanted="
          + options.sessionTimeout().toMillis() + " ms, set=" + agreedMillis + " ms");
    }
    Reading begun = new Reading(through, session, paths, this::post, watcher);
    reading = begun;
    return begun;
  }

  /**
   * Ensures that this member's znode exists and belongs to its session.
   *
   * @return whether it does; not, if another live process has that name
   */
  private CompletableFuture<Boolean> register(Member member, Ensemble through, long session) {
    String path = paths.member(member.node());
    return through.stat(path, null).thenComposeAsync(stat -> {
      byte[] record = new MemberRecord(member).encode();
      if (stat != null && stat.getEphemeralOwner() == session) {
        // Replaced, and not written over, so that all see the list change.
        return member.equals(registeredAs)
            ? CompletableFuture.completedFuture(true)
            : through.replace(path, record).thenApply(ZooKeeperCoordinator::ensureFirst);
      }
      if (stat == null) {
        return through.create(path, record, CreateMode.EPHEMERAL).thenApply(ZooKeeperCoordinator::ensureFirst);
      }
      if (registeredAs != null && !ownSessions.contains(stat.getEphemeralOwner())) {
        return CompletableFuture.completedFuture(false);
      }
      LOG.log(System.Logger.Level.INFO,
          "another session has the name of this node, most likely that of its last life; it is taken over: node="
              + member.node() + ", session=0x" + Long.toHexString(stat.getEphemeralOwner()));
      return through.replace(path, record).thenApply(ZooKeeperCoordinator::ensureFirst);
    }, this::post);
  }

  private static boolean ensureFirst(boolean done) {
    if (!done) {
      throw new IllegalStateException(
          "two processes register one node name at the same time; the next read decides the owner");
    }
    return true;
  }

  /**
   * Gives up a name that a later process has taken: two processes that take it from each other in turns would both be
   * unusable.
   */
  private void displaced(Member member) {
    if (!displaced) {
      displaced = true;
      LOG.log(System.Logger.Level.ERROR,
          "another process that began later has the name of this node, so this one has no slots of its own until that is"
              + " gone; give each node a name of its own: node=" + member.node());
    }
    resign();
    if (told == null || told.connection() != Connection.DISPLACED) {
      tell(Connection.DISPLACED, null);
    }
  }

  /** Enters the election, if it has not. */
  private void stand(Member member, Ensemble through, @Nullable String candidate, Seen seen) {
    long now = clock.monotonicNanos();
    if (election != null && election.isLost(candidate, seen.candidates(), now)) {
      LOG.log(System.Logger.Level.DEBUG, "the node of the election is gone, and made again");
      resign();
    }
    if (election == null) {
      election = new Election(through, paths.leader(), member.node(), () -> post(this::pollSoon), now);
    }
  }

  private void connected(Member member, Seen seen) {
    if (told != null && told.connection() == Connection.LOST) {
      LOG.log(System.Logger.Level.INFO, "ZooKeeper answers, and this node is a member again: node=" + member.node());
    }
    registeredAs = member;
    displaced = false;
    tell(Connection.CONNECTED, seen);
  }

  private void tell(Connection connection, @Nullable Seen seen) {
    View before = told;
    View now;
    if (seen != null) {
      now = new View(connection, seen.members(), seen.leader(), seen.document(), seen.version());
    } else {
      now = before == null
          ? new View(connection, List.of(), null, null, 0)
          : new View(connection, before.members(), connection == Connection.LOST ? null : before.leader(),
              before.document(), before.version());
    }
    long changeId = seen == null ? toldChangeId : seen.changeId();
    boolean differs = before == null || before.connection() != connection || toldChangeId != changeId
        || !before.members().equals(now.members()) || !Objects.equals(before.leader(), now.leader());
    boolean again = tellAgain && seen != null;
    told = now;
    toldChangeId = changeId;
    tellAgain &= !again;
    if (listener != null && (differs || again)) {
      listener.changed(now);
    }
  }

  private static @Nullable Throwable cause(@Nullable Throwable thrown) {
    return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
  }

  // The end.

  /** Leaves, by ending the session; waits a moment for ZooKeeper to hear of it, and else the session times out. */
  @Override
  public void close() {
    loop.close();
    Ensemble through = ensemble;
    if (through == null) {
      return;
    }
    Thread leaving = leave(through);
    try {
      if (!leaving.join(CLOSE_BOUND)) {
        LOG.log(System.Logger.Level.INFO,
            "ZooKeeper did not record that this node leaves; its session will time out");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes a client on a thread of its own, because closing waits for ZooKeeper. */
  private static Thread leave(Ensemble through) {
    return Thread.ofPlatform().daemon().name("foliot-coordination-close").start(through::close);
  }
}
