package io.foliot.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the tasks that call the listeners of a run: one before the first shard, one after the last shard. */
final class RunListenerTest {
  private static final String BEFORE = "\"foliot-phase\":\"before\"";
  private static final String AFTER = "\"foliot-phase\":\"after\",\"foliot-run-failed\":\"2\",\"foliot-run-result\":";

  private final JobServer server = new JobServer();
  private final BlockingQueue<String> calls = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    server.close();
  }

  /**
   * A listener that records its calls. If {@code failsIn} is not null, the call with this name throws in the first
   * attempt.
   */
  private record Notebook(String name, BlockingQueue<String> calls, @Nullable String failsIn) implements JobListener {
    @Override
    public void before(JobContext job) {
      calls.add(name + " before");
    }

    @Override
    public void after(JobContext job, @Nullable JobResult result, @Nullable Throwable failure) {
      calls.add(name + " after");
    }

    @Override
    public void onRunStarted(JobContext job) {
      calls.add(name + " started " + job.job() + " " + job.scheduledAt());
      job.log("seen by " + name);
      failIn(job, "started");
    }

    @Override
    public void onRunEnded(JobContext job, RunEnd end) {
      calls.add(name + " ended " + end);
      failIn(job, "ended");
    }

    private void failIn(JobContext job, String call) {
      if (call.equals(failsIn) && job.fence().attempt() == 1) {
        throw new IllegalStateException("refused by " + name);
      }
    }
  }

  private JobWorker start(@Nullable String failsIn) {
    return server.worker().listener(new Notebook("a", calls, null)).listener(new Notebook("b", calls, failsIn))
        .listener(new Notebook("c", calls, null)).handle("report", job -> {
          calls.add("work");
          return JobResult.done("x");
        }).start();
  }

  @Test
  void listenersSeeTheStartOfARunInOrder() {
    JobWorker worker = start(null);
    server.givePhase("report", 1, BEFORE);
    assertThat(server.report("ack")).contains("seen by a\\nseen by b\\nseen by c").doesNotContain("message");
    assertThat(calls).containsExactly("a started report 2026-11-21T09:59:58Z",
        "b started report 2026-11-21T09:59:58Z", "c started report 2026-11-21T09:59:58Z");
    assertThat(server.stop(worker)).isTrue();
    assertThat(server.errors).isEmpty();
  }

  @Test
  void listenersSeeTheEndOfARun() {
    JobWorker worker = server.worker().listener(new Notebook("a", calls, null))
        .handle("report", job -> JobResult.giveUp("called")).start();
    for (String result : new String[]{"SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED", "REPLACED", "UNKNOWN", "NEW"}) {
      server.givePhase("report", 1, AFTER + '"' + result + '"');
      assertThat(server.report("ack")).isNotEmpty();
      assertThat(Bound.take(calls))
          .isEqualTo("a ended RunEnd[result=" + (result.equals("NEW") ? "UNRECOGNIZED" : result)
              + ", failed=2]");
    }
    server.stop(worker);
  }

  @Test
  void aListenerThatFailsRepeatsThePhase() {
    JobWorker worker = start("ended");
    server.givePhase("report", 1, AFTER + "\"FAILED\"");
    assertThat(server.report("nack")).contains("refused by b");
    assertThat(Bound.take(server.errors)).contains("a listener of the run failed", "job=report", "phase=AFTER");
    assertThat(calls).hasSize(2);
    server.givePhase("report", 2, AFTER + "\"FAILED\"");
    assertThat(server.report("ack")).isNotEmpty();
    assertThat(calls).hasSize(5);
    server.stop(worker);
  }

  @Test
  void aPhaseOfAnUnknownJobIsGivenBack() {
    JobWorker worker = start(null);
    server.givePhase("other", 1, BEFORE);
    assertThat(server.report("nack")).contains("no handler for the job other", "\"delay\":\"PT2S\"");
    assertThat(calls).isEmpty();
    server.stop(worker);
  }

  @Test
  void listenersAreCalledForAJobThatAScriptHandles() {
    JobWorker worker = server.worker().listener(new Notebook("a", calls, null))
        .scripts(job -> script -> JobResult.giveUp("called")).start();
    server.givePhase("clean", 1, BEFORE);
    assertThat(server.report("ack")).isNotEmpty();
    assertThat(Bound.take(calls)).startsWith("a started clean");
    server.stop(worker);
  }

  @Test
  void anUnknownPhaseIsGivenBack() {
    JobWorker worker = start(null);
    server.givePhase("report", 1, "\"foliot-phase\":\"between\"");
    assertThat(server.report("nack")).contains("too old for a phase of the job report", "\"delay\":\"PT2S\"");
    assertThat(calls).isEmpty();
    server.stop(worker);
  }

  @Test
  void aStoppingWorkerGivesThePhaseBack() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    JobWorker worker = server.worker().concurrency(1).handle("report", job -> JobResult.done())
        .listener(new JobListener() {
          @Override
          public void onRunStarted(JobContext job) {
            begun.countDown();
            Bound.awaitTrue(job::isStopping);
            job.ensureRuns();
          }
        }).start();
    server.givePhase("report", 1, BEFORE);
    Bound.await(begun);
    assertThat(worker.stop(Duration.ofSeconds(Bound.BOUND_SECONDS))).isTrue();
    assertThat(server.report("nack")).contains("the worker w1 stopped", "\"delay\":\"PT0S\"");
    assertThat(server.errors).isEmpty();
  }
}
