package io.foliot.engine.coordination;

import io.foliot.core.EventLoop;
import io.foliot.core.Stages;
import io.foliot.core.TimeSource;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.UnreadableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Coordination for nodes that share a store and nothing else: leases in the store's documents, judged by the store's
 * clock.
 *
 * <p>Each member renews a lease of its own, and is regarded as alive while it is listed with a lease that has not
 * ended. The leader has one more lease. When a member finds that this lease has ended, the member takes it by
 * compare-and-set. A member reads the store's clock before it writes a lease, and the lease begins at the time that was
 * read. By that clock, two members therefore never hold the leader's lease at the same time. A paused node that still
 * believes it leads does no harm, because documents are written by compare-and-set as well.
 *
 * <p>A lease grows with the time that the store takes to answer or to fail. Otherwise, with a slow or faulty store, one
 * member after another would lose its lease, and the slots would move all the time.
 *
 * <p>A lease that cannot be read is logged once and ignored. Its member is not regarded as alive until the member
 * renews the lease. If it is the leader's lease, any member may take the lead. An unreadable document of one member
 * does not affect the others.
 *
 * <p>Members renew their leases once a {@linkplain #BEAT beat}, and {@linkplain #POLL poll} more often. A member that
 * leaves in an orderly way is gone at the next poll of the others; a member that dies is gone when its lease ends.
 */
public final class StoreCoordinator implements Coordinator {
  /** Result of {@link #kind}. */
  public static final String KIND = "store";
  /** The interval at which a member renews its lease. */
  public static final Duration BEAT = Duration.ofSeconds(1);
  /** The interval at which a member polls: a member that leaves must be noticed soon. */
  public static final Duration POLL = Duration.ofMillis(200);
  /** The duration of a lease, if the store answers quickly. */
  public static final Duration LEASE = Duration.ofSeconds(3);
  /** The longest duration of a lease, however slow the store is. */
  public static final Duration MAX_LEASE = Duration.ofSeconds(15);

  private static final System.Logger LOG = System.getLogger(StoreCoordinator.class.getName());
  private static final String LEADER = "leader";
  private static final String DOCUMENT = "assignment";
  private static final long NANOS_PER_MICRO = 1_000;
  /** The time from the end of a member's lease until the leader deletes the lease. */
  private static final long FORGET_MICROS = Duration.ofHours(1).toNanos() / NANOS_PER_MICRO;
  private static final CompletionStage<Boolean> UNCHANGED = CompletableFuture.completedFuture(false);
  private static final long MAX_LEASE_MICROS = MAX_LEASE.toNanos() / NANOS_PER_MICRO;
  /**
   * Number of slow polls by which a lease is longer than {@link #LEASE}. These are the poll that writes the lease, a
   * poll in which the next renewal fails, and the poll after that.
   */
  private static final int POLLS_PER_LEASE = 3;
  /** Divisor of {@link #slowNanos}: each quicker poll shortens that duration by an eighth. */
  private static final int FORGOTTEN_PART = 8;

  private final TaskStore store;
  private final TimeSource clock;
  private final EventLoop loop;
  private final ConcurrentLinkedQueue<Runnable> inbox = new ConcurrentLinkedQueue<>();

  // the loop's thread, and the closing thread once the loop has ended
  private @Nullable Member self;
  // any thread
  private volatile boolean leaves;
  /** The leases that could not be decoded at the latest read. */
  private final Set<String> setAside = ConcurrentHashMap.newKeySet();
  // loop's thread only
  private long ownVersion;
  private @Nullable Listener listener;
  private @Nullable View reported;
  /** Whether the next view is reported even without a change: a leader whose publish failed publishes again. */
  private boolean reportAgain;
  private boolean underWay;
  private long beatNanos;
  private long pollNanos;
  private long aliveNanos;
  /** The duration of the slowest recent poll. */
  private long slowNanos;

  /**
   * Creates a coordinator that is not a member yet.
   *
   * @param loop the event loop of the coordinator; nothing else may use this loop
   */
  public StoreCoordinator(TaskStore store, TimeSource clock, EventLoop loop) {
    this.store = store;
    this.clock = clock;
    this.loop = loop;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public void join(Member member, Listener changes) {
    inbox.add(() -> {
      self = member;
      listener = changes;
      beatNanos = clock.monotonicNanos();
      pollNanos = beatNanos;
      aliveNanos = beatNanos;
    });
    loop.start(this::turn);
  }

  @Override
  public void update(Member member) {
    post(() -> {
      self = member;
      beatNanos = clock.monotonicNanos();
      pollNanos = beatNanos;
    });
  }

  @Override
  public void publish(byte[] document, long expectedVersion) {
    post(() -> {
      View view = reported;
      if (view == null || self == null || !self.node().equals(view.leader())) {
        return;
      }
      after(Stages.call(() -> store.writeDocument(DocumentKind.CLUSTER, DOCUMENT, expectedVersion, document)),
          (written, failure) -> {
            reportAgain |= !Boolean.TRUE.equals(written);
            // All members read the document at their next poll; this member polls at once.
            pollNanos = clock.monotonicNanos();
          });
    });
  }

  private void post(Runnable message) {
    inbox.add(message);
    loop.wake();
  }

  /** Runs the continuation of a stage on the loop's thread. */
  private <T> void after(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> then) {
    stage.whenComplete((result, failure) -> post(() -> then.accept(result, failure)));
  }

  private long turn() {
    for (Runnable message = inbox.poll(); message != null; message = inbox.poll()) {
      try {
        message.run();
      } catch (Throwable e) {
        LOG.log(System.Logger.Level.ERROR, "a step of the coordination through the store failed; it is skipped", e);
      }
    }
    long now = clock.monotonicNanos();
    if (self != null) {
      if (now - aliveNanos >= leaseNanos()) {
        report(Connection.LOST, null);
      }
      if (!underWay && now - pollNanos >= 0) {
        pollNanos = now + POLL.toNanos();
        boolean isBeat = now - beatNanos >= 0;
        beatNanos = isBeat ? now + BEAT.toNanos() : beatNanos;
        poll(self, isBeat, now);
      }
    }
    return now + Math.max(0, waitNanos(now));
  }

  /**
   * Returns the nanoseconds until the next turn. While a poll is under way, the next turn is due when the lease ends;
   * an earlier answer wakes the loop.
   */
  private long waitNanos(long now) {
    long leftNanos = leaseNanos() - (now - aliveNanos);
    return !underWay ? pollNanos - now : leftNanos > 0 ? leftNanos : BEAT.toNanos();
  }

  /** Returns how long a lease of this member lasts: longer with a slow store, so that members keep their leases. */
  private long leaseNanos() {
    return Math.min(MAX_LEASE.toNanos(), LEASE.toNanos() + POLLS_PER_LEASE * slowNanos);
  }

  /**
   * Reads which members are alive, which one leads, and the assignment. On a beat, first renews this member's own
   * lease, and takes or renews the lead.
   */
  private void poll(Member member, boolean isBeat, long begunNanos) {
    underWay = true;
    long leaseMicros = leaseNanos() / NANOS_PER_MICRO;
    CompletableFuture<Seen> poll = Stages.call(() -> store.timeMicros(0)).toCompletableFuture().thenCompose(
        micros -> (isBeat
            ? renew(member, micros + leaseMicros).thenCompose(renewed -> lead(member, micros, micros + leaseMicros))
            : UNCHANGED)
            .thenCompose(done -> store.documents(DocumentKind.NODE).thenCombine(store.documents(DocumentKind.CLUSTER),
                (nodes, documents) -> new Seen(micros, nodes, documents, leader(documents, micros)))));
    after(poll, (found, failure) -> {
      underWay = false;
      slowNanos = Math.max(clock.monotonicNanos() - begunNanos, slowNanos - slowNanos / FORGOTTEN_PART);
      if (found == null) {
        if (reported != null && reported.connection() == Connection.CONNECTED) {
          LOG.log(System.Logger.Level.WARNING, "the store does not answer; membership is tried again every second");
          report(Connection.SUSPENDED, null);
        }
        pollNanos = begunNanos + BEAT.toNanos();
        return;
      }
      aliveNanos = isBeat ? begunNanos : aliveNanos;
      report(Connection.CONNECTED, found);
      if (found.leader() == null) {
        // No member leads: this member tries to take the lead at its next poll.
        beatNanos = clock.monotonicNanos();
      }
    });
  }

  /** The result of a poll. */
  private record Seen(long micros, List<Document> nodes, List<Document> documents, @Nullable String leader) {
    @Nullable
    Document document(String name) {
      return find(documents, name);
    }
  }

  private static @Nullable Document find(List<Document> documents, String name) {
    return documents.stream().filter(document -> document.name().equals(name)).findFirst().orElse(null);
  }

  private @Nullable String leader(List<Document> documents, long micros) {
    LeaderLease lease = leaderLease(find(documents, LEADER));
    return lease == null || !runs(lease.endMicros(), micros) ? null : lease.node();
  }

  private @Nullable LeaderLease leaderLease(@Nullable Document document) {
    return document == null ? null : readable(LeaderLease.SUBJECT, document, LeaderLease::decode);
  }

  /** Reads a lease; returns null if it cannot be read. */
  private <T> @Nullable T readable(String subject, Document document, Function<byte[], T> decode) {
    String name = subject + " " + document.name();
    try {
      T lease = decode.apply(document.content());
      setAside.remove(name);
      return lease;
    } catch (UnreadableException e) {
      if (setAside.add(name)) {
        LOG.log(System.Logger.Level.WARNING, "a lease is set aside until it is renewed: lease={0}, reason={1}", name,
            e.getMessage());
      }
      return null;
    }
  }

  private CompletionStage<Boolean> renew(Member member, long endMicros) {
    byte[] content = new NodeLease(member, endMicros).encode();
    return store.writeDocument(DocumentKind.NODE, member.node(), ownVersion, content).thenCompose(written -> {
      // If the write was refused, another process with this node's name wrote the document, or a reply was lost.
      return written || leaves
          ? CompletableFuture.completedFuture(true)
          : store.document(DocumentKind.NODE, member.node()).thenCompose(found -> store
              .writeDocument(DocumentKind.NODE, member.node(), found.map(Document::version).orElse(0L), content));
    });
  }

  /** Takes or renews the lead, unless another member holds it. */
  private CompletionStage<Boolean> lead(Member member, long micros, long endMicros) {
    return store.document(DocumentKind.CLUSTER, LEADER).thenCompose(found -> {
      LeaderLease lease = leaderLease(found.orElse(null));
      if (lease != null && !lease.node().equals(member.node()) && runs(lease.endMicros(), micros)) {
        return UNCHANGED;
      }
      return store.writeDocument(DocumentKind.CLUSTER, LEADER, found.map(Document::version).orElse(0L),
          new LeaderLease(member.node(), endMicros).encode());
    });
  }

  /**
   * Returns whether a lease runs. A lease whose end is too far in the future is invalid: it was written before the
   * store's clock was set back.
   */
  private static boolean runs(long endMicros, long nowMicros) {
    return endMicros > nowMicros && endMicros - nowMicros <= 2 * MAX_LEASE_MICROS;
  }

  private void report(Connection connection, @Nullable Seen seen) {
    View before = reported;
    View now;
    if (seen != null) {
      List<Member> members = new ArrayList<>();
      for (Document document : seen.nodes()) {
        ownVersion = self != null && document.name().equals(self.node()) ? document.version() : ownVersion;
        NodeLease lease = readable(NodeLease.SUBJECT, document, NodeLease::decode);
        if (lease == null) {
          continue;
        }
        if (runs(lease.endMicros(), seen.micros())) {
          members.add(lease.member());
        } else if (self != null && self.node().equals(seen.leader())
            && lease.endMicros() + FORGET_MICROS < seen.micros()) {
          forget(document);
        }
      }
      members.sort(Comparator.comparing(Member::node));
      Document document = seen.document(DOCUMENT);
      now = new View(connection, List.copyOf(members), seen.leader(), document == null ? null : document.content(),
          document == null ? 0 : document.version());
    } else {
      now = before == null
          ? new View(connection, List.of(), null, null, 0)
          : new View(connection, before.members(), connection == Connection.LOST ? null : before.leader(),
              before.document(), before.version());
    }
    reported = now;
    boolean isWanted = before == null || differs(before, now) || (reportAgain && seen != null);
    reportAgain &= seen == null;
    if (listener != null && isWanted) {
      listener.changed(now);
    }
  }

  private static boolean differs(View before, View now) {
    return before.connection() != now.connection() || before.version() != now.version()
        || !before.members().equals(now.members()) || !Objects.equals(before.leader(), now.leader())
        // A store that has forgotten its last writes assigns their versions again.
        || !Arrays.equals(before.document(), now.document());
  }

  private void forget(Document document) {
    after(store.writeDocument(DocumentKind.NODE, document.name(), document.version(), null), (done, failure) -> {});
  }

  /** Leaves, without waiting for the store; the other members notice at their next poll, or when the lease ends. */
  @Override
  public void close() {
    leaves = true;
    loop.close();
    Member member = self;
    if (member == null) {
      return;
    }
    CompletableFuture<Boolean> resigned = Stages.call(() -> store.document(DocumentKind.CLUSTER, LEADER))
        .toCompletableFuture()
        .thenCompose(found -> {
          LeaderLease lease = leaderLease(found.orElse(null));
          return found.isPresent() && lease != null && lease.node().equals(member.node())
              ? store.writeDocument(DocumentKind.CLUSTER, LEADER, found.get().version(), null)
              : CompletableFuture.completedFuture(true);
        });
    // A renewal that is under way may write between the read and the deletion, but only once.
    var left = Stages.call(() -> delete(member.node())).toCompletableFuture()
        .thenCompose(gone -> gone ? CompletableFuture.completedFuture(true) : delete(member.node()))
        .thenCombine(resigned, (gone, led) -> gone && led).whenComplete((isRecorded, failure) -> {
          if (failure != null || !isRecorded) {
            LOG.log(System.Logger.Level.INFO,
                "the store did not record that this node leaves; its lease ends within {0} ms",
                MAX_LEASE.toMillis());
          }
        });
    assert left != null;
  }

  /** Deletes the lease of a node, unless the lease changes meanwhile. */
  private CompletionStage<Boolean> delete(String node) {
    return store.document(DocumentKind.NODE, node).thenCompose(found -> found.isEmpty()
        ? CompletableFuture.completedFuture(true)
        : store.writeDocument(DocumentKind.NODE, node, found.get().version(), null));
  }

  /** The lease of a member, with the facts that the member publishes about itself. */
  private record NodeLease(Member member, long endMicros) {
    private static final String SUBJECT = "node lease";

    byte[] encode() {
      return DocumentFormat.encode(SUBJECT, out -> out.u64(endMicros).text(member.node()).text(member.zone())
          .u8(member.takesSlots() ? 1 : 0).near(member.clockOffsetMillis()));
    }

    static NodeLease decode(byte[] content) {
      return DocumentFormat.decode(SUBJECT, content, in -> {
        long end = in.u64();
        return new NodeLease(new Member(in.text(), in.text(), in.u8() != 0, in.near()), end);
      });
    }
  }

  /** The lease of the leader. */
  private record LeaderLease(String node, long endMicros) {
    private static final String SUBJECT = "leader lease";

    byte[] encode() {
      return DocumentFormat.encode(SUBJECT, out -> out.u64(endMicros).text(node));
    }

    static LeaderLease decode(byte[] content) {
      return DocumentFormat.decode(SUBJECT, content, in -> {
        long end = in.u64();
        return new LeaderLease(in.text(), end);
      });
    }
  }
}
