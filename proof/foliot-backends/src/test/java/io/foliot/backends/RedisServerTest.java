package io.foliot.backends;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
final class RedisServerTest {
  private static final Duration BOUND = Duration.ofSeconds(20);

  /** A pause that is long enough for a running server to reply a thousand times. */
  private static final Duration PAUSE = Duration.ofMillis(100);

  @Test
  void syncSettingOfTheCallerIsApplied() {
    for (String sync : List.of("everysec", "always", "no")) {
      try (RedisServer server = RedisServer.start(Map.of("appendfsync", sync))) {
        assertThat(server.command("CONFIG", "GET", "appendfsync")).isEqualTo(List.of("appendfsync", sync));
        assertThat(server.command("CONFIG", "GET", "appendonly")).isEqualTo(List.of("appendonly", "yes"));
        assertThat(server.info("server")).contains("redis_version:7.0.15");
      }
    }
  }

  @Test
  void onlyRestartEmptyLosesConfirmedWrites() {
    try (RedisServer server = RedisServer.start()) {
      int port = server.port();
      assertThat(server.command("SET", "k", "vä")).isEqualTo("OK");
      server.kill();
      assertThat(server.isAlive()).isFalse();
      server.restart();
      assertThat(server.port()).isEqualTo(port);
      assertThat(server.command("GET", "k")).isEqualTo("vä");
      server.stop();
      server.restart();
      assertThat(server.command("GET", "k")).isEqualTo("vä");
      server.restartEmpty();
      assertThat(server.command("GET", "k")).isNull();
    }
  }

  @Test
  void aPausedServerAnswersOnceItIsResumed() throws Exception {
    try (RedisServer server = RedisServer.start(); RedisConnection connection = new RedisConnection(server.port())) {
      connection.command("SET", "k", "v");
      server.pause();
      CompletableFuture<Object> reply = new CompletableFuture<>();
      Thread.ofVirtual().start(() -> {
        try {
          reply.complete(connection.command("GET", "k"));
        } catch (IOException e) {
          reply.completeExceptionally(e);
        }
      });
      assertThat(server.isAlive()).isTrue();
      assertThatThrownBy(() -> reply.get(PAUSE.toMillis(), TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
      server.resume();
      assertThat(reply.get()).isEqualTo("v");
    }
  }

  @Test
  void aReplicaFollowsAndIsPromoted() {
    try (RedisServer primary = RedisServer.start(); RedisServer replica = primary.replica()) {
      primary.command("SET", "k", "v");
      replica.awaitCopied(primary);
      assertThat(replica.command("GET", "k")).isEqualTo("v");
      assertThatThrownBy(() -> replica.command("SET", "k", "w")).hasMessageContaining("READONLY");
      primary.kill();
      replica.promote();
      assertThat(replica.command("SET", "k", "w")).isEqualTo("OK");
    }
  }

  @Test
  void sentinelsFailOver() {
    try (RedisSentinels sentinels = RedisSentinels.start(Map.of())) {
      RedisServer first = sentinels.firstPrimary();
      first.command("SET", "k", "v");
      sentinels.firstReplica().awaitCopied(first);
      assertThat(sentinels.primaryPort()).isEqualTo(first.port());
      first.kill();
      sentinels.awaitPrimary(sentinels.firstReplica());
      assertThat(sentinels.firstReplica().command("GET", "k")).isEqualTo("v");
    }
  }

  @Test
  void aClusterSharesTheSlotsAndFailsOver() {
    try (RedisCluster cluster = RedisCluster.start(3, 1, Map.of())) {
      RedisServer first = cluster.nodes().getFirst();
      assertThat(Objects.toString(first.command("CLUSTER", "INFO"))).contains("cluster_slots_assigned:16384",
          "cluster_size:3", "cluster_known_nodes:6");
      // The key "b" is in slot 3300, in the first third of the slots; "a" is in slot 15495, in the last third.
      assertThat(first.command("SET", "b", "v")).isEqualTo("OK");
      assertThatThrownBy(() -> first.command("SET", "a", "v")).hasMessageStartingWith("MOVED 15495 ");
      RedisServer replica = cluster.nodes().get(cluster.primaryCount());
      replica.awaitCopied(first);
      first.kill();
      Await.until("the replica has taken over", BOUND, () -> replica.info("replication").contains("role:master"));
      cluster.awaitOk();
      assertThat(replica.command("GET", "b")).isEqualTo("v");
    }
  }

  @Test
  void aFailedStartQuotesTheServersLog() {
    assertThatThrownBy(() -> RedisServer.start(Map.of("no-such-setting", "1")))
        .isInstanceOf(IllegalStateException.class).hasMessageContaining("Bad directive");
  }
}
