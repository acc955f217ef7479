package io.foliot.engine.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Token;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.coordination.Coordinator.View;
import io.foliot.core.store.Document;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.Frame;
import io.foliot.testkit.ManualEventLoop;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class StoreCoordinatorTest {
  private static final Duration BEAT = StoreCoordinator.BEAT;
  /** Longest time from the death of a member until the others no longer list it, if no call is slow. */
  private static final Duration DEATH = StoreCoordinator.LEASE.plus(BEAT).plus(BEAT);

  private final SettableClock clock = new SettableClock();
  private final ManualLoops loops = new ManualLoops(clock);
  private final SplittableRandom random = new SplittableRandom(7);
  private final TaskStore store = new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong()));
  private final List<Node> nodes = new ArrayList<>();

  private final class Node {
    final Member member;
    final ManualEventLoop loop = loops.newLoop();
    final List<View> views = new ArrayList<>();
    final StoreCoordinator coordinator;
    boolean away;
    boolean silent;
    /** Whether the next write of the assignment fails. */
    boolean failsToPublish;
    /** The duration of a call that succeeds. */
    Duration slow = Duration.ZERO;
    /** Every n-th poll fails, where n is this number; no poll fails if it is 0. */
    int failsEvery;
    /** The duration of a poll that fails. */
    Duration failsAfter = Duration.ZERO;
    private int polls;
    /** The document that reads return instead of the stored document of the same name, or null. */
    @Nullable
    Document rewritten;
    /** Renewals that wait for the test, while {@link #holds} is set. */
    final List<Runnable> held = new ArrayList<>();
    boolean holds;
    /** Whether requests of renewals wait. Otherwise they are executed, and their replies wait. */
    boolean holdsRequests;

    Node(String name, String zone) {
      member = new Member(name, zone);
      TaskStore faulty = (TaskStore) Proxy.newProxyInstance(TaskStore.class.getClassLoader(),
          new Class<?>[]{TaskStore.class}, (proxy, method, arguments) -> {
            if (silent && CompletionStage.class.isAssignableFrom(method.getReturnType())) {
              return new CompletableFuture<>();
            }
            if (rewritten != null && method.getName().equals("documents") && arguments[0] == DocumentKind.CLUSTER) {
              List<Document> others = store.documents(DocumentKind.CLUSTER).toCompletableFuture().join().stream()
                  .filter(document -> !document.name().equals(rewritten.name())).toList();
              return CompletableFuture.completedFuture(Stream.concat(others.stream(), Stream.of(rewritten)).toList());
            }
            if (away && CompletionStage.class.isAssignableFrom(method.getReturnType())) {
              return CompletableFuture.failedFuture(new StoreException("the store is unavailable", null));
            }
            if (holds && method.getName().equals("writeDocument") && arguments[0] == DocumentKind.NODE
                && arguments[3] != null) {
              return held(() -> store.writeDocument(DocumentKind.NODE, (String) arguments[1], (long) arguments[2],
                  (byte[]) arguments[3]));
            }
            if (failsToPublish && method.getName().equals("writeDocument") && "assignment".equals(arguments[1])) {
              failsToPublish = false;
              return CompletableFuture.failedFuture(new StoreException("the connection was reset", null));
            }
            if (failsEvery > 0 && method.getName().equals("timeMicros") && ++polls % failsEvery == 0) {
              return later(CompletableFuture.failedFuture(new StoreException("no answer", null)), failsAfter);
            }
            try {
              Object answer = method.invoke(store, arguments);
              return slow.isZero() || !(answer instanceof CompletionStage<?> stage) ? answer : later(stage, slow);
            } catch (InvocationTargetException e) {
              throw e.getCause();
            }
          });
      coordinator = new StoreCoordinator(faulty, clock, loop);
      coordinator.join(member, views::add);
      nodes.add(this);
    }

    private CompletableFuture<Boolean> held(Supplier<CompletionStage<Boolean>> call) {
      CompletableFuture<Boolean> reply = new CompletableFuture<>();
      if (holdsRequests) {
        held.add(() -> reply.complete(call.get().toCompletableFuture().join()));
      } else {
        boolean written = call.get().toCompletableFuture().join();
        held.add(() -> reply.complete(written));
      }
      return reply;
    }

    View view() {
      return views.getLast();
    }

    boolean leads() {
      return member.node().equals(view().leader());
    }
  }

  private record Pending(long atNanos, Runnable answer) {}

  /** The answers that are not delivered yet. */
  private final List<Pending> pending = new ArrayList<>();
  /** The loop that delivers pending answers. */
  private final ManualEventLoop deliveryLoop = loops.newLoop();

  private CompletableFuture<Object> later(CompletionStage<?> stage, Duration slow) {
    CompletableFuture<Object> answer = new CompletableFuture<>();
    pending.add(new Pending(clock.monotonicNanos() + slow.toNanos(), () -> stage.whenComplete((result, failure) -> {
      if (failure == null) {
        answer.complete(result);
      } else {
        answer.completeExceptionally(failure);
      }
    })));
    deliveryLoop.wake();
    return answer;
  }

  /** Delivers the answers whose time has come. Returns when to run again, in nanoseconds of the monotonic clock. */
  private long deliver() {
    long now = clock.monotonicNanos();
    List<Pending> due = pending.stream().filter(each -> each.atNanos() <= now).toList();
    pending.removeAll(due);
    due.forEach(each -> each.answer().run());
    return pending.stream().mapToLong(Pending::atNanos).min().orElse(now + Duration.ofHours(1).toNanos());
  }

  @Test
  void aLeaderWhosePublishFailedGetsItsViewAgain() {
    startThree();
    Node leader = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    int before = leader.views.size();
    leader.failsToPublish = true;
    leader.coordinator.publish("new".getBytes(StandardCharsets.UTF_8), leader.view().version());
    loops.advance(BEAT);
    assertThat(leader.views).as("once more, so that the leader publishes again").hasSize(before + 1);
    leader.coordinator.publish("new".getBytes(StandardCharsets.UTF_8), leader.view().version());
    loops.advance(BEAT);
    assertThat(leader.view().document()).isEqualTo("new".getBytes(StandardCharsets.UTF_8));
    assertThat(leader.views).hasSize(before + 2);
  }

  @Test
  void membersOfASlowStoreStayMembers() {
    deliveryLoop.start(this::deliver);
    startThree();
    nodes.forEach(node -> node.slow = Duration.ofMillis(500));
    loops.advance(Duration.ofSeconds(15));
    List<Integer> viewCounts = nodes.stream().map(node -> node.views.size()).toList();
    loops.advance(Duration.ofMinutes(5));
    ensureAgreed(nodes);
    assertThat(nodes.stream().map(node -> node.views.size()).toList()).as("no view is reported without a change")
        .isEqualTo(viewCounts);
    // The leases of a slow store are longer, so a dead member is gone later.
    Node dead = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    dead.loop.close();
    loops.advance(StoreCoordinator.MAX_LEASE.plus(DEATH));
    ensureAgreed(nodes.stream().filter(node -> node != dead).toList());
    nodes.forEach(node -> node.slow = Duration.ZERO);
    loops.advance(DEATH);
    ensureAgreed(nodes.stream().filter(node -> node != dead).toList());
  }

  @Test
  void aMemberWhoseCallsSometimesFailSlowlyStaysAMember() {
    deliveryLoop.start(this::deliver);
    startThree();
    Node failing = nodes.getLast();
    failing.failsAfter = Duration.ofSeconds(4);
    failing.failsEvery = 8;
    loops.advance(Duration.ofSeconds(20));
    List<Node> others = nodes.subList(0, 2);
    List<Integer> viewCounts = others.stream().map(node -> node.views.size()).toList();
    loops.advance(Duration.ofMinutes(5));
    ensureAgreed(others, nodes);
    assertThat(others.stream().map(node -> node.views.size()).toList()).as("the membership is never interrupted")
        .isEqualTo(viewCounts);
  }

  private void startThree() {
    new Node("a", "east");
    new Node("b", "west");
    new Node("c", "east");
    loops.advance(BEAT.multipliedBy(2));
  }

  private void ensureAgreed(List<Node> alive) {
    ensureAgreed(alive, alive);
  }

  /**
   * Ensures that each reader lists exactly the members in {@code alive}, and that all readers name the same leader.
   * Ensures that exactly one member in {@code alive} leads.
   */
  private void ensureAgreed(List<Node> readers, List<Node> alive) {
    for (Node node : readers) {
      assertThat(node.view().connection()).isEqualTo(Connection.CONNECTED);
      assertThat(node.view().members()).containsExactlyElementsOf(alive.stream().map(one -> one.member).toList());
      assertThat(node.view().leader()).isNotNull().isEqualTo(readers.getFirst().view().leader());
    }
    assertThat(alive.stream().filter(Node::leads)).hasSize(1);
  }

  @Test
  void allMembersAreListedAndOneLeads() {
    startThree();
    ensureAgreed(nodes);
    loops.advance(Duration.ofHours(3));
    ensureAgreed(nodes);
    nodes.forEach(node -> assertThat(node.views).as("no view is reported without a change").hasSizeLessThan(5));
  }

  @Test
  void aDeadMemberIsGoneWhenItsLeaseEndsAndAnotherLeads() {
    startThree();
    Node dead = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    dead.loop.close();
    loops.advance(DEATH);
    List<Node> alive = nodes.stream().filter(node -> node != dead).toList();
    ensureAgreed(alive);
  }

  @Test
  void aLeavingMemberIsGoneWithinTwoBeats() {
    startThree();
    Node leaver = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    leaver.coordinator.close();
    loops.advance(BEAT.multipliedBy(2));
    ensureAgreed(nodes.stream().filter(node -> node != leaver).toList());
  }

  @Test
  void aMemberThatLeavesDuringItsRenewalIsGoneInTwoPolls() {
    for (boolean holdsRequests : new boolean[]{false, true}) {
      nodes.forEach(node -> node.coordinator.close());
      nodes.clear();
      startThree();
      Node leaver = nodes.getLast();
      leaver.holds = true;
      leaver.holdsRequests = holdsRequests;
      loops.advance(BEAT.multipliedBy(2));
      assertThat(leaver.held).isNotEmpty();
      leaver.coordinator.close();
      List.copyOf(leaver.held).forEach(Runnable::run);
      int renewals = leaver.held.size();
      loops.advance(StoreCoordinator.POLL.multipliedBy(2));
      assertThat(leaver.held).as("no renewal is tried again").hasSize(renewals);
      ensureAgreed(nodes.subList(0, 2));
    }
  }

  @Test
  void aRestartedNodeIsAMemberAgain() {
    startThree();
    nodes.get(1).loop.close();
    Node again = new Node("b", "west");
    loops.advance(BEAT.multipliedBy(2));
    assertThat(again.view().members()).extracting(Member::node).containsExactly("a", "b", "c");
  }

  @Test
  void anOutageSuspendsAndThenLosesTheConnection() {
    startThree();
    Node node = nodes.getLast();
    node.away = true;
    loops.advance(BEAT);
    assertThat(node.view().connection()).isEqualTo(Connection.SUSPENDED);
    assertThat(node.view().members()).hasSize(3);
    loops.advance(DEATH);
    assertThat(node.view().connection()).isEqualTo(Connection.LOST);
    assertThat(node.view().leader()).isNull();
    ensureAgreed(nodes.subList(0, 2));
    loops.advance(Duration.ofHours(1));
    node.away = false;
    loops.advance(BEAT.multipliedBy(3));
    ensureAgreed(nodes);
  }

  @Test
  void aSilentStoreCausesNoBusyLoop() {
    startThree();
    Node node = nodes.getLast();
    node.silent = true;
    // In a busy loop this call would not return.
    loops.advance(DEATH);
    assertThat(node.view().connection()).isEqualTo(Connection.LOST);
    loops.advance(Duration.ofHours(1));
    ensureAgreed(nodes.subList(0, 2));
  }

  @Test
  void allMembersReadTheDocumentOfTheLeader() {
    startThree();
    byte[] document = "one".getBytes(StandardCharsets.UTF_8);
    nodes.forEach(node -> {
      if (!node.leads()) {
        node.coordinator.publish("not from the leader".getBytes(StandardCharsets.UTF_8), 0);
      }
    });
    loops.advance(BEAT.multipliedBy(2));
    nodes.forEach(node -> assertThat(node.view().version()).isZero());
    Node leader = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    leader.coordinator.publish(document, 0);
    loops.advance(BEAT.multipliedBy(2));
    nodes.forEach(node -> assertThat(node.view().document()).isEqualTo(document));
    long version = leader.view().version();
    leader.coordinator.publish("behind".getBytes(StandardCharsets.UTF_8), version - 1);
    loops.advance(BEAT.multipliedBy(2));
    nodes.forEach(node -> assertThat(node.view().document()).isEqualTo(document));
    leader.coordinator.publish("two".getBytes(StandardCharsets.UTF_8), version);
    loops.advance(BEAT.multipliedBy(2));
    nodes.forEach(node -> assertThat(node.view().document()).isEqualTo("two".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void aDocumentIsReportedAgainIfAStoreReusesItsVersion() {
    startThree();
    Node leader = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    leader.coordinator.publish("one".getBytes(StandardCharsets.UTF_8), 0);
    loops.advance(BEAT.multipliedBy(2));
    Node node = nodes.getLast();
    byte[] other = "other".getBytes(StandardCharsets.UTF_8);
    node.rewritten = new Document("assignment", node.view().version(), other);
    loops.advance(BEAT.multipliedBy(2));
    assertThat(node.view().document()).isEqualTo(other);
  }

  @Test
  void aStepOfTheStoresClockLosesNoMember() {
    startThree();
    // Leases end by the store's clock, so this step ends all of them.
    clock.stepWall(Duration.ofHours(1));
    loops.advance(BEAT.multipliedBy(3));
    ensureAgreed(nodes);
    clock.stepWall(Duration.ofHours(-1));
    loops.advance(BEAT.multipliedBy(3));
    nodes.forEach(node -> assertThat(node.view().members()).hasSize(3));
    assertThat(nodes.stream().filter(Node::leads)).hasSize(1);
  }

  @Test
  void aLeaseFromBeforeTheStoresClockWasSetBackIsInvalid() {
    startThree();
    Node dead = nodes.stream().filter(Node::leads).findFirst().orElseThrow();
    dead.loop.close();
    clock.stepWall(Duration.ofHours(-1));
    loops.advance(DEATH);
    ensureAgreed(nodes.stream().filter(node -> node != dead).toList());
  }

  private Document document(DocumentKind kind, String name) {
    return store.document(kind, name).toCompletableFuture().join().orElseThrow();
  }

  private void tamper(DocumentKind kind, String name, byte[] content) {
    assertThat(store.writeDocument(kind, name, document(kind, name).version(), content)).isCompletedWithValue(true);
  }

  /** Returns unreadable forms of a document: damaged, of another subject, malformed, or of a newer version. */
  private static List<byte[]> unreadable(String subject, byte[] bytes) {
    List<byte[]> all = new ArrayList<>();
    for (int at = 0; at < bytes.length; at++) {
      byte[] flipped = bytes.clone();
      flipped[at] ^= 4;
      all.add(flipped);
      all.add(Arrays.copyOf(bytes, at));
    }
    all.add(DocumentFormat.encode("another subject", out -> out.bytes(bytes, 1, bytes.length - 1 - Checksum.BYTES)));
    all.add(DocumentFormat.encode(subject, out -> out.u8(1)));
    byte[] newer = bytes.clone();
    newer[0] = (byte) (Frame.VERSION + 1);
    int end = bytes.length - Checksum.BYTES;
    byte[] checksum = new Bytes(4).u32(Checksum.of(Checksum.mark(subject), newer, 0, end)).array();
    System.arraycopy(checksum, 0, newer, end, Checksum.BYTES);
    all.add(newer);
    return all;
  }

  @Test
  void aMemberWithAnUnreadableLeaseIsAbsentUntilItRenews() {
    startThree();
    List<byte[]> changed = unreadable("node lease", document(DocumentKind.NODE, "b").content());
    Node other = nodes.getFirst();
    for (byte[] each : changed) {
      tamper(DocumentKind.NODE, "b", each);
      other.views.clear();
      loops.advance(BEAT.multipliedBy(3));
      assertThat(other.views.getFirst().members()).extracting(Member::node).as("%s", HexFormat.of().formatHex(each))
          .containsExactly("a", "c");
      ensureAgreed(nodes);
    }
  }

  @Test
  void anUnreadableLeaseOfADeadMemberHidesNoOtherMember() {
    startThree();
    nodes.get(1).loop.close();
    tamper(DocumentKind.NODE, "b", document(DocumentKind.CLUSTER, "leader").content());
    new Node("d", "west");
    loops.advance(DEATH);
    ensureAgreed(List.of(nodes.get(0), nodes.get(2), nodes.get(3)));
  }

  @Test
  void anUnreadableLeaseOfTheLeaderIsTakenByOneMember() {
    startThree();
    for (byte[] each : unreadable("leader lease", document(DocumentKind.CLUSTER, "leader").content())) {
      nodes.forEach(node -> node.views.clear());
      tamper(DocumentKind.CLUSTER, "leader", each);
      loops.advance(BEAT.multipliedBy(2));
      nodes.forEach(node -> assertThat(node.views).as("%s", HexFormat.of().formatHex(each)).isNotEmpty()
          .allSatisfy(view -> assertThat(view.connection()).isEqualTo(Connection.CONNECTED)));
      ensureAgreed(nodes);
    }
  }

  @Test
  void aMemberLeavesIfTheLeaseOfTheLeaderIsUnreadable() {
    startThree();
    tamper(DocumentKind.CLUSTER, "leader", new byte[0]);
    nodes.getLast().coordinator.close();
    assertThat(store.document(DocumentKind.NODE, "c")).isCompletedWithValue(Optional.empty());
    loops.advance(BEAT.multipliedBy(2));
    ensureAgreed(nodes.subList(0, 2));
  }
}
