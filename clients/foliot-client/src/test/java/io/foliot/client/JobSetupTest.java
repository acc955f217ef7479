package io.foliot.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Job;
import io.foliot.api.RunPhase;
import io.foliot.api.Scope;
import io.foliot.client.StubServer.Reply;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests declarations, annotated methods, listeners of attempts, and runs at the start of a worker. */
final class JobSetupTest {
  private final JobServer server = new JobServer();

  @AfterEach
  void close() {
    server.close();
  }

  private static JobWorker.Builder noop(JobWorker.Builder builder) {
    return builder.handle("report", job -> JobResult.done());
  }

  @Test
  void theStartOfAWorkerDeclaresItsJobs() {
    JobWorker worker = noop(server.worker()).declare(Job.named("report").cron("0 2 * * *").shards(4))
        .declare(Job.named("b").queue("other").every(Duration.ofSeconds(1)).scope(Scope.ALL).build()).start();
    assertThat(server.declared).hasSize(2);
    StubServer.Request first = Bound.take(server.declared);
    assertThat(first.method() + " " + first.path()).isEqualTo("POST /v1/jobs/report/declare");
    assertThat(first.body())
        .isEqualTo("{\"queue\":\"billing\",\"schedule\":{\"cron\":\"0 2 * * *\",\"dialect\":\"unix\"},\"shards\":4}");
    assertThat(Bound.take(server.declared).body())
        .isEqualTo("{\"queue\":\"other\",\"schedule\":{\"every\":\"PT1S\"},\"scope\":\"all\"}");
    server.stop(worker);
  }

  @Test
  void aRefusedDeclarationFailsTheStartOfTheWorker() {
    server.toDeclare = request -> Reply.problem(400, "{\"title\":\"No such queue\"}");
    JobWorker.Builder builder = noop(server.worker()).declare(Job.named("report").cron("@daily"));
    assertThatThrownBy(builder::start).isInstanceOf(FoliotException.class).hasMessageContaining("No such queue");
    assertThat(server.claimed).isEmpty();
  }

  @Test
  void aDeclarationIsRepeatedUntilItSucceeds() {
    server.toDeclare = request -> Reply.empty(503);
    JobWorker worker = noop(server.worker()).declare(Job.named("report").every(Duration.ofSeconds(1))).start();
    assertThat(Bound.take(server.errors)).contains("could not be declared yet", "job=report");
    assertThat(Bound.take(server.claimed)).as("the worker claims before its job is declared").isNotNull();
    server.toDeclare = request -> Reply.json(200, "{\"job\":\"report\",\"state\":\"ACTIVE\"}");
    Bound.awaitTrue(() -> server.clock.waiting() == 1);
    server.clock.advance(server.clock.waits().getLast());
    Bound.awaitTrue(() -> server.declared.size() == 2);
    assertThat(server.stop(worker)).isTrue();
  }

