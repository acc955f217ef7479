package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.LoopDisk;
import io.foliot.backends.PostgresServer;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptEnd;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.Extension;
import io.foliot.core.store.Outcome;
import io.foliot.core.store.SettleResult;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.TaskRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks end on a real disk that is full to the last block. Only the tables are on this disk, and not the WAL. */
@Tag("machine")
final class PostgresDiskTest {
  private static final long DISK_BYTES = 160L << 20;
  private static final int TASKS = 4_000;
  private static final int AT_ONCE = 400;
  private static final int PAYLOAD_BYTES = 300;
  private static final long LEASE_MILLIS = 600_000;
  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir
  Path temporary;

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(BOUND.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static List<Draft> drafts(int count) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      drafts.add(new Draft(TaskId.of(System.currentTimeMillis(), i * 7919, System.nanoTime()), "orders", null, Due.NOW,
          new Body(new byte[PAYLOAD_BYTES], "application/octet-stream", Map.of()), 0, OnConflict.RESET, null));
    }
    return drafts;
  }

  private static List<TaskRecord> claim(JdbcStore store, List<TaskId> ids) {
    return get(store.claim(ids.stream().map(id -> new Claim(id, LEASE_MILLIS)).toList())).results().stream()
        .map(result -> ((ClaimResult.Won) result).task()).toList();
  }

  private static List<SettleResult> settle(JdbcStore store, List<TaskRecord> tasks) {
    List<AttemptEnd> settlements = new ArrayList<>();
    for (TaskRecord task : tasks) {
      settlements.add(new AttemptEnd(task.id(), task.generation(), Objects.requireNonNull(task.token()),
          settlements.size() % 2 == 0 ? new Outcome.Finished() : new Outcome.Failed(), task.claimedAt(), "detail"));
    }
    return get(store.settle(settlements));
  }

  private static boolean isRefused(JdbcStore store) {
    try {
      return get(store.submit(drafts(AT_ONCE))).isEmpty();
    } catch (CompletionException e) {
      return e.getCause() instanceof StoreFullException;
    }
  }

  private static int rows(Database database, String where) {
    return Integer.parseInt(Databases.strings(database, "SELECT count(*) FROM " + where).getFirst());
  }

  @Test
  void tasksEndOnADiskThatIsFull() throws IOException, LoopDisk.UnavailableException {
    try (LoopDisk disk = LoopDisk.create(temporary.resolve("disk"), DISK_BYTES);
        PostgresServer server = PostgresServer.start()) {
      Path space = Files.createDirectory(disk.folder().resolve("space"));
      Databases.execute(server.database(), "CREATE TABLESPACE small LOCATION '" + space + "'");
      Database database = server.createDatabase();
      String name = Databases.strings(database, "SELECT current_database()").getFirst();
      Databases.execute(server.database(), "ALTER DATABASE " + name + " SET TABLESPACE small");
      try (JdbcStore store = JdbcStore.open(Databases.options(database))) {
        List<TaskId> ids = new ArrayList<>();
        List<TaskRecord> running = new ArrayList<>();
        for (int i = 0; i < TASKS; i += AT_ONCE) {
          List<Draft> drafts = drafts(AT_ONCE);
          assertThat(get(store.submit(drafts))).hasSize(AT_ONCE);
          drafts.forEach(draft -> ids.add(draft.id()));
          running.addAll(claim(store, drafts.stream().map(Draft::id).toList()));
        }
        disk.fill();
        Await.until("new tasks are refused", BOUND, () -> isRefused(store));
        int inPlace = rows(database, "foliot_task WHERE drop_at IS NOT NULL");
        assertThat(inPlace).isZero();
        for (int i = 0; i < TASKS; i += AT_ONCE) {
          List<TaskRecord> some = running.subList(i, i + AT_ONCE);
          List<Extension> extensions = some.stream()
              .map(task -> new Extension(task.id(), Objects.requireNonNull(task.token()), 2 * LEASE_MILLIS)).toList();
          assertThat(get(store.extend(extensions))).extracting(ExtendResult::kind)
              .containsOnly(ExtendResult.Kind.EXTENDED);
          assertThat(settle(store, some)).extracting(SettleResult::kind).containsOnly(SettleResult.Kind.SETTLED);
        }
        assertThat(isRefused(store)).as("the disk is still full").isTrue();
        assertThat(rows(database, "foliot_task WHERE drop_at IS NOT NULL")).as("ended in place").isPositive();
        disk.makeRoom();
        Await.until("all ended tasks have moved", BOUND,
            () -> rows(database, "foliot_task WHERE drop_at IS NOT NULL") == 0);
        assertThat(rows(database, "foliot_final")).isEqualTo(TASKS);
        for (int i = 0; i < TASKS; i++) {
          TaskState state = i % 2 == 0 ? TaskState.FINISHED : TaskState.FAILED;
          assertThat(get(store.find(List.of(ids.get(i)))).getFirst().map(TaskRecord::state)).contains(state);
        }
      }
    }
  }
}
