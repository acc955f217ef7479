package io.foliot.store.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.store.CancelResult;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import io.foliot.core.store.SubmitResult;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests calls whose statements fail as on a database that has run out of space. Items with a result have taken effect.
 * Items without a result have had no effect if the failure is a {@link StoreFullException}.
 */
abstract class FullContract {
  private static final String QUEUE = "orders";
  private static final long HOUR = 3_600_000;
  private static final int SECONDS_MAX = 60;
  /** Number of drafts in a call: enough for three statements of at most 1,000 rows. */
  private static final int DRAFTS = 2_500;

  private HikariDataSource pool;
  private FailingSource source;
  private JdbcStore store;

  abstract Database database();

  /** Returns the exception that the driver throws if the server has no space left. */
  abstract SQLException full();

  @BeforeEach
  void open() {
    Databases.empty(database());
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(database().jdbcUrl());
    config.setUsername(database().user());
    config.setPassword(database().password());
    config.setMaximumPoolSize(3);
    pool = new HikariDataSource(config);
    source = new FailingSource(pool);
    store = JdbcStore.open(JdbcOptions.builder(source.wrapped()).connections(2).build());
  }

  @AfterEach
  void close() {
    source.heal();
    store.close();
    pool.close();
  }

  private static <T> T get(CompletionStage<T> stage) {
    return stage.toCompletableFuture().orTimeout(SECONDS_MAX, TimeUnit.SECONDS).join();
  }

  private static List<Draft> drafts(boolean keys, boolean requests) {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < DRAFTS; i++) {
      String key = keys ? "key " + i : null;
      int hash = key == null ? i * 7919 : SlotHash.of(QUEUE, key);
      drafts.add(new Draft(TaskId.of(System.currentTimeMillis(), hash, i), QUEUE, key, Due.after(HOUR),
          Body.json("1"), 0, OnConflict.RESET, requests ? new Draft.Idempotency("request " + i, 1) : null));
    }
    return drafts;
  }

  private int rows(String table) {
    return Integer.parseInt(Databases.strings(database(), "SELECT count(*) FROM " + table).getFirst());
  }

  private Set<TaskId> stored() {
    Set<TaskId> ids = new HashSet<>();
    String cursor = null;
    do {
      var page = get(store.live(1_000, cursor));
      page.tasks().forEach(task -> ids.add(task.id()));
      cursor = page.cursor();
    } while (cursor != null);
    return ids;
  }

  private @Nullable StoreException submit(List<Draft> drafts) {
    try {
      assertThat(get(store.submit(drafts))).hasSize(drafts.size());
      return null;
    } catch (CompletionException e) {
      return (StoreException) e.getCause();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void aCallThatFillsTheDatabaseReportsTheWrittenTasks(int statement) {
    for (boolean keys : new boolean[]{false, true}) {
      for (boolean requests : new boolean[]{false, true}) {
        Databases.empty(database());
        List<Draft> drafts = drafts(keys, requests);
        source.failFrom(statement, "INTO foliot_task", full());
        StoreException thrown = submit(drafts);
        source.heal();
        assertThat(thrown).as("keys=%s, requests=%s", keys, requests).isInstanceOf(ItemsFailedException.class);
        ItemsFailedException failed = (ItemsFailedException) Objects.requireNonNull(thrown);
        assertThat(failed.failure()).isInstanceOf(StoreFullException.class);
        assertThat(failed.results()).hasSize(DRAFTS);
        Set<TaskId> stored = stored();
        assertThat(stored).hasSize(1_000 * (statement - 1));
        for (int i = 0; i < DRAFTS; i++) {
          assertThat(failed.results().get(i) instanceof SubmitResult).as("item %s", i)
              .isEqualTo(stored.contains(drafts.get(i).id()));
        }
        assertThat(submit(drafts)).as("with space again").isNull();
        assertThat(stored()).hasSize(DRAFTS);
      }
    }
  }

  @Test
  void aCallOnAFullDatabaseReportsThatNothingWasWritten() {
    source.failFrom(1, "INTO foliot_task", full());
    assertThat(submit(drafts(true, false))).isInstanceOf(StoreFullException.class);
    source.heal();
    assertThat(stored()).isEmpty();
  }

  @Test
  void tasksThatEndOnAFullDatabaseMoveWhenItHasSpace() {
    List<Draft> drafts = drafts(true, false);
    assertThat(submit(drafts)).isNull();
    List<TaskRef> refs = new ArrayList<>();
    drafts.forEach(draft -> refs.add(new TaskRef.ById(draft.id())));
    source.failFrom(2, "INTO foliot_final", full());
    assertThat(get(store.cancel(refs))).extracting(CancelResult::kind).containsOnly(Cancellation.CANCELLED);
    assertThat(stored()).isEmpty();
    assertThat(rows("foliot_task")).isEqualTo(DRAFTS - 1_000);
    source.heal();
    Await.until("the background work has moved the rows", Duration.ofSeconds(SECONDS_MAX),
        () -> rows("foliot_task") == 0);
    assertThat(rows("foliot_final")).isEqualTo(DRAFTS);
  }
}
