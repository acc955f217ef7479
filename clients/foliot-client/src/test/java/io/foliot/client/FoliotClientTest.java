package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Allocation;
import io.foliot.api.Body;
import io.foliot.api.Cancellation;
import io.foliot.api.Job;
import io.foliot.api.JobFields;
import io.foliot.api.Misfire;
import io.foliot.api.OnConflict;
import io.foliot.api.Overlap;
import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Retention;
import io.foliot.api.Retry;
import io.foliot.api.RetryFields;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.client.StubServer.Reply;
import io.foliot.client.StubServer.Request;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the request and the result of each call. */
final class FoliotClientTest {
  private static final Instant DUE = Instant.parse("2026-11-21T10:00:00.123Z");
  private static final String SUBMITTED = """
      {"id":"t1","queue":"mail","key":"k","generation":1732183200000001,"dueAt":"2026-11-21T10:00:00.123Z",
       "state":"DELAYED","result":"CREATED"}""";
  private static final SubmittedTask SUBMITTED_TASK = new SubmittedTask(KeyOutcome.CREATED, "t1", "mail", "k",
      1732183200000001L, DUE,
      TaskState.DELAYED);
  private static final String PROBLEM = """
      {"type":"https://foliot.io/problems/conflict","title":"Conflict","status":409,"detail":"the key is live"}""";
  private static final Lease LEASE = new Lease("t1", "secret", 7L);

  private final StubServer server = StubServer.answering(200, "{}");
  private final FoliotClient client = FoliotClient.builder(server.url()).apiKey("fk_1").build();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private void assertSent(String method, String path, String body) {
    Request request = server.request();
    assertThat(request.method() + " " + request.path()).isEqualTo(method + " " + path);
    assertThat(request.body()).isEqualTo(body);
  }

  @Test
  void aRequestHasTheApiKey() {
    client.pauseQueue("mail");
    assertThat(server.request().header("Authorization")).isEqualTo("Bearer fk_1");
    assertThat(client.toString()).isEqualTo("FoliotClient[" + server.url() + "]");
  }

  @Test
  void withoutAnApiKeyNoAuthorizationIsSent() {
    try (FoliotClient open = FoliotClient.builder(server.url()).build()) {
      open.pauseQueue("mail");
      assertThat(server.request().header("Authorization")).isNull();
    }
  }

  @Test
  void theBaseUrlMayHaveAPath() {
    try (FoliotClient behind = FoliotClient.builder(URI.create(server.url() + "/tools/foliot/")).build()) {
      behind.pauseQueue("mail");
      assertSent("POST", "/tools/foliot/v1/queues/mail/pause", "");
    }
  }

  @Test
  void aPutOfAQueueHasOnlyTheSettingsThatAreSet() {
    client.putQueue(QueueConfig.of("mail", Target.pull()));
    assertSent("PUT", "/v1/queues/mail", "{\"delivery\":{\"type\":\"pull\"}}");
    Retry retry = new Retry(6, Duration.ofSeconds(3), 2.0, Duration.ofMinutes(10), 0.5);
    client.putQueue(QueueConfig
        .builder("mail", Target.http(URI.create("https://example.org/in")).with(Duration.ofSeconds(20)))
        .retry(retry).priority(1).rate(100.0).concurrency(50).maxWait(Duration.ofHours(1)).maxJobs(9).maxShards(8)
        .retainFinished(Duration.ofHours(2)).paused(false).build());
    String body = server.request().body();
    JsonObject sent = JsonObject.parse(body.getBytes(UTF_8));
    assertThat(sent.json("retry"))
        .isEqualTo("{\"maxAttempts\":6,\"backoff\":\"PT3S\",\"jitter\":0.5}");
    assertThat(sent.object("delivery").text("url")).isEqualTo("https://example.org/in");
    assertThat(sent.object("delivery").text("timeout")).isEqualTo("PT20S");
    assertThat(body).endsWith(",\"priority\":1,\"rate\":100.0,\"concurrency\":50,\"maxWait\":\"PT1H\","
        + "\"maxJobs\":9,\"maxShards\":8,\"retention\":{\"finished\":\"PT2H\"}}");
  }

  @Test
  void settingsOfAQueueAreReadAndCanBePutAgain() {
    server.answer(200, """
        {"queue":"mail","delivery":{"type":"http","url":"https://example.org","timeout":"20s","tries":"a few","most":3},
         "retry":{"maxAttempts":5,"backoff":"1500ms","news":{}},"priority":0,"rate":0.5,"maxWait":"1h",
         "retention":{"finished":"1h","failed":"14d"},"paused":true,"maxRun":"1d","stats":{"counts":{"delayed":12,
         "parked":3,"new":1},"settledPerSecond":1.5,"lag":"2s"}}""");
    QueueView view = client.getQueue("mail");
    assertSent("GET", "/v1/queues/mail", "");
    assertThat(view.queue()).isEqualTo("mail");
    assertThat(view.settings()).isEqualTo(QueueConfig
        .builder("mail", Target.http("https://example.org").with("tries", "a few").with("most", "3")
            .with(Duration.ofSeconds(20)))
        .retry(new Retry(5, Duration.ofMillis(1500), 2, Duration.ofMinutes(10), 0.2)).rate(0.5)
        .maxWait(Duration.ofHours(1)).paused(true).build());
    assertThat(view.counts()).isEqualTo(Map.of("delayed", 12L, "parked", 3L, "new", 1L));
    assertThat(view.lag()).isEqualTo(Duration.ofSeconds(2));
    assertThat(JsonObject.parse(view.json().getBytes(UTF_8)).object("stats").has("settledPerSecond")).isTrue();
    client.putQueue(view.settings());
    assertThat(server.request().body()).contains("\"tries\":\"a few\"", "\"paused\":true");
  }

