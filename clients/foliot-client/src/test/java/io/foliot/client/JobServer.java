package io.foliot.client;

import io.foliot.client.StubServer.Reply;
import io.foliot.client.StubServer.Request;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Function;

/** A server that answers claims with the shards that a test adds, and a client with a clock that the test advances. */
final class JobServer implements AutoCloseable {
  static final Duration LEASE = Duration.ofSeconds(30);
  static final Duration THIRD = LEASE.dividedBy(3);
  static final Reply OK = Reply.json(200, "{}");

  /** Answers to claims. Claims wait while this queue is empty. */
  final BlockingQueue<Reply> claims = new LinkedBlockingQueue<>();
  final BlockingQueue<Request> claimed = new LinkedBlockingQueue<>();
  /** Claims that announce the stop of their worker. */
  final BlockingQueue<Request> leaves = new LinkedBlockingQueue<>();
  /** Requests that extend or settle an attempt. */
  final BlockingQueue<Request> reports = new LinkedBlockingQueue<>();
  final BlockingQueue<Request> declared = new LinkedBlockingQueue<>();
  final BlockingQueue<String> errors = new LinkedBlockingQueue<>();
  final ManualClock clock = ManualClock.patient();

  volatile Function<Request, Reply> toExtend = request -> OK;
  volatile Function<Request, Reply> toDeclare = request -> Reply.json(200, "{\"job\":\"j\",\"state\":\"ACTIVE\"}");

  private final StubServer server = StubServer.answering(this::answer);
  final FoliotClient client = FoliotClient.builder(server.url()).clock(clock).retry(RetryPolicy.none()).build();

  private Reply answer(Request request) {
    if (request.path().endsWith("/declare")) {
      declared.add(request);
      return toDeclare.apply(request);
    }
    if (request.path().endsWith("/claims") && request.body().contains("\"leave\":true")) {
      leaves.add(request);
      // This reply ends the waiting claim, as the reply of a real server does.
      claims.add(Reply.json(200, "{\"tasks\":[]}"));
      return Reply.json(200, "{\"tasks\":[]}");
    }
    if (request.path().endsWith("/claims")) {
      claimed.add(request);
      return Bound.take(claims);
    }
    reports.add(request);
    return request.path().endsWith("/extend") ? toExtend.apply(request) : OK;
  }

  /** Returns a builder for the worker {@code w1} of the queue {@code billing}. */
  JobWorker.Builder worker() {
    return JobWorker.builder(client, "billing").name("w1").lease(LEASE)
        .onError((what, failure) -> errors.add(what + ": " + failure));
  }

  /**
   * Answers the next claim with one shard of a job.
   *
   * @param fields further JSON fields of the task, each with a comma before it
   */
  void give(String job, int attempt, String fields) {
    give(job, attempt, "", fields);
  }

  /**
   * Answers the next claim with the task of a phase.
   *
   * @param headers JSON fields of the task's headers, such as {@code "foliot-phase":"before"}
   */
  void givePhase(String job, int attempt, String headers) {
    give(job, attempt, headers, "");
  }

  private void give(String job, int attempt, String headers, String fields) {
    claims.add(Reply.json(200, "{\"tasks\":[{\"id\":\"t1\",\"queue\":\"billing\",\"generation\":7,\"attempt\":"
        + attempt
        + ",\"dueAt\":\"2026-11-21T10:00:00Z\",\"token\":\"secret\",\"leaseEnd\":\"2026-11-21T10:00:30Z\","
        + "\"headers\":{\"foliot-job\":\"" + job + "\",\"foliot-scheduled-at\":\"2026-11-21T09:59:58.000Z\","
        + "\"foliot-shard\":\"1\",\"foliot-shards\":\"4\",\"foliot-shard-parameter\":\"us\",\"foliot-missed\":\"33\","
        + "\"foliot-zone\":\"fra1\"" + (headers.isEmpty() ? "" : ",") + headers + "}" + fields + "}]}"));
  }

  void give(String job) {
    give(job, 1, "");
  }

  /** Answers the next claim with a task that is not a shard of a job. */
  void givePlain() {
    claims.add(Reply.json(200, "{\"tasks\":[{\"id\":\"p1\",\"queue\":\"billing\",\"generation\":1,\"attempt\":1,"
        + "\"dueAt\":\"2026-11-21T10:00:00Z\",\"token\":\"secret\",\"leaseEnd\":\"2026-11-21T10:00:30Z\"}]}"));
  }

  /**
   * Waits for the next request in {@link #reports}, and returns its body. Asserts that the path ends with a kind such
   * as {@code ack}.
   */
  String report(String kind) {
    return body(Bound.take(reports), kind);
  }

  /** Returns the result of {@link #report} for the next request in {@link #reports} that is not an extension. */
  String reportAfterExtensions(String kind) {
    Request request = Bound.take(reports);
    while (request.path().endsWith("/extend")) {
      request = Bound.take(reports);
    }
    return body(request, kind);
  }

  private static String body(Request request, String kind) {
    if (!request.path().endsWith("/" + kind)) {
      throw new AssertionError("expected " + kind + ", but got " + request);
    }
    return request.body();
  }

  /**
   * Waits until the only running attempt has planned its extension. Then advances the clock to the time of the
   * extension, or beyond.
   */
  void passToTheExtension() {
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(THIRD);
  }

  /** Stops a worker. Returns whether it stopped within {@link Bound#BOUND_SECONDS}. */
  boolean stop(JobWorker worker) {
    try {
      return worker.stop(Duration.ofSeconds(Bound.BOUND_SECONDS));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
