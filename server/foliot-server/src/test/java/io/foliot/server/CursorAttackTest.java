package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that the cursors of lists show nothing of the records of other keys, and cannot be made or moved. */
final class CursorAttackTest {
  private static final int FOREIGN = 60;

  private final Rig rig = Rig.start().withQueue("mine").withQueue("theirs");
  private final List<String> foreignIds = new ArrayList<>();
  private String mine = "";

  @BeforeEach
  void fill() {
    rig.as(rig.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key"));
    for (int i = 0; i < FOREIGN; i++) {
      job("foreign-" + i, "theirs");
      foreignIds.add(rig.post("/v1/queues/theirs/tasks", "{\"delay\": \"1h\"}").text("id"));
    }
    job("own-1", "mine");
    job("own-2", "mine");
    mine = rig.post("/v1/keys", "{\"actions\": [\"read\", \"submit\"], \"queues\": [\"mine\"]}").text("key");
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  private void job(String name, String queue) {
    Rig.Answer put = rig.call("PUT", "/v1/jobs/" + name,
        "{\"queue\": \"" + queue + "\", \"schedule\": {\"every\": \"24h\"}}", Map.of());
    assertThat(put.status()).as(put.body()).isEqualTo(201);
  }

  private @Nullable String cursor(Rig.Answer page, String field) {
    assertThat(page.status()).as(page.body()).isEqualTo(200);
    Object next = page.at(field);
    return next == null ? null : next.toString();
  }

  @Test
  void pagesAreFilledWithJobsThatTheCallerSees() {
    rig.as(mine);
    List<Object> names = new ArrayList<>();
    String cursor = null;
    int pages = 0;
    do {
      Rig.Answer page = rig.get("/v1/jobs?limit=1" + (cursor == null ? "" : "&cursor=" + cursor));
      cursor = cursor(page, "next");
      page.list("jobs").forEach(job -> names.add(((Map<?, ?>) job).get("job")));
      assertThat(page.list("jobs").size() == 1 || cursor == null).as("a page that is not the last is full").isTrue();
      pages++;
    } while (cursor != null);
    assertThat(names).containsExactlyInAnyOrder("own-1", "own-2");
    assertThat(pages).isLessThanOrEqualTo(3);
  }

  @Test
  void aCursorDoesNotShowThePlaceOfAForeignRecord() {
    for (int limit = 1; limit <= 5; limit++) {
      String cursor = Objects
          .requireNonNull(cursor(rig.get("/v1/queues/theirs/tasks?limit=" + limit), "nextCursor"));
      for (String id : foreignIds) {
        String digits = id.replace("-", "");
        assertThat(cursor.replace("-", "")).doesNotContain(digits, digits.substring(16));
      }
    }
    String cursor = cursor(rig.get("/v1/jobs?limit=1"), "next");
    assertThat(cursor).isNotNull().isNotEqualTo(cursor(rig.get("/v1/jobs?limit=1"), "next"));
  }

  @Test
  void aCursorIsGoodForItsListOnly() {
    String ofTasks = cursor(rig.get("/v1/queues/theirs/tasks?limit=1"), "nextCursor");
    String ofJobs = cursor(rig.get("/v1/jobs?limit=1"), "next");
    assertThat(rig.get("/v1/queues/theirs/tasks?limit=1&cursor=" + ofTasks).status()).isEqualTo(200);
    assertThat(rig.get("/v1/jobs?cursor=" + ofTasks).status()).isEqualTo(400);
    assertThat(rig.get("/v1/queues/theirs/tasks?cursor=" + ofJobs).status()).isEqualTo(400);
    assertThat(rig.as(mine).get("/v1/queues/mine/tasks?cursor=" + ofTasks).status()).isEqualTo(400);
    assertThat(rig.get("/v1/queues/mine/tasks?cursor=" + foreignIds.getFirst()).status()).isEqualTo(400);
  }
}
