package io.foliot.server;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.Due;
import io.foliot.api.OnConflict;
import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import io.foliot.core.store.TaskStore;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests claims with the name of a worker: the worker is listed, and receives tasks unless it is disabled. */
final class FleetClaimsTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(20);
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final AtomicReference<@Nullable TaskStore> store = new AtomicReference<>();
  private final Rig rig = Rig.over(Map.of(), real -> {
    store.set(real);
    return real;
  }).withQueue("billing").withQueue("mails");

  @AfterEach
  void stop() {
    rig.close();
  }

  private Rig.Answer claim(String queue, String worker, String wait) {
    return rig.post("/v1/queues/" + queue + "/claims",
        "{\"worker\": \"" + worker + "\", \"zone\": \"fra1\", \"wait\": \""
            + wait + "\", \"lease\": \"2s\"}");
  }

  private CompletableFuture<Rig.Answer> claimAsync(String queue, String worker, String wait) {
    CompletableFuture<Rig.Answer> answer = new CompletableFuture<>();
    Thread.ofVirtual().start(() -> {
      try {
        answer.complete(claim(queue, worker, wait));
      } catch (RuntimeException | AssertionError e) {
        answer.completeExceptionally(e);
      }
    });
    return answer;
  }

  /** Returns the state of a worker, or an empty text if it is not listed. */
  private String state(String worker) {
    Rig.Answer listed = rig.get("/v1/workers?gone=true");
    for (Object each : listed.list("workers")) {
      if (worker.equals(((Map<?, ?>) each).get("worker"))) {
        return String.valueOf(((Map<?, ?>) each).get("state"));
      }
    }
    return "";
  }

  private static void await(String expected, Supplier<String> actual, long boundNanos) {
    long begunNanos = System.nanoTime();
    String last = actual.get();
    while (!last.equals(expected)) {
      assertThat(System.nanoTime() - begunNanos).as("last=%s, expected=%s", last, expected).isLessThan(boundNanos);
      LockSupport.parkNanos(POLL_NANOS);
      last = actual.get();
    }
  }

  private void awaitState(String worker, String state) {
    await(state, () -> state(worker), PATIENCE_NANOS);
  }

  /** Claims until the worker is listed as live for the current API key. */
  private void claimUntilListed(String queue, String worker) {
    await("LIVE", () -> {
      claim(queue, worker, "0s");
      return state(worker);
    }, PATIENCE_NANOS);
  }

  private void act(String worker, String act) {
    Rig.Answer answer = rig.call("POST", "/v1/workers/" + worker + "/" + act, null, Map.of());
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.text("worker")).isEqualTo(worker);
  }

  private void submit(String queue) {
    assertThat(rig.post("/v1/queues/" + queue + "/tasks", "{\"delay\": \"0s\"}").status()).isEqualTo(201);
  }

  @Test
  void aWorkerThatClaimsIsListedWithinTwoSeconds() throws Exception {
    CompletableFuture<Rig.Answer> waiting = claimAsync("billing", "report-1", "3s");
    claim("mails", "report-1", "0s");
    await("LIVE", () -> state("report-1"), TimeUnit.SECONDS.toNanos(2));
    Rig.Answer listed = rig.get("/v1/workers");
    assertThat(listed.at("workers", 0)).hasToString(
        "{worker=report-1, state=LIVE, seat=0, zone=fra1, node=test, queues=[billing, mails]}");
    rig.post("/v1/queues/billing/claims", "{\"wait\": \"0s\"}");
    assertThat(rig.get("/v1/workers").list("workers")).as("a claim without a name adds no worker").hasSize(1);
    assertThat(waiting.get(20, TimeUnit.SECONDS).list("tasks")).isEmpty();
    awaitState("report-1", "GONE");
  }

  @Test
  void aLeavingWorkerIsGoneAndItsClaimReturns() throws Exception {
    CompletableFuture<Rig.Answer> waiting = claimAsync("billing", "one", "60s");
    awaitState("one", "LIVE");
    String leave = "/v1/queues/billing/claims";
    Rig.Answer answer = rig.post(leave, "{\"worker\": \"one\", \"leave\": true}");
    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.list("tasks")).isEmpty();
    assertThat(waiting.get(20, TimeUnit.SECONDS).list("tasks")).isEmpty();
    awaitState("one", "GONE");
    assertThat(rig.post(leave, "{\"worker\": \"unknown\", \"leave\": true}").status()).isEqualTo(200);
    assertThat(rig.post(leave, "{\"leave\": true}").status()).as("without a name").isEqualTo(400);
    assertThat(rig.post("/v1/queues/absent/claims", "{\"worker\": \"one\", \"leave\": true}").status())
        .isEqualTo(404);
  }

  @Test
  void aDisabledWorkerReceivesNoTasksUntilItIsEnabled() throws Exception {
    CompletableFuture<Rig.Answer> waiting = claimAsync("billing", "one", "5s");
    awaitState("one", "LIVE");
    act("one", "disable");
    awaitState("one", "DISABLED");
    submit("billing");
    assertThat(claim("billing", "two", "10s").list("tasks")).as("worker two gets the task").hasSize(1);
    assertThat(waiting.get(20, TimeUnit.SECONDS).list("tasks")).as("the claim that was waiting").isEmpty();

    submit("billing");
    assertThat(claim("billing", "one", "300ms").list("tasks")).as("a new claim").isEmpty();
    CompletableFuture<Rig.Answer> enabled = claimAsync("billing", "one", "10s");
    act("one", "enable");
    assertThat(enabled.get(20, TimeUnit.SECONDS).list("tasks")).as("after the worker is enabled").hasSize(1);
    awaitState("one", "LIVE");
  }

  @Test
  void aDisabledWorkerFinishesItsTasks() {
    submit("billing");
    Rig.Answer claimed = claim("billing", "one", "10s");
    awaitState("one", "LIVE");
    act("one", "disable");
    String path = "/v1/tasks/" + claimed.text("tasks", 0, "id");
    String token = "{\"token\": \"" + claimed.text("tasks", 0, "token") + "\"";
    assertThat(rig.post(path + "/extend", token + ", \"lease\": \"1m\", \"worker\": \"one\"}").status()).isEqualTo(200);
    assertThat(rig.post(path + "/ack", token + "}").text("state")).isEqualTo("FINISHED");
  }

  @Test
  void extensionsKeepTheHolderOfTheLeaseLive() {
    submit("billing");
    Rig.Answer one = claim("billing", "one", "5s");
    claim("billing", "two", "0s");
    awaitState("one", "LIVE");
    awaitState("two", "LIVE");
    await("GONE", () -> {
      extend(one, ", \"worker\": \"two\"");
      return state("two");
    }, PATIENCE_NANOS);
    assertThat(state("one")).as("the worker that holds the lease").isEqualTo("LIVE");
  }

  private void extend(Rig.Answer claimed, String more) {
    Rig.Answer extended = rig.post("/v1/tasks/" + claimed.text("tasks", 0, "id") + "/extend",
        "{\"token\": \"" + claimed.text("tasks", 0, "token") + "\", \"lease\": \"2s\"" + more + "}");
    assertThat(extended.status()).as(extended.body()).isEqualTo(200);
  }

  @Test
  void aRefusedExtensionDoesNotKeepAWorkerLive() {
    claimUntilListed("billing", "one");
    await("GONE", () -> {
      assertThat(rig.post("/v1/tasks/00000000-0000-7000-8000-000000000000/extend", "{\"token\": \"" + "0".repeat(32)
          + "\", \"lease\": \"1m\", \"worker\": \"one\"}").status()).isEqualTo(404);
      return state("one");
    }, PATIENCE_NANOS);
  }

  @Test
  void aKeySeesTheWorkersOfItsQueues() {
    String admin = rig.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
    rig.as(admin);
    String bills = rig.post("/v1/keys", "{\"actions\": [\"read\", \"consume\"], \"queues\": [\"billing\"]}")
        .text("key");
    String mails = rig.post("/v1/keys", "{\"actions\": [\"read\", \"consume\"], \"queues\": [\"mails\"]}").text("key");
    rig.as(bills);
    assertThat(claim("mails", "report-1", "0s").status()).isEqualTo(404);
    claimUntilListed("billing", "report-1");
    rig.as(mails);
    assertThat(rig.get("/v1/workers").list("workers")).isEmpty();
    claimUntilListed("mails", "report-2");
    assertThat(rig.get("/v1/workers").list("workers")).hasSize(1);
  }

  @Test
  void explainNamesTheWorkerThatATaskWaitsFor() {
    claimUntilListed("billing", "report-1");
    int seat = ((BigDecimal) requireNonNull(rig.get("/v1/workers").at("workers", 0, "seat"))).intValueExact();
    awaitState("report-1", "GONE");
    TaskId id = TaskId.addressed(System.currentTimeMillis(), 7, new Address(Address.Kind.ONLY, seat), 0, 1);
    requireNonNull(store.get()).submit(List.of(new Draft(id, "billing", null, Due.after(0), Body.EMPTY, 0,
        OnConflict.REJECT, null))).toCompletableFuture().join();
    String path = "/v1/tasks/" + id + "/explain";
    await("READY", () -> rig.get(path).text("state"), PATIENCE_NANOS);
    assertThat(rig.get(path).at("reasons")).isEqualTo(List.of("it is addressed to the worker on seat " + seat
        + " (report-1, zone fra1), which is gone; no other worker may take it"));
    String admin = rig.post("/v1/keys", "{\"actions\": [\"admin\"], \"queues\": [\"*\"]}").text("key");
    rig.as(admin);
    rig.as(rig.post("/v1/keys", "{\"actions\": [\"read\"], \"queues\": [\"billing\"]}").text("key"));
    assertThat(rig.get(path).text("reasons", 0)).as("for a key that does not cover all queues")
        .contains("seat " + seat + " (zone fra1), which is gone").doesNotContain("report-1");
  }
}
