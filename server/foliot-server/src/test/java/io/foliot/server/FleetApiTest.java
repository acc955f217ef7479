package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Fleet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the calls about workers: which requests are refused, and which workers an API key sees. */
final class FleetApiTest {
  private static final Fleet FLEET = new Fleet(
      List.of(seat(0, "report-1", "fra1", Set.of("billing", "mails"), true, true),
          seat(1, "report-2", "fra2", Set.of("billing"), true, false),
          seat(2, "report-3", "fra1", Set.of(), false, true),
          seat(3, "other-1", "", Set.of("orders"), true, true),
          seat(4, "n1", "", Set.of("foliot.jobs"), true, true)),
      List.of("fra1", "fra2", ""));

  private final Rig rig = Rig.start().withQueue("billing").withQueue("mails").withQueue("orders");

  @AfterEach
  void stop() {
    rig.close();
  }

  private static Fleet.Seat seat(int number, String worker, String zone, Set<String> queues, boolean isLive,
      boolean isEnabled) {
    return new Fleet.Seat(number, worker, zone, queues, isLive ? "test" : "", isLive, isEnabled);
  }

  private String key(String actions, String queues) {
    return rig.post("/v1/keys", "{\"actions\": [" + actions + "], \"queues\": [" + queues + "]}").text("key");
  }

