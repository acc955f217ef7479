package io.foliot.core.coordination;

import io.foliot.core.Clock;
import io.foliot.core.EventLoop;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.TaskStore;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Coordination for those who share a store and nothing else: leases in its documents, judged by its clock.
 *
 * <p>Each member renews a lease of its own; who is listed with a lease that runs is alive. One more lease is that of the
 * leader: whoever finds it over takes it, by compare-and-set. A lease ends so long after the store's clock stood where it
 * stood before the lease was written; so on the store's clock no two leaders ever have one at the same time, and what a
 * leader thinks of itself after a pause does no harm, because documents are written by compare-and-set, too.
 *
 * <p>Members look once a {@linkplain #BEAT beat}. Who leaves well is gone at the next look of the others, who dies when its
 * lease ends.
 */
public final class StoreCoordinator implements Coordinator {
  /** What {@link #kind} says. */
  public static final String KIND = "store";
  /** How often a member shows that it lives, and looks around. */
  public static final Duration BEAT = Duration.ofSeconds(1);
  /** How long it is believed to live after that. */
  public static final Duration LEASE = Duration.ofSeconds(3);

  private static final System.Logger LOG = System.getLogger(StoreCoordinator.class.getName());
  private static final int VERSION = 1;
  private static final String LEADER = "leader";
  private static final String DOCUMENT = "assignment";
  private static final long NANOS_PER_MICRO = 1_000;
  /** Who was not seen for so long is forgotten. */
  private static final long FORGET_MICROS = Duration.ofHours(1).toNanos() / NANOS_PER_MICRO;
  private static final long LEASE_MICROS = LEASE.toNanos() / NANOS_PER_MICRO;

  private final TaskStore store;
  private final Clock clock;
  private final EventLoop loop;
  private final ConcurrentLinkedQueue<Runnable> inbox = new ConcurrentLinkedQueue<>();

  // the loop's thread, and who closes it once it turns no more
  private @Nullable Member self;
  private long ownVersion;
  // loop's thread only
  private @Nullable Listener listener;
  private @Nullable View told;
  private boolean underWay;
  private long beatNanos;
  private long aliveNanos;

  /**
   * A coordinator that is not a member yet.
   *
   * @param loop calls it; its own
   */
  public StoreCoordinator(TaskStore store, Clock clock, EventLoop loop) {
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
      aliveNanos = beatNanos;
    });
    loop.start(this::turn);
  }

  @Override
  public void publish(byte[] document, long expectedVersion) {
    post(() -> {
      View view = told;
      if (view == null || self == null || !self.node().equals(view.leader())) {
        return;
      }
      after(store.writeDocument(DocumentKind.CLUSTER, DOCUMENT, expectedVersion, document), (written, failure) -> {
        // Everybody reads it at the next beat; the one that wrote it need not wait for that.
        beatNanos = clock.monotonicNanos();
      });
    });
  }

  private void post(Runnable message) {
    inbox.add(message);
    loop.wake();
  }

  /** What a stage leads to is done on the loop's thread. */
  private <T> void after(CompletionStage<T> stage, BiConsumer<@Nullable T, @Nullable Throwable> then) {
    stage.whenComplete((result, failure) -> post(() -> then.accept(result, failure)));
  }

  private long turn() {
    for (Runnable message = inbox.poll(); message != null; message = inbox.poll()) {
      try {
        message.run();
      } catch (RuntimeException e) {
        LOG.log(System.Logger.Level.ERROR, "coordination through the store goes on after a failure", e);
      }
    }
    long now = clock.monotonicNanos();
    if (self != null) {
      if (now - aliveNanos >= LEASE.toNanos()) {
        tell(Connection.LOST, null);
      }
      if (!underWay && now - beatNanos >= 0) {
        beatNanos = now + BEAT.toNanos();
        beat(self, now);
      }
    }
    return now + Math.max(0, waitNanos(now));
  }

  /** While a beat is under way only the lease can end; the answer wakes the loop. */
  private long waitNanos(long now) {
    long leftNanos = LEASE.toNanos() - (now - aliveNanos);
    return !underWay ? beatNanos - now : leftNanos > 0 ? leftNanos : BEAT.toNanos();
  }

  /** Shows that it lives, then reads who else does, who leads, and the document. */
  private void beat(Member member, long begunNanos) {
    underWay = true;
    CompletableFuture<Seen> seen = call(() -> store.timeMicros(0)).thenCompose(micros -> renew(member, micros)
        .thenCompose(renewed -> lead(member, micros)).thenCompose(leader -> store.documents(DocumentKind.NODE)
            .thenCombine(store.document(DocumentKind.CLUSTER, DOCUMENT),
                (nodes, document) -> new Seen(micros, leader, nodes, document.orElse(null)))));
    after(seen, (found, failure) -> {
      underWay = false;
      if (found == null) {
        if (told != null && told.connection() == Connection.CONNECTED) {
          LOG.log(System.Logger.Level.WARNING, "the store does not answer; membership is tried again every second",
              failure);
          tell(Connection.SUSPENDED, null);
        }
        return;
      }
      aliveNanos = begunNanos;
      tell(Connection.CONNECTED, found);
    });
  }

  /** What a look around has found. */
  private record Seen(long micros, @Nullable String leader, List<Document> nodes, @Nullable Document document) {}

  private static <T> CompletableFuture<T> call(Supplier<CompletionStage<T>> call) {
    try {
      return call.get().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private CompletionStage<Boolean> renew(Member member, long micros) {
    byte[] content = new NodeLease(member.zone(), micros + LEASE_MICROS).encode();
    return store.writeDocument(DocumentKind.NODE, member.node(), ownVersion, content).thenCompose(written -> {
      // If not, it was written by an earlier life of this node, or a reply was lost.
      return written
          ? CompletableFuture.completedFuture(true)
          : store.document(DocumentKind.NODE, member.node()).thenCompose(found -> store
              .writeDocument(DocumentKind.NODE, member.node(), found.map(Document::version).orElse(0L), content));
    });
  }

  /** Answers who leads, after having taken or renewed the lead where that is possible. */
  private CompletionStage<@Nullable String> lead(Member member, long micros) {
    return store.document(DocumentKind.CLUSTER, LEADER).thenCompose(found -> {
      LeaderLease lease = found.map(document -> LeaderLease.decode(document.content())).orElse(null);
      boolean mine = lease != null && lease.node().equals(member.node());
      if (lease != null && !mine && runs(lease.endMicros(), micros)) {
        return CompletableFuture.completedFuture(lease.node());
      }
      long version = found.map(Document::version).orElse(0L);
      return store.writeDocument(DocumentKind.CLUSTER, LEADER, version,
          new LeaderLease(member.node(), micros + LEASE_MICROS).encode())
          .thenApply(written -> written ? member.node() : null);
    });
  }

  /** One that ends later than any lease can was written before the store's clock was set back. */
  private static boolean runs(long endMicros, long nowMicros) {
    return endMicros > nowMicros && endMicros - nowMicros <= 2 * LEASE_MICROS;
  }

  private void tell(Connection connection, @Nullable Seen seen) {
    View before = told;
    View now;
    if (seen != null) {
      List<Member> members = new ArrayList<>();
      for (Document document : seen.nodes()) {
        NodeLease lease = NodeLease.decode(document.content());
        ownVersion = self != null && document.name().equals(self.node()) ? document.version() : ownVersion;
        if (runs(lease.endMicros(), seen.micros())) {
          members.add(new Member(document.name(), lease.zone()));
        } else if (self != null && self.node().equals(seen.leader())
            && lease.endMicros() + FORGET_MICROS < seen.micros()) {
          forget(document);
        }
      }
      members.sort(Comparator.comparing(Member::node));
      Document document = seen.document();
      now = new View(connection, List.copyOf(members), seen.leader(), document == null ? null : document.content(),
          document == null ? 0 : document.version());
    } else {
      now = before == null
          ? new View(connection, List.of(), null, null, 0)
          : new View(connection, before.members(), connection == Connection.LOST ? null : before.leader(),
              before.document(), before.version());
    }
    told = now;
    if (listener != null && (before == null || differs(before, now))) {
      listener.changed(now);
    }
  }

  private static boolean differs(View before, View now) {
    return before.connection() != now.connection() || before.version() != now.version()
        || !before.members().equals(now.members()) || !Objects.equals(before.leader(), now.leader())
        // A store that has forgotten its last writes gives their versions out again.
        || !Arrays.equals(before.document(), now.document());
  }

  private void forget(Document document) {
    after(store.writeDocument(DocumentKind.NODE, document.name(), document.version(), null), (done, failure) -> {});
  }

  /** Leaves, without waiting for the store; the others see it at their next beat, or when the lease ends. */
  @Override
  public void close() {
    loop.close();
    Member member = self;
    if (member == null) {
      return;
    }
    CompletableFuture<Boolean> resigned = call(() -> store.document(DocumentKind.CLUSTER, LEADER))
        .thenCompose(
            found -> found.isPresent() && LeaderLease.decode(found.get().content()).node().equals(member.node())
                ? store.writeDocument(DocumentKind.CLUSTER, LEADER, found.get().version(), null)
                : CompletableFuture.completedFuture(true));
    var left = call(() -> store.writeDocument(DocumentKind.NODE, member.node(), ownVersion, null))
        .thenCombine(resigned, (gone, led) -> gone && led).whenComplete((heard, failure) -> {
          if (failure != null || !heard) {
            LOG.log(System.Logger.Level.INFO,
                "the store did not hear that this node leaves; its lease says so within {0} ms",
                LEASE.toMillis());
          }
        });
    assert left != null;
  }

  /** A lease that several may look at: whose it is is told by the document's name. */
  private record NodeLease(String zone, long endMicros) {
    byte[] encode() {
      return written(zone, endMicros);
    }

    static NodeLease decode(byte[] content) {
      return read(content, NodeLease::new);
    }
  }

  private record LeaderLease(String node, long endMicros) {
    byte[] encode() {
      return written(node, endMicros);
    }

    static LeaderLease decode(byte[] content) {
      return read(content, LeaderLease::new);
    }
  }

  private static byte[] written(String text, long number) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeLong(number);
      out.writeUTF(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static <T> T read(byte[] content, BiFunction<String, Long, T> made) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(content))) {
      int version = in.readUnsignedByte();
      if (version != VERSION) {
        throw new IllegalArgumentException("a lease from a newer Foliot: version=" + version);
      }
      long number = in.readLong();
      return made.apply(in.readUTF(), number);
    } catch (IOException e) {
      throw new IllegalArgumentException("a lease does not decode: bytes=" + content.length, e);
    }
  }
}
