package io.foliot.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
final class TcpProxyTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  private RedisServer server;
  private TcpProxy proxy;

  @BeforeEach
  void start() {
    server = RedisServer.start();
    proxy = TcpProxy.to(server);
  }

  @AfterEach
  void close() {
    proxy.close();
    server.close();
  }

  private RedisConnection connection() throws IOException {
    return new RedisConnection(proxy.port());
  }

  private long count() {
    return server.command("GET", "n") instanceof String text ? Long.parseLong(text) : 0;
  }

  @Test
  void largeRequestsAndRepliesArePassedOn() throws IOException {
    String large = "x".repeat(3_000_000);
    try (RedisConnection connection = connection()) {
      assertThat(connection.command("SET", "k", large)).isEqualTo("OK");
      assertThat(connection.command("GET", "k")).isEqualTo(large);
    }
    Await.until("the proxy has closed the connection", BOUND, () -> proxy.connectionCount() == 0);
  }

  @Test
  void aCutEndsAllConnectionsAndNewOnesAreAccepted() throws IOException {
    try (RedisConnection one = connection(); RedisConnection other = connection()) {
      one.command("PING");
      other.command("PING");
      proxy.cut();
      assertThatThrownBy(() -> one.command("PING")).isInstanceOf(IOException.class);
      assertThatThrownBy(() -> other.command("PING")).isInstanceOf(IOException.class);
    }
    try (RedisConnection fresh = connection()) {
      assertThat(fresh.command("PING")).isEqualTo("PONG");
    }
  }

  @Test
  void silencedConnectionsStaySilentAndNewOnesWork() throws IOException {
    try (RedisConnection silent = connection()) {
      silent.command("PING");
      proxy.silence();
      proxy.heal();
      try (RedisConnection fresh = connection()) {
        assertThat(fresh.command("INCR", "n")).isEqualTo(1L);
      }
      assertThatThrownBy(() -> silent.command("INCR", "n")).isInstanceOf(IOException.class);
      assertThat(count()).isEqualTo(1);
    }
  }

  @Test
  void newConnectionsGoToTheNewServer() throws IOException {
    try (RedisServer another = RedisServer.start(); RedisConnection before = connection()) {
      before.command("SET", "n", "1");
      proxy.leadTo(another);
      try (RedisConnection after = connection()) {
        assertThat(after.command("GET", "n")).isNull();
        assertThat(before.command("GET", "n")).isEqualTo("1");
      }
    }
  }

  @Test
  void aRequestWhoseReplyIsCutTakesEffectOnce() throws IOException {
    try (RedisConnection cut = connection(); RedisConnection other = connection()) {
      cut.command("PING");
      other.command("PING");
      proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.UTF_8).contains("INCR"));
      assertThat(other.command("PING")).as("another request").isEqualTo("PONG");
      assertThatThrownBy(() -> cut.command("INCR", "n")).isInstanceOf(IOException.class);
      assertThat(count()).isEqualTo(1);
      assertThat(proxy.swallowedReplies()).isEqualTo(1);
      assertThat(other.command("INCR", "n")).as("once only").isEqualTo(2L);
    }
  }

  @Test
  void aBlackHoleHoldsDataUntilTheProxyIsHealed() throws Exception {
    try (RedisConnection connection = connection()) {
      connection.command("PING");
      proxy.blackHole();
      CompletableFuture<Object> reply = later(connection);
      assertThat(count()).isZero();
      assertThat(reply).isNotDone();
      proxy.heal();
      assertThat(reply.get()).isEqualTo(1L);
    }
  }

  @Test
  void heldRepliesArriveOnceTheProxyIsHealed() throws Exception {
    try (RedisConnection connection = connection()) {
      connection.command("PING");
      proxy.holdReplies();
      CompletableFuture<Object> reply = later(connection);
      Await.until("the request is done", BOUND, () -> count() == 1);
      assertThat(reply).isNotDone();
      proxy.heal();
      assertThat(reply.get()).isEqualTo(1L);
    }
  }

  private static CompletableFuture<Object> later(RedisConnection connection) {
    CompletableFuture<Object> reply = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> {
      try {
        reply.complete(connection.command("INCR", "n"));
      } catch (IOException e) {
        reply.completeExceptionally(e);
      }
    });
    return reply;
  }

  @Test
  void newConnectionsAreRefusedUntilTheProxyIsHealed() throws IOException {
    try (RedisConnection connection = connection()) {
      connection.command("PING");
      proxy.refuse();
      assertThatThrownBy(this::connection).isInstanceOf(ConnectException.class);
      assertThat(connection.command("PING")).as("open connections stay").isEqualTo("PONG");
      proxy.heal();
      try (RedisConnection fresh = connection()) {
        assertThat(fresh.command("PING")).isEqualTo("PONG");
      }
    }
  }

  @Test
  void aDelayAppliesInEachDirection() throws IOException {
    try (RedisConnection connection = connection()) {
      connection.command("PING");
      proxy.delay(Duration.ofMillis(50));
      long begun = System.nanoTime();
      connection.command("PING");
      assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(Duration.ofMillis(100).toNanos());
    }
  }

  @Test
  void connectionsToADeadServerEndWithoutAReply() throws IOException {
    server.kill();
    assertThatThrownBy(() -> {
      try (RedisConnection connection = connection()) {
        connection.command("PING");
      }
    }).isInstanceOf(IOException.class);
    server.restart();
    try (RedisConnection connection = connection()) {
      assertThat(connection.command("PING")).isEqualTo("PONG");
    }
  }
}
