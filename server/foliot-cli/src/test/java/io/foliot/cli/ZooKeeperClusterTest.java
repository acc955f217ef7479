package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import io.foliot.client.ClaimRequest;
import io.foliot.client.FoliotClient;
import io.foliot.server.FoliotServer;
import io.foliot.server.StartException;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that share a store and find each other through ZooKeeper. */
@Tag("long")
final class ZooKeeperClusterTest {
  private static final Duration BOUND = Duration.ofSeconds(30);
  /** ZooKeeper's unit of time, which bounds session timeouts. */
  private static final int TICK_MILLIS = 500;
  private static final ClaimRequest CLAIM = new ClaimRequest(10, BOUND.dividedBy(2), Duration.ofSeconds(30), "worker");

  @TempDir
  private Path folder = Path.of("");

  private TestingServer zooKeeper() throws Exception {
    // Each -1 chooses a default of Curator.
    return new TestingServer(new InstanceSpec(folder.toFile(), -1, -1, -1, false, -1, TICK_MILLIS, -1), true);
  }

  private static FoliotServer start(RedisServer store, int port, String node) {
    Map<String, String> all = new HashMap<>(
        Map.of("store", store.uri(), "port", "0", "log-level", "error", "node", node));
    all.put("cluster", "zookeeper://127.0.0.1:" + port);
    return FoliotServer.start(FoliotConfig.load(all, Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static String cluster(FoliotServer server) {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", server.url()), "cluster", "--json");
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  private static int number(FoliotServer server, String name) {
    Matcher found = Pattern.compile("\"" + name + "\"\\s*:\\s*(\\d+)").matcher(cluster(server));
    assertThat(found.find()).isTrue();
    return Integer.parseInt(found.group(1));
  }

  private static void await(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      LockSupport.parkNanos(20_000_000);
    }
  }

  /** Waits until the servers together own all slots, in equal shares that differ by at most one slot. */
  private static void awaitShared(FoliotServer... servers) {
    await("the servers share the slots", () -> {
      int count = number(servers[0], "count");
      int[] owned = Arrays.stream(servers).mapToInt(server -> number(server, "owned")).toArray();
      return Arrays.stream(owned).sum() == count
          && Arrays.stream(owned).allMatch(one -> Math.abs(one - count / servers.length) <= 1);
    });
  }

  @Test
  void threeServersShareSlotsAndTakeOverThoseOfALostServer() throws Exception {
    try (TestingServer zooKeeper = zooKeeper();
        RedisServer store = RedisServer.start();
        TcpProxy proxy = TcpProxy.to(zooKeeper.getPort());
        FoliotServer first = start(store, proxy.port(), "first");
        FoliotServer second = start(store, zooKeeper.getPort(), "second")) {
      try (FoliotServer third = start(store, zooKeeper.getPort(), "third")) {
        awaitShared(first, second, third);
        assertThat(cluster(second)).contains("\"coordinator\":\"zookeeper\"", "\"node\":\"first\"",
            "\"node\":\"second\"", "\"node\":\"third\"");
      }
      awaitShared(first, second);
      proxy.blackHole();
      await("the remaining server owns all slots", () -> number(second, "owned") == number(second, "count"));
      assertThat(number(first, "owned"))
          .as("a server that is cut off keeps its slots until it reads a newer assignment")
          .isPositive();
      proxy.heal();
      awaitShared(first, second);
    }
  }

  @Test
  void aServerStartsAndFiresWithoutZooKeeper() throws Exception {
    try (TestingServer zooKeeper = zooKeeper(); RedisServer store = RedisServer.start()) {
      int port = zooKeeper.getPort();
      try (FoliotServer before = start(store, port, "before")) {
        Map<String, String> url = Map.of("FOLIOT_URL", before.url());
        assertThat(Outcome.of(url, "queues", "put", "orders", "--pull").exitCode()).isEqualTo(ExitCode.OK);
        assertThat(Outcome.of(url, "submit", "orders", "--key", "order-7", "--delay", "3s").exitCode())
            .isEqualTo(ExitCode.OK);
      }
      zooKeeper.stop();
      try (FoliotServer alone = start(store, port, "alone");
          FoliotClient client = FoliotClient.builder(URI.create(alone.url())).build()) {
        // The overdue poll finds the task although the server owns no slot.
        assertThat(client.claim("orders", CLAIM)).hasSize(1);
        assertThat(number(alone, "owned")).isZero();
        zooKeeper.restart();
        await("the server owns all slots once ZooKeeper runs", () -> number(alone, "owned") == number(alone, "count"));
      }
    }
  }

  @Test
  void unusableSettingsAreRefusedAtTheStart() {
    Map<String, String> own = Map.of("cluster", "zookeeper://127.0.0.1:1", "data", folder.toString());
    assertThatRefused(own, "cannot be shared");
    try (RedisServer store = RedisServer.start()) {
      String uri = store.uri();
      assertThatRefused(Map.of("store", uri, "cluster", "zookeeper://"), "host:port,host:port");
      assertThatRefused(Map.of("store", uri, "cluster", "zookeeper://a:x"), "host:port,host:port");
      assertThatRefused(Map.of("store", uri, "cluster", "zookeeper://a:1/b//c"), "/b//c");
      assertThatRefused(Map.of("store", uri, "cluster", "zookeeper://a:1", "cluster-sasl", "Nowhere"), "Nowhere");
      assertThatRefused(Map.of("store", uri, "cluster", "zookeeper://a:1", "cluster-trust-store", "nowhere.p12"),
          "nowhere.p12");
    }
  }

  private static void assertThatRefused(Map<String, String> flags, String word) {
    Map<String, String> all = new HashMap<>(flags);
    all.put("port", "0");
    all.put("log-level", "error");
    FoliotConfig config = FoliotConfig.load(all, Map.of(), null);
    assertThatThrownBy(
        () -> FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8)).close())
        .isInstanceOf(StartException.class).hasMessageContainingAll("--cluster", word);
  }
}
