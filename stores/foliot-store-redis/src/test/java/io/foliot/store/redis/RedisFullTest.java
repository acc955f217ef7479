package io.foliot.store.redis;

import static io.foliot.store.redis.Tasks.QUEUE;
import static io.foliot.store.redis.Tasks.failure;
import static io.foliot.store.redis.Tasks.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.backends.RedisServer;
import io.foliot.core.SlotHash;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ItemsFailedException;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * A server that runs out of memory. The items that are reported as refused had no effect, and all other items are
 * stored.
 */
final class RedisFullTest {
  private static final int DRAFTS = 2_000;
  private static final int PAYLOAD_BYTES = 4_000;
  private static final long HOUR = 3_600_000;

  private static List<Draft> drafts() {
    List<Draft> drafts = new ArrayList<>();
    for (int i = 0; i < DRAFTS; i++) {
      String key = "key " + i;
      byte[] payload = new byte[PAYLOAD_BYTES];
      ThreadLocalRandom.current().nextBytes(payload);
      drafts.add(new Draft(TaskId.of(System.currentTimeMillis(), SlotHash.of(QUEUE, key), i), QUEUE, key,
          Due.after(HOUR), new Body(payload, "application/octet-stream", Map.of()), 0, OnConflict.RESET,
          null));
    }
    return drafts;
  }

  private static long usedBytes(RedisServer server) {
    Matcher found = Pattern.compile("used_memory:(\\d+)").matcher(server.info("memory"));
    assertThat(found.find()).isTrue();
    return Long.parseLong(found.group(1));
  }

  private static Set<TaskId> stored(RedisStore store) {
    Set<TaskId> ids = new HashSet<>();
    String cursor = null;
    do {
      RecordPage page = get(store.live(1_000, cursor));
      page.tasks().forEach(task -> ids.add(task.id()));
      cursor = page.cursor();
    } while (cursor != null);
    return ids;
  }

  @Test
  void aTaskReportedAsRefusedIsNotStored() {
    Map<String, String> settings = new HashMap<>(Map.of("maxmemory-policy", "noeviction"));
    try (RedisServer server = RedisServer.start(settings);
        RedisStore store = RedisStore.open(RedisOptions.builder(server.uri()).slots(64).build())) {
      assertThat(failure(store.submit(drafts().subList(0, 1)))).isNull();
      List<Draft> drafts = drafts().subList(1, DRAFTS);
      long maxBytes = usedBytes(server) + (long) PAYLOAD_BYTES * DRAFTS / 2;
      assertThat(server.command("CONFIG", "SET", "maxmemory", Long.toString(maxBytes))).isEqualTo("OK");
      StoreException thrown = failure(store.submit(drafts));
      assertThat(thrown).isInstanceOf(ItemsFailedException.class);
      ItemsFailedException failed = (ItemsFailedException) Objects.requireNonNull(thrown);
      assertThat(failed.failure()).isInstanceOf(StoreFullException.class);
      Set<TaskId> stored = stored(store);
      for (int i = 0; i < drafts.size(); i++) {
        assertThat(failed.results().get(i) != null).as("item %s", i).isEqualTo(stored.contains(drafts.get(i).id()));
      }
      assertThat(failed.results().stream().filter(result -> result == null).count()).isPositive();
      assertThat(server.command("CONFIG", "SET", "maxmemory", "0")).isEqualTo("OK");
      assertThat(failure(store.submit(drafts))).isNull();
      assertThat(stored(store)).hasSize(DRAFTS);
    }
  }

  @Test
  void aServerThatIsFullFromTheStartStoresNothing() {
    try (RedisServer server = RedisServer.start(Map.of("maxmemory-policy", "noeviction"));
        RedisStore store = RedisStore.open(RedisOptions.builder(server.uri()).slots(64).build())) {
      assertThat(server.command("CONFIG", "SET", "maxmemory", "1mb")).isEqualTo("OK");
      assertThat(failure(store.submit(drafts()))).isInstanceOf(StoreFullException.class);
      assertThat(stored(store)).isEmpty();
    }
  }
}
