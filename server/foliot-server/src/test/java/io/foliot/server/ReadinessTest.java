package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.TaskStore;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that {@code /health/ready} reports a store that has committed nothing for 5 s, and a server that stops. */
class ReadinessTest {
  private static final long BOUND_SECONDS = 20;

  /** A store like a disk that hangs: while {@code hangs} is set, no write of a document completes. */
  private static final class Hanging extends ForwardingStore {
    volatile boolean hangs;

    Hanging(TaskStore delegate) {
      super(delegate);
    }

    @Override
    public CompletionStage<Boolean> writeDocument(DocumentKind kind, String name, long expectedVersion,
        byte @Nullable [] content) {
      return hangs ? new CompletableFuture<>() : super.writeDocument(kind, name, expectedVersion, content);
    }
  }

  private static Rig.Answer await(Rig rig, Predicate<Rig.Answer> condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
    Rig.Answer answer = rig.get("/health/ready");
    while (!condition.test(answer)) {
      assertThat(System.nanoTime()).as(answer.body()).isLessThan(deadline);
      answer = rig.get("/health/ready");
    }
    return answer;
  }

  @Test
  void aServerWhoseStoreCommitsNothingIsNotReady() {
    Hanging[] store = new Hanging[1];
    try (Rig rig = Rig.over(Map.of(), real -> store[0] = new Hanging(real))) {
      assertThat(rig.get("/health/ready").status()).isEqualTo(200);
      store[0].hangs = true;
      Rig.Answer down = await(rig, answer -> answer.status() == 503);
      assertThat(down.text("status")).isEqualTo("DOWN");
      assertThat(down.list("reasons")).singleElement().asString().startsWith("the store has committed nothing for");
      assertThat(rig.get("/metrics").body()).contains("foliot_ready 0.0");
      assertThat(rig.get("/health/live").status()).isEqualTo(200);
      store[0].hangs = false;
      await(rig, answer -> answer.status() == 200);
    }
  }

  @Test
  void aStopServesCallsUntilABalancerHasNoticed() {
    try (Rig rig = Rig.start(Map.of("stop-grace", "3s")).withQueue("q")) {
      assertThat(rig.get("/health/ready").status()).isEqualTo(200);
      CompletableFuture<Void> stop = CompletableFuture.runAsync(rig.server::stop);
      Rig.Answer down = await(rig, answer -> answer.status() == 503);
      assertThat(down.list("reasons")).singleElement().isEqualTo("the server is stopping");
      Rig.Answer served = rig.post("/v1/queues/q/tasks", "{\"delay\": \"1h\"}");
      assertThat(served.status()).as(served.body()).isEqualTo(201);
      assertThat(served.headers()).containsEntry("connection", "close");
      Rig.Answer claim = rig.post("/v1/queues/q/claims", "{\"wait\": \"60s\"}");
      assertThat(claim.status()).as("a claim that waits ends with the grace").isEqualTo(200);
      stop.join();
    }
  }

  @Test
  void aStopDoesNotWaitForABalancerThatIsNotThere() {
    Rig rig = Rig.start(Map.of("stop-grace", "10m"));
    rig.get("/v1/queues");
    assertThat(CompletableFuture.runAsync(rig::close)).succeedsWithin(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void aStoppingServerIsNotReady() {
    try (Rig rig = Rig.start()) {
      rig.server.drain();
      assertThat(rig.get("/health/ready").list("reasons")).singleElement().isEqualTo("the server is stopping");
    }
  }
}