  @Test
  void aQueueWithASettingOutOfTheKnownBoundsIsAnUnreadableAnswer() {
    for (String setting : List.of("\"rate\":1e12", "\"maxShards\":0", "\"retry\":{\"backoff\":\"200000d\"}")) {
      server.answer(200, "{\"queue\":\"mail\",\"delivery\":{\"type\":\"pull\"}," + setting + "}");
      assertThatThrownBy(() -> client.getQueue("mail")).as(setting).isInstanceOf(UnknownOutcomeException.class)
          .cause().hasMessageContaining("update io.foliot:foliot-client");
    }
  }

  /** A part that is absent in a patch keeps its value, so each part that has its default must be there. */
  @Test
  void aWholeSettingInAPatchHasAllItsParts() {
    server.answer(200, "{\"queue\":\"mail\",\"delivery\":{\"type\":\"pull\"}}");
    client.patchQueue("mail", QueuePatch.builder()
        .set(QueueFields.RETRY, new Retry(5, Duration.ofSeconds(2), 2, Duration.ofMinutes(10), 0.2))
        .set(QueueFields.RETENTION, new Retention(Duration.ofHours(1), Duration.ofDays(1))).build());
    assertThat(server.request().body()).isEqualTo("{\"retry\":{\"maxAttempts\":5,\"backoff\":\"PT2S\","
        + "\"multiplier\":2.0,\"maxBackoff\":\"PT10M\",\"jitter\":0.2},"
        + "\"retention\":{\"finished\":\"PT1H\",\"failed\":\"PT24H\"}}");
  }

  @Test
  void aParameterThatIsNoJsonIsRefused() {
    for (Body wrong : List.of(new Body(new byte[]{'5'}, "text/plain", Map.of()),
        new Body(new byte[]{'5'}, "application/json", Map.of("a", "b")))) {
      assertThatThrownBy(() -> client.putJob(Job.named("r").every(Duration.ofHours(1)).parameter(wrong).buildIn("q")))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("parameter must be JSON");
    }
  }

  @Test
  void aPatchTakesOnlySettingsOfQueues() {
    assertThatThrownBy(() -> QueuePatch.builder().set(JobFields.HISTORY, 3)).hasMessageContaining("field=history");
    assertThatThrownBy(() -> QueuePatch.builder().set(QueueFields.DELIVERY, Target.pull()))
        .hasMessageContaining("delivery()");
  }

  @Test
  void secretsOfADeliveryAreNotPrinted() {
    Target target = Target.http("https://example.org").with("secret", "whsec_c2VjcmV0");
    assertThat(QueueConfig.of("mail", target).toString()).contains("secret").doesNotContain("c2VjcmV0");
  }

  @Test
  void queuesAreListedDeletedPausedAndResumed() {
    server.answer(200, "{\"queues\":[{\"queue\":\"a\",\"delivery\":{\"type\":\"pull\"}},"
        + "{\"queue\":\"b\",\"delivery\":{\"type\":\"pull\"}}]}");
    assertThat(client.listQueues()).extracting(QueueView::queue).containsExactly("a", "b");
    assertSent("GET", "/v1/queues", "");
    server.answer(204, "");
    client.deleteQueue("a");
    assertSent("DELETE", "/v1/queues/a", "");
    client.pauseQueue("a");
    assertSent("POST", "/v1/queues/a/pause", "");
    client.resumeQueue("a");
    assertSent("POST", "/v1/queues/a/resume", "");
  }

  @Test
  void aTaskIsSubmittedWithAllItsSettings() {
    server.answer(201, SUBMITTED);
    SubmittedTask task = client.submit("mail",
        NewTask.builder().delay(Duration.ofMinutes(30)).key("k").payload(Payload.json("{\"n\": 1.10}"))
            .header("x-kind", "green").maxAttempts(3).onConflict(OnConflict.KEEP)
            .idempotencyKey("order-7").build());
    assertThat(task).isEqualTo(SUBMITTED_TASK);
    Request request = server.request();
    assertThat(request.path()).isEqualTo("/v1/queues/mail/tasks");
    assertThat(request.header("Idempotency-Key")).isEqualTo("order-7");
    assertThat(request.header("Content-Type")).isEqualTo("application/json");
    assertThat(request.body()).isEqualTo("{\"key\":\"k\",\"delay\":\"PT30M\",\"payload\":{\"n\": 1.10},"
        + "\"headers\":{\"x-kind\":\"green\"},\"maxAttempts\":3,\"onConflict\":\"keep\"}");
  }

  @Test
  void aTaskMayHaveADueTimeAndBytes() {
    server.answer(201, SUBMITTED);
    SubmittedTask unused = client.submit("mail",
        NewTask.builder().dueAt(DUE).payload(Payload.bytes(new byte[]{-1, 0, 1}, "image/x")).build());
    Request request = server.request();
    assertThat(request.header("Idempotency-Key")).isNull();
    assertThat(request.body()).isEqualTo(
        "{\"dueAt\":\"2026-11-21T10:00:00.123Z\",\"payloadBase64\":\"/wAB\",\"contentType\":\"image/x\"}");
  }

