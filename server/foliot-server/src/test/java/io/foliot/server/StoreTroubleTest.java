package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Scheduler;
import io.foliot.core.store.StoreAwayException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreFullException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the answers when the engine or its store cannot perform a call. */
class StoreTroubleTest {
  private static final String TASK = "{\"delay\": \"1h\"}";

  private final Rig rig = Rig.start(Map.of("call-timeout", "100ms")).withQueue("orders");

  @AfterEach
  void stop() {
    rig.close();
  }

  private Rig.Answer submitWhen(Throwable failure) {
    rig.engineResult = CompletableFuture.failedFuture(failure);
    return rig.post("/v1/queues/orders/tasks", TASK);
  }

  @Test
  void theAnswerOfAFullStoreShowsThatNothingWasWritten() {
    Rig.Answer answer = submitWhen(new StoreFullException("1 MiB is free, 512 MiB must be"));
    assertThat(answer.status()).isEqualTo(507);
    assertThat(answer.problem()).isEqualTo("store-full");
    assertThat(answer.text("detail")).contains("nothing was written", "log has the reason").doesNotContain("512 MiB");
  }

  @Test
  void theAnswerToOverloadHasARetryTime() {
    Rig.Answer answer = submitWhen(new Scheduler.OverloadedException("200000 items wait"));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.problem()).isEqualTo("overloaded");
    assertThat(answer.headers()).containsEntry("retry-after", "1");
    assertThat(answer.text("detail")).contains("nothing was done");
  }

  @Test
  void aServerOfAMovedStoreIsNotReady() {
    Rig.Answer answer = submitWhen(new Scheduler.NotServingException("the tasks of this store were moved"));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.problem()).isEqualTo("not-ready");
    assertThat(answer.text("detail")).contains("were moved", "nothing was done");
  }

  @Test
  void aWriteWithoutAnAnswerHasAnUnknownOutcome() {
    rig.engineResult = new CompletableFuture<>();
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks", TASK);
    assertThat(answer.status()).isEqualTo(504);
    assertThat(answer.problem()).isEqualTo("unknown-outcome");
    assertThat(answer.text("detail")).contains("may or may not", "Idempotency-Key");
    assertThat(submitWhen(new StoreException("the store is closed", null)).problem()).isEqualTo("unknown-outcome");
  }

  @Test
  void anUnreachableStoreHasDoneNothing() {
    Rig.Answer answer = submitWhen(new StoreAwayException("the database cannot be reached", new IOException()));
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.problem()).isEqualTo("store-unavailable");
    assertThat(answer.headers()).containsEntry("retry-after", "1");
    assertThat(answer.text("detail")).contains("nothing was done");
  }

  @Test
  void noAnswerNamesTheDatabaseOrItsUser() {
    String text = "the database is unavailable: database=postgresql db.internal/foliot,"
        + " sqlState=28000, error=role ux_role";
    assertThat(submitWhen(new StoreAwayException(text, new IOException())).body()).doesNotContain("db.internal",
        "ux_role", "sqlState");
    assertThat(submitWhen(new StoreException(text, null)).body()).doesNotContain("db.internal", "ux_role", "sqlState");
    assertThat(rig.get("/health/ready").body()).doesNotContain("db.internal", "ux_role", "sqlState");
  }

  @Test
  void aReadWithoutAnAnswerMayBeRetried() {
    rig.engineResult = new CompletableFuture<>();
    Rig.Answer answer = rig.get("/v1/tasks/00000000-0000-7000-8000-000000000000");
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.problem()).isEqualTo("store-unavailable");
    assertThat(answer.headers()).containsEntry("retry-after", "1");
  }

  @Test
  void anUnexpectedExceptionIsA500WithoutDetails() {
    Rig.Answer answer = submitWhen(new IllegalStateException("secret detail"));
    assertThat(answer.status()).isEqualTo(500);
    assertThat(answer.body()).doesNotContain("secret detail");
  }

  @Test
  void metricsAreServedWhenTheStoreFails() {
    rig.engineResult = CompletableFuture.failedFuture(new StoreException("away", null));
    assertThat(rig.get("/metrics").status()).isEqualTo(200);
  }

  @Test
  void aStoppingServerIsNotReadyAndRefusesCalls() {
    rig.server.drain();
    assertThat(rig.get("/health/ready").status()).isEqualTo(503);
    assertThat(rig.get("/health/live").status()).isEqualTo(200);
    Rig.Answer answer = rig.post("/v1/queues/orders/tasks", TASK);
    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.problem()).isEqualTo("not-ready");
    assertThat(answer.headers()).containsKey("retry-after");
  }
}
