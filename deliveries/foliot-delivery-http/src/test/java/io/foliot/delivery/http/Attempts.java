package io.foliot.delivery.http;

import io.foliot.api.Body;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Attempts for tests of deliveries. */
final class Attempts {
  static final String TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  static final Token TOKEN = new Token(0x0011_2233_4455_6677L, 0x8899_AABB_CCDD_EEFFL);
  /** Due time of the task: 2026-11-21T14:00:00.123Z. */
  static final long DUE_AT = 1_795_269_600_123L;
  private static final long BOUND_SECONDS = 20;

  private Attempts() {}

  static Target target(String url, Duration timeout) {
    return new Target("http", Map.of("url", url), timeout);
  }

  static Target target(String url) {
    return target(url, Duration.ofSeconds(10));
  }

  static DeliveryAttempt attempt(Target target, Body body, @Nullable String key) {
    TaskRecord task = TaskRecord.edit(TaskId.of(DUE_AT - 1_000, 7, 42), "orders", key).state(TaskState.RUNNING)
        .token(TOKEN)
        .leaseEnd(DUE_AT + 60_000).wakeAt(DUE_AT + 60_000).dueAt(DUE_AT).generation(1_234_567).attempt(2).body(body)
        .noted(new TaskRecord.Noted(1_234_567, new TaskNote(-1, "", "page=\u00fc", ""))).done();
    return new DeliveryAttempt(task, target, TRACE);
  }

  static DeliveryAttempt attempt(Target target) {
    return attempt(target, Body.json("{\"order\":17}"), "order-17");
  }

  static Answer answer(Delivery delivery, DeliveryAttempt attempt) throws Exception {
    return delivery.deliver(attempt).toCompletableFuture().get(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  static Answer answer(Delivery delivery, String url) throws Exception {
    return answer(delivery, attempt(target(url)));
  }
}