  @Test
  void aBatchHasOneLineAndOneResultPerTask() {
    List<NewTask> tasks = List.of(
        NewTask.builder().delay(Duration.ZERO).payload(Payload.json("{\n\"a\":\r\n[1]}")).idempotencyKey("i1").build(),
        NewTask.builder().delay(Duration.ofSeconds(1)).key("k").build());
    String refused = "{\"error\":" + PROBLEM + "}";
    for (String answer : List.of("[" + SUBMITTED + "," + refused + "]", SUBMITTED + "\n" + refused + "\n")) {
      server.answer(200, answer);
      assertThat(client.submitBatch("mail", tasks)).containsExactly(SUBMITTED_TASK,
          new RefusedTask("https://foliot.io/problems/conflict", "Conflict", 409, "the key is live", Map.of()));
      Request request = server.request();
      assertThat(request.method() + request.path()).isEqualTo("POST/v1/queues/mail/tasks:batch");
      assertThat(request.header("Content-Type")).isEqualTo("application/x-ndjson");
      assertThat(request.body()).isEqualTo("""
          {"delay":"PT0S","payload":{ "a":  [1]},"idempotencyKey":"i1"}
          {"key":"k","delay":"PT1S"}
          """);
    }
  }

  @Test
  void aFullBatchIsSentCompletely() {
    List<NewTask> tasks = Stream.iterate(0, i -> i + 1).limit(FoliotClient.MAX_BATCH)
        .map(i -> NewTask.builder().delay(Duration.ZERO).key("key-" + i).build()).toList();
    server.answer(200, "[" + String.join(",", Collections.nCopies(tasks.size(), SUBMITTED)) + "]");
    assertThat(client.submitBatch("mail", tasks)).hasSize(tasks.size());
    assertThat(server.request().body().lines())
        .containsExactlyElementsOf(tasks.stream().map(task -> "{\"key\":\"" + task.key() + "\",\"delay\":\"PT0S\"}")
            .toList());
  }

