package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.foliot.api.TaskNote;
import io.foliot.backends.Await;
import io.foliot.client.ClaimRequest;
import io.foliot.client.ClaimedTask;
import io.foliot.client.FoliotClient;
import io.foliot.client.Settlement;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the commands that call a server, against a real server. */
final class CommandsTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  private FoliotServer server = start();

  @BeforeEach
  void createQueue() {
    assertThat(run("queues", "put", "orders", "--pull").exitCode()).isEqualTo(ExitCode.OK);
  }

  private static FoliotServer start() {
    FoliotConfig config = FoliotConfig.load(Map.of("store", "memory", "port", "0"), Map.of(), null);
    return FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private Outcome run(String... words) {
    return Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
  }

  private static JsonView json(Outcome outcome) {
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return JsonView.parse(outcome.out());
  }

  @Test
  void aTaskIsSubmittedFoundTouchedAndCancelled() {
    JsonView submitted = json(run("submit", "orders", "--delay", "30m", "--key", "order-7", "--payload",
        "{\"order\": 7}", "--json"));
    assertThat(submitted.at("state").text()).isEqualTo("DELAYED");
    String id = submitted.at("id").text();

    assertThat(json(run("get", id, "--json")).at("key").text()).isEqualTo("order-7");
    assertThat(run("get", "orders", "order-7").out()).contains(id, "DELAYED", "{\"order\": 7}");
    assertThat(run("get", "orders", "order-7", "--why").out()).contains("DELAYED").contains("- ");

    JsonView touched = json(run("touch", "orders", "order-7", "--delay", "60m", "--json"));
    assertThat(touched.at("results").items().getFirst().at("result").text()).isEqualTo("RESET");

    assertThat(run("tasks", "orders").out()).contains("order-7");
    assertThat(json(run("tasks", "orders", "--json")).at("tasks").items()).hasSize(1);
    assertThat(run("tasks", "orders", "--json", "--limit", "2000").err()).contains("--limit: expected at most 1000");

    assertThat(run("cancel", "orders", "order-7").out()).isEqualTo("CANCELLED" + System.lineSeparator());
    assertThat(run("tasks", "orders", "--state", "cancelled").out()).contains("order-7");
  }

  @Test
  void aRunningTaskIsShownWithItsLease() {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      for (Duration lease : List.of(Duration.ofHours(1), Duration.ofSeconds(3))) {
        assertThat(run("submit", "orders", "--delay", "0s", "--key", "for " + lease).exitCode()).isEqualTo(ExitCode.OK);
        assertThat(client.claim("orders", new ClaimRequest(1, BOUND, lease, "w1"))).as("%s", lease).hasSize(1);
      }
    }
    assertThat(run("get", "orders", "for PT1H").out()).contains("RUNNING", "leaseEnd").doesNotContain("expired");
    Await.until("the lease has ended", BOUND, () -> run("get", "orders", "for PT3S").out()
        .contains(" ago), expired: the worker has not reported"));
  }

  @Test
  void aTaskIsShownWithTheNoteOfItsAttempt() {
    try (FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      assertThat(run("submit", "orders", "--delay", "0s", "--key", "k").exitCode()).isEqualTo(ExitCode.OK);
      ClaimedTask task = client.claim("orders", new ClaimRequest(1, BOUND, Duration.ofHours(1), "w1")).getFirst();
      client.settle(task.lease(), Settlement.ack().noting(new TaskNote(1, "page 3", "4", "read 2\nread 3")));
    }
    assertThat(run("get", "orders", "k").out()).contains("100 %, page 3", "read 3")
        .doesNotContain("\uFFFD").containsPattern("log +read 2\\R +read 3\\R");
  }

  @Test
  void anotherProgramIsNotTakenForAServerWithoutQueues() throws IOException {
    HttpServer other = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
    other.createContext("/", call -> {
      call.sendResponseHeaders(200, -1);
      call.close();
    });
    other.start();
    try {
      Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", "http://127.0.0.1:" + other.getAddress().getPort()), "queues");
      assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
      assertThat(outcome.err()).contains("answers, but not as a Foliot server does");
    } finally {
      other.stop(0);
    }
  }

  @Test
  void aPullTaskIsExplainedWithoutADestination() {
    assertThat(run("submit", "orders", "--delay", "0s", "--key", "k").exitCode()).isEqualTo(ExitCode.OK);
    Await.until("no worker is the only reason", BOUND, () -> run("get", "orders", "k", "--why").out()
        .contains("- no worker of its queue waits"));
    assertThat(run("get", "orders", "k", "--why").out()).contains("queue", "orders", "key").doesNotContain(
        "destination",
        "behind other tasks");
    assertThat(run("queues", "pause", "orders").exitCode()).isEqualTo(ExitCode.OK);
    Await.until("the pause is the reason", BOUND, () -> run("get", "orders", "k", "--why").out()
        .contains("foliot queues resume orders"));
  }

  @Test
  void anUnknownJobNamesTheNearest() {
    assertThat(run("jobs", "put", "nightly", "--queue", "orders", "--every", "1h").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(run("jobs", "get", "nigthly").err()).contains("there is no job nigthly: did you mean nightly?");
    assertThat(run("jobs", "trigger", "x1").err()).contains("foliot jobs lists the jobs");
  }

  @Test
  void aJobIsPausedForADuration() {
    assertThat(run("jobs", "put", "nightly", "--queue", "orders", "--every", "1h").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(run("jobs", "pause", "nightly", "--until", "2h").exitCode()).isEqualTo(ExitCode.OK);
    JsonView pause = json(run("jobs", "get", "nightly", "--json")).at("pause");
    assertThat(Duration.between(Instant.parse(pause.at("since").text()), Instant.parse(pause.at("until").text())))
        .isBetween(Duration.ofMinutes(119), Duration.ofMinutes(121));
    assertThat(run("jobs", "get", "nightly").out()).contains("it is paused until " + pause.at("until").text());
    assertThat(run("jobs").out()).containsPattern("nightly .* PAUSED +20");
    assertThat(run("jobs", "pause", "nightly").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(run("jobs", "get", "nightly").out()).contains("every 1h UTC", "next times, if it were resumed now");
    assertThat(run("jobs").out()).as("no next time runs").containsPattern("nightly .* PAUSED +-");
  }

  @Test
  void aJobOfAPausedQueueIsExplained() {
    run("queues", "put", "halted", "--pull", "--paused");
    run("jobs", "put", "nightly", "--queue", "halted", "--every", "1h");
    assertThat(run("jobs", "get", "nightly").out()).contains("nightly is ACTIVE: its queue is paused");
  }

  @Test
  void commandsOnAbsentTasksFail() {
    assertThat(run("touch", "orders", "nobody", "--delay", "1m").exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(run("cancel", "orders", "nobody").exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(run("get", "orders", "nobody").exitCode()).isEqualTo(ExitCode.FAILURE);
  }

  @Test
  void aRefusalIsShownWithTheRemedy() {
    Outcome outcome = run("submit", "nowhere");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.err()).startsWith("foliot: there is no queue nowhere; ");
    assertThat(outcome.err().lines()).hasSize(1);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.err()).contains("create it first: foliot queues put nowhere --to URL").doesNotContain("PUT");
    assertThat(run("queues", "get", "nowhere").err()).contains("foliot queues put nowhere --to URL");
    assertThat(run("get", "not-an-id").err()).contains("is not the id of a task", "QUEUE not-an-id");
    assertThat(run("get", "not-an-id").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("submit", "orders", "--delay", "40000d").exitCode()).isEqualTo(ExitCode.FAILURE);
  }

  @Test
  void runMakesATaskDueNow() {
    run("submit", "orders", "--delay", "30m", "--key", "order-7");
    assertThat(run("run", "orders", "order-7").out()).contains("is due now");
    assertThat(run("get", "orders", "order-7").out()).contains("READY");
  }

  @Test
  void apiKeysAreCreatedListedAndDeleted() {
    assertThat(run("keys").out()).contains("there are no API keys");
    Outcome created = run("keys", "create", "--allow", "admin", "--queues", "*", "--note", "mine");
    assertThat(created.exitCode()).as(created.err()).isEqualTo(ExitCode.OK);
    String secret = created.out().strip();
    assertThat(secret).startsWith("flt_").doesNotContain(" ");
    assertThat(run("keys").exitCode()).as("the server is locked").isEqualTo(ExitCode.FAILURE);
    Map<String, String> admin = Map.of("FOLIOT_URL", server.url(), "FOLIOT_API_KEY", secret);
    JsonView shop = json(Outcome.of(admin, "keys", "create", "--allow", "submit,read", "--queues", "orders,mails",
        "--expires-in", "1d", "--json"));
    assertThat(Outcome.of(admin, "keys").out()).contains("submit", "orders,mails", "mine").doesNotContain(secret);
    assertThat(Outcome.of(admin, "keys", "delete", "nokey").err()).contains("foliot keys lists").doesNotContain("/v1/");
    Outcome deleted = Outcome.of(admin, "keys", "delete", shop.at("id").text());
    assertThat(deleted.exitCode()).as(deleted.err()).isEqualTo(ExitCode.OK);
    assertThat(Outcome.of(admin, "keys").out()).doesNotContain("orders,mails");
  }

  @Test
  void anAddressWithoutASchemeIsHttp() {
    Outcome outcome = Outcome.of(Map.of(), "queues", "--url", server.url().substring("http://".length()));
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
  }

  @Test
  void settingsThatAPutResetsAreReported() {
    run("queues", "put", "mails", "--to", "http://127.0.0.1:9/x", "--rate", "10");
    Outcome again = run("queues", "put", "mails", "--to", "http://127.0.0.1:9/x", "--concurrency", "5");
    assertThat(again.out()).contains("  rate is not set, and was 10", "  concurrency is 5, and was not set");
    assertThat(run("queues", "put", "mails", "--to", "http://127.0.0.1:9/x", "--concurrency", "5").out().lines())
        .containsExactly("mails is in place");
  }

  @Test
  void setChangesOnlyTheSettingsThatAreGiven() {
    run("queues", "put", "mails", "--to", "http://127.0.0.1:9/x", "--rate", "10", "--max-attempts", "7");
    Outcome changed = run("queues", "set", "mails", "--concurrency", "5", "--backoff", "3s");
    assertThat(changed.exitCode()).as(changed.err()).isEqualTo(ExitCode.OK);
    assertThat(changed.out().lines()).containsExactly(
        "mails is changed", "  concurrency is 5, and was not set", "  retry.backoff is 3s, and was 1s");
    Outcome unset = run("queues", "set", "mails", "--unset", "rate", "--to", "http://127.0.0.1:9/y");
    assertThat(unset.exitCode()).as(unset.err()).isEqualTo(ExitCode.OK);
    assertThat(unset.out().lines()).containsExactly("mails is changed",
        "  delivery.url is http://127.0.0.1:9/y, and was http://127.0.0.1:9/x", "  rate is not set, and was 10");
    JsonView queue = json(run("queues", "get", "mails", "--json"));
    assertThat(queue.at("retry", "maxAttempts").text()).isEqualTo("7");
    Outcome nothing = run("queues", "set", "mails");
    assertThat(nothing.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(nothing.err()).contains("name at least one setting");
    Outcome both = run("queues", "set", "mails", "--rate", "5", "--unset", "rate");
    assertThat(both.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(both.err()).contains("rate is both set and unset");
    Outcome unknown = run("queues", "set", "mails", "--unset", "speed");
    assertThat(unknown.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(unknown.err()).contains("--unset", "rate", "concurrency");
    assertThat(run("queues", "set", "nowhere", "--rate", "1").err()).contains("foliot queues put nowhere");
    assertThat(run("queues", "put", "mails", "--to", "http://127.0.0.1:9/y").out())
        .contains("queues set mails");
  }

  @Test
  void aPurgeCancelsTheLiveTasksThatMatchTheFilter() {
    for (String key : new String[]{"a-1", "a-2", "b-1"}) {
      run("submit", "orders", "--delay", "30m", "--key", key);
    }
    Outcome unfiltered = run("queues", "purge", "orders");
    assertThat(unfiltered.exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(unfiltered.err()).contains("--all", "--key-prefix");
    assertThat(run("queues", "purge", "orders", "--key-prefix", "a-").out()).contains("cancelled 2 tasks");
    assertThat(run("tasks", "orders", "--state", "delayed").out()).contains("b-1").doesNotContain("a-1");
    assertThat(run("queues", "purge", "orders", "--state", "ready").out()).contains("cancelled 0 tasks");
    assertThat(run("queues", "purge", "orders", "--state", "gone").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(json(run("queues", "purge", "orders", "--all", "--json")).at("cancelled").text()).isEqualTo("1");
    assertThat(run("queues", "purge", "orders", "--all", "--key-prefix", "a").exitCode()).isEqualTo(ExitCode.USAGE);
    assertThat(run("queues", "purge", "nowhere", "--all").err()).contains("foliot queues put nowhere");
  }

  @Test
  void aQueueIsWatched() {
    run("submit", "orders", "--delay", "30m");
    Outcome watched = run("queues", "watch", "orders", "--count", "2");
    assertThat(watched.exitCode()).as(watched.err()).isEqualTo(ExitCode.OK);
    assertThat(watched.out().lines()).hasSize(2).allSatisfy(
        line -> assertThat(line).contains("delayed 1", "running 0", "failed 0", "lag"));
    assertThat(run("queues", "watch", "nowhere").exitCode()).isEqualTo(ExitCode.FAILURE);
  }

  @Test
  void aRunningServerIsChecked() {
    assertThat(run("doctor", "--url", server.url()).out()).contains("ok", "is ready");
    assertThat(run("doctor", "--url", "http://127.0.0.1:1").exitCode()).isEqualTo(ExitCode.FAILURE);
  }

  @Test
  void queuesAreListedPausedResumedAndDeleted() {
    assertThat(run("queues").out()).contains("QUEUE", "orders", "pull");
    assertThat(run("queues", "pause", "orders").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(json(run("queues", "get", "orders", "--json")).at("paused").isTrue()).isTrue();
    assertThat(run("queues").out()).contains("(paused)");
    assertThat(run("queues", "resume", "orders").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(run("queues", "get", "orders").out()).containsPattern("paused +false");
    assertThat(run("queues", "redrive", "orders").out()).startsWith("0 failed tasks will run again");
    assertThat(run("queues", "delete", "orders").exitCode()).isEqualTo(ExitCode.OK);
    assertThat(run("queues").out()).contains("there are no queues yet");
    assertThat(json(run("queues", "--json")).at("queues").items()).isEmpty();
  }

  @Test
  void putStoresTheGivenSettingsOfAQueue() {
    assertThat(run("queues", "put", "mails", "--to", "http://127.0.0.1:9/x", "--timeout", "3s", "--max-attempts", "8",
        "--backoff", "5s", "--rate", "10", "--concurrency", "4", "--priority", "2", "--max-wait", "1h", "--max-jobs",
        "70", "--max-shards", "80",
        "--keep-finished", "2h", "--paused").exitCode()).isEqualTo(ExitCode.OK);
    JsonView queue = json(run("queues", "get", "mails", "--json"));
    assertThat(queue.at("delivery", "url").text()).isEqualTo("http://127.0.0.1:9/x");
    assertThat(queue.at("delivery", "timeout").text()).isEqualTo("3s");
    assertThat(queue.at("retry", "maxAttempts").number()).isEqualTo(8);
    assertThat(queue.at("retry", "backoff").text()).isEqualTo("5s");
    assertThat(queue.at("rate").decimal()).isEqualTo(10);
    assertThat(queue.at("concurrency").number()).isEqualTo(4);
    assertThat(queue.at("priority").number()).isEqualTo(2);
    assertThat(queue.at("maxJobs").number()).isEqualTo(70);
    assertThat(queue.at("maxShards").number()).isEqualTo(80);
    assertThat(queue.at("maxWait").text()).isEqualTo("1h");
    assertThat(queue.at("retention", "finished").text()).isEqualTo("2h");
    assertThat(queue.at("paused").isTrue()).isTrue();
  }

  @Test
  void payloadsMayBeTextOrBytesFromStandardInput() {
    assertThat(run("submit", "orders", "--delay", "1h", "--key", "text", "--text", "näh").exitCode())
        .isEqualTo(ExitCode.OK);
    assertThat(run("get", "orders", "text").out()).contains("näh");
    Outcome piped = Outcome.withInput(Map.of("FOLIOT_URL", server.url()), "abc", "submit", "orders", "--delay", "1h",
        "--key",
        "bytes", "--file", "-", "--content-type", "text/csv");
    assertThat(piped.exitCode()).isEqualTo(ExitCode.OK);
    assertThat(json(run("get", "orders", "bytes", "--json")).at("contentType").text()).isEqualTo("text/csv");
    assertThat(run("submit", "orders", "--file", "/no/such/file").err()).contains("there is no file");
  }

  @Test
  void keysWithReservedCharactersAreFound() {
    String key = "a/b ?&%ü..";
    assertThat(run("submit", "orders", "--delay", "1h", "--key", key).exitCode()).isEqualTo(ExitCode.OK);
    assertThat(json(run("get", "orders", key, "--json")).at("key").text()).isEqualTo(key);
    assertThat(run("get", "orders", key).out()).contains(key);
    assertThat(run("cancel", "orders", key).exitCode()).isEqualTo(ExitCode.OK);
  }

  @Test
  void controlCharactersAreNotPrinted() {
    assertThat(run("submit", "orders", "--delay", "1h", "--key", "k", "--text", "\u001b[2Jgone").exitCode())
        .isEqualTo(ExitCode.OK);
    assertThat(run("get", "orders", "k").out()).contains("[2Jgone").doesNotContain("\u001b");
  }

  @Test
  void theClusterCommandShowsTheStore() {
    assertThat(run("cluster").out()).contains("memory", "256");
    assertThat(json(run("cluster", "--json")).at("store", "kind").text()).isEqualTo("memory");
  }

  @Test
  void topWithoutATerminalPrintsLines() {
    Outcome outcome = run("top", "--count", "2");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.OK);
    assertThat(outcome.out().lines()).hasSize(2).allMatch(line -> line.contains("lateness p50"));
  }

  @Test
  void aRefusalWithoutAnApiKeyNamesItsVariable() {
    server.close();
    FoliotConfig config = FoliotConfig.load(Map.of("store", "memory", "port", "0", "admin-key-hash", "00".repeat(32)),
        Map.of(), null);
    server = FoliotServer.start(config, new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    Outcome outcome = run("queues");
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.err()).contains("set FOLIOT_API_KEY");
  }
}
