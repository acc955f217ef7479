package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.HOUR;
import static io.foliot.store.redis.Tasks.draft;
import static io.foliot.store.redis.Tasks.eventually;
import static io.foliot.store.redis.Tasks.failure;
import static io.foliot.store.redis.Tasks.finish;
import static io.foliot.store.redis.Tasks.finished;
import static io.foliot.store.redis.Tasks.get;
import static io.foliot.store.redis.Tasks.key;
import static io.foliot.store.redis.Tasks.submit;
import static io.foliot.store.redis.Tasks.won;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Cancellation;
import io.foliot.api.TaskState;
import io.foliot.backends.RedisCluster;
import io.foliot.backends.RedisSentinels;
import io.foliot.backends.RedisServer;
import io.foliot.backends.TcpProxy;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Durability;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.Probed;
import io.foliot.core.store.QueueTerms;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of the server or of the network. */
@Tag("long")
final class RedisFaultsTest {
  /** Longest wait for a condition. */
  private static final Duration BOUND = Duration.ofSeconds(40);
  /** Time for which a server is down. */
  private static final Duration ABSENCE = Duration.ofSeconds(9);
  private static final Duration SHORT = Duration.ofSeconds(1);

  private static RedisOptions options(RedisServer server) {
    return RedisOptions.builder(server.uri()).slots(4).build();
  }

  private static RedisOptions options(TcpProxy proxy) {
    return RedisOptions.builder("redis://127.0.0.1:" + proxy.port()).slots(4).build();
  }

  private static boolean answers(RedisStore store) {
    return failure(store.timeMicros(0)) == null;
  }

