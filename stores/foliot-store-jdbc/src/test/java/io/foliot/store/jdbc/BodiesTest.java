package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.api.OnConflict;
import io.foliot.backends.Database;
import io.foliot.backends.MariaDbServer;
import io.foliot.backends.PostgresServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the stores do not change bodies with lengths near the limits of column types and statements. */
@Tag("long")
final class BodiesTest {
  private static final int[] LENGTHS = {0, 1, 255, 256, 65_520, 65_535, 65_536, 65_537, 131_072, 700_000,
      Limits.MAX_PAYLOAD_BYTES};

  @Test
  void postgresReturnsBodiesUnchanged() {
    try (PostgresServer server = PostgresServer.start()) {
      assertReturnsBodies(server.createDatabase());
    }
  }

  @Test
  void mariaDbReturnsBodiesUnchanged() {
    try (MariaDbServer server = MariaDbServer.start()) {
      assertReturnsBodies(server.createDatabase());
    }
  }

  private static void assertReturnsBodies(Database database) {
    try (JdbcStore store = JdbcStore.open(Databases.options(database))) {
      submit(store, drafts(0));
      List<Draft> reset = drafts(1);
      List<TaskId> ids = submit(store, reset).stream().map(SubmitResult::id).toList();
      List<TaskRecord> claimed = new ArrayList<>();
      for (ClaimResult result : get(store.claim(ids.stream().map(id -> new Claim(id, 60_000)).toList())).results()) {
        claimed.add(((ClaimResult.Won) result).task());
      }
      assertThat(claimed).extracting(TaskRecord::body).containsExactlyElementsOf(
          reset.stream().map(Draft::body).toList());
      List<Draft> successors = drafts(2);
      get(store.submit(successors));
      get(store.settle(claimed.stream().map(task -> new AttemptEnd(task.id(), task.generation(),
          Objects.requireNonNull(task.token()), new Outcome.Finished(), 0, "")).toList()));
      check(store, successors);
      get(store.cancel(ids.stream().<TaskRef>map(TaskRef.ById::new).toList()));
      check(store, successors);
    }
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }

  private static List<SubmitResult> submit(JdbcStore store, List<Draft> drafts) {
    List<SubmitResult> results = get(store.submit(drafts));
    check(store, drafts);
    return results;
  }

  private static void check(JdbcStore store, List<Draft> drafts) {
    for (Draft draft : drafts) {
      assertThat(get(store.find(new TaskRef.ByKey("q", String.valueOf(draft.key())))).orElseThrow().body())
          .as("key %s", draft.key()).isEqualTo(draft.body());
    }
  }

  /** Returns one draft for each of the {@link #LENGTHS}. The keys are the same in each round; the payloads differ. */
  private static List<Draft> drafts(int round) {
    List<Draft> drafts = new ArrayList<>();
    Random random = new Random(round);
    for (int length : LENGTHS) {
      byte[] payload = new byte[length];
      random.nextBytes(payload);
      String key = "length " + length;
      drafts.add(new Draft(TaskId.of(System.currentTimeMillis(), SlotHash.of("q", key), random.nextLong()), "q", key,
          Due.NOW, new Body(payload, "application/octet-stream", Map.of()), 0, OnConflict.RESET, null));
    }
    return drafts;
  }
}
