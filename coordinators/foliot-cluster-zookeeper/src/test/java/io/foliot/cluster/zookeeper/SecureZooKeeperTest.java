package io.foliot.cluster.zookeeper;

import static io.foliot.cluster.zookeeper.TestNode.await;
import static io.foliot.cluster.zookeeper.TestNode.awaitAgreed;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.cluster.zookeeper.ZooKeeperOptions.Login;
import io.foliot.cluster.zookeeper.ZooKeeperOptions.Tls;
import io.foliot.core.SystemClock;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.coordination.Coordinator.Connection;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.apache.zookeeper.KeeperException.NoAuthException;
import org.apache.zookeeper.server.auth.DigestLoginModule;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.SASLAuthenticationProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the access to znodes, and the encryption of connections to ZooKeeper. */
@Tag("long")
final class SecureZooKeeperTest {
  private static final int TICK_MILLIS = 500;
  private static final String PASSWORD = "changeit";
  private static final Login OWNER = new Login.Digest("foliot", "hush");

  @TempDir
  private Path folder = Path.of("");
  private final List<AutoCloseable> open = new ArrayList<>();
  private final Set<Object> propertiesBefore = new TreeSet<>();

  @BeforeEach
  void remember() {
    propertiesBefore.addAll(System.getProperties().keySet());
  }

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable one : open.reversed()) {
      one.close();
    }
    // The server sets properties of the JVM, and does not remove them.
    System.getProperties().keySet().retainAll(propertiesBefore);
    Configuration.setConfiguration(null);
    ProviderRegistry.reset();
  }

  /** Registers a resource that {@link #stop} closes, and returns it. */
  private <T extends AutoCloseable> T closed(T opened) {
    open.add(opened);
    return opened;
  }

  private TestingServer server(Map<String, Object> settings) throws Exception {
    return closed(new TestingServer(
        new InstanceSpec(folder.resolve("data-" + open.size()).toFile(), -1, -1, -1, false, -1, TICK_MILLIS, -1,
            settings),
        true));
  }

  private static ZooKeeperOptions options(int port) {
    return ZooKeeperOptions.at("zookeeper://127.0.0.1:" + port);
  }

  private TestNode node(String name, ZooKeeperOptions options) {
    return closed(new TestNode(name, "", options));
  }

  /** Returns a client that has no login. */
  private CuratorFramework stranger(TestingServer server) {
    CuratorFramework stranger = closed(
        CuratorFrameworkFactory.newClient(server.getConnectString(), new RetryNTimes(100, 100)));
    stranger.start();
    return stranger;
  }

  private static void assertClosedTo(CuratorFramework stranger) {
    byte[] other = "other".getBytes(UTF_8);
    assertThatThrownBy(() -> stranger.getChildren().forPath("/foliot")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.getChildren().forPath("/foliot/members")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.getChildren().forPath("/foliot/leader")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.getData().forPath("/foliot/members/a")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.getData().forPath("/foliot/assignment")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.setData().forPath("/foliot/assignment", other))
        .isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.delete().forPath("/foliot/assignment")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.delete().forPath("/foliot/members/a")).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.create().forPath("/foliot/members/x", other)).isInstanceOf(NoAuthException.class);
    assertThatThrownBy(() -> stranger.create().forPath("/foliot/leader/latch-0", other))
        .isInstanceOf(NoAuthException.class);
  }

  @Test
  void aClientWithoutTheLoginReadsAndChangesNothing() throws Exception {
    TestingServer server = server(Map.of());
    TestNode a = node("a", options(server.getPort()).toBuilder().login(OWNER).build());
    awaitAgreed(a);
    a.coordinator.publish("one".getBytes(UTF_8), 0);
    await("the document is read", () -> a.version() == 1);
    assertClosedTo(stranger(server));
    TestNode anonymous = node("x", options(server.getPort()));
    TestNode wrong = node("y",
        options(server.getPort()).toBuilder().login(new Login.Digest("foliot", "guess")).build());
    await("neither becomes a member", () -> anonymous.reports(Connection.LOST) && wrong.reports(Connection.LOST));
    TestNode b = node("b", options(server.getPort()).toBuilder().login(OWNER).build());
    awaitAgreed(a, b);
    assertThat(b.document()).isEqualTo("one".getBytes(UTF_8));
  }

  @Test
  void aZnodeThatIsTakenOverIsClosedToStrangers() throws Exception {
    TestingServer server = server(Map.of());
    TestNode first = node("a", options(server.getPort()).toBuilder().login(OWNER).build());
    awaitAgreed(first);
    first.coordinator.publish("one".getBytes(UTF_8), 0);
    TestNode second = node("a", options(server.getPort()).toBuilder().login(OWNER).build());
    await("the second node has taken the name", () -> first.reports(Connection.DISPLACED) && second.version() == 1);
    assertClosedTo(stranger(server));
  }

  private static AppConfigurationEntry[] digest(Map<String, String> settings) {
    return new AppConfigurationEntry[]{
        new AppConfigurationEntry(DigestLoginModule.class.getName(), LoginModuleControlFlag.REQUIRED, settings)};
  }

  @Test
  void aNodeLoggedInWithSaslOwnsItsZnodes() throws Exception {
    AtomicReference<String> password = new AtomicReference<>("guess");
    Configuration.setConfiguration(new Configuration() {
      @Override
      public AppConfigurationEntry @Nullable [] getAppConfigurationEntry(String name) {
        return switch (name) {
          case "Server" -> digest(Map.of("user_foliot", "hush"));
          case "Foliot" -> digest(Map.of("username", "foliot", "password", "hush"));
          case "Guess" -> digest(Map.of("username", "foliot", "password", password.get()));
          default -> null;
        };
      }
    });
    // Without Kerberos there is only DIGEST-MD5, which ZooKeeper does not offer in its default FIPS mode.
    System.setProperty("zookeeper.fips-mode", "false");
    TestingServer server = server(Map.of("authProvider.1", SASLAuthenticationProvider.class.getName()));
    TestNode a = node("a", options(server.getPort()).toBuilder().login(new Login.Sasl("Foliot")).build());
    TestNode b = node("b", options(server.getPort()).toBuilder().login(new Login.Sasl("Foliot")).build());
    awaitAgreed(a, b);
    // Only the leader publishes, and either node may lead.
    a.coordinator.publish("one".getBytes(UTF_8), 0);
    b.coordinator.publish("one".getBytes(UTF_8), 0);
    await("the document is read", () -> a.version() == 1 && b.version() == 1);
    assertClosedTo(stranger(server));
    TestNode wrong = node("x", options(server.getPort()).toBuilder().login(new Login.Sasl("Guess")).build());
    await("a node with a wrong password does not become a member", () -> wrong.reports(Connection.LOST));
    assertThat(a.views.getLast().members()).hasSize(2);
    // A client that was refused never tries again, so only a new client can connect.
    password.set("hush");
    wrong.skip(Duration.ofMinutes(1));
    awaitAgreed(a, b, wrong);
    assertThatThrownBy(() -> idle(options(1).toBuilder().login(new Login.Sasl("Nowhere")).build()))
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("Nowhere");
  }

  private void keytool(String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of(System.getProperty("java.home") + "/bin/keytool"));
    command.addAll(List.of(words));
    command.addAll(List.of("-storepass", PASSWORD, "-storetype", "PKCS12", "-noprompt"));
    Process keytool = new ProcessBuilder(command).redirectErrorStream(true)
        .redirectOutput(folder.resolve("keytool.log").toFile()).start();
    assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(keytool.exitValue()).isZero();
  }

  /** Returns a key store with a new key, and a trust store that accepts it. */
  private Tls keys(String name, String host) throws Exception {
    Path key = folder.resolve(name + "-key.p12");
    Path trust = folder.resolve(name + "-trust.p12");
    String certificate = folder.resolve(name + ".crt").toString();
    keytool("-genkeypair", "-alias", name, "-keyalg", "EC", "-dname", "CN=" + name, "-ext", "san=" + host, "-keystore",
        key.toString());
    keytool("-exportcert", "-alias", name, "-file", certificate, "-keystore", key.toString());
    keytool("-importcert", "-alias", name, "-file", certificate, "-keystore", trust.toString());
    return new Tls(trust, PASSWORD, key, PASSWORD);
  }

  private int secureServer(Tls own) throws Exception {
    int port = InstanceSpec.getRandomPort();
    server(Map.of("secureClientPort", Integer.toString(port), "serverCnxnFactory",
        "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location", String.valueOf(own.keyStore()), "ssl.keyStore.password", PASSWORD,
        "ssl.trustStore.location", own.trustStore().toString(), "ssl.trustStore.password", PASSWORD));
    return port;
  }

  @Test
  void overTlsBothSidesAreAuthenticated() throws Exception {
    Tls shared = keys("shared", "ip:127.0.0.1");
    int port = secureServer(shared);
    TestNode a = node("a", options(port).toBuilder().tls(shared).login(OWNER).build());
    TestNode b = node("b", options(port).toBuilder().tls(shared).login(OWNER).build());
    awaitAgreed(a, b);
    TestNode plain = node("p", options(port));
    Tls other = keys("other", "ip:127.0.0.1");
    TestNode wary = node("w",
        options(port).toBuilder().tls(new Tls(other.trustStore(), PASSWORD, shared.keyStore(), PASSWORD)).build());
    TestNode unknown = node("u",
        options(port).toBuilder().tls(new Tls(shared.trustStore(), PASSWORD, other.keyStore(), PASSWORD)).build());
    await("a node without TLS, with a key that is not trusted, or without trust in the server does not become a member",
        () -> plain.reports(Connection.LOST) && wary.reports(Connection.LOST) && unknown.reports(Connection.LOST));
    awaitAgreed(a, b);
  }

  @Test
  void aServerUnderAnotherNameIsNotTrusted() throws Exception {
    Tls own = keys("own", "ip:127.0.0.1");
    assertThat(accepts(own, keys("here", "ip:127.0.0.1"))).isTrue();
    assertThat(accepts(own, keys("elsewhere", "dns:zookeeper.test"))).isFalse();
  }

  /** Returns whether a client that trusts a server's key accepts the host name in the server's certificate. */
  private boolean accepts(Tls client, Tls server) throws Exception {
    int port = secureServer(new Tls(client.trustStore(), PASSWORD, server.keyStore(), PASSWORD));
    TestNode node = node("a",
        options(port).toBuilder().tls(new Tls(server.trustStore(), PASSWORD, client.keyStore(), PASSWORD)).build());
    await("the first view is reported", () -> node.view() != null);
    boolean connected = node.reports(Connection.CONNECTED);
    node.close();
    return connected;
  }

  @Test
  void filesThatCannotBeOpenedAreRefusedAtOnce() throws Exception {
    Tls keys = keys("some", "ip:127.0.0.1");
    assertRefused(new Tls(folder.resolve("nowhere.p12"), PASSWORD, null, ""), "nowhere.p12");
    assertRefused(new Tls(folder.resolve("nowhere.pem"), "", null, ""), "nowhere.pem");
    assertRefused(new Tls(keys.trustStore(), "guess", null, ""), "some-trust.p12");
    assertRefused(new Tls(keys.trustStore(), PASSWORD, keys.keyStore(), "guess"), "some-key.p12");
  }

  private static void assertRefused(Tls tls, String word) {
    assertThatThrownBy(() -> idle(options(1).toBuilder().tls(tls).build())).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(word).hasMessageNotContaining("guess");
  }

  private static ZooKeeperCoordinator idle(ZooKeeperOptions options) {
    SystemClock clock = new SystemClock();
    return new ZooKeeperCoordinator(options, clock, new ThreadEventLoop(clock, Thread.ofPlatform().factory()));
  }

  @Test
  void secretsAreNotShown() {
    ZooKeeperOptions options = options(1).toBuilder().login(OWNER)
        .tls(new Tls(Path.of("trust.p12"), PASSWORD, Path.of("key.p12"), PASSWORD)).build();
    assertThat(options.toString()).contains("user=foliot", "trust.p12").doesNotContain("hush", PASSWORD);
    assertThatThrownBy(() -> new Login.Digest("a:b", "hush")).hasMessageNotContaining("hush");
    assertThatThrownBy(() -> options.toBuilder().sessionTimeout(Duration.ZERO).build())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
