package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.HOUR;
import static io.foliot.store.redis.Tasks.draft;
import static io.foliot.store.redis.Tasks.eventually;
import static io.foliot.store.redis.Tasks.failure;
import static io.foliot.store.redis.Tasks.finish;
import static io.foliot.store.redis.Tasks.get;
import static io.foliot.store.redis.Tasks.submit;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.RedisCluster;
import io.foliot.backends.RedisServer;
import io.foliot.core.TaskId;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.SubmitResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls while a Redis Cluster moves the hash slot of their tasks to another server, key by key. */
@Tag("long")
final class RedisReshardTest {
  private static final Duration BOUND = Duration.ofSeconds(40);
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final int TASKS = 20;

  private static RedisCluster cluster;
  private static int stores;

  private final String namespace = "reshard-" + stores++;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start(3, 0, Map.of());
  }

  @AfterAll
  static void stop() {
    cluster.close();
  }

  /** The keys of a slot that have been moved when the calls are made. */
  enum Moved {
    NONE, TASKS, ALL_BUT_TASKS, ALL;

    boolean includes(String key) {
      return this == ALL || (this != NONE && key.endsWith(":task") == (this == TASKS));
    }
  }

  /** The move of a hash slot from the server that has it to another server. */
  private final class Move {
    private final String slot = Objects.toString(cluster.nodes().getFirst().command("CLUSTER", "KEYSLOT", key("")));
    private final RedisServer source = cluster.nodes().stream().filter(node -> !keys(node).isEmpty()).findFirst()
        .orElseThrow();
    private final RedisServer target = cluster.nodes().stream().filter(node -> node != source).findFirst()
        .orElseThrow();

    private static String id(RedisServer node) {
      return Objects.toString(node.command("CLUSTER", "MYID"));
    }

    private List<String> keys(RedisServer node) {
      return ((List<?>) Objects.requireNonNull(node.command("CLUSTER", "GETKEYSINSLOT", slot, "100"))).stream()
          .map(Objects::toString).toList();
    }

    void begin() {
      assertThat(target.command("CLUSTER", "SETSLOT", slot, "IMPORTING", id(source))).isEqualTo("OK");
      assertThat(source.command("CLUSTER", "SETSLOT", slot, "MIGRATING", id(target))).isEqualTo("OK");
    }

    void keys(Moved moved) {
      List<String> command = new ArrayList<>(
          List.of("MIGRATE", "127.0.0.1", Integer.toString(target.port()), "", "0", "5000", "KEYS"));
      keys(source).stream().filter(moved::includes).forEach(command::add);
      if (command.getLast().equals("KEYS")) {
        return;
      }
      assertThat(source.command(command.toArray(new String[0]))).isEqualTo("OK");
    }

    void end() {
      keys(Moved.ALL);
      assertThat(keys(source)).isEmpty();
      Stream.of(target, source).forEach(
          node -> assertThat(node.command("CLUSTER", "SETSLOT", slot, "NODE", id(target))).isEqualTo("OK"));
    }

    /** Returns how many calls the servers have refused because the slot is moving. */
    long refused() {
      return Stream.of(source, target).flatMap(node -> node.info("errorstats").lines())
          .filter(line -> line.startsWith("errorstat_TRYAGAIN:count="))
          .mapToLong(line -> Long.parseLong(line.substring(line.indexOf('=') + 1).strip())).sum();
    }
  }

  private String key(String set) {
    return "{" + namespace + ":0}" + set;
  }

  private RedisOptions options() {
    return RedisOptions.builder(cluster.nodes().getFirst().uri()).namespace(namespace).slots(1).timeout(BOUND).build();
  }

  private static List<TaskId> submitted(RedisStore store, long delayMillis) {
    return get(store.submit(Stream.iterate(0, i -> i + 1).limit(TASKS).map(i -> draft("a" + i, delayMillis)).toList()))
        .stream().map(SubmitResult::id).toList();
  }

  private static CompletableFuture<ClaimBatch> claim(RedisStore store, List<TaskId> ids) {
    return store.claim(ids.stream().map(id -> new Claim(id, HOUR)).toList()).toCompletableFuture();
  }

  @ParameterizedTest
  @EnumSource
  void callsWaitUntilAllKeysOfTheirSlotHaveMoved(Moved moved) {
    try (RedisStore store = RedisStore.open(options())) {
      List<TaskId> ids = submitted(store, 0);
      Move move = new Move();
      move.begin();
      move.keys(moved);
      long refused = move.refused();
      CompletableFuture<ClaimBatch> claim = claim(store, ids);
      CompletableFuture<?> submit = store.submit(List.of(draft("new", HOUR))).toCompletableFuture();
      eventually("the calls are refused", BOUND, () -> move.refused() > refused + 1);
      assertThat(claim).isNotDone();
      assertThat(submit).isNotDone();
      move.end();
      List<ClaimResult> results = get(claim).results();
      assertThat(results).hasSize(TASKS).hasOnlyElementsOfType(ClaimResult.Won.class);
      results.forEach(won -> finish(store, ((ClaimResult.Won) won).task()));
      assertThat(get(submit)).isNotNull();
      assertThat(submit(store, "new", 0).kind()).isEqualTo(SubmitResult.Kind.RESET);
      assertThat(get(store.counts()).values()).singleElement().satisfies(counts -> {
        assertThat(counts.finished()).isEqualTo(TASKS);
        assertThat(counts.delayed()).isEqualTo(1);
      });
    }
  }

  @Test
  void callsFailAsUndoneIfTheMoveTakesTooLong() {
    try (RedisStore store = RedisStore.open(options().toBuilder().timeout(SHORT).build())) {
      List<TaskId> ids = submitted(store, 0);
      Move move = new Move();
      move.begin();
      move.keys(Moved.TASKS);
      assertThat(failure(claim(store, ids))).isInstanceOf(StoreAwayException.class).hasMessageContaining("moving");
      move.end();
      assertThat(get(claim(store, ids)).results()).hasOnlyElementsOfType(ClaimResult.Won.class);
    }
  }
}