  private static void assertRefused(Rig.Answer answer, String field, String expected) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(400);
    assertThat(answer.problem()).isEqualTo("invalid-field");
    assertThat(answer.text("field")).isEqualTo(field);
    assertThat(answer.text("detail")).contains(expected);
  }

  @Test
  void aWorkerNameHasAtMost128CharactersAndNoControls() {
    for (String name : List.of("7", "true", "[]", "{}", "\"" + "x".repeat(129) + "\"", "\"a\\nb\"", "\"\\u001b[2J\"",
        "\"\\u009b\"")) {
      assertRefused(rig.post("/v1/queues/billing/claims", "{\"worker\": " + name + "}"), "worker", "expected");
      assertRefused(rig.post("/v1/tasks/00000000-0000-7000-8000-000000000000/extend",
          "{\"token\": \"0123456789abcdef0123456789abcdef\", \"lease\": \"1m\", \"worker\": " + name + "}"), "worker",
          "expected");
    }
    assertThat(rig.post("/v1/queues/billing/claims", "{\"worker\": \"" + "\u00fc".repeat(128) + "\"}").status())
        .isEqualTo(200);
    assertThat(rig.post("/v1/queues/billing/claims", "{\"worker\": null, \"zone\": null}").status()).isEqualTo(200);
    assertThat(rig.post("/v1/queues/billing/claims", "{\"worker\": \"\", \"zone\": \"\"}").status()).isEqualTo(200);
  }

  @Test
  void aZoneIsANameOfAtMost64Characters() {
    for (String zone : List.of("7", "false", "[\"fra1\"]", "\"" + "x".repeat(65) + "\"", "\"fra 1\"", "\"fra/1\"",
        "\"a\\nb\"", "\"@\"", "\"\u00fc\"")) {
      assertRefused(rig.post("/v1/queues/billing/claims", "{\"worker\": \"w\", \"zone\": " + zone + "}"), "zone",
          "expected");
    }
    assertThat(rig.post("/v1/queues/billing/claims", "{\"worker\": \"w\", \"zone\": \"" + "x".repeat(64) + "\"}")
        .status()).isEqualTo(200);
  }

  @Test
  void theAnswerAboutAnUnknownFieldNamesTheNearestOne() {
    assertThat(rig.post("/v1/queues/billing/claims", "{\"zones\": \"fra1\"}").text("nearest")).isEqualTo("zone");
  }

  @ParameterizedTest
  @CsvSource({"enable", "disable"})
  void theAnswerAboutAnUnknownWorkerShowsTheRemedy(String act) {
    for (String name : List.of("nobody-1", "a%2Fb", "%0Aact=DELETE_QUEUE", "x".repeat(300))) {
      Rig.Answer answer = rig.call("POST", "/v1/workers/" + name + "/" + act, null, Map.of());
      assertThat(answer.status()).as(answer.body()).isEqualTo(404);
      assertThat(answer.problem()).isEqualTo("unknown-worker");
      assertThat(answer.text("detail")).contains("GET /v1/workers").hasSizeLessThan(400);
    }
    assertThat(rig.post("/v1/workers/nobody-1/" + act, "{\"reason\": \"x\"}").problem()).isEqualTo("invalid-request");
  }

  @Test
  void anUnknownQueryParameterIsRefused() {
    assertThat(rig.get("/v1/workers?gone=yes").problem()).isEqualTo("invalid-parameter");
    assertThat(rig.get("/v1/workers?queue=billing").problem()).isEqualTo("invalid-parameter");
    assertThat(rig.get("/v1/workers/report-1").status()).isEqualTo(404);
    assertThat(rig.delete("/v1/workers").problem()).isEqualTo("method-not-allowed");
  }

  @Test
  void workersAreListedBySeat() {
    rig.fleet = FLEET;
    Rig.Answer answer = rig.get("/v1/workers");
    assertThat(answer.list("workers")).hasSize(4);
    assertThat(answer.at("workers", 0)).hasToString(
        "{worker=report-1, state=LIVE, seat=0, zone=fra1, node=test, queues=[billing, mails]}");
    assertThat(answer.text("workers", 1, "state")).isEqualTo("DISABLED");
    assertThat(answer.text("workers", 3, "worker")).isEqualTo("n1");
    assertThat(answer.list("workers", 3, "queues")).as("an internal queue is not shown").isEmpty();
    Rig.Answer all = rig.get("/v1/workers?gone=true");
    assertThat(all.list("workers")).hasSize(5);
    assertThat(all.at("workers", 2)).hasToString("{worker=report-3, state=GONE, seat=2, zone=fra1, queues=[]}");
    assertThat(rig.get("/v1/workers?gone=false").list("workers")).hasSize(4);
  }

  @Test
  void anApiKeySeesOnlyTheWorkersOfItsQueues() {
    rig.fleet = FLEET;
    String admin = key("\"admin\"", "\"*\"");
    rig.as(admin);
    String reads = key("\"read\"", "\"mails\"");
    String readsNone = key("\"read\"", "\"nothing\"");
    String consumes = key("\"consume\"", "\"billing\"");
    Rig.Answer seen = rig.as(reads).get("/v1/workers?gone=true");
    assertThat(seen.list("workers")).hasSize(1);
    assertThat(seen.text("workers", 0, "worker")).isEqualTo("report-1");
    assertThat(seen.at("workers", 0, "queues")).as("only the queues that the key covers").isEqualTo(List.of("mails"));
    assertThat(rig.as(readsNone).get("/v1/workers?gone=true").list("workers")).isEmpty();
    assertThat(rig.as(consumes).get("/v1/workers").problem()).isEqualTo("forbidden");
    assertThat(rig.as(null).get("/v1/workers").status()).isEqualTo(401);
    assertThat(rig.as(admin).get("/v1/workers").list("workers")).hasSize(4);
  }

  @ParameterizedTest
  @CsvSource({"enable", "disable"})
  void onlyAnAdministratorOfAllQueuesChangesAWorker(String act) {
    String admin = key("\"admin\"", "\"*\"");
    rig.as(admin);
    String consumes = key("\"read\", \"submit\", \"consume\"", "\"*\"");
    String ofOneQueue = key("\"admin\"", "\"billing\"");
    String path = "/v1/workers/report-1/" + act;
    // The scheduler accepts every call that it receives.
    rig.engineResult = CompletableFuture.completedFuture(true);
    for (String key : List.of(consumes, ofOneQueue)) {
      Rig.Answer answer = rig.as(key).call("POST", path, null, Map.of());
      assertThat(answer.status()).as(answer.body()).isEqualTo(403);
    }
    assertThat(rig.as(null).call("POST", path, null, Map.of()).status()).isEqualTo(401);
    rig.fleet = FLEET;
    Rig.Answer done = rig.as(admin).call("POST", path, null, Map.of());
    assertThat(done.status()).as(done.body()).isEqualTo(200);
    assertThat(done.text("state")).isEqualTo(act.equals("enable") ? "LIVE" : "DISABLED");
    assertThat(done.text("zone")).isEqualTo("fra1");
  }

  @Test
  void aWorkerThatIsNotYetInTheFleetIsShownByItsName() {
    rig.engineResult = CompletableFuture.completedFuture(true);
    Rig.Answer done = rig.call("POST", "/v1/workers/new%20one/disable", null, Map.of());
    assertThat(done.json()).hasToString("{worker=new one, state=DISABLED, queues=[]}");
  }
}