  @Test
  void aBatchThatIsEmptyOrTooLargeIsRefusedBeforeItIsSent() {
    NewTask task = NewTask.after(Duration.ZERO);
    for (int size : new int[]{0, FoliotClient.MAX_BATCH + 1}) {
      assertThatThrownBy(() -> client.submitBatch("mail", Collections.nCopies(size, task)))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("10000")
          .hasMessageContaining("size=" + size);
      assertThatThrownBy(() -> client.touchKeys("mail", Collections.nCopies(size, "k"), Duration.ZERO))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(server.unseen()).isZero();
  }

  @Test
  void aWrongNumberOfBatchResultsIsAnUnknownOutcome() {
    server.answer(200, "[" + SUBMITTED + "]");
    assertThatThrownBy(() -> client.submitBatch("mail", Collections.nCopies(2, NewTask.after(Duration.ZERO))))
        .isInstanceOf(UnknownOutcomeException.class).rootCause().hasMessageContaining("items=2, answers=1");
  }

  @Test
  void aKeyIsPut() {
    server.answer(200, "{\"result\":\"RESET_PENDING\",\"id\":\"t1\",\"generation\":9,\"dueAt\":\"" + DUE + "\"}");
    assertThat(client.putKey("mail", "k",
        NewTask.builder().delay(Duration.ofMillis(1500)).payload(Payload.text("hi")).build()))
        .isEqualTo(new KeyResult(KeyOutcome.RESET_PENDING, "t1", 9, DUE));
    assertSent("PUT", "/v1/queues/mail/keys/k",
        "{\"delay\":\"PT1.5S\",\"payloadBase64\":\"aGk=\",\"contentType\":\"text/plain; charset=utf-8\"}");
  }

  @Test
  void optionsThatPutKeyDoesNotSupportAreRefused() {
    NewTask task = NewTask.after(Duration.ZERO);
    for (NewTask wrong : List.of(task.toBuilder().key("other").build(),
        task.toBuilder().onConflict(OnConflict.KEEP).build(),
        task.toBuilder().idempotencyKey("i").build())) {
      assertThatThrownBy(() -> client.putKey("mail", "k", wrong)).isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(server.unseen()).isZero();
  }

  @Test
  void keysAreTouched() {
    server.answer(200, "{\"results\":[{\"key\":\"a\",\"result\":\"RESET\",\"generation\":2,\"dueAt\":\"" + DUE
        + "\"},{\"key\":\"b\",\"result\":\"NOT_FOUND\"}]}");
    assertThat(client.touchKeys("mail", List.of("a", "b"), Duration.ofSeconds(30))).containsExactly(
        new TouchedKey("a", KeyOutcome.RESET, 2L, DUE), new TouchedKey("b", KeyOutcome.NOT_FOUND, null, null));
    assertSent("POST", "/v1/queues/mail/keys:touch", "{\"keys\":[\"a\",\"b\"],\"delay\":\"PT30S\"}");
    server.answer(200, "{\"results\":[{\"key\":\"c\",\"result\":\"SHELVED\"}]}");
    assertThatThrownBy(() -> client.touchKeys("mail", List.of("c"), Duration.ofSeconds(30)))
        .isInstanceOf(UnknownOutcomeException.class).rootCause().hasMessageContaining("update io.foliot:foliot-client")
        .hasMessageContaining("SHELVED");
    assertSent("POST", "/v1/queues/mail/keys:touch", "{\"keys\":[\"c\"],\"delay\":\"PT30S\"}");
  }

  @Test
  void allFieldsOfATaskAreReadAndUnknownFieldsIgnored() {
    server.answer(200, """
        {"id":"t1","queue":"mail","key":null,"generation":7,"dueAt":"2026-11-21T11:00:00.123+01:00","state":"FAILED",
         "attempt":2,"maxAttempts":2,"createdAt":"2026-11-21T09:00:00Z","payload":{"b":1.10, "a":[null]},
         "contentType":"application/json","headers":{"h":"v"},"reason":"HTTP 500","progress":0.5,"message":"half",
         "checkpoint":"page=7","log":"l","moon":{"phase":[{}]},
         "attempts":[{"generation":7,"attempt":1,"begunAt":"2026-11-21T10:00:00Z","endedAt":null,"outcome":"RETRY",
           "detail":"d","x":1}]}""");
    TaskView task = client.getTask("t1");
    assertSent("GET", "/v1/tasks/t1", "");
    assertThat(task).isEqualTo(new TaskView("t1", "mail", null, 7, DUE, TaskState.FAILED, 2, 2,
        Instant.parse("2026-11-21T09:00:00Z"), null, false, Payload.json("{\"b\":1.10, \"a\":[null]}"),
        Map.of("h", "v"), "HTTP 500",
        List.of(new AttemptView(7, 1, Instant.parse("2026-11-21T10:00:00Z"), null, "RETRY", "d", null, null)),
        new TaskNote(0.5, "half", "page=7", "l")));
  }

  @Test
  void aRunningTaskShowsItsLease() {
    String running = "{\"id\":\"t1\",\"queue\":\"mail\",\"generation\":7,\"dueAt\":\"2026-11-21T10:00:00Z\","
        + "\"state\":\"RUNNING\",\"leaseEnd\":\"2026-11-21T10:00:30Z\"";
    server.answer(200, running + "}");
    assertThat(client.getTask("t1")).returns(Instant.parse("2026-11-21T10:00:30Z"), TaskView::leaseEnd)
        .returns(false, TaskView::leaseExpired);
    server.answer(200, running + ",\"leaseExpired\":true}");
    assertThat(client.getTask("t1").leaseExpired()).isTrue();
  }

  @Test
  void aTaskIsFoundAndCancelledByItsKey() {
    server.answer(200, SUBMITTED);
    TaskView task = client.getByKey("mail", "k");
    assertSent("GET", "/v1/queues/mail/keys/k", "");
    assertThat(task.attempts()).isEmpty();
    assertThat(task.payload()).isNull();
    server.answer(200, "{\"result\":\"CANCEL_PENDING\"}");
    assertThat(client.cancelByKey("mail", "k")).isEqualTo(Cancellation.CANCEL_PENDING);
    assertSent("DELETE", "/v1/queues/mail/keys/k", "");
  }

  @Test
  void cancelReturnsTheResultOfTheServer() {
    for (Cancellation result : List.of(Cancellation.CANCELLED, Cancellation.ALREADY_FINISHED)) {
      server.answer(200, "{\"result\":\"" + result + "\"}");
      assertThat(client.cancel("t1")).isEqualTo(result);
      assertSent("DELETE", "/v1/tasks/t1", "");
    }
  }

  @Test
  void aCancelOfAMissingTaskReturnsNotFound() {
    try (
        StubServer missing = StubServer.answeringInTurn(
            Reply.problem(404, "{\"type\":\"urn:foliot:problem:unknown-task\",\"status\":404}"),
            Reply.problem(404, "{\"type\":\"urn:foliot:problem:unknown-queue\",\"status\":404}"),
            new Reply(404, Map.of("Content-Type", "text/html"), "<h1>no such page</h1>"));
        FoliotClient other = FoliotClient.builder(missing.url()).build()) {
      assertThat(other.cancelByKey("mail", "k")).isEqualTo(Cancellation.NOT_FOUND);
      assertThatThrownBy(() -> other.cancelByKey("mial", "k")).isInstanceOf(FoliotException.class);
      assertThatThrownBy(() -> other.cancel("t1")).as("an answer that is not from Foliot")
          .isInstanceOf(FoliotException.class);
    }
  }

  @Test
  void tasksAreListedInPages() {
    server.answer(200, "{\"tasks\":[" + SUBMITTED + "],\"nextCursor\":\"a/b=\"}");
    TaskPage page = client.listTasks("mail", TaskQuery.all().inState(TaskState.FAILED), 50, null);
    assertSent("GET", "/v1/queues/mail/tasks?state=FAILED&limit=50", "");
    assertThat(page.tasks()).extracting(TaskView::id).containsExactly("t1");
    server.answer(200, "{\"tasks\":[],\"nextCursor\":null}");
    TaskPage last = client.listTasks("mail", TaskQuery.all(), 50, page.nextCursor());
    assertSent("GET", "/v1/queues/mail/tasks?limit=50&cursor=a%2Fb%3D", "");
    assertThat(last).isEqualTo(new TaskPage(List.of(), null));
    client.listTasks("mail", TaskQuery.all().withKey("a b").ofJob("r"), 50, null);
    assertSent("GET", "/v1/queues/mail/tasks?key=a%20b&job=r&limit=50", "");
  }

  @Test
  void runsOfAJobAreListedWithTheirShardsAndLogs() {
    String time = "2026-11-24T02:00:00.000Z";
    String run = "{\"time\":\"" + time + "\",\"origin\":\"schedule\",\"result\":\"FAILED\",\"shards\":2,\"failed\":1,"
        + "\"reason\":\"shard 1: no disk\",\"begunAt\":\"" + time + "\",\"endedAt\":\"" + time + "\",\"gone\":1}";
    String range = "{\"time\":\"" + time + "\",\"lastTime\":\"" + time
        + "\",\"count\":3,\"origin\":\"schedule\",\"result\":\"MISSED\"}";
    Instant at = Instant.parse(time);
    RunView failed = new RunView(time, 1, "schedule", "FAILED", "shard 1: no disk", 2, 1, at, at, run);
    server.answer(200, "{\"runs\":[" + run + "," + range + "]}");
    assertThat(client.listRuns("a/b", "FAILED", 10)).containsExactly(failed,
        new RunView(time, 3, "schedule", "MISSED", null, 0, 0, null, null, range));
    assertSent("GET", "/v1/jobs/a%2Fb/runs?result=FAILED&limit=10", "");
    String shard = "{\"origin\":\"schedule\",\"zone\":\"fra\",\"shard\":1,\"state\":\"FAILED\",\"task\":\"t1\",\"attempt\":3,"
        + "\"worker\":\"w1\",\"node\":\"n1\",\"reason\":\"no disk\",\"begunAt\":\"" + time + "\",\"endedAt\":\"" + time
        + "\",\"checkpoint\":\"c\",\"log\":\"l\"}";
    String waiting = "{\"origin\":\"schedule\",\"phase\":\"after\",\"shard\":0,\"state\":\"WAITING\"}";
    RunShard first = new RunShard("schedule", null, "fra", 1, "FAILED", "t1", 3, "w1", "n1", "no disk", at, at, "c",
        "l");
    server.answer(200, "{\"runs\":[" + run + "],\"shards\":[" + shard + "," + waiting + "],\"next\":\"x=\"}");
    assertThat(client.getRun("a/b", time, true, 20, "y=")).isEqualTo(new RunPage(List.of(failed), List.of(first,
        new RunShard("schedule", "after", null, 0, "WAITING", null, 0, null, null, null, null, null, null, null)),
        "x="));
    assertSent("GET", "/v1/jobs/a%2Fb/runs/2026-11-24T02%3A00%3A00.000Z?failed=true&limit=20&cursor=y%3D", "");
    server.answer(200, "{\"time\":\"" + time + "\",\"shards\":[" + shard + "],\"more\":true}");
    assertThat(client.getLog("a/b", null, 5)).isEqualTo(new RunLog(time, List.of(first), true));
    assertSent("GET", "/v1/jobs/a%2Fb/log?limit=5", "");
    client.getLog("a/b", time, 5);
    assertSent("GET", "/v1/jobs/a%2Fb/log?time=2026-11-24T02%3A00%3A00.000Z&limit=5", "");
  }

  @Test
  void explanationsAreReturnedUnparsed() {
    server.answer(200, " {\"state\": \"READY\", \"lane\": {\"full\": true}}");
    assertThat(client.explain("t1")).isEqualTo("{\"state\": \"READY\", \"lane\": {\"full\": true}}");
    assertSent("GET", "/v1/tasks/t1/explain", "");
    assertThat(client.cluster()).startsWith("{\"state\"");
    assertSent("GET", "/v1/cluster", "");
  }

  @Test
  void aJobIsPutReadPausedTriggeredAndDeleted() {
    server.answer(200,
        "{\"job\":\"a/b\",\"state\":\"ACTIVE\",\"queue\":\"q\",\"nextTimes\":[\"2026-11-24T02:00:00+01:00\"],"
            + "\"totals\":{\"fired\":3},\"moon\":1}");
    JobView job = client.putJob(Job.named("a/b").queue("q").cron("0 2 * * *").timeZone("Europe/Berlin")
        .exclude("holidays").shards(2, "eu", "us").overlap(Overlap.QUEUE).misfire(Misfire.all(9, Duration.ofHours(6)))
        .timeout(Duration.ofHours(2)).parameter("{\"kind\": 1}").maxAttempts(3).pauseAfterFailures(4).build());
    assertSent("PUT", "/v1/jobs/a%2Fb",
        "{\"queue\":\"q\",\"schedule\":{\"cron\":\"0 2 * * *\",\"dialect\":\"unix\",\"zone\":\"Europe/Berlin\","
            + "\"exclude\":[\"holidays\"]},\"shards\":2,\"shardParameters\":[\"eu\",\"us\"],\"overlap\":\"queue\",\"misfire\":"
            + "{\"policy\":\"all\",\"window\":\"PT6H\",\"max\":9},\"timeout\":\"PT2H\","
            + "\"parameter\":{\"kind\": 1},\"maxAttempts\":3,"
            + "\"pauseAfterFailures\":4}");
    assertThat(job.state()).isEqualTo("ACTIVE");
    assertThat(job.nextTimes()).containsExactly("2026-11-24T02:00:00+01:00");
    assertThat(job.totals()).containsEntry("fired", 3L);
    assertThat(client.getJob("r").job()).isEqualTo("a/b");
    assertSent("GET", "/v1/jobs/r", "");
    client.putJob(Job.named("r").queue("q").every(Duration.ofMinutes(10)).build());
    assertSent("PUT", "/v1/jobs/r", "{\"queue\":\"q\",\"schedule\":{\"every\":\"PT10M\"}}");
    client.declareJob(Job.named("r").queue("q").every(Duration.ofMinutes(10)).shards(2).scope(Scope.PER_ZONE)
        .allocation(Allocation.ROUND_ROBIN).zones("fra1", "ams2")
        .runListeners(RunPhase.AFTER, RunPhase.BEFORE).build());
    assertSent("POST", "/v1/jobs/r/declare", "{\"queue\":\"q\",\"schedule\":{\"every\":\"PT10M\"},\"shards\":2,"
        + "\"scope\":\"per-zone\",\"allocation\":\"round-robin\",\"zones\":[\"fra1\",\"ams2\"],"
        + "\"runListeners\":[\"before\",\"after\"]}");
    client.putJob(Job.named("r").queue("q").every(Duration.ofMinutes(10)).allocator("by-region").build());
    assertSent("PUT", "/v1/jobs/r", "{\"queue\":\"q\",\"schedule\":{\"every\":\"PT10M\"},\"allocation\":\"own\","
        + "\"allocator\":\"by-region\"}");
    assertThatThrownBy(() -> client.putJob(Job.named("r").queue("q").every(Duration.ofHours(1))
        .parameter("1, \"queue\": \"x\"").build())).hasMessageContaining("parameter must be one JSON value");
    client.pauseJob("r", "month end");
    assertSent("POST", "/v1/jobs/r/pause", "{\"reason\":\"month end\"}");
    client.resumeJob("r");
    assertSent("POST", "/v1/jobs/r/resume", "{}");
    client.rewindJob("r");
    assertSent("POST", "/v1/jobs/r/rewind", "{}");
    client.deleteJob("r", true);
    assertSent("DELETE", "/v1/jobs/r?runs=cancel", "");
    server.answer(200, "{\"result\":\"ACCEPTED\",\"times\":[\"2026-11-23T10:00:00Z\"]}");
    assertThat(client.triggerJob("r", "once")).isEqualTo("2026-11-23T10:00:00Z");
    assertSent("POST", "/v1/jobs/r/trigger", "");
  }

  @Test
  void aTaskIsRunNow() {
    client.runNow("t1");
    assertSent("POST", "/v1/tasks/t1/run", "");
  }

  @Test
  void tasksAreClaimed() {
    server.answer(200, "{\"tasks\":[{\"id\":\"t1\",\"queue\":\"mail\",\"key\":\"k\",\"generation\":7,\"attempt\":1,"
        + "\"dueAt\":\"" + DUE + "\",\"token\":\"secret\",\"leaseEnd\":\"" + DUE.plusSeconds(30)
        + "\",\"payloadBase64\":\"/wAB\",\"contentType\":\"image/x\",\"headers\":{\"h\":\"v\"},\"checkpoint\":\"page=7\"}],"
        + "\"leaseMillis\":31500}");
    List<ClaimedTask> tasks = client.claim("mail",
        new ClaimRequest(5, Duration.ofSeconds(20), Duration.ofSeconds(30), "w1", "fra1"));
    assertSent("POST", "/v1/queues/mail/claims",
        "{\"max\":5,\"wait\":\"PT20S\",\"lease\":\"PT30S\",\"worker\":\"w1\",\"zone\":\"fra1\"}");
    assertThat(tasks).containsExactly(new ClaimedTask("t1", "mail", "k", 7, 1, DUE, "secret", DUE.plusSeconds(30),
        Duration.ofMillis(31_500), Payload.bytes(new byte[]{-1, 0, 1}, "image/x"), Map.of("h", "v"),
        new TaskNote(-1, "", "page=7", "")));
    assertThat(tasks.getFirst().lease()).isEqualTo(LEASE);
  }

  @Test
  void attemptsAreSettledAndExtended() {
    client.ack(LEASE);
    assertSent("POST", "/v1/tasks/t1/ack", "{\"token\":\"secret\",\"generation\":7}");
    client.ack(new Lease("t1", "secret", null));
    assertSent("POST", "/v1/tasks/t1/ack", "{\"token\":\"secret\"}");
    client.nack(LEASE, "disk full", Duration.ofMinutes(1));
    assertSent("POST", "/v1/tasks/t1/nack", "{\"token\":\"secret\",\"reason\":\"disk full\",\"delay\":\"PT1M\"}");
    client.nack(LEASE, null, null);
    assertSent("POST", "/v1/tasks/t1/nack", "{\"token\":\"secret\"}");
    assertThat(client.extend(LEASE, Duration.ofSeconds(30))).as("a server that does not state the granted duration")
        .isEqualTo(Duration.ofSeconds(30));
    assertSent("POST", "/v1/tasks/t1/extend", "{\"token\":\"secret\",\"lease\":\"PT30S\"}");
    server.answer(200, "{\"leaseMillis\":1500}");
    assertThat(client.extend(LEASE, Duration.ofSeconds(30), new TaskNote(0, "", "c", "")))
        .isEqualTo(Duration.ofMillis(1500));
    assertSent("POST", "/v1/tasks/t1/extend",
        "{\"token\":\"secret\",\"lease\":\"PT30S\",\"progress\":0.0,\"checkpoint\":\"c\"}");
    client.ack(LEASE, new TaskNote(-1, "412 rows", null, "done"));
    assertSent("POST", "/v1/tasks/t1/ack",
        "{\"token\":\"secret\",\"generation\":7,\"message\":\"412 rows\",\"log\":\"done\"}");
    client.nack(LEASE, "x", null, new TaskNote(-1, "", "c", ""));
    assertSent("POST", "/v1/tasks/t1/nack", "{\"token\":\"secret\",\"reason\":\"x\",\"checkpoint\":\"c\"}");
    Settlement again = Settlement.again(Duration.ofMinutes(1)).noting(new TaskNote(1, "", null, ""));
    client.settle(LEASE, again);
    assertSent("POST", "/v1/tasks/t1/ack",
        "{\"token\":\"secret\",\"generation\":7,\"next\":\"PT1M\",\"progress\":1.0}");
    client.settle(LEASE, Settlement.runAgain().noting(new TaskNote(-1, "", "c", "")));
    assertSent("POST", "/v1/tasks/t1/ack",
        "{\"token\":\"secret\",\"generation\":7,\"runAgain\":true,\"checkpoint\":\"c\"}");
    client.settle(LEASE, Settlement.endJob());
    assertSent("POST", "/v1/tasks/t1/ack", "{\"token\":\"secret\",\"generation\":7,\"endJob\":true}");
    assertThatThrownBy(() -> again.noting(TaskNote.NONE)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void failedTasksAreRedriven() {
    server.answer(200, "{\"redriven\":2,\"conflicts\":[\"t9\"],\"more\":true}");
    assertThat(client.redrive("mail", 100)).isEqualTo(new BulkRedriveResult(2, List.of("t9"), true));
    assertSent("POST", "/v1/queues/mail/redrive", "{\"limit\":100}");
    assertThat(client.redrive("mail", List.of("t1", "t2"))).extracting(BulkRedriveResult::redriven).isEqualTo(2L);
    assertSent("POST", "/v1/queues/mail/redrive", "{\"ids\":[\"t1\",\"t2\"]}");
  }

  @Test
  void aNameOfAnyCharactersIsSentAsOneSegment() {
    server.answer(200, SUBMITTED);
    for (String key : List.of("a/b", "..", ".", "../../v1/cluster", "ключ 鍵 🔑", "%2F", "a?b=c&d#e", "a+b;c=d:e@f",
        "\u0000\t\n", ".hidden", "...")) {
      TaskView unused = client.getByKey("q/ü", key);
      String path = server.request().path();
      assertThat(path).startsWith("/v1/queues/q%2F%C3%BC/keys/").matches("[A-Za-z0-9/%._~-]+");
      String segment = path.substring("/v1/queues/q%2F%C3%BC/keys/".length());
      assertThat(segment).doesNotContain("/").isNotIn(".", "..");
      assertThat(URLDecoder.decode(segment, UTF_8)).isEqualTo(key);
    }
    assertThat(ApiPath.key("q", "..").toString()).isEqualTo("/v1/queues/q/keys/%2E%2E");
  }

  @Test
  void anEmptyNameOrAnUnpairedSurrogateIsRefused() {
    for (String key : List.of("", "\ud800", "a\udc00b")) {
      assertThatThrownBy(() -> client.getByKey("mail", key)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> client.touchKeys("mail", List.of(key), Duration.ZERO))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> NewTask.builder().delay(Duration.ZERO).key(key).build())
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(server.unseen()).isZero();
  }

  @Test
  void aRefusalHasTheProblemOfTheServer() {
    server.answer(409, PROBLEM);
    assertThatThrownBy(() -> client.submit("mail", NewTask.after(Duration.ZERO)))
        .isInstanceOfSatisfying(FoliotException.class, e -> {
          assertThat(e.problem())
              .isEqualTo(
                  new RefusedTask("https://foliot.io/problems/conflict", "Conflict", 409, "the key is live", Map.of()));
          assertThat(e.status()).isEqualTo(409);
          assertThat(e.type()).isEqualTo("https://foliot.io/problems/conflict");
          assertThat(e.retryAfter()).isEqualTo(Optional.empty());
          assertThat(e).hasMessageContaining("POST " + server.url() + "/v1/queues/mail/tasks")
              .hasMessageContaining("the key is live");
          assertThat(e.getStackTrace()).as("caller's stack").anyMatch(at -> at.getClassName().endsWith("ClientTest"));
        });
  }

  @Test
  void aRefusalWithoutAProblemHasItsStatus() {
    for (String page : List.of("<h1>Forbidden</h1>", "", "[]", "{\"status\":\"no\",\"title\":3}")) {
      server.answer(403, page);
      assertThatThrownBy(() -> client.getTask("t1")).isInstanceOfSatisfying(FoliotException.class,
          e -> assertThat(e.problem())
              .isEqualTo(new RefusedTask("about:blank", "HTTP status 403", 403, null, Map.of())));
    }
  }

  @Test
  void anAnswerThatCannotBeReadIsAnUnknownOutcome() {
    for (String wrong : List.of("", "{", "[]", "null", "{}", SUBMITTED.replace("\"DELAYED\"", "3"),
        SUBMITTED.replace("1732183200000001", "1e999"), SUBMITTED.replace("10:00:00", "99:00:00"),
        SUBMITTED + SUBMITTED)) {
      server.answer(201, wrong);
      assertThatThrownBy(() -> client.submit("mail", NewTask.after(Duration.ZERO))).as(wrong)
          .isInstanceOf(UnknownOutcomeException.class).hasMessageContaining("could not be read");
    }
  }

  @Test
  void aWrongBaseUrlIsRefusedAndItsPasswordNotPrinted() {
    for (String url : List.of("ftp://host", "http:///path", "//host", "http://u:hunter2@host", "http://host?a=b",
        "http://host#a", "mailto:a@b")) {
      assertThatThrownBy(() -> FoliotClient.builder(URI.create(url))).as(url)
          .isInstanceOf(IllegalArgumentException.class).message().doesNotContain("hunter2");
    }
  }

  @Test
  void anApiKeyInvalidInAHeaderIsRefusedAndNotPrinted() {
    for (String key : List.of("hunter2\r\nX: y", "hunter 2", "hünter2", "")) {
      assertThatThrownBy(() -> FoliotClient.builder(server.url()).apiKey(key))
          .isInstanceOf(IllegalArgumentException.class).message().doesNotContain("unter");
    }
  }

  @Test
  void anHttpClientThatFollowsRedirectsIsRefused() {
    try (HttpClient following = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build()) {
      assertThatThrownBy(() -> FoliotClient.builder(server.url()).httpClient(following))
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("API key");
    }
  }

  @Test
  void aGivenHttpClientIsNotClosed() {
    try (HttpClient given = HttpClient.newHttpClient()) {
      FoliotClient.Builder builder = FoliotClient.builder(server.url()).httpClient(given);
      try (FoliotClient first = builder.build()) {
        first.runNow("t1");
      }
      try (FoliotClient second = builder.build()) {
        second.runNow("t1");
      }
      assertThat(given.isTerminated()).isFalse();
      assertThatThrownBy(() -> builder.connectTimeout(Duration.ofSeconds(1)).build())
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void aClosedClientRefusesCallsWithTheReason() {
    client.close();
    assertThatThrownBy(() -> client.getTask("t1")).isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aPatchHasOnlyTheChangedSettings() {
    server.answer(200, "{\"queue\":\"mail\",\"delivery\":{\"type\":\"pull\"},\"concurrency\":5}");
    QueueView view = client.patchQueue("mail", QueuePatch.builder().set(QueueFields.CONCURRENCY, 5)
        .set(QueueFields.RATE, null).set(RetryFields.MAX_ATTEMPTS, 7).set(QueueFields.RETENTION, null)
        .delivery("url", "https://a.example").timeout(Duration.ofSeconds(20)).delivery("secret", null)
        .set(QueueFields.MAX_WAIT, Duration.ofHours(1)).set(QueueFields.PAUSED, false).build());
    Request request = server.request();
    assertThat(request.method() + " " + request.path()).isEqualTo("PATCH /v1/queues/mail");
    assertThat(request.header("Content-Type")).isEqualTo("application/merge-patch+json");
    assertThat(request.body()).isEqualTo("{\"delivery\":{\"url\":\"https://a.example\",\"timeout\":\"PT20S\","
        + "\"secret\":null},\"retry\":{\"maxAttempts\":7},\"rate\":null,\"concurrency\":5,\"maxWait\":\"PT1H\","
        + "\"retention\":null,\"paused\":false}");
    assertThat(view.settings().concurrency()).isEqualTo(5);
    assertThat(QueuePatch.builder().delivery("secret", "s3").build().toString())
        .isEqualTo("QueuePatch[] delivery[secret]");
  }

  @Test
  void aBulkCancelSendsRequestsUntilThereIsNoCursor() {
    Reply first = Reply.json(200, "{\"cancelled\":3,\"pending\":1,\"nextCursor\":\"c1\"}");
    Reply last = Reply.json(200, "{\"cancelled\":2,\"pending\":0,\"nextCursor\":null}");
    server.answerWith(request -> request.body().contains("c1") ? last : first);

    assertThat(client.cancelTasks("mail", TaskFilter.all())).isEqualTo(new BulkCancelResult(5, 1, null));

    assertSent("POST", "/v1/queues/mail/tasks:cancel", "{\"all\":true,\"limit\":10000}");
    assertSent("POST", "/v1/queues/mail/tasks:cancel", "{\"all\":true,\"limit\":10000,\"cursor\":\"c1\"}");
    TaskFilter filter = TaskFilter.builder().states(TaskState.READY, TaskState.DELAYED).keyPrefix("a-")
        .dueBefore(DUE).build();
    assertThat(client.cancelTasks("mail", filter, 7, null).nextCursor()).isEqualTo("c1");
    assertSent("POST", "/v1/queues/mail/tasks:cancel", "{\"states\":[\"DELAYED\",\"READY\"],\"keyPrefix\":\"a-\","
        + "\"dueBefore\":\"2026-11-21T10:00:00.123Z\",\"limit\":7}");
  }

  @Test
  void aStreamReadsPagesLazilyAndSkipsEmptyPages() {
    String task = """
        {"id":"%s","queue":"mail","generation":1,"dueAt":"2026-11-21T10:00:00.123Z","state":"DELAYED","attempts":[]}""";
    server.answerWith(request -> Reply.json(200, "{\"tasks\":["
        + (request.path().contains("cursor=c1")
            ? "],\"nextCursor\":\"c2\"}"
            : request.path().contains("cursor=c2")
                ? task.formatted("t3") + "],\"nextCursor\":null}"
                : task.formatted("t1") + "," + task.formatted("t2") + "],\"nextCursor\":\"c1\"}")));

    assertThat(client.streamTasks("mail", TaskQuery.all().inState(TaskState.DELAYED))).extracting(TaskView::id)
        .containsExactly("t1", "t2",
            "t3");
    assertThat(server.unseen()).isEqualTo(3);
    assertThat(client.streamTasks("mail", TaskQuery.all()).findFirst()).map(TaskView::id).contains("t1");
    assertThat(server.unseen()).isEqualTo(4);
  }

  @Test
  void anAttemptFailsPermanentlyOrFiresAgain() {
    client.fail(LEASE, "no such shop");
    assertSent("POST", "/v1/tasks/t1/nack",
        "{\"token\":\"secret\",\"reason\":\"no such shop\",\"final\":true}");
    client.ack(LEASE, Duration.ofSeconds(30));
    assertSent("POST", "/v1/tasks/t1/ack", "{\"token\":\"secret\",\"generation\":7,\"next\":\"PT30S\"}");
  }
}
