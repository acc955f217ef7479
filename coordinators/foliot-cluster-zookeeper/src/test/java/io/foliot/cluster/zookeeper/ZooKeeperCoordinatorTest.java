package io.foliot.cluster.zookeeper;

import static io.foliot.cluster.zookeeper.TestNode.await;
import static io.foliot.cluster.zookeeper.TestNode.awaitAgreed;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.TcpProxy;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.coordination.Coordinator.View;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.curator.test.ZooKeeperServerEmbeddedAdapter;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Members of a cluster with a real ZooKeeper, and with faults of ZooKeeper and of the network. */
@Tag("long")
final class ZooKeeperCoordinatorTest {
  /** Tick of the server; the shortest session is two ticks. */
  private static final int TICK_MILLIS = 500;
  private static final Duration SESSION = Duration.ofSeconds(3);
  private static final Duration LONG_SESSION = Duration.ofSeconds(10);
  private static final Duration BEAT = ZooKeeperCoordinator.BEAT;
  private static final String ROOT = "/prod/foliot";

  @TempDir
  private Path folder = Path.of("");
  private final List<AutoCloseable> open = new ArrayList<>();
  private TestingServer server;
  private CuratorFramework operator;

  @BeforeEach
  void start() throws Exception {
    server = closed(new TestingServer(new InstanceSpec(folder.toFile(), -1, -1, -1, false, -1, TICK_MILLIS, -1), true));
    operator = closed(CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryNTimes(100, 100)));
    operator.start();
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
  }

  /** Registers a resource that {@link #stop} closes, and returns it. */
  private <T extends AutoCloseable> T closed(T opened) {
    open.add(opened);
    return opened;
  }

  private ZooKeeperOptions options(int port, Duration session) {
    return ZooKeeperOptions.builder("zookeeper://127.0.0.1:" + port + ROOT).sessionTimeout(session).build();
  }

  private TestNode node(String name, String zone) {
    return closed(new TestNode(name, zone, options(server.getPort(), SESSION)));
  }

  private TestNode behind(TcpProxy proxy, String name, Duration session) {
    return closed(new TestNode(name, "west", options(proxy.port(), session)));
  }

  private TcpProxy proxy() {
    return closed(TcpProxy.to(server.getPort()));
  }

  /** Returns three nodes, of which the first leads. */
  private List<TestNode> three() {
    List<TestNode> nodes = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      nodes.add(node(name, "east"));
      awaitAgreed(nodes);
    }
    return nodes;
  }

  private Stat stat(String node) throws Exception {
    Stat stat = operator.checkExists().forPath(ROOT + "/members/" + node);
    assertThat(stat).isNotNull();
    return stat;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  /** Ends a session in the server, as a timeout would. The server then notifies the client. */
  private void endSession(long session) throws Exception {
    Object main = field(field(server, "testingZooKeeperServer"), "main");
    ((ZooKeeperServerEmbeddedAdapter) main).getServerCnxnFactory().getZooKeeperServer().closeSession(session);
  }

  private static Object field(Object of, String name) throws Exception {
    Field field = of.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }

  @Test
  void membersSeeEachOtherWithTheirZonesAndOneLeads() {
    TestNode a = node("a", "east");
    TestNode b = node("b", "west");
    awaitAgreed(a, b);
    assertThat(b.views.getLast().members()).containsExactly(new Member("a", "east"), new Member("b", "west"));
    assertThat(a.coordinator.kind()).isEqualTo("zookeeper");
    int viewsBefore = a.views.size();
    TestNode c = node("c", "east");
    awaitAgreed(a, b, c);
    assertThat(a.views.size() - viewsBefore).as("only the change is reported").isEqualTo(1);
  }

  @Test
  void allMembersReadTheUpdateOfAMember() {
    TestNode a = node("a", "east");
    TestNode b = node("b", "west");
    awaitAgreed(a, b);
    Member changed = new Member("a", "east", false, 3_600_000);
    a.coordinator.update(changed);
    await("both read the update", () -> List.of(a, b).stream()
        .allMatch(node -> node.views.getLast().members().equals(List.of(changed, b.member))));
    assertThat(a.views).as("the update did not interrupt the membership")
        .noneMatch(view -> view.members().isEmpty());
  }

  @Test
  void aDeadMemberIsGoneWhenItsSessionEndsAndTheNextLeads() {
    TcpProxy proxy = proxy();
    TestNode a = behind(proxy, "a", SESSION);
    awaitAgreed(a);
    TestNode b = node("b", "east");
    TestNode c = node("c", "east");
    awaitAgreed(a, b, c);
    assertThat(a.leads()).isTrue();
    proxy.blackHole();
    Duration taken = await("the next candidate leads", () -> TestNode.agree(List.of(b, c)));
    // The next candidate leads at most one session timeout and three ticks later, unless the machine pauses.
    assertThat(taken).isLessThan(SESSION.multipliedBy(3));
    await("the node without a connection reports a lost connection", () -> a.reports(Connection.LOST));
    assertThat(a.views.getLast().leader()).isNull();
    proxy.heal();
    awaitAgreed(a, b, c);
    assertThat(a.leads()).isFalse();
  }

  @Test
  void aLeavingMemberIsGoneAtOnceAndTheNextLeads() {
    TestNode a = closed(new TestNode("a", "east", options(server.getPort(), LONG_SESSION)));
    awaitAgreed(a);
    TestNode b = node("b", "east");
    TestNode c = node("c", "east");
    awaitAgreed(a, b, c);
    assertThat(a.leads()).isTrue();
    long begun = System.nanoTime();
    a.close();
    Duration closed = Duration.ofNanos(System.nanoTime() - begun);
    Duration taken = closed.plus(await("the next candidate leads", () -> TestNode.agree(List.of(b, c))));
    assertThat(taken).as("much less than the session's timeout").isLessThan(LONG_SESSION.dividedBy(2));
  }

  @Test
  void aConnectionThatBreaksSuspendsAndKeepsTheMembership() throws Exception {
    TcpProxy proxy = proxy();
    TestNode a = behind(proxy, "a", LONG_SESSION);
    TestNode b = node("b", "east");
    awaitAgreed(a, b);
    long made = stat("a").getCzxid();
    int viewsBefore = a.views.size();
    proxy.refuse();
    proxy.cut();
    await("the connection is suspended", () -> a.reports(Connection.SUSPENDED));
    assertThat(a.views.getLast().members()).hasSize(2);
    assertThat(a.views.getLast().leader()).isNotNull();
    proxy.heal();
    awaitAgreed(a, b);
    assertThat(stat("a").getCzxid()).isEqualTo(made);
    assertThat(a.views.subList(viewsBefore, a.views.size())).extracting(View::connection)
        .doesNotContain(Connection.LOST);
  }

  @Test
  void aSessionThatTheServerEndsIsLostAndTheMemberRegistersAgain() throws Exception {
    List<TestNode> nodes = three();
    TestNode leader = nodes.getFirst();
    Stat before = stat("a");
    int viewsBefore = leader.views.size();
    endSession(before.getEphemeralOwner());
    await("a lost connection is reported",
        () -> leader.views.stream().skip(viewsBefore).anyMatch(view -> view.connection() == Connection.LOST));
    awaitAgreed(nodes);
    assertThat(stat("a").getEphemeralOwner()).isNotEqualTo(before.getEphemeralOwner());
    assertThat(nodes.get(1).leads()).as("the next candidate leads").isTrue();
    assertThat(leader.views.stream().skip(viewsBefore).filter(view -> view.connection() == Connection.LOST))
        .allSatisfy(view -> assertThat(view.leader()).isNull());
  }

  @Test
  void allMembersRegisterAgainEachTimeAllSessionsEnd() throws Exception {
    List<TestNode> nodes = three();
    for (int round = 0; round < 3; round++) {
      List<Long> ended = new ArrayList<>();
      for (TestNode node : nodes) {
        ended.add(stat(node.member.node()).getEphemeralOwner());
      }
      for (long session : ended) {
        endSession(session);
      }
      await("all have new sessions", () -> nodes.stream().allMatch(node -> {
        try {
          Stat stat = operator.checkExists().forPath(ROOT + "/members/" + node.member.node());
          return stat != null && !ended.contains(stat.getEphemeralOwner());
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }));
      awaitAgreed(nodes);
    }
  }

  @Test
  void deletedZnodesAreCreatedAgainWithinTenBeats() throws Exception {
    List<TestNode> nodes = three();
    for (String deleted : List.of("/prod", ROOT, ROOT + "/members", ROOT + "/leader", ROOT + "/members/a")) {
      int viewsBefore = nodes.getFirst().views.size();
      operator.delete().deletingChildrenIfNeeded().forPath(deleted);
      Duration healed = await("all znodes exist again: " + deleted, () -> TestNode.agree(nodes) && candidates() == 3
          && members() == 3);
      assertThat(healed).as(deleted).isLessThan(BEAT.multipliedBy(10));
      assertThat(nodes.getFirst().views.subList(viewsBefore, nodes.getFirst().views.size()))
          .extracting(View::connection)
          .as("no member lost a session").doesNotContain(Connection.LOST);
    }
  }

  private int candidates() {
    return children("/leader");
  }

  private int members() {
    return children("/members");
  }

  private int children(String under) {
    try {
      return operator.checkExists().forPath(ROOT + under) == null
          ? 0
          : operator.getChildren().forPath(ROOT + under).size();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aRestartedServerHasAllMembersAndTheDocument() throws Exception {
    List<TestNode> nodes = three();
    nodes.getFirst().coordinator.publish(bytes("one"), 0);
    await("the document is read", () -> nodes.stream().allMatch(node -> node.version() == 1));
    server.restart();
    await("a member reports the interruption", () -> nodes.stream().flatMap(node -> node.views.stream())
        .anyMatch(view -> view.connection() != Connection.CONNECTED));
    awaitAgreed(nodes);
    nodes.forEach(node -> assertThat(node.document()).isEqualTo(bytes("one")));
  }

  @Test
  void membersKeepTryingAZooKeeperThatIsDownForHours() throws Exception {
    List<TestNode> nodes = three();
    nodes.getFirst().coordinator.publish(bytes("one"), 0);
    await("the document is read", () -> nodes.stream().allMatch(node -> node.version() == 1));
    server.stop();
    await("all nodes report a lost connection", () -> nodes.stream().allMatch(node -> node.reports(Connection.LOST)));
    nodes.forEach(node -> assertThat(node.document()).as("the document before the outage").isEqualTo(bytes("one")));
    int viewsBefore = nodes.getFirst().views.size();
    for (int hour = 0; hour < 3; hour++) {
      // A client without a connection is replaced after a minute at most.
      nodes.forEach(node -> node.skip(Duration.ofHours(1)));
      ZooKeeperOptions here = options(server.getPort(), SESSION);
      TestNode late = closed(new TestNode("late-" + hour, "east", here));
      await("the new node reports a lost connection too", () -> late.reports(Connection.LOST));
      late.close();
    }
    assertThat(nodes.getFirst().views).as("no view is reported without a change").hasSize(viewsBefore);
    server.restart();
    awaitAgreed(nodes);
  }

  @Test
  void aZooKeeperThatComesBackEmptyIsFilledAgain() throws Exception {
    List<TestNode> nodes = three();
    nodes.getFirst().coordinator.publish(bytes("one"), 0);
    await("the document is read", () -> nodes.stream().allMatch(node -> node.version() == 1));
    int port = server.getPort();
    server.close();
    closed(new TestingServer(
        new InstanceSpec(folder.resolve("empty").toFile(), port, -1, -1, false, -1, TICK_MILLIS, -1), true));
    await("the document is gone", () -> nodes.stream().allMatch(node -> node.version() == 0));
    awaitAgreed(nodes);
    TestNode leader = nodes.stream().filter(TestNode::leads).findFirst().orElseThrow();
    leader.coordinator.publish(bytes("two"), 0);
    await("the new document is read",
        () -> nodes.stream().allMatch(node -> Arrays.equals(node.document(), bytes("two"))));
  }

  @Test
  void aNodeStartedWithoutZooKeeperBecomesAMemberLater() throws Exception {
    server.stop();
    TestNode a = node("a", "east");
    await("a lost connection is reported", () -> a.reports(Connection.LOST));
    assertThat(a.views).hasSize(1);
    assertThat(a.views.getLast().members()).isEmpty();
    server.restart();
    awaitAgreed(a);
  }

  @Test
  void onlyTheLeaderPublishesDocuments() throws Exception {
    List<TestNode> nodes = three();
    TestNode leader = nodes.getFirst();
    nodes.get(1).coordinator.publish(bytes("from another node"), 0);
    leader.coordinator.publish(bytes("one"), 0);
    await("all nodes read the document", () -> nodes.stream().allMatch(node -> node.version() == 1));
    nodes.forEach(node -> assertThat(node.document()).isEqualTo(bytes("one")));
    leader.coordinator.publish(bytes("expects none"), 0);
    leader.coordinator.publish(bytes("behind"), 7);
    nodes.get(1).coordinator.publish(bytes("from another node"), 1);
    leader.coordinator.publish(bytes("two"), 1);
    await("all nodes read the document", () -> nodes.stream().allMatch(node -> node.version() == 2));
    nodes.forEach(node -> assertThat(node.document()).isEqualTo(bytes("two")));
    assertThat(nodes.stream().flatMap(node -> node.views.stream()).map(View::version)).isSubsetOf(0L, 1L, 2L);
    assertThat(operator.getData().forPath(ROOT + "/assignment")).isEqualTo(bytes("two"));
  }

  @Test
  void changesAreSeenBeforeTheNextBeat() throws Exception {
    TestNode a = node("a", "east");
    awaitAgreed(a);
    a.coordinator.publish(bytes("one"), 0);
    await("the document is read", () -> a.version() == 1);
    int changes = 8;
    // Without watches, each of these changes would be seen only at the next beat.
    Duration members = Duration.ZERO;
    Duration documents = Duration.ZERO;
    for (int change = 1; change <= changes; change++) {
      int before = change;
      operator.create().withMode(CreateMode.EPHEMERAL).forPath(ROOT + "/members/x" + change,
          new MemberRecord(new Member("old", "")).encode());
      members = members.plus(await("the change is seen", () -> a.views.getLast().members().size() == 1 + before));
      operator.setData().forPath(ROOT + "/assignment", bytes("change " + change));
      documents = documents.plus(await("the change is seen", () -> a.version() == 1 + before));
    }
    assertThat(members).isLessThan(BEAT.multipliedBy(changes).dividedBy(4));
    assertThat(documents).isLessThan(BEAT.multipliedBy(changes).dividedBy(4));
  }

  @Test
  void aLeaderWhosePublishFailedGetsTheViewAgain() throws Exception {
    TestNode leader = node("a", "east");
    awaitAgreed(leader);
    int viewsBefore = leader.views.size();
    leader.coordinator.publish(bytes("behind"), 7);
    await("the view is reported again", () -> leader.views.size() > viewsBefore);
    assertThat(leader.version()).isZero();
  }

  @Test
  void aRestartedNodeReplacesItsOldMemberAtOnce() throws Exception {
    TcpProxy proxy = proxy();
    TestNode a = node("a", "east");
    awaitAgreed(a);
    TestNode b = behind(proxy, "b", LONG_SESSION);
    awaitAgreed(a, b);
    long old = stat("b").getEphemeralOwner();
    b.halt();
    proxy.blackHole();
    TestNode again = node("b", "north");
    Duration taken = await("the restarted node is a member", () -> again.reports(Connection.CONNECTED));
    assertThat(taken).isLessThan(LONG_SESSION.dividedBy(2));
    assertThat(stat("b").getEphemeralOwner()).isNotEqualTo(old);
    awaitAgreed(a, again);
  }

  @Test
  void theLaterOfTwoNodesKeepsTheNameUntilItLeaves() throws Exception {
    TestNode first = node("a", "east");
    awaitAgreed(first);
    TestNode second = node("a", "west");
    await("the first node gives up the name", () -> first.reports(Connection.DISPLACED));
    awaitAgreed(second);
    long made = stat("a").getCzxid();
    for (int beat = 0; beat < 4; beat++) {
      first.skip(BEAT);
      second.skip(BEAT);
      TestNode other = node("b" + beat, "east");
      awaitAgreed(second, other);
      other.close();
      awaitAgreed(second);
    }
    assertThat(stat("a").getCzxid()).as("the first node does not take the name back").isEqualTo(made);
    assertThat(first.reports(Connection.DISPLACED)).isTrue();
    second.close();
    awaitAgreed(first);
  }

  @Test
  void aDisplacedNodeStaysDisplacedWhileZooKeeperIsDown() throws Exception {
    TestNode first = node("a", "east");
    awaitAgreed(first);
    TestNode second = node("a", "west");
    await("the first node gives up the name", () -> first.reports(Connection.DISPLACED));
    awaitAgreed(second);
    int viewsBefore = first.views.size();
    server.stop();
    await("the second node reports a lost connection", () -> second.reports(Connection.LOST));
    first.skip(Duration.ofHours(1));
    TestNode late = node("late", "east");
    await("the new node reports a lost connection too", () -> late.reports(Connection.LOST));
    assertThat(first.views).hasSize(viewsBefore);
  }

  @Test
  void aMemberThatCannotBeDecodedIsIgnored() throws Exception {
    TestNode a = node("a", "east");
    awaitAgreed(a);
    operator.create().withMode(CreateMode.EPHEMERAL).forPath(ROOT + "/members/foreign", bytes("?"));
    TestNode b = node("b", "east");
    awaitAgreed(a, b);
  }
}
