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
 * Coordination through ZooKeeper. A member is an ephemeral znode, the leader is the member with the smallest sequential
 * znode, and the document is a znode that the leader writes by compare-and-set.
 *
 * <p>At each {@linkplain #BEAT beat} a member polls ZooKeeper: it ensures that its own znode exists and belongs to its
 * session, and reads the members, the leader and the document. Watches and Curator's connection events are hints: they
 * make the next poll, or a report, earlier. Whatever is lost or fails (a session, a znode, an event or ZooKeeper
 * itself), the next successful poll restores the correct state.
 *
 * <p>A member that dies is removed when its session times out; a member that leaves is removed at once. A member never
 * stops trying to reach ZooKeeper. A client of ZooKeeper that has been without a connection for some time is replaced
 * by a new client, because a client cannot recover from every state by itself.
 */
public final class ZooKeeperCoordinator implements Coordinator {
  // A poll: own znode (created or replaced) -> reading -> listener. One poll is under way at a time. A poll runs on the
  // loop's thread, to which the threads of Curator and ZooKeeper post their results. A poll is dropped if its session
  // is lost, or if it takes a whole session timeout, for example.
  //
  // Curator's PersistentNode and CuratorCache were rejected. Each has its own state and threads, and recovers by itself
  // after a lost session. This class could not control the order in which they recover.

  /** Result of {@link #kind}. */
  public static final String KIND = "zookeeper";
  /** Interval at which a member verifies its registration. */
  public static final Duration BEAT = Duration.ofSeconds(1);

  private static final System.Logger LOG = System.getLogger(ZooKeeperCoordinator.class.getName());
  /**
   * Initial time that a client may be without a connection before it is replaced. Each replacement doubles the time, up
   * to the maximum.
   */
  private static final long PATIENCE_MIN_NANOS = Duration.ofSeconds(10).toNanos();
  private static final long PATIENCE_MAX_NANOS = Duration.ofMinutes(1).toNanos();
  /** Number of its latest sessions that this process remembers, because ZooKeeper may still have their znodes. */
  private static final int OWN_SESSIONS = 8;
  /** Longest time that {@link #close} waits for ZooKeeper. */
  private static final Duration CLOSE_BOUND = Duration.ofSeconds(1);

  private final ZooKeeperOptions options;
  private final Paths paths;
  private final TimeSource clock;
  private final EventLoop loop;
  private final ConcurrentLinkedQueue<Runnable> inbox = new ConcurrentLinkedQueue<>();
  private final Watcher watcher = event -> post(this::pollSoon);
  private final Deque<Long> ownSessions = new ArrayDeque<>();

  // Used by the loop's thread, and by the closing thread once the loop has ended.
  private @Nullable Ensemble ensemble;
  // Used only by the loop's thread.
  private @Nullable Member self;
  private @Nullable Listener listener;
  private @Nullable Reading reading;
  private @Nullable Election election;
  private @Nullable View reported;
  private long reportedChangeId;
  private @Nullable Throwable failure;
  /**
   * Member that this process registered last, or null before the first registration. After that, a znode of this name
   * belongs to another process if its session is not in {@link #ownSessions}.
   */
  private @Nullable Member registeredAs;
  /** True if another process has taken the name, and this was logged. */
  private boolean displaced;
  /**
   * True if the latest write of a document ended with an exception. Of several failures in a row, only the first is
   * logged.
   */
  private boolean unwritten;
  /** True if the next view must be reported even if nothing has changed. */
  private boolean reportAgain;
  /** True if a poll is under way. */
  private boolean underWay;
  /** Number of the current poll. A result with another number is dropped. */
  private int polls;
  // The next four fields are readings of the monotonic clock.
  /** Time of the next poll. */
  private long beatNanos;
  /** Beginning of the poll under way. */
  private long begunNanos;
  /** Beginning of the latest poll that succeeded; before the first success, the time of {@link #join}. */
  private long aliveNanos;
  /** Latest time at which the client was connected; if it never was, the time of its creation. */
  private long silentNanos;
  /** Time that the client may be without a connection before it is replaced. */
  private long patienceNanos = PATIENCE_MIN_NANOS;

  /**
   * Creates a coordinator that is not a member yet, and has not connected.
   *
   * @param clock the clock of this process
   * @param loop the loop that runs this coordinator, and nothing else
   * @throws IllegalArgumentException if the login is SASL and the JVM's JAAS configuration lacks the section of the
   *     login, or if a file of TLS cannot be opened
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

  /**
   * {@inheritDoc}
   *
   * @throws IllegalArgumentException if the member's name cannot be part of a path
   */
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
      View view = reported;
      Ensemble client = ensemble;
      if (view == null || client == null || self == null || view.connection() != Connection.CONNECTED
          || !self.node().equals(view.leader())) {
        return;
      }
      CompletionStage<Boolean> written = expectedVersion == 0
          ? client.create(paths.assignment(), document, CreateMode.PERSISTENT)
          : client.write(paths.assignment(), document, Math.toIntExact(expectedVersion - 1));
      after(written, (done, thrown) -> {
        // If the write failed, the next view is reported even if nothing has changed, so that the publisher tries
        // again.
        reportAgain |= done == null || !done;
        if (done != null) {
          unwritten = false;
          pollSoon();
        } else if (!unwritten) {
          unwritten = true;
          LOG.log(System.Logger.Level.WARNING,
              "cannot write the assignment to ZooKeeper; retrying every second", cause(thrown));
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
    Ensemble client = ensemble;
    if (client != null && client.isConnected()) {
      silentNanos = now;
      patienceNanos = PATIENCE_MIN_NANOS;
      if (!underWay && now - beatNanos >= 0) {
        beatNanos = now + BEAT.toNanos();
        poll(member, client, now);
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
    Ensemble client = ensemble;
    long agreedMillis = client == null ? 0 : client.sessionTimeoutMillis();
    return Duration.ofMillis(Math.max(agreedMillis, options.sessionTimeout().toMillis())).toNanos();
  }

  /** Closes the client, if there is one, and creates a new one. */
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
      case READ_ONLY -> throw new IllegalStateException("unexpected state of the connection: state=" + state);
    }
  }

  /** Discards the poll, the reading and the candidacy, which belong to a session. */
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
    if (reported != null && reported.connection() == Connection.CONNECTED) {
      dropPoll();
      report(Connection.SUSPENDED, null);
    }
  }

  /** Reports a lost connection once. A member whose name another process has taken stays displaced. */
  private void lost() {
    if (reported == null
        || (reported.connection() != Connection.LOST && reported.connection() != Connection.DISPLACED)) {
      Throwable why = failure;
      LOG.log(System.Logger.Level.WARNING,
          "ZooKeeper does not respond; this node keeps its slots, takes no others and keeps trying to connect: servers="
              + options.servers() + (why == null ? "" : ", failure=" + why));
      report(Connection.LOST, null);
    }
  }

  /** Ensures that the member's own znode exists, then reads the members, the leader, and the document. */
  private void poll(Member member, Ensemble client, long now) {
    Reading current = reading(client);
    int number = ++polls;
    underWay = true;
    begunNanos = now;
    Election entered = election;
    String candidate = entered == null ? null : entered.candidate();
    CompletableFuture<@Nullable Seen> seen = register(member, client, current.session())
        .thenCompose(owned -> owned ? current.read() : CompletableFuture.completedFuture(null));
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
      enterElection(member, client, candidate, found);
      connected(member, found);
    });
  }

  /** Returns the reading of the current session, which is empty if the session is new. */
  private Reading reading(Ensemble client) {
    Reading own = reading;
    long session = client.session();
    if (own != null && own.session() == session) {
      return own;
    }
    if (!ownSessions.contains(session)) {
      ownSessions.add(session);
    }
    if (ownSessions.size() > OWN_SESSIONS) {
      ownSessions.remove();
    }
    long agreedMillis = client.sessionTimeoutMillis();
    if (agreedMillis != options.sessionTimeout().toMillis()) {
      LOG.log(System.Logger.Level.INFO, "ZooKeeper has set a different session timeout: wanted="
          + options.sessionTimeout().toMillis() + " ms, set=" + agreedMillis + " ms");
    }
    Reading begun = new Reading(client, session, paths, this::post, watcher);
    reading = begun;
    return begun;
  }

  /**
   * Ensures that this member's znode exists and belongs to its session. The stage completes with false if another
   * process has taken the name since this process registered it.
   */
  private CompletableFuture<Boolean> register(Member member, Ensemble client, long session) {
    String path = paths.member(member.node());
    return client.stat(path, null).thenComposeAsync(stat -> {
      byte[] record = new MemberRecord(member).encode();
      if (stat != null && stat.getEphemeralOwner() == session) {
        // The znode of a changed member is replaced, not overwritten, so that the list of members changes and all
        // members read the record again.
        return member.equals(registeredAs)
            ? CompletableFuture.completedFuture(true)
            : client.replace(path, record).thenApply(ZooKeeperCoordinator::ensureFirst);
      }
      if (stat == null) {
        return client.create(path, record, CreateMode.EPHEMERAL).thenApply(ZooKeeperCoordinator::ensureFirst);
      }
      if (registeredAs != null && !ownSessions.contains(stat.getEphemeralOwner())) {
        return CompletableFuture.completedFuture(false);
      }
      LOG.log(System.Logger.Level.INFO,
          "taking over the name of this node from another session, most likely of its previous process: node="
              + member.node() + ", session=0x" + Long.toHexString(stat.getEphemeralOwner()));
      return client.replace(path, record).thenApply(ZooKeeperCoordinator::ensureFirst);
    }, this::post);
  }

  private static boolean ensureFirst(boolean done) {
    if (!done) {
      throw new IllegalStateException(
          "two processes register one node name at the same time; the next poll decides which one keeps it");
    }
    return true;
  }

  /**
   * Gives up the name, which a later process has taken. If each process took the name back from the other, both would
   * be unusable.
   */
  private void displaced(Member member) {
    if (!displaced) {
      displaced = true;
      LOG.log(System.Logger.Level.ERROR,
          "a process that started later has the same node name, so this node owns no slots until that process has ended;"
              + " give each node a name of its own: node=" + member.node());
    }
    resign();
    if (reported == null || reported.connection() != Connection.DISPLACED) {
      report(Connection.DISPLACED, null);
    }
  }

  /** Enters the election if this member has no candidacy, or if the znode of its candidacy is gone. */
  private void enterElection(Member member, Ensemble client, @Nullable String candidate, Seen seen) {
    long now = clock.monotonicNanos();
    if (election != null && election.isLost(candidate, seen.candidates(), now)) {
      LOG.log(System.Logger.Level.DEBUG, "this member's znode in the election is gone; entering again");
      resign();
    }
    if (election == null) {
      election = new Election(client, paths.leader(), member.node(), () -> post(this::pollSoon), now);
    }
  }

  private void connected(Member member, Seen seen) {
    if (reported != null && reported.connection() == Connection.LOST) {
      LOG.log(System.Logger.Level.INFO, "ZooKeeper responds again; this node is a member: node=" + member.node());
    }
    registeredAs = member;
    displaced = false;
    report(Connection.CONNECTED, seen);
  }

  private void report(Connection connection, @Nullable Seen seen) {
    View before = reported;
    View now;
    if (seen != null) {
      now = new View(connection, seen.members(), seen.leader(), seen.document(), seen.version());
    } else {
      now = before == null
          ? new View(connection, List.of(), null, null, 0)
          : new View(connection, before.members(), connection == Connection.LOST ? null : before.leader(),
              before.document(), before.version());
    }
    long changeId = seen == null ? reportedChangeId : seen.changeId();
    boolean differs = before == null || before.connection() != connection || reportedChangeId != changeId
        || !before.members().equals(now.members()) || !Objects.equals(before.leader(), now.leader());
    boolean again = reportAgain && seen != null;
    reported = now;
    reportedChangeId = changeId;
    reportAgain &= !again;
    if (listener != null && (differs || again)) {
      listener.changed(now);
    }
  }

  private static @Nullable Throwable cause(@Nullable Throwable thrown) {
    return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
  }

  /** Ends the session, and waits up to a second for ZooKeeper to confirm. If it does not, the session times out. */
  @Override
  public void close() {
    loop.close();
    Ensemble client = ensemble;
    if (client == null) {
      return;
    }
    Thread leaving = leave(client);
    try {
      if (!leaving.join(CLOSE_BOUND)) {
        LOG.log(System.Logger.Level.INFO,
            "ZooKeeper did not confirm the end of this node's session; the session will time out");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes a client on a new thread, because closing waits for ZooKeeper. Returns the thread. */
  private static Thread leave(Ensemble client) {
    return Thread.ofPlatform().daemon().name("foliot-coordination-close").start(client::close);
  }
}