  @Test
  void scriptsAreSentAgainAfterAFlush() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      TaskId id = submit(store, "a", 0).id();
      assertThat(server.command("SCRIPT", "FLUSH")).isEqualTo("OK");
      TaskRecord task = won(store, id);
      assertThat(server.command("SCRIPT", "FLUSH")).isEqualTo("OK");
      assertThat(finish(store, task)).isEqualTo(SettleResult.Kind.SETTLED);
    }
  }

  @Test
  void aCallWhoseReplyWasLostFailsAndIsNotSentAgain() {
    try (RedisServer server = RedisServer.start();
        TcpProxy proxy = TcpProxy.to(server);
        RedisStore store = RedisStore.open(options(proxy));
        RedisStore other = RedisStore.open(options(server))) {
      TaskId id = submit(store, "a", 0).id();
      TaskId warm = submit(store, "warm", 0).id();
      won(store, warm);
      proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.ISO_8859_1).contains("EVALSHA"));
      assertThat(failure(store.claim(List.of(new Claim(id, HOUR))))).isNotNull().hasMessageContaining("Redis");
      assertThat(proxy.swallowedReplies()).isEqualTo(1);
      eventually("connected again", BOUND, () -> answers(store));
      TaskRecord task = get(other.find(new TaskRef.ById(id))).orElseThrow();
      assertThat(task.state()).as("the claim took effect").isEqualTo(TaskState.RUNNING);
      assertThat(task.attempt()).as("once").isEqualTo(1);
      assertThat(get(store.claim(List.of(new Claim(id, HOUR)))).results().getFirst())
          .isEqualTo(new ClaimResult.Later(task.leaseEnd()));
    }
  }

  @Test
  void aSettleWhoseReplyWasLostCanBeRepeated() {
    try (RedisServer server = RedisServer.start();
        TcpProxy proxy = TcpProxy.to(server);
        RedisStore store = RedisStore.open(options(proxy))) {
      TaskRecord warm = won(store, submit(store, "warm", 0).id());
      finish(store, warm);
      TaskRecord task = won(store, submit(store, "a", 0).id());
      proxy.cutBeforeReplyTo(request -> new String(request, StandardCharsets.ISO_8859_1).contains("EVALSHA"));
      assertThat(failure(store.settle(List.of(finished(task))))).isNotNull();
      eventually("connected again", BOUND, () -> answers(store));
      assertThat(finish(store, task)).isEqualTo(SettleResult.Kind.REPEATED);
    }
  }

  @Test
  void callsFailAtOnceWhileTheServerIsDownAndWorkAfterwards() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      long generation = submit(store, "a", HOUR).generation();
      server.kill();
      eventually("the server counts as unavailable", BOUND,
          () -> failure(store.timeMicros(0)) instanceof StoreAwayException);
      long start = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        assertThat(failure(store.submit(List.of(draft("b" + i, 0))))).as("not sent")
            .isInstanceOf(StoreAwayException.class);
      }
      assertThat(Duration.ofNanos(System.nanoTime() - start)).as("twenty failures take less than one timeout")
          .isLessThan(options(server).timeout());
      server.restart();
      eventually("connected again", BOUND, () -> answers(store));
      assertThat(get(store.find(key("a"))).orElseThrow().generation()).isEqualTo(generation);
      for (int i = 0; i < 20; i++) {
        assertThat(get(store.find(key("b" + i)))).as("a call that failed was not sent later").isEmpty();
      }
      assertThat(submit(store, "a", 0).kind()).isEqualTo(SubmitResult.Kind.RESET);
    }
  }

  @Test
  void aServerThatWasDownForLongIsReconnectedSoon() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      server.kill();
      // If the pause between two tries doubled without limit, the next try would be seven seconds after the restart.
      LockSupport.parkNanos(ABSENCE.toNanos());
      server.restart();
      eventually("connected again", ABSENCE.dividedBy(2), () -> answers(store));
    }
  }

  @Test
  void aSilentConnectionIsReplaced() {
    try (RedisServer server = RedisServer.start();
        TcpProxy proxy = TcpProxy.to(server);
        RedisStore store = RedisStore.open(options(proxy).toBuilder().timeout(SHORT).build())) {
      long generation = submit(store, "a", HOUR).generation();
      proxy.silence();
      assertThat(answers(store)).isFalse();
      eventually("connected again", BOUND, () -> answers(store));
      assertThat(get(store.find(key("a"))).orElseThrow().generation()).isEqualTo(generation);
    }
  }

  @Test
  void aStallAfterTheFirstOfTwoAnswersIsNoticed() {
    try (RedisServer server = RedisServer.start();
        Link link = Link.open(options(server).toBuilder().timeout(SHORT).build())) {
      String connection = "id=" + link.serverCommand(CommandType.CLIENT, "ID").join().getFirst() + " ";
      Link.Pipeline pipeline = link.pipeline();
      CompletableFuture<List<Object>> first = pipeline.serverCommand(CommandType.PING);
      CompletableFuture<List<Object>> second = pipeline.serverCommand(CommandType.BLPOP, "absent", "0");
      pipeline.send();
      assertThat(first).succeedsWithin(BOUND);
      assertThat(second).failsWithin(BOUND);
      eventually("the connection is replaced", BOUND,
          () -> !Objects.toString(server.command("CLIENT", "LIST")).contains(connection));
    }
  }

  @Test
  void theWindowOfAFailoverExceedsThePermittedLag() {
    try (RedisServer server = RedisServer.start(Map.of("appendfsync", "always"));
        RedisServer replica = server.replica()) {
      assertThat(server.command("CONFIG", "SET", "min-replicas-max-lag", "2")).isEqualTo("OK");
      assertThat(server.command("CONFIG", "SET", "min-replicas-to-write", "1")).isEqualTo("OK");
      eventually("the replica counts as good", BOUND,
          () -> server.info("replication").contains("min_slaves_good_slaves:1"));
      try (RedisStore store = RedisStore.open(options(server))) {
        assertThat(replica.isAlive()).isTrue();
        assertThat(store.durability().windowMillis()).isEqualTo(5_000);
      }
      assertThat(server.command("CONFIG", "SET", "min-replicas-max-lag", "0")).isEqualTo("OK");
      try (RedisStore store = RedisStore.open(options(server))) {
        assertThat(store.durability().windowMillis()).as("Redis checks no lag").isEqualTo(Long.MAX_VALUE);
      }
    }
  }

  @Test
  void callsFailAfterTheirTimeoutIfTheServerDoesNotAnswer() {
    try (RedisServer server = RedisServer.start();
        RedisStore store = RedisStore.open(options(server).toBuilder().timeout(SHORT).build())) {
      submit(store, "a", HOUR);
      server.pause();
      try {
        assertThat(failure(store.submit(List.of(draft("b", 0))))).isNotNull();
      } finally {
        server.resume();
      }
      eventually("the server answers again", BOUND, () -> answers(store));
      assertThat(submit(store, "a", 0).kind()).isEqualTo(SubmitResult.Kind.RESET);
    }
  }

  @Test
  void noGenerationRepeatsAfterAServerLostItsFiles() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      long generation = submit(store, "a", HOUR).generation();
      TaskRecord running = won(store, submit(store, "r", 0).id());
      server.kill();
      server.restartEmpty();
      eventually("connected again", BOUND, () -> answers(store));
      assertThat(get(store.find(key("a")))).as("the task is lost with the files").isEmpty();
      assertThat(finish(store, running)).isEqualTo(SettleResult.Kind.NOT_FOUND);
      SubmitResult again = submit(store, "a", 0);
      assertThat(again.kind()).isEqualTo(SubmitResult.Kind.CREATED);
      assertThat(again.generation()).isGreaterThan(generation);
      assertThat(finish(store, won(store, again.id()))).isEqualTo(SettleResult.Kind.SETTLED);
    }
  }

  @Test
  void aFullServerRefusesSubmitsAndStillEndsTasks() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      TaskId id = submit(store, "a", 0).id();
      TaskId other = submit(store, "b", HOUR).id();
      assertThat(server.command("CONFIG", "SET", "maxmemory", "1mb")).isEqualTo("OK");
      assertThat(failure(store.submit(List.of(draft("c", 0))))).isInstanceOf(StoreFullException.class);
      assertThat(finish(store, won(store, id))).isEqualTo(SettleResult.Kind.SETTLED);
      assertThat(get(store.cancel(List.of(new TaskRef.ById(other)))).getFirst().kind())
          .isEqualTo(Cancellation.CANCELLED);
      assertThat(get(store.find(key("c")))).isEmpty();
      assertThat(server.command("CONFIG", "SET", "maxmemory", "0")).isEqualTo("OK");
      assertThat(submit(store, "c", 0).kind()).isEqualTo(SubmitResult.Kind.CREATED);
    }
  }

  @Test
  void aServerThatEvictsKeysIsRefused() {
    try (RedisServer server = RedisServer.start(Map.of("maxmemory-policy", "allkeys-lru"))) {
      assertThatThrownBy(() -> RedisStore.open(options(server))).isInstanceOf(StoreException.class)
          .hasMessageContaining("noeviction");
    }
  }

  @Test
  void anAbsentServerIsReported() {
    assertThatThrownBy(() -> RedisStore.open(RedisOptions.builder("redis://127.0.0.1:1").timeout(SHORT).build()))
        .isInstanceOf(StoreException.class).hasMessageContaining("does not answer")
        .hasMessageContaining("Connection refused");
  }

  @Test
  void theWindowFollowsFromTheServersSettings() {
    Map<String, Long> windows = Map.of("always", 0L, "everysec", 2_000L, "no", 30_000L);
    windows.forEach((sync, window) -> {
      try (RedisServer server = RedisServer.start(Map.of("appendfsync", sync));
          RedisStore store = RedisStore.open(options(server))) {
        Durability durability = store.durability();
        assertThat(durability.durabilityClass()).isEqualTo("B");
        assertThat(durability.windowMillis()).isEqualTo(window);
        assertThat(durability.detail()).contains("appendonly=yes", "appendfsync=" + sync);
      }
    });
  }

  @Test
  void aChangeOfTheServersSettingsChangesTheWindow() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      assertThat(server.command("CONFIG", "SET", "appendonly", "no")).isEqualTo("OK");
      eventually("the window is unbounded", BOUND, () -> store.durability().windowMillis() == ServerFacts.UNBOUNDED);
    }
  }

  @Test
  void settingsThatCannotBeReadCountAsNoSync() {
    try (RedisServer server = RedisServer.start()) {
      assertThat(server.command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", "-config"))
          .isEqualTo("OK");
      RedisOptions options = RedisOptions.builder("redis://limited:secret@127.0.0.1:" + server.port()).slots(4).build();
      try (RedisStore store = RedisStore.open(options)) {
        assertThat(store.durability().windowMillis()).isEqualTo(30_000L);
        assertThat(store.durability().detail()).contains("unknown");
        assertThat(submit(store, "a", HOUR).kind()).isEqualTo(SubmitResult.Kind.CREATED);
      }
    }
  }

  @Test
  void aWriteWaitsForReplicasAndFailsIfThereAreTooFew() {
    try (RedisServer primary = RedisServer.start();
        RedisServer replica = primary.replica();
        RedisStore store = RedisStore.open(options(primary).toBuilder().timeout(SHORT).waitReplicas(1).build())) {
      eventually("the replica follows", BOUND, () -> failure(store.submit(List.of(draft("0", HOUR)))) == null);
      SubmitResult first = submit(store, "a", HOUR);
      // A replica may not yet have applied a write that it has acknowledged.
      eventually("the replica has the task", BOUND,
          () -> Long.valueOf(1).equals(replica.command("HLEN", "{foliot:" + first.id().slot(4) + "}:task")));
      replica.kill();
      assertThat(failure(store.submit(List.of(draft("b", HOUR))))).isNotNull().hasMessageContaining("replicas=0");
      replica.restart();
      eventually("the replica follows again", BOUND, () -> failure(store.submit(List.of(draft("c", HOUR)))) == null);
    }
  }

  @Test
  void expiredTasksOfAnIdleSlotAreDeleted() {
    try (RedisServer server = RedisServer.start(); RedisStore store = RedisStore.open(options(server))) {
      store.configure(Tasks.QUEUE, new QueueTerms(5, Long.MAX_VALUE, HOUR, 0, 0));
      for (int i = 0; i < 20; i++) {
        finish(store, won(store, submit(store, "a" + i, 0).id()));
      }
      eventually("all keys of the tasks are deleted", BOUND, () -> {
        long left = 0;
        for (int slot = 0; slot < 4; slot++) {
          for (String set : List.of("task", "key", "body", "drop", "due")) {
            Object count = server.command("EXISTS", "{foliot:" + slot + "}:" + set);
            left += count instanceof Long found ? found : 1;
          }
        }
        return left == 0;
      });
      assertThat(get(store.counts())).isEmpty();
    }
  }

  @Test
  void afterAFailoverBySentinelTheReplicatedTasksContinue() {
    try (RedisSentinels sentinels = RedisSentinels.start(Map.of())) {
      String hosts = sentinels.sentinels().stream().map(sentinel -> "127.0.0.1:" + sentinel.port())
          .collect(Collectors.joining(","));
      RedisOptions options = RedisOptions.builder("redis-sentinel://" + hosts + "/0#" + RedisSentinels.PRIMARY_NAME)
          .slots(4).build();
      try (RedisStore store = RedisStore.open(options)) {
        assertThat(store.durability().windowMillis()).isEqualTo(ServerFacts.UNBOUNDED);
        List<SubmitResult> before = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
          before.add(submit(store, "a" + i, i % 2 == 0 ? 0 : HOUR));
        }
        TaskRecord running = won(store, before.getFirst().id());
        sentinels.firstReplica().awaitCopied(sentinels.firstPrimary());
        sentinels.firstPrimary().kill();
        sentinels.awaitPrimary(sentinels.firstReplica());
        eventually("the new primary is found", BOUND, () -> answers(store));
        assertThat(finish(store, running)).isEqualTo(SettleResult.Kind.SETTLED);
        for (int i = 1; i < 50; i++) {
          SubmitResult old = before.get(i);
          SubmitResult reset = submit(store, "a" + i, 0);
          assertThat(reset.id()).isEqualTo(old.id());
          assertThat(reset.generation()).isGreaterThan(old.generation());
          assertThat(finish(store, won(store, reset.id()))).isEqualTo(SettleResult.Kind.SETTLED);
        }
      }
    }
  }

  @Test
  void noGenerationRepeatsAfterAReplicaMissedWrites() {
    try (RedisServer primary = RedisServer.start(); RedisServer replica = primary.replica()) {
      List<SubmitResult> lost = new ArrayList<>();
      SubmitResult kept;
      try (RedisStore store = RedisStore.open(options(primary))) {
        kept = submit(store, "kept", HOUR);
        replica.awaitCopied(primary);
        replica.promote();
        for (int i = 0; i < 20; i++) {
          lost.add(submit(store, "lost" + i, HOUR));
        }
        lost.add(submit(store, "kept", HOUR));
      }
      primary.kill();
      try (RedisStore store = RedisStore.open(options(replica))) {
        assertThat(get(store.find(key("kept"))).orElseThrow().generation()).isEqualTo(kept.generation());
        for (int i = 0; i < 20; i++) {
          SubmitResult again = submit(store, "lost" + i, 0);
          assertThat(again.kind()).as("the replica has no such task").isEqualTo(SubmitResult.Kind.CREATED);
          assertThat(again.generation()).isGreaterThan(lost.get(i).generation());
        }
        assertThat(submit(store, "kept", 0).generation()).isGreaterThan(lost.getLast().generation());
      }
    }
  }

  @Test
  void aStoreWorksAgainAfterItsPrimaryWasAReplica() {
    try (RedisServer primary = RedisServer.start();
        RedisServer other = RedisServer.start();
        RedisStore store = RedisStore.open(options(primary))) {
      submit(store, "a", HOUR);
      assertThat(primary.command("REPLICAOF", "127.0.0.1", Integer.toString(other.port()))).isEqualTo("OK");
      assertThat(failure(store.submit(List.of(draft("b", HOUR))))).isNotNull();
      assertThat(primary.command("REPLICAOF", "NO", "ONE")).isEqualTo("OK");
      eventually("the server accepts writes again", BOUND,
          () -> failure(store.submit(List.of(draft("c", HOUR)))) == null);
    }
  }

  @Test
  void aClusterWorksAgainAfterAReplicaHasTakenOver() {
    try (RedisCluster cluster = RedisCluster.start(3, 1, Map.of("cluster-node-timeout", "1000"));
        RedisStore store = RedisStore.open(RedisOptions.builder(cluster.nodes().getFirst().uri()).slots(16)
            .waitReplicas(1).timeout(Duration.ofSeconds(4)).build())) {
      List<SubmitResult> before = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        before.add(submit(store, "a" + i, HOUR));
      }
      cluster.nodes().get(1).kill();
      Set<Integer> back = new HashSet<>();
      eventually("every slot is available again", BOUND, () -> {
        for (int slot = 0; slot < 16; slot++) {
          if (!back.contains(slot) && failure(store.timeMicros(slot)) == null) {
            back.add(slot);
          }
        }
        return back.size() == 16;
      });
      // The new primary has no replica, so each write to this primary would fail in a store that waits for a replica.
      try (RedisStore plain = RedisStore
          .open(RedisOptions.builder(cluster.nodes().getFirst().uri()).slots(16).build())) {
        for (int i = 0; i < 60; i++) {
          SubmitResult reset = submit(plain, "a" + i, 0);
          assertThat(reset.id()).as("the replicated task is there").isEqualTo(before.get(i).id());
          assertThat(reset.generation()).isGreaterThan(before.get(i).generation());
          assertThat(finish(plain, won(plain, reset.id()))).isEqualTo(SettleResult.Kind.SETTLED);
        }
      }
    }
  }

  /** Asserts that exactly the items of available parts have results, of one type. */
  private static void assertPartly(List<TaskId> ids, Set<Integer> available, Class<?> type,
      CompletionStage<?> call) {
    assertThat(failure(call)).isInstanceOfSatisfying(ItemsFailedException.class, partly -> {
      for (int i = 0; i < ids.size(); i++) {
        if (available.contains(ids.get(i).slot(16))) {
          assertThat(partly.results().get(i)).as("item %s", i).isInstanceOf(type);
        } else {
          assertThat(partly.results().get(i)).as("item %s", i).isNull();
        }
      }
    });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void anUnavailablePrimaryFailsOnlyTheItemsOfItsSlots(int replicas) {
    try (RedisCluster cluster = RedisCluster.start(3, replicas, Map.of("cluster-replica-no-failover", "yes"));
        RedisStore store = RedisStore.open(RedisOptions.builder(cluster.nodes().getFirst().uri()).slots(16)
            .timeout(Duration.ofSeconds(2)).waitReplicas(replicas).build())) {
      cluster.nodes().forEach(node -> node.command("CONFIG", "SET", "cluster-require-full-coverage", "no"));
      List<TaskId> ids = new ArrayList<>();
      for (int i = 0; i < 120; i++) {
        ids.add(submit(store, "a" + i, 0).id());
      }
      List<TaskRecord> running = ids.subList(0, 40).stream().map(id -> won(store, id)).toList();
      cluster.nodes().get(1).kill();
      Set<Integer> available = new HashSet<>();
      for (int slot = 0; slot < 16; slot++) {
        if (failure(store.timeMicros(slot)) == null) {
          available.add(slot);
        }
      }
      assertThat(available).hasSizeBetween(1, 15);
      List<TaskId> held = ids.subList(0, 40);
      List<TaskId> due = ids.subList(40, 120);
      assertPartly(due, available, Probed.class, store.probe(due));
      assertPartly(due, available, ClaimResult.Won.class,
          store.claim(due.stream().map(id -> new Claim(id, HOUR)).toList()));
      assertPartly(held, available, ExtendResult.class, store.extend(running.stream()
          .map(task -> new Extension(task.id(), Objects.requireNonNull(task.token()), HOUR))
          .toList()));
      assertPartly(held, available, SettleResult.class, store.settle(running.stream().map(Tasks::finished).toList()));
    }
  }

  @Test
  void aPrimaryWithoutAReplicaFailsOnlyTheItemsOfItsSlots() {
    try (RedisCluster cluster = RedisCluster.start(3, 1, Map.of());
        RedisStore store = RedisStore.open(RedisOptions.builder(cluster.nodes().getFirst().uri()).namespace("ns")
            .slots(16).timeout(Duration.ofSeconds(2)).waitReplicas(1).build())) {
      List<TaskId> ids = new ArrayList<>();
      for (int i = 0; i < 80; i++) {
        ids.add(submit(store, "a" + i, 0).id());
      }
      Set<Integer> replicated = new HashSet<>();
      for (int slot = 0; slot < 16; slot++) {
        int hashSlot = SlotHash.getSlot(new Layout("ns").part(slot));
        Object keys = cluster.nodes().get(1).command("CLUSTER", "COUNTKEYSINSLOT", Integer.toString(hashSlot));
        if (Objects.toString(keys).equals("0")) {
          replicated.add(slot);
        }
      }
      assertThat(replicated).hasSizeBetween(1, 15);
      cluster.nodes().get(cluster.primaryCount() + 1).kill();
      assertPartly(ids, replicated, ClaimResult.Won.class,
          store.claim(ids.stream().map(id -> new Claim(id, HOUR)).toList()));
    }
  }
}
