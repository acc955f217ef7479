package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.HOUR;
import static io.foliot.store.redis.Tasks.QUEUE;
import static io.foliot.store.redis.Tasks.draft;
import static io.foliot.store.redis.Tasks.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.RedisServer;
import io.foliot.core.TaskId;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that no page misses a task because other tasks are inserted or deleted between two pages. */
final class RedisPagesTest {
  private static final int TASKS = 1_500;
  private static final int PER_PAGE_DIVISOR = 10;

  private static RedisServer server;
  private static int stores;

  private final String namespace = "pages-" + stores++;
  private final byte[] records = new Layout(namespace).of(0, ":task");

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private RedisStore open() {
    return RedisStore.open(RedisOptions.builder(server.uri()).namespace(namespace).slots(1).build());
  }

  private static List<TaskId> submitted(RedisStore store, int from, int to) {
    return get(store.submit(IntStream.range(from, to).mapToObj(i -> draft("key " + i, HOUR)).toList())).stream()
        .map(SubmitResult::id).toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 100, 1_000})
  void deletedTasksHideNoOthers(int limit) {
    Random random = new Random(limit);
    try (RedisStore store = open()) {
      Set<TaskId> kept = new HashSet<>(submitted(store, 0, TASKS));
      List<TaskId> returned = new ArrayList<>();
      String cursor = null;
      do {
        RecordPage page = get(store.query(QUEUE, null, limit, cursor));
        assertThat(page.tasks().size()).isLessThanOrEqualTo(limit);
        page.tasks().stream().map(TaskRecord::id).forEach(returned::add);
        // Deletes some tasks that were returned, and some others, as the sweep of expired tasks does.
        List<TaskId> ids = random.nextInt(3) > 0
            ? page.tasks().stream().map(TaskRecord::id).toList()
            : List.copyOf(kept).subList(0, kept.size() / 50);
        // Half of the tasks remain, so that the hash does not shrink.
        int deleted = Math.min(ids.size() - ids.size() / 2, kept.size() - TASKS / 2);
        for (TaskId id : ids.subList(ids.size() - deleted, ids.size())) {
          assertThat(store.link().command(CommandType.HDEL, records, RecordCodec.id(id)).join()).hasSize(1);
          kept.remove(id);
        }
        cursor = page.cursor();
      } while (cursor != null);
      assertThat(new HashSet<>(returned)).as("limit=%s", limit).containsAll(kept);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 100})
  void newTasksHideNoOthers(int limit) {
    try (RedisStore store = open()) {
      List<TaskId> old = submitted(store, 0, TASKS);
      List<TaskId> returned = new ArrayList<>();
      String cursor = null;
      for (int at = TASKS; at == TASKS || cursor != null; at += limit / PER_PAGE_DIVISOR + 1) {
        RecordPage page = get(store.live(limit, cursor));
        page.tasks().stream().map(TaskRecord::id).forEach(returned::add);
        assertThat(submitted(store, at, at + limit / PER_PAGE_DIVISOR + 1)).isNotEmpty();
        cursor = page.cursor();
      }
      assertThat(new HashSet<>(returned)).containsAll(old);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 100, 1_000})
  void unchangedTasksFillEachPageAndAreReturnedOnce(int limit) {
    try (RedisStore store = open()) {
      List<TaskId> all = submitted(store, 0, TASKS);
      List<TaskId> returned = new ArrayList<>();
      String cursor = null;
      do {
        RecordPage page = get(store.live(limit, cursor));
        assertThat(page.tasks()).hasSize(Math.min(limit, TASKS - returned.size()));
        page.tasks().stream().map(TaskRecord::id).forEach(returned::add);
        cursor = page.cursor();
      } while (cursor != null);
      assertThat(returned).containsExactlyInAnyOrderElementsOf(all);
    }
  }
}