  @Test
  void aStopEndsTheWaitForADeclaration() {
    server.toDeclare = request -> Reply.empty(503);
    JobWorker worker = noop(server.worker()).declare(Job.named("report").every(Duration.ofSeconds(1))).start();
    Bound.awaitTrue(() -> server.clock.waiting() == 1);
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.declared).hasSize(1);
  }

  static final class Bean {
    final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

    @FoliotJob(name = "warm-cache", every = "10m", scope = Scope.ALL, timeout = "1m", runListeners = {RunPhase.AFTER,
        RunPhase.BEFORE})
    void warm(JobContext job) {
      calls.add("warm " + job.shard());
    }

    @FoliotJob(name = "count")
    String count() {
      return "412 rows";
    }

    @FoliotJob(name = "end")
    JobResult end(JobContext job) throws java.io.IOException {
      if (job.fence().attempt() == 2) {
        throw new java.io.IOException("no disk");
      }
      return JobResult.endJob("gone");
    }
  }

  @Test
  void annotatedMethodsAreHandlersAndDeclarations() {
    Bean bean = new Bean();
    JobWorker worker = server.worker().handlers(bean).start();
    assertThat(Bound.take(server.declared).body())
        .isEqualTo("{\"queue\":\"billing\",\"schedule\":{\"every\":\"PT10M\"},"
            + "\"timeout\":\"PT1M\",\"scope\":\"all\",\"runListeners\":[\"before\",\"after\"]}");
    server.give("warm-cache");
    assertThat(server.report("ack")).doesNotContain("message");
    assertThat(bean.calls).containsExactly("warm 1");
    server.give("count");
    assertThat(server.report("ack")).contains("412 rows");
    server.give("end");
    assertThat(server.report("ack")).contains("\"endJob\":true");
    server.give("end", 2, "");
    assertThat(server.report("nack")).as("the thrown exception").contains("\"java.io.IOException: no disk\"");
    assertThat(server.declared).isEmpty();
    server.stop(worker);
  }

  static final class TwoSchedules {
    @FoliotJob(name = "a", every = "10m", cron = "@daily")
    void run() {}
  }

  static final class NoSchedule {
    @FoliotJob(name = "a", scope = Scope.ALL)
    void run() {}
  }

  static final class ListenersWithoutSchedule {
    @FoliotJob(name = "a", runListeners = RunPhase.AFTER)
    void run() {}
  }

  static final class WrongDuration {
    @FoliotJob(name = "a", every = "soon")
    void run() {}
  }

  static final class WrongParameter {
    @FoliotJob(name = "a")
    void run(String text) {}
  }

  static final class WrongReturn {
    @FoliotJob(name = "a")
    int run() {
      return 1;
    }
  }

  @Test
  void wrongAnnotatedMethodsAreRefused() {
    JobWorker.Builder builder = server.worker();
    assertThatThrownBy(() -> builder.handlers("text")).hasMessageContaining("class=java.lang.String");
    assertThatThrownBy(() -> builder.handlers(new TwoSchedules())).hasMessageContaining("one of cron, every and after");
    assertThatThrownBy(() -> builder.handlers(new NoSchedule())).hasMessageContaining("declares no job");
    assertThatThrownBy(() -> builder.handlers(new ListenersWithoutSchedule())).hasMessageContaining("declares no job");
    assertThatThrownBy(() -> builder.handlers(new WrongDuration())).hasMessageContaining("every: expected a duration");
    assertThatThrownBy(() -> builder.handlers(new WrongParameter())).hasMessageContaining("or one JobContext");
    assertThatThrownBy(() -> builder.handlers(new WrongReturn())).hasMessageContaining("must return nothing");
  }

  @Test
  void aSecondHandlerOrDeclarationOfAJobIsRefused() {
    JobWorker.Builder builder = noop(server.worker()).declare(Job.named("report").cron("@daily"));
    assertThatThrownBy(() -> noop(builder)).hasMessageContaining("job=report");
    assertThatThrownBy(() -> builder.declare(Job.named("report").cron("@daily"))).hasMessageContaining("job=report");
    assertThatThrownBy(() -> builder.declare(Job.named("other").cron("61 * * * *"))).as("a wrong schedule")
        .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("minute");
    assertThatThrownBy(() -> builder.runAtStart("warm").start()).hasMessageContaining("job=warm");
  }

  @Test
  void aJobRunsAtTheStartWithoutTheServer() {
    BlockingQueue<JobContext> seen = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().handle("warm", job -> {
      job.checkpointNow("kept nowhere");
      seen.add(job);
      return JobResult.failed("no cache");
    }).declare(Job.named("warm").every(Duration.ofMinutes(10)).parameter("{\"size\": 5}")).runAtStart("warm").start();
    JobContext job = Bound.take(seen);
    assertThat(job.fence()).isEqualTo(new Fence(0, 0));
    assertThat(job.parameter()).isEqualTo(Payload.json("{\"size\": 5}"));
    assertThat(job.scheduledAt()).isEqualTo(ManualClock.START);
    assertThat(Bound.take(server.errors)).contains("failed at the start").contains("no cache");
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.reports).isEmpty();
  }

  @Test
  void aStopInterruptsARunAtTheStartAfterTheGrace() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    JobWorker worker = server.worker().handle("warm", job -> {
      begun.countDown();
      try {
        never.await();
      } finally {
        interrupted.countDown();
      }
      return JobResult.done();
    }).runAtStart("warm").start();
    Bound.await(begun);
    assertThat(worker.stop(Duration.ZERO)).isFalse();
    Bound.await(interrupted);
  }

  /** A listener that records its calls. If {@code failsIn} is not null, the call with this name throws. */
  private record Notebook(String name, BlockingQueue<String> lines, @Nullable String failsIn) implements JobListener {
    @Override
    public void before(JobContext job) {
      lines.add(name + " before " + job.job());
      if ("before".equals(failsIn)) {
        throw new IllegalStateException("refused by " + name);
      }
    }

    @Override
    public void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) {
      lines.add(name + " after " + result + " " + failure);
      if ("after".equals(failsIn)) {
        throw new IllegalStateException("broken " + name);
      }
    }
  }

  @Test
  void listenersAreCalledAroundTheHandler() {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().listener(new Notebook("a", lines, null)).listener(new Notebook("b", lines, null))
        .handle("report", job -> {
          lines.add("work");
          return JobResult.done("x");
        }).start();
    server.give("report");
    assertThat(server.report("ack")).contains("\"message\":\"x\"");
    assertThat(lines).containsExactly("a before report", "b before report", "work", "b after Done[text=x] null",
        "a after Done[text=x] null");
    server.stop(worker);
  }

  @Test
  void aListenerFailureBeforeTheHandlerFailsTheAttempt() {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().listener(new Notebook("a", lines, null))
        .listener(new Notebook("b", lines, "before")).listener(new Notebook("c", lines, null))
        .handle("report", job -> {
          lines.add("work");
          return JobResult.done("x");
        }).start();
    server.give("report");
    assertThat(server.report("nack")).contains("refused by b");
    assertThat(lines).containsExactly("a before report", "b before report",
        "a after null java.lang.IllegalStateException: refused by b");
    server.stop(worker);
  }

  @Test
  void aListenerFailureAfterTheHandlerKeepsTheResult() {
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().listener(new Notebook("a", lines, null))
        .listener(new Notebook("b", lines, "after")).handle("report", job -> JobResult.done("x")).start();
    server.give("report");
    assertThat(server.report("ack")).contains("\"message\":\"x\"");
    assertThat(Bound.take(server.errors)).contains("a listener failed after the handler").contains("broken b");
    assertThat(List.copyOf(lines).getLast()).startsWith("a after Done");
    server.stop(worker);
  }
}
