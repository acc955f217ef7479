package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests lists and cancels of one queue in a store that contains many tasks of another queue. */
class ListingTest {
  /** Number of tasks of the queue {@code large}, which no test lists. */
  private static final int OTHERS = 45_000;
  /** Number of tasks in one batch, small enough for a busy machine to answer within the call timeout of the server. */
  private static final int PER_BATCH = 1_500;

  @TempDir
  private static Path folder;
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start(Map.of("store", "rocksdb", "data", folder.toString())).withQueue("small").withQueue("large");
    fill("large", OTHERS, "");
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static void fill(String queue, int tasks, String fields) {
    for (int from = 0; from < tasks; from += PER_BATCH) {
      StringBuilder lines = new StringBuilder();
      for (int i = from; i < Math.min(tasks, from + PER_BATCH); i++) {
        lines.append("{\"delay\": \"1h\"").append(fields.replace("#", Integer.toString(i))).append("}\n");
      }
      assertThat(rig.call("POST", "/v1/queues/" + queue + "/tasks:batch", lines.toString(),
          Map.of("Content-Type", "application/x-ndjson")).status()).isEqualTo(200);
    }
  }

  private static List<String> ids(Rig.Answer page) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < page.list("tasks").size(); i++) {
      ids.add(page.text("tasks", i, "id"));
    }
    return ids;
  }

  @Test
  void aListOfASmallQueueIsOnePage() {
    rig.withQueue("two");
    String first = rig.post("/v1/queues/two/tasks", "{\"delay\": \"1h\"}").text("id");
    String second = rig.post("/v1/queues/two/tasks", "{\"delay\": \"1h\"}").text("id");

    Rig.Answer page = rig.get("/v1/queues/two/tasks");

    assertThat(ids(page)).containsExactlyInAnyOrder(first, second);
    assertThat(page.at("nextCursor")).isNull();
    assertThat(rig.get("/v1/queues/two/tasks?state=RUNNING").at("nextCursor")).isNull();
  }

  @Test
  void pagesOfASparseQueueAreFullAndShowEachTaskOnce() {
    rig.withQueue("sparse");
    fill("sparse", 100, "");
    List<String> seen = new ArrayList<>();
    String cursor = "";
    do {
      Rig.Answer page = rig.get("/v1/queues/sparse/tasks?limit=30" + cursor);
      seen.addAll(ids(page));
      Object next = page.at("nextCursor");
      assertThat(page.at("tasks")).asInstanceOf(LIST).hasSize(next == null ? 10 : 30);
      cursor = next == null ? null : "&cursor=" + next;
    } while (cursor != null);
    assertThat(seen).hasSize(100).doesNotHaveDuplicates();
  }

  @Test
  void aQueueOfManyTasksIsEmptiedInAFewCallsAndDeleted() {
    rig.withQueue("purged");
    fill("purged", 20_000, "");
    int cancelled = 0;
    int calls = 0;
    String cursor = "";
    do {
      Rig.Answer answer = rig.post("/v1/queues/purged/tasks:cancel", "{\"all\": true, \"limit\": 10000" + cursor + "}");
      assertThat(answer.status()).as(answer.body()).isEqualTo(200);
      cancelled += Integer.parseInt(String.valueOf(answer.at("cancelled")));
      Object next = answer.at("nextCursor");
      cursor = next == null ? null : ", \"cursor\": \"" + next + '"';
      calls++;
    } while (cursor != null);
    assertThat(cancelled).isEqualTo(20_000);
    assertThat(calls).isLessThan(40);
    assertThat(rig.delete("/v1/queues/purged").text("result")).isEqualTo("DELETED");
    assertThat(rig.delete("/v1/queues/large").status()).isEqualTo(409);
  }
}
