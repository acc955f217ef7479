package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.TaskNote;
import io.foliot.client.StubServer.Reply;
import io.foliot.client.StubServer.Request;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class WorkerTest {
  private static final Duration LEASE = Duration.ofSeconds(30);
  private static final Duration THIRD = LEASE.dividedBy(3);
  private static final Duration GRACE = Duration.ofSeconds(Bound.BOUND_SECONDS);
  private static final Reply OK = Reply.json(200, "{}");

  /** Answers to claims. Claims wait while this queue is empty. */
  private final BlockingQueue<Reply> claims = new LinkedBlockingQueue<>();

  /** Requests to all routes except claims: extensions and settles. */
  private final BlockingQueue<Request> reports = new LinkedBlockingQueue<>();

  private final BlockingQueue<Request> claimed = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> errors = new LinkedBlockingQueue<>();
  private volatile boolean ending;
  private volatile Reply toExtend = OK;
  private volatile Reply toSettle = OK;
  private final StubServer server = StubServer.answering(this::answer);
  private final ManualClock clock = ManualClock.patient();
  private final FoliotClient client = FoliotClient.builder(server.url()).clock(clock).retry(RetryPolicy.none()).build();

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private Reply answer(Request request) {
    if (request.path().endsWith("/claims")) {
      claimed.add(request);
      return ending && claims.isEmpty() ? tasks() : Bound.take(claims);
    }
    reports.add(request);
    return request.path().endsWith("/extend") ? toExtend : toSettle;
  }

  private static Reply tasks(String... ids) {
    return Reply.json(200, Stream.of(ids)
        .map(id -> "{\"id\":\"" + id + "\",\"queue\":\"mail\",\"generation\":7,\"attempt\":1,"
            + "\"dueAt\":\"2026-11-21T10:00:00Z\",\"token\":\"token-" + id
            + "\",\"leaseEnd\":\"2026-11-21T10:00:30Z\",\"payload\":" + "{}}")
        .collect(Collectors.joining(",", "{\"tasks\":[", "],\"leaseMillis\":30000}")));
  }

  private Worker.Builder worker(TaskHandler handler) {
    return Worker.builder(client, "mail", handler).lease(LEASE).name("w1").zone("fra1")
        .onError((what, failure) -> errors.add(what + ": " + failure));
  }

  /** Stops a worker after an empty answer to its waiting claim, and to a claim that it makes before it stops. */
  private void stop(Worker worker) throws InterruptedException {
    ending = true;
    claims.add(tasks());
    assertThat(worker.stop(GRACE)).isTrue();
  }

  private void assertReported(String path, String body) {
    Request request = Bound.take(reports);
    assertThat(request.path()).isEqualTo(path);
    assertThat(request.body()).isEqualTo(body);
  }

  @Test
  void aClaimedTaskIsRunAndAcked() throws InterruptedException {
    BlockingQueue<ClaimedTask> handled = new LinkedBlockingQueue<>();
    Worker worker = worker(task -> {
      handled.add(task);
      assertThat(Thread.currentThread().isVirtual()).isTrue();
      return Settlement.ack();
    }).start();
    assertThat(Bound.take(claimed).body()).matches("\\{\"max\":16,\"wait\":\"PT10S\",\"lease\":\"PT30S\","
        + "\"worker\":\"w1-[0-9a-f]{8}\",\"zone\":\"fra1\"}");
    claims.add(tasks("t1"));
    assertReported("/v1/tasks/t1/ack", "{\"token\":\"token-t1\",\"generation\":7}");
    assertThat(Bound.take(handled).id()).isEqualTo("t1");
    claims.add(tasks("t2"));
    assertReported("/v1/tasks/t2/ack", "{\"token\":\"token-t2\",\"generation\":7}");
    stop(worker);
    assertThat(errors).isEmpty();
    assertThat(clock.waiting()).as("timers left behind").isZero();
  }

  @Test
  void aNoteWithHalfACharacterIsSettled() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack().noting(new TaskNote(-1, "", null, "a\ud83d"))).start();
    claims.add(tasks("t1"));
    assertReported("/v1/tasks/t1/ack", "{\"token\":\"token-t1\",\"generation\":7,\"log\":\"a?\"}");
    stop(worker);
    assertThat(errors).isEmpty();
  }

  @Test
  void aSettleThatThrowsIsReported() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack().noting(new TaskNote(-1, "", "a\ud83d", ""))).start();
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("cannot settle an attempt", "checkpoint");
    stop(worker);
  }

  @Test
  void aClaimThatThrowsIsRepeated() {
    AtomicInteger calls = new AtomicInteger();
    CompletableFuture<List<ClaimedTask>> second = new CompletableFuture<>();
    TaskSource source = (TaskSource) Proxy.newProxyInstance(TaskSource.class.getClassLoader(),
        new Class<?>[]{TaskSource.class}, (proxy, method, arguments) -> switch (method.getName()) {
          case "isClosed" -> false;
          case "claim" -> {
            if (calls.incrementAndGet() == 1) {
              throw new IllegalArgumentException("wait is from 0 to 60 s");
            }
            yield second;
          }
          case "leave" -> CompletableFuture.completedFuture(second.complete(List.of()));
          default -> CompletableFuture.completedFuture(null);
        });
    JobWorker worker = JobWorker.builder(source, "q").handle("j", job -> JobResult.done())
        .onError((what, failure) -> errors.add(what + ": " + failure)).start();
    assertThat(Bound.take(errors)).contains("tasks could not be claimed", "wait is from 0 to 60 s");
    Bound.awaitTrue(() -> calls.get() == 2);
    worker.close();
    assertThat(worker.isTerminated()).isTrue();
  }

  /** An Error of a source, such as an OutOfMemoryError, ends neither the poller nor the report of a result. */
  @Test
  void anErrorOfASourceEndsNothing() {
    AtomicInteger claimCalls = new AtomicInteger();
    AtomicInteger settleCalls = new AtomicInteger();
    CompletableFuture<List<ClaimedTask>> last = new CompletableFuture<>();
    ClaimedTask task = ClaimedTask.allOf(JsonObject.parse(tasks("t1").body().getBytes(UTF_8))).getFirst();
    TaskSource source = (TaskSource) Proxy.newProxyInstance(TaskSource.class.getClassLoader(),
        new Class<?>[]{TaskSource.class}, (proxy, method, arguments) -> switch (method.getName()) {
          case "isClosed" -> false;
          case "claim" -> switch (claimCalls.incrementAndGet()) {
            case 1 -> throw new NoClassDefFoundError("claim");
            case 2 -> CompletableFuture.completedFuture(List.of(task));
            default -> last;
          };
          case "settle" -> {
            if (settleCalls.incrementAndGet() == 1) {
              throw new NoClassDefFoundError("settle");
            }
            yield CompletableFuture.completedFuture(null);
          }
          case "leave" -> CompletableFuture.completedFuture(last.complete(List.of()));
          default -> CompletableFuture.completedFuture(null);
        });
    Worker worker = new Worker.Builder(Surroundings.of(source), "mail", attempt -> Settlement.ack()).leaves().name("w1")
        .onError((what, failure) -> errors.add(what + ": " + failure))
        .start();
    assertThat(Bound.take(errors)).contains("tasks could not be claimed", "NoClassDefFoundError: claim");
    assertThat(Bound.take(errors)).contains("could not be reported yet", "NoClassDefFoundError: settle");
    Bound.awaitTrue(() -> settleCalls.get() == 2 && claimCalls.get() == 3);
    worker.close();
    assertThat(errors).isEmpty();
  }

  @Test
  void aReportIsRepeatedUntilItIsAnswered() throws InterruptedException {
    toSettle = Reply.empty(503);
    Worker worker = worker(task -> Settlement.ack()).start();
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("the end of an attempt could not be reported yet").contains("task=t1");
    int extensions = 0;
    int settles = 0;
    for (Duration passed = Duration.ZERO; passed.compareTo(LEASE.multipliedBy(10)) < 0; passed = passed
        .plusSeconds(5)) {
      Bound.awaitTrue(() -> clock.waiting() == 2);
      clock.advance(Duration.ofSeconds(5));
      for (Request request = Bound.take(reports); request != null; request = reports.poll()) {
        if (request.path().endsWith("/extend")) {
          extensions++;
        } else {
          settles++;
        }
      }
    }
    assertThat(settles).as("reports, at growing pauses").isBetween(30, 80);
    assertThat(extensions).as("each third of a lease").isBetween(25, 31);
    assertThat(errors).as("the failure is reported once").isEmpty();
    Bound.awaitTrue(() -> clock.waiting() == 2);
    reports.clear();
    toSettle = OK;
    clock.advance(Duration.ofSeconds(5));
    Bound.awaitTrue(() -> reports.stream().anyMatch(request -> request.path().endsWith("/ack")));
    stop(worker);
    assertThat(errors).isEmpty();
    assertThat(clock.waiting()).as("timers left behind").isZero();
  }

  @Test
  void aReportIsRepeatedForAWhileAfterTheLease() throws InterruptedException {
    toSettle = Reply.empty(500);
    toExtend = Reply.empty(500);
    Worker worker = worker(task -> Settlement.ack()).start();
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("could not be reported yet");
    Duration passed = Duration.ZERO;
    BooleanSupplier givenUp = () -> errors.stream().anyMatch(error -> error.contains("cannot settle an attempt"));
    while (!givenUp.getAsBoolean()) {
      clock.advance(Duration.ofSeconds(5));
      passed = passed.plusSeconds(5);
      Bound.awaitTrue(() -> clock.waiting() > 0 || givenUp.getAsBoolean());
    }
    assertThat(passed).isGreaterThan(LEASE.plusMinutes(9));
    stop(worker);
  }

  @Test
  void aClaimHasAtMostTheFreeConcurrency() throws InterruptedException {
    CountDownLatch twoRun = new CountDownLatch(2);
    BlockingQueue<Boolean> mayEnd = new LinkedBlockingQueue<>();
    Worker worker = worker(task -> {
      twoRun.countDown();
      boolean unused = Bound.take(mayEnd);
      return Settlement.ack();
    }).concurrency(2).start();
    claims.add(tasks("t1", "t2"));
    assertThat(Bound.take(claimed).body()).startsWith("{\"max\":2,");
    Bound.await(twoRun);
    assertThat(claimed).as("claims while all permits are in use").isEmpty();
    mayEnd.add(true);
    assertThat(Bound.take(claimed).body()).startsWith("{\"max\":1,");
    mayEnd.add(true);
    stop(worker);
    assertThat(reports).hasSize(2);
  }

  @Test
  void tasksBeyondTheClaimedNumberRunToo() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack()).concurrency(2).start();
    claims.add(tasks("t1", "t2", "t3", "t4", "t5"));
    assertThat(Stream.generate(() -> Bound.take(reports).path()).limit(5)).hasSize(5).doesNotHaveDuplicates();
    stop(worker);
  }

  @Test
  void aFailureIsNackedWithItsReason() throws InterruptedException {
    Worker worker = worker(task -> switch (task.id()) {
      case "throws" -> throw new IllegalStateException("disk \ud800 full");
      case "long" -> throw new IllegalStateException("x".repeat(100_000));
      case "notes" -> Settlement.nack("half").noting(new TaskNote(0.5, "", "page 7", ""));
      default -> Settlement.nack("not yet", Duration.ofMinutes(5));
    }).start();
    claims.add(tasks("throws"));
    assertReported("/v1/tasks/throws/nack",
        "{\"token\":\"token-throws\",\"reason\":\"java.lang.IllegalStateException: disk ? full\"}");
    assertThat(Bound.take(errors)).contains("task=throws");
    claims.add(tasks("later"));
    assertReported("/v1/tasks/later/nack", "{\"token\":\"token-later\",\"reason\":\"not yet\",\"delay\":\"PT5M\"}");
    claims.add(tasks("notes"));
    assertReported("/v1/tasks/notes/nack",
        "{\"token\":\"token-notes\",\"reason\":\"half\",\"progress\":0.5,\"checkpoint\":\"page 7\"}");
    claims.add(tasks("long"));
    assertThat(Bound.take(reports).body()).hasSizeLessThan(1100);
    stop(worker);
  }

  @Test
  void theLeaseIsExtendedAsLongAsTheHandlerRuns() throws InterruptedException {
    CompletableFuture<Settlement> end = new CompletableFuture<>();
    Worker worker = worker(task -> Bound.get(end)).start();
    claims.add(tasks("t1"));
    for (int i = 0; i < 5; i++) {
      Bound.awaitTrue(() -> clock.waiting() == 1);
      clock.advance(THIRD.minusNanos(1));
      assertThat(reports).isEmpty();
      clock.advance(Duration.ofNanos(1));
      assertReported("/v1/tasks/t1/extend",
          "{\"token\":\"token-t1\",\"lease\":\"PT30S\",\"worker\":\"" + WorkerName.of("w1") + "\"}");
    }
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(end.complete(Settlement.ack())).isTrue();
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/ack");
    Bound.awaitTrue(() -> clock.waiting() == 0);
    stop(worker);
  }

  @Test
  void aLongLeaseIsExtendedBeforeTheServerCountsTheWorkerAsGone() throws InterruptedException {
    CompletableFuture<Settlement> end = new CompletableFuture<>();
    Worker worker = worker(task -> Bound.get(end)).lease(Duration.ofHours(1)).start();
    claims.add(Reply.json(200, tasks("t1").body().replace("30000", "3600000")));
    for (int i = 0; i < 3; i++) {
      Bound.awaitTrue(() -> clock.waiting() == 1);
      clock.advance(Duration.ofSeconds(15));
      assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    }
    assertThat(end.complete(Settlement.ack())).isTrue();
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/ack");
    stop(worker);
  }

  @Test
  void aHandlerWhoseLeaseIsLostIsInterrupted() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      never.await();
      return Settlement.ack();
    }).start();
    claims.add(tasks("t1"));
    toExtend = Reply.problem(409, "{\"type\":\"urn:foliot:problem:cancelled\",\"title\":\"Cancelled\"}");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(THIRD);
    assertThat(Bound.take(errors)).contains("a lease was lost").contains("Cancelled");
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    assertThat(Bound.take(reports).body()).as("a cancelled task waits for the end of its attempt")
        .contains("java.lang.InterruptedException");
    stop(worker);
  }

  @Test
  void aSettleWithAStaleTokenIsNotSent() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      if (task.id().equals("t1")) {
        assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
      }
      return Settlement.ack();
    }).concurrency(1).start();
    claims.add(tasks("t1"));
    toExtend = Reply.problem(409, "{\"title\":\"Stale token\"}");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(THIRD);
    assertThat(Bound.take(errors)).contains("a lease was lost").contains("Stale token");
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    claims.add(tasks("t2"));
    assertThat(Bound.take(reports).path()).as("the next report of this worker").isEqualTo("/v1/tasks/t2/ack");
    stop(worker);
  }

  /** Until the task is claimed again, the server accepts the settle although the lease has ended. */
  @Test
  void aRefusedExtensionOfAnEndedLeaseKeepsTheSettle() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = new Worker.Builder(Surroundings.of(client), "mail", attempt -> {
      assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
      assertThatThrownBy(() -> attempt.extendNow().join()).hasMessageContaining("Stale token");
      return Settlement.ack();
    }).lease(LEASE).start();
    claims.add(tasks("t1"));
    toExtend = Reply.problem(409, "{\"title\":\"Stale token\"}");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(LEASE);
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/ack");
    stop(worker);
  }

  @Test
  void aTaskWithAnEndedLeaseIsGivenBack() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack()).concurrency(1).start();
    assertThat(Bound.take(claimed).path()).endsWith("/claims");
    // Simulates a pause of the process after the claim was sent.
    clock.advance(LEASE);
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("was not begun").contains("task=t1");
    assertReported("/v1/tasks/t1/nack",
        "{\"token\":\"token-t1\",\"reason\":\"the lease had already ended\",\"begun\":false}");
    claims.add(tasks("t2"));
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t2/ack");
    stop(worker);
    assertThat(errors).isEmpty();
    assertThat(clock.waiting()).as("timers left behind").isZero();
  }

  @Test
  void theLeaseOfAClaimCountsFromTheRequest() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      never.await();
      return Settlement.ack();
    }).start();
    assertThat(Bound.take(claimed).path()).endsWith("/claims");
    clock.advance(LEASE.minusSeconds(6));
    claims.add(tasks("t1"));
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(clock.waits().getLast()).as("a third of the remaining lease").isEqualTo(Duration.ofSeconds(2));
    toExtend = Reply.problem(409, "{\"title\":\"Stale token\"}");
    clock.advance(Duration.ofSeconds(2));
    assertThat(Bound.take(errors)).contains("a lease was lost");
    stop(worker);
  }

  @Test
  void aHandlerIsInterruptedWhenItsQueueLetsItRunNoLonger() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      never.await();
      return Settlement.ack();
    }).start();
    claims.add(tasks("t1"));
    toExtend = Reply.json(200, "{\"leaseMillis\":6000}");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(THIRD);
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(clock.waits().getLast()).as("a third of the granted lease").isEqualTo(Duration.ofSeconds(2));
    toExtend = Reply.json(200, "{\"leaseMillis\":300}");
    clock.advance(Duration.ofSeconds(2));
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/extend");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(clock.waits().getLast()).as("no shorter than a twentieth").isEqualTo(LEASE.dividedBy(20));
    clock.advance(LEASE.dividedBy(20));
    assertThat(Bound.take(errors)).contains("a lease was lost", "maxRun");
    assertThat(Bound.take(reports).body()).as("the server may still accept the settle")
        .contains("java.lang.InterruptedException");
    stop(worker);
  }

  @Test
  void aLeaseOfUnknownDurationIsExtendedEarly() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      never.await();
      return Settlement.ack();
    }).start();
    claims.add(Reply.json(200, tasks("t1").body().replace(",\"leaseMillis\":30000", "")));
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(clock.waits().getLast()).isEqualTo(LEASE.dividedBy(20));
    toExtend = Reply.problem(409, "{\"title\":\"Stale token\"}");
    clock.advance(LEASE.dividedBy(20));
    assertThat(Bound.take(errors)).contains("a lease was lost");
    stop(worker);
  }

  @Test
  void aSettleThatComesTooLateIsReportedAsLate() throws InterruptedException {
    toSettle = Reply.problem(409, "{\"title\":\"Stale token\"}");
    Worker worker = worker(task -> Settlement.ack()).start();
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("came too late").contains("task=t1");
    stop(worker);
  }

  @Test
  void aLongNameOrZoneOfAWorkerIsRefused() {
    assertThat(WorkerName.of("x".repeat(119))).hasSize(128).isEqualTo(WorkerName.of("x".repeat(119)));
    assertThatThrownBy(() -> WorkerName.of("x".repeat(120))).hasMessageContaining("but got 120");
    assertThatThrownBy(() -> ClaimRequest.requireZone("z".repeat(65))).hasMessageContaining("but got 65");
  }

  @Test
  void anExtensionIsRepeatedUntilTheLeaseHasEnded() throws InterruptedException {
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      never.await();
      return Settlement.ack();
    }).start();
    claims.add(tasks("t1"));
    Bound.awaitTrue(() -> clock.waiting() == 1);
    clock.advance(THIRD);
    assertThat(Bound.take(reports).path()).as("the last extension that succeeds").endsWith("/extend");
    Bound.awaitTrue(() -> clock.waiting() == 1);
    toExtend = Reply.empty(500);
    Duration passed = Duration.ZERO;
    int tries = 0;
    String error = "";
    while (!error.contains("lost")) {
      assertThat(passed).isLessThan(LEASE);
      Bound.awaitTrue(() -> clock.waiting() == 1);
      Duration wait = clock.waits().getLast();
      clock.advance(wait);
      passed = passed.plus(wait);
      error = Bound.take(errors);
      if (!error.contains("lost")) {
        tries++;
        assertThat(Bound.take(reports).path()).endsWith("/extend");
      }
    }
    assertThat(passed).isBetween(LEASE, LEASE.plus(LEASE.dividedBy(20)));
    assertThat(tries).isGreaterThan(4);
    assertThat(Bound.take(reports).path()).endsWith("/nack");
    stop(worker);
  }

  @Test
  void aWorkerContinuesAfterAFailedSettle() throws InterruptedException {
    toSettle = Reply.problem(409, "{\"title\":\"Stale token\"}");
    Worker worker = worker(task -> Settlement.ack()).start();
    claims.add(tasks("t1"));
    assertThat(Bound.take(errors)).contains("task=t1").contains("Stale token");
    claims.add(tasks("t2"));
    assertThat(Bound.take(errors)).contains("task=t2");
    stop(worker);
  }

  @Test
  void aFailedClaimIsRepeatedWithGrowingPauses() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack()).start();
    for (int i = 0; i < 8; i++) {
      claims.add(Reply.empty(500));
      assertThat(Bound.take(errors)).contains("could not be claimed");
      Bound.awaitTrue(() -> clock.waiting() == 1);
      clock.advance(clock.waits().getLast());
    }
    assertThat(clock.waits().getFirst()).isBetween(Duration.ofMillis(50), Duration.ofMillis(100));
    assertThat(clock.waits().getLast()).isBetween(Duration.ofMillis(2500), Duration.ofSeconds(5));
    claims.add(Reply.retryAfter(503, "60"));
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(clock.waits().getLast()).isEqualTo(Duration.ofSeconds(60));
    clock.advance(Duration.ofSeconds(60));
    claims.add(tasks("t1"));
    assertThat(Bound.take(reports).path()).endsWith("/ack");
    stop(worker);
  }

  @Test
  void aFastEmptyAnswerIsFollowedByAPause() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack()).start();
    claims.add(tasks());
    Bound.awaitTrue(() -> clock.waiting() == 1);
    assertThat(worker.stop(GRACE)).as("a stop does not wait for the pause").isTrue();
    assertThat(claimed).hasSize(1);
    assertThat(errors).isEmpty();
  }

  @Test
  void aStoppingWorkerRunsTheTasksOfItsLastClaim() throws InterruptedException {
    Worker worker = worker(task -> Settlement.ack()).start();
    assertThat(Bound.take(claimed)).isNotNull();
    CompletableFuture<Boolean> stopped = new CompletableFuture<>();
    Thread stopper = Thread.ofPlatform().start(() -> {
      try {
        stopped.complete(worker.stop(GRACE));
      } catch (InterruptedException e) {
        stopped.completeExceptionally(e);
      }
    });
    Bound.awaitTrue(() -> stopper.getState() == Thread.State.TIMED_WAITING);
    claims.add(tasks("t1"));
    assertThat(Bound.get(stopped)).isTrue();
    assertThat(Bound.take(reports).path()).isEqualTo("/v1/tasks/t1/ack");
    assertThat(claimed).isEmpty();
    assertThat(worker.stop(GRACE)).as("a second stop").isTrue();
  }

  @Test
  void aStopWaitsForTheHandlers() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Settlement> end = new CompletableFuture<>();
    Worker worker = worker(task -> {
      begun.countDown();
      return Bound.get(end);
    }).concurrency(1).start();
    claims.add(tasks("t1"));
    Bound.await(begun);
    CompletableFuture<Void> closed = CompletableFuture.runAsync(worker::close, Thread::startVirtualThread);
    assertThat(closed).isNotDone();
    assertThat(end.complete(Settlement.ack())).isTrue();
    Bound.get(closed);
    assertThat(reports).hasSize(1);
  }

  @Test
  void handlersAreInterruptedAfterTheGrace() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    Worker worker = worker(task -> {
      begun.countDown();
      never.await();
      return Settlement.ack();
    }).start();
    claims.add(tasks("t1"));
    Bound.await(begun);
    assertThat(worker.stop(Duration.ZERO)).isFalse();
    assertThat(Bound.take(reports).body()).contains("InterruptedException");
    assertThat(worker.stop(GRACE)).as("the claim under way was cancelled").isTrue();
    assertThat(List.copyOf(errors)).as("a stop is no failure").allMatch(error -> error.contains("the handler failed"));
  }

  /** The claim of this source cannot be cancelled, like a claim whose answer arrives while the worker stops. */
  @Test
  void aTaskThatAStoppedWorkerDidNotBeginIsGivenBack() throws InterruptedException {
    CompletableFuture<List<ClaimedTask>> answer = new CompletableFuture<>() {
      @Override
      public boolean cancel(boolean mayInterruptIfRunning) {
        return false;
      }
    };
    CountDownLatch claiming = new CountDownLatch(1);
    BlockingQueue<Object> settled = new LinkedBlockingQueue<>();
    TaskSource source = (TaskSource) Proxy.newProxyInstance(TaskSource.class.getClassLoader(),
        new Class<?>[]{TaskSource.class}, (proxy, method, arguments) -> switch (method.getName()) {
          case "isClosed" -> false;
          case "claim" -> {
            claiming.countDown();
            yield answer;
          }
          case "settle" -> CompletableFuture.completedFuture(settled.add(arguments[1]) ? null : settled);
          default -> CompletableFuture.completedFuture(null);
        });
    AtomicInteger begun = new AtomicInteger();
    Worker worker = new Worker.Builder(Surroundings.of(source), "mail", attempt -> {
      begun.incrementAndGet();
      return Settlement.ack();
    }).start();
    Bound.await(claiming);
    assertThat(worker.stop(Duration.ZERO)).isFalse();
    answer.complete(ClaimedTask.allOf(JsonObject.parse(tasks("t1").body().getBytes(UTF_8))));
    assertThat(Bound.take(settled)).isEqualTo(Settlement.notBegun("the worker has stopped"));
    assertThat(worker.stop(GRACE)).isTrue();
    assertThat(begun).hasValue(0);
  }
}
