package io.foliot.client;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.TaskNote;
import io.foliot.client.StubServer.Reply;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class JobWorkerTest {
  private static final String HEAD = "{\"token\":\"secret\",\"generation\":7";
  private static final String EXTEND = "{\"token\":\"secret\",\"lease\":\"PT30S\",\"worker\":\"" + WorkerName.of("w1")
      + "\"";
  private static final String NACK = "{\"token\":\"secret\",\"reason\":\"";

  private final JobServer server = new JobServer();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void aShardGoesToTheHandlerOfItsJob() {
    BlockingQueue<JobContext> seen = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().zone("fra1").concurrency(8).handle("other", job -> JobResult.failed("wrong"))
        .handle("report", job -> {
          seen.add(job);
          return JobResult.done("412 rows");
        }).start();
    server.give("report", 3, ",\"payload\":{\"kind\": 1},\"checkpoint\":\"page 7\"");
    assertThat(server.report("ack"))
        .isEqualTo(HEAD + ",\"message\":\"412 rows\",\"checkpoint\":\"page 7\"}");
    assertThat(Bound.take(server.claimed).body()).contains("\"max\":8,", "\"zone\":\"fra1\"", "\"worker\":\"w1-");
    JobContext job = Bound.take(seen);
    assertThat(job.job()).isEqualTo("report");
    assertThat(job.scheduledAt()).isEqualTo(Instant.parse("2026-11-21T09:59:58Z"));
    assertThat(job.shard()).isOne();
    assertThat(job.shards()).isEqualTo(4);
    assertThat(job.zone()).isEqualTo("fra1");
    assertThat(job.workerZone()).isEqualTo("fra1");
    assertThat(job.shardParameter()).isEqualTo("us");
    assertThat(job.missed()).isEqualTo(33);
    assertThat(job.parameter()).isEqualTo(Payload.json("{\"kind\": 1}"));
    assertThat(job.checkpoint()).isEqualTo("page 7");
    assertThat(job.fence()).isEqualTo(new Fence(7, 3)).hasToString("7-3");
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.errors).isEmpty();
    assertThat(server.clock.waiting()).as("timers left behind").isZero();
  }

  @Test
  void theLeaseBeginsWhenAWaitingClaimIsAnswered() {
    CountDownLatch isExtended = new CountDownLatch(1);
    JobWorker worker = server.worker().handle("report", job -> {
      job.ensureRuns();
      isExtended.await();
      return JobResult.done("in time");
    }).start();
    Bound.take(server.claimed);
    server.clock.advance(JobServer.LEASE.plusSeconds(1));
    server.give("report");
    Bound.awaitTrue(() -> server.clock.waiting() == 1);
    server.clock.advance(JobServer.LEASE.dividedBy(20));
    assertThat(server.report("extend")).as("an early extension, because the process may have been paused")
        .startsWith(EXTEND);
    isExtended.countDown();
    assertThat(server.report("ack")).contains("in time");
    server.stop(worker);
    assertThat(server.errors).isEmpty();
  }

  @Test
  void aStoppingWorkerEndsItsWaitingClaim() {
    JobWorker worker = server.worker().handle("report", job -> JobResult.done()).start();
    assertThat(Bound.take(server.claimed).body()).contains("\"wait\":\"PT5S\"");
    assertThat(server.stop(worker)).isTrue();
    assertThat(Bound.take(server.leaves).body())
        .isEqualTo("{\"worker\":\"" + WorkerName.of("w1") + "\",\"leave\":true}");
    assertThat(server.claimed).as("claims after the stop").isEmpty();
    assertThat(server.errors).isEmpty();
  }

  @Test
  void aWorkerWhoseObserverThrowsIsStopped() {
    AtomicReference<JobWorker> started = new AtomicReference<>();
    JobWorker.Builder settings = server.worker().handle("report", job -> JobResult.done()).onStart(started::set)
        .onStart(worker -> {
          throw new IllegalStateException("the container is closed");
        });
    assertThatThrownBy(settings::start).hasMessage("the container is closed");
    assertThat(requireNonNull(started.get()).isTerminated()).isTrue();
  }

  @Test
  void fencesGrowByGenerationThenByAttempt() {
    assertThat(List.of(new Fence(8, 1), new Fence(7, 10), new Fence(7, 9), new Fence(10, 1)).stream().sorted())
        .containsExactly(new Fence(7, 9), new Fence(7, 10), new Fence(8, 1), new Fence(10, 1));
  }

  @Test
  void aShardWithoutAHandlerIsGivenBack() {
    JobWorker worker = server.worker().handle("other", job -> JobResult.done()).start();
    server.give("report");
    assertThat(server.report("nack")).isEqualTo(
        NACK + "no handler for the job report on the worker w1\",\"delay\":\"PT2S\"}");
    assertThat(Bound.take(server.errors)).contains("no handler for the job report", "queue=billing", "delay=PT2S");
    server.give("report", 4, "");
    assertThat(server.report("nack")).contains("\"delay\":\"PT4M10S\"");
    server.stop(worker);
  }

  @Test
  void fiveAttemptsOutlastADeploymentOfFiveMinutes() {
    Duration waited = IntStream.rangeClosed(1, 4).mapToObj(JobWorker::pauseBeforeNext)
        .reduce(Duration.ZERO, Duration::plus);
    assertThat(waited).isGreaterThan(Duration.ofMinutes(5));
    assertThat(JobWorker.pauseBeforeNext(5)).isEqualTo(Duration.ofMinutes(10));
    assertThat(JobWorker.pauseBeforeNext(Integer.MAX_VALUE)).isEqualTo(Duration.ofMinutes(10));
  }

  @Test
  void aTaskWithoutAJobGoesToTheTaskHandler() {
    JobWorker worker = server.worker().handle("report", job -> JobResult.done())
        .tasks(task -> Settlement.fail("seen " + task.id())).start();
    server.givePlain();
    assertThat(server.report("nack")).contains("seen p1");
    server.stop(worker);
  }

  @Test
  void aTaskWithoutAJobAndHandlerIsGivenBack() {
    JobWorker worker = server.worker().handle("report", job -> JobResult.done()).start();
    server.givePlain();
    assertThat(server.report("nack")).contains("not shards of jobs", "\"delay\":\"PT2S\"");
    server.stop(worker);
  }

  @Test
  void aFinderProvidesHandlersOfOtherJobs() {
    JobWorker worker = server.worker().handle("report", job -> JobResult.done("own"))
        .scripts(job -> job.job().equals("clean") ? script -> JobResult.done("found") : null).start();
    server.give("report");
    assertThat(server.report("ack")).contains("own");
    server.give("clean");
    assertThat(server.report("ack")).contains("found");
    server.give("unknown");
    assertThat(server.report("nack")).contains("no handler for the job unknown");
    server.stop(worker);
  }

  @Test
  void eachResultHasItsOwnSettlement() {
    BlockingQueue<JobResult> results = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().handle("report", job -> Bound.take(results)).start();
    record Case(JobResult result, String kind, String body) {}
    List<Case> cases = List.of(
        new Case(JobResult.done(), "ack", HEAD + "}"),
        new Case(JobResult.done("x".repeat(300)), "ack", HEAD + ",\"message\":\"" + "x".repeat(200) + "\"}"),
        new Case(JobResult.runAgain("more"), "ack", HEAD + ",\"runAgain\":true,\"message\":\"more\"}"),
        new Case(JobResult.runAgain(), "ack", HEAD + ",\"runAgain\":true}"),
        new Case(JobResult.endJob("the cause is gone"), "ack",
            HEAD + ",\"endJob\":true,\"message\":\"the cause is gone\"}"),
        new Case(JobResult.failed("disk full"), "nack", NACK + "disk full\"}"),
        new Case(JobResult.failed("busy", Duration.ofMinutes(1)), "nack", NACK + "busy\",\"delay\":\"PT1M\"}"),
        new Case(JobResult.giveUp("no such table"), "nack", NACK + "no such table\",\"final\":true}"),
        new Case(JobResult.notHere("no disk"), "nack", NACK + "no disk on the worker w1\",\"delay\":\"PT2S\"}"));
    for (Case each : cases) {
      results.add(each.result());
      server.give("report");
      assertThat(server.report(each.kind())).isEqualTo(each.body());
    }
    server.stop(worker);
  }

  @Test
  void aHandlerThatThrowsIsNackedWithItsNote() {
    JobWorker worker = server.worker().handle("report", job -> {
      job.checkpoint("page 8");
      throw new IllegalStateException("disk full");
    }).start();
    server.give("report");
    assertThat(server.report("nack"))
        .isEqualTo(NACK + "java.lang.IllegalStateException: disk full\",\"checkpoint\":\"page 8\"}");
    assertThat(Bound.take(server.errors)).contains("job=report", "shard=1", "disk full");
    server.stop(worker);
  }

  @Test
  void aChangedNoteIsSentOnceWithTheNextExtension() {
    CompletableFuture<JobContext> running = new CompletableFuture<>();
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    JobWorker worker = server.worker().handle("report", job -> {
      job.checkpoint("a");
      job.progress(0.5, "half");
      job.log("one");
      job.log("two");
      running.complete(job);
      boolean unused = Bound.get(ended);
      return JobResult.done();
    }).start();
    server.give("report");
    JobContext job = Bound.get(running);
    assertThat(server.reports).isEmpty();
    server.passToTheExtension();
    assertThat(server.report("extend")).isEqualTo(
        EXTEND + ",\"progress\":0.5,\"message\":\"half\",\"checkpoint\":\"a\",\"log\":\"one\\ntwo\"}");
    server.passToTheExtension();
    assertThat(server.report("extend")).as("nothing has changed").isEqualTo(EXTEND + "}");
    job.checkpoint("b");
    assertThat(job.checkpoint()).isEqualTo("b");
    server.passToTheExtension();
    assertThat(server.report("extend")).contains("\"checkpoint\":\"b\"");
    ended.complete(true);
    assertThat(server.report("ack")).contains("\"checkpoint\":\"b\"");
    server.stop(worker);
  }

  @Test
  void aNoteThatWasNotStoredIsSentAgain() {
    CountDownLatch noted = new CountDownLatch(1);
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    JobWorker worker = server.worker().handle("report", job -> {
      job.checkpoint("a");
      noted.countDown();
      boolean unused = Bound.get(ended);
      return JobResult.done();
    }).start();
    server.give("report");
    Bound.await(noted);
    server.toExtend = request -> Reply.empty(500);
    server.passToTheExtension();
    assertThat(server.report("extend")).contains("\"checkpoint\":\"a\"");
    assertThat(Bound.take(server.errors)).contains("could not be extended yet");
    server.toExtend = request -> JobServer.OK;
    server.passToTheExtension();
    assertThat(server.report("extend")).contains("\"checkpoint\":\"a\"");
    ended.complete(true);
    assertThat(server.report("ack")).isNotEmpty();
    server.stop(worker);
  }

  @Test
  void checkpointNowReturnsAfterTheServerHasAnswered() {
    CountDownLatch stored = new CountDownLatch(1);
    server.toExtend = request -> {
      stored.countDown();
      return JobServer.OK;
    };
    JobWorker worker = server.worker().handle("report", job -> {
      job.checkpointNow("a");
      return JobResult.done(stored.getCount() + " left");
    }).start();
    server.give("report");
    assertThat(server.report("extend")).isEqualTo(EXTEND + ",\"checkpoint\":\"a\"}");
    assertThat(server.report("ack")).contains("0 left");
    server.stop(worker);
  }

  @Test
  void checkpointNowFailsOnceTheLeaseIsLost() {
    server.toExtend = request -> Reply.problem(409, "{\"title\":\"Stale token\"}");
    BlockingQueue<Throwable> thrown = new LinkedBlockingQueue<>();
    JobWorker worker = server.worker().handle("report", job -> {
      try {
        job.checkpointNow("a");
      } catch (JobStoppedException e) {
        thrown.add(e);
        throw e;
      }
      return JobResult.done();
    }).start();
    server.give("report");
    assertThat(Bound.take(thrown)).isInstanceOfSatisfying(JobStoppedException.class,
        e -> assertThat(e.isLeaseLost()).isTrue());
    assertThat(server.report("extend")).contains("\"checkpoint\":\"a\"");
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.reports).as("no settle is sent with a stale token").isEmpty();
  }

  @Test
  void noNoteArrivesAfterANewerNote() {
    CompletableFuture<Boolean> mayAnswer = new CompletableFuture<>();
    server.toExtend = request -> {
      boolean unused = Bound.get(mayAnswer);
      return JobServer.OK;
    };
    CompletableFuture<JobContext> running = new CompletableFuture<>();
    CountDownLatch stored = new CountDownLatch(3);
    CompletableFuture<Boolean> ended = new CompletableFuture<>();
    JobWorker worker = server.worker().handle("report", job -> {
      running.complete(job);
      boolean unused = Bound.get(ended);
      return JobResult.done();
    }).start();
    server.give("report");
    JobContext job = Bound.get(running);
    startSaving(job, "a", stored);
    assertThat(server.report("extend")).contains("\"checkpoint\":\"a\"");
    startSaving(job, "b", stored);
    Bound.awaitTrue(() -> "b".equals(job.checkpoint()));
    startSaving(job, "c", stored);
    Bound.awaitTrue(() -> "c".equals(job.checkpoint()));
    assertThat(server.reports).as("one extension at a time").isEmpty();
    mayAnswer.complete(true);
    Bound.await(stored);
    assertThat(server.reports.stream().map(StubServer.Request::body).toList().getLast()).contains("\"c\"");
    ended.complete(true);
    server.stop(worker);
  }

  private static void startSaving(JobContext job, String checkpoint, CountDownLatch stored) {
    Thread.ofVirtual().start(() -> {
      try {
        job.checkpointNow(checkpoint);
        stored.countDown();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    });
  }

  @Test
  void aLostLeaseInterruptsTheHandlerAndDropsItsResult() {
    BlockingQueue<Throwable> thrown = new LinkedBlockingQueue<>();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    JobWorker worker = server.worker().handle("report", job -> {
      assertThat(job.isLost()).isFalse();
      job.ensureRuns();
      begun.countDown();
      try {
        never.await();
      } catch (InterruptedException e) {
        assertThat(job.isLost()).isTrue();
        assertThatThrownBy(job::ensureRuns).isInstanceOfSatisfying(JobStoppedException.class,
            stopped -> assertThat(stopped.isLeaseLost()).isTrue()).hasMessageContaining("fence=7-1");
        thrown.add(e);
      }
      return JobResult.done("late");
    }).start();
    server.give("report");
    Bound.await(begun);
    server.toExtend = request -> Reply.problem(409, "{\"title\":\"Stale token\"}");
    server.passToTheExtension();
    assertThat(Bound.take(thrown)).isInstanceOf(InterruptedException.class);
    assertThat(server.report("extend")).isNotEmpty();
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.reports).as("the late ack is not sent").isEmpty();
  }

  @Test
  void aLeaseThatCannotBeExtendedIsLostAtItsEnd() {
    CompletableFuture<JobContext> running = new CompletableFuture<>();
    CountDownLatch never = new CountDownLatch(1);
    JobWorker worker = server.worker().handle("report", job -> {
      running.complete(job);
      never.await();
      return JobResult.done();
    }).start();
    server.give("report");
    JobContext job = Bound.get(running);
    server.toExtend = request -> Reply.empty(500);
    server.clock.advance(JobServer.LEASE.minusNanos(1));
    assertThat(job.isLost()).isFalse();
    assertThat(server.report("extend")).isNotEmpty();
    Bound.awaitTrue(() -> server.clock.waiting() == 1);
    server.clock.advance(Duration.ofNanos(1));
    assertThat(job.isLost()).as("lost without an answer of the server").isTrue();
    server.clock.advance(server.clock.waits().getLast());
    assertThat(server.report("nack")).as("the server may still accept the settle").contains("the lease was lost");
    server.stop(worker);
  }

  @Test
  void aHandlerThatSeesAStopGivesTheShardBack() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    JobWorker worker = server.worker().concurrency(1).handle("report", job -> {
      begun.countDown();
      job.checkpoint("page 9");
      Bound.awaitTrue(job::isStopping);
      job.ensureRuns();
      return JobResult.done();
    }).start();
    server.give("report");
    Bound.await(begun);
    assertThat(worker.stop(Duration.ofSeconds(Bound.BOUND_SECONDS))).isTrue();
    assertThat(server.report("nack"))
        .isEqualTo(NACK + "the worker w1 stopped\",\"delay\":\"PT0S\",\"checkpoint\":\"page 9\"}");
    assertThat(server.errors).as("a stop is no failure").isEmpty();
  }

  @Test
  void aHandlerIsInterruptedAfterTheGrace() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    JobWorker worker = server.worker().concurrency(1).handle("report", job -> {
      begun.countDown();
      never.await();
      return JobResult.done();
    }).start();
    server.give("report");
    Bound.await(begun);
    assertThat(worker.stop(Duration.ZERO)).isFalse();
    assertThat(server.report("nack")).contains("the worker w1 stopped", "\"delay\":\"PT0S\"");
    assertThat(worker.stop(Duration.ofSeconds(Bound.BOUND_SECONDS))).isTrue();
  }

  @Test
  void aLongCheckpointIsRefusedAndOtherTextsAreCut() {
    ShardNote note = new ShardNote(TaskNote.NONE);
    note.checkpoint("x".repeat(16 << 10));
    assertThatThrownBy(() -> note.checkpoint("ü".repeat(8193))).hasMessageContaining("but got 16386");
    assertThatThrownBy(() -> note.checkpoint("\ud800")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> note.progress(1.1, "")).hasMessageContaining("progress=1.1");
    assertThatThrownBy(() -> note.progress(Double.NaN, "")).hasMessageContaining("progress=NaN");
    for (int i = 0; i < 5000; i++) {
      note.log("line " + i);
    }
    note.log("\ud83d\ude00".repeat(2000) + "!");
    assertThat(note.note().log()).hasSizeLessThanOrEqualTo(4096)
        .endsWith("line 4999\n" + "\ud83d\ude00".repeat(2000) + "!");
    note.log("\ud800");
    assertThat(note.note().log()).endsWith("\n?");
    assertThat(note.ended("y".repeat(199) + "\ud83d\ude00").message()).isEqualTo("y".repeat(199) + "?");
  }
}
