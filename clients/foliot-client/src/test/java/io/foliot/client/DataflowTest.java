package io.foliot.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.client.StubServer.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class DataflowTest {
  private final JobServer server = new JobServer();

  @AfterEach
  void close() {
    server.close();
  }

  /** Processes the numbers from 1 to an end, two in each round. The checkpoint is the last processed number. */
  private static final class Numbers implements Dataflow<Long> {
    private final long end;
    private final BiConsumer<JobContext, Long> onProcess;
    final List<Long> processed = new ArrayList<>();

    Numbers(long end, BiConsumer<JobContext, Long> onProcess) {
      this.end = end;
      this.onProcess = onProcess;
    }

    @Override
    public List<Long> fetch(JobContext job, @Nullable String checkpoint) {
      long from = checkpoint == null ? 0 : Long.parseLong(checkpoint);
      List<Long> items = new ArrayList<>();
      for (long i = from + 1; i <= Math.min(end, from + 2); i++) {
        items.add(i);
      }
      return items;
    }

    @Override
    public String process(JobContext job, List<Long> items) {
      processed.addAll(items);
      onProcess.accept(job, items.getLast());
      return items.getLast().toString();
    }
  }

  @Test
  void aDataflowInModeOnceDoesOneRound() {
    Numbers numbers = new Numbers(5, (job, last) -> {});
    JobWorker worker = server.worker().dataflow("sync", numbers, Dataflow.once()).start();
    server.give("sync");
    assertThat(server.report("ack")).contains("\"message\":\"2 items\",\"checkpoint\":\"2\"")
        .doesNotContain("runAgain");
    assertThat(numbers.processed).containsExactly(1L, 2L);
    server.stop(worker);
  }

  @Test
  void streamingEndsWhenThereIsNothingToFetch() {
    Numbers numbers = new Numbers(5, (job, last) -> {});
    JobWorker worker = server.worker().dataflow("sync", numbers, Dataflow.streaming()).start();
    server.give("sync", 2, ",\"checkpoint\":\"2\"");
    assertThat(server.report("ack")).contains("\"message\":\"3 items\",\"checkpoint\":\"5\"")
        .doesNotContain("runAgain");
    assertThat(numbers.processed).as("from the checkpoint of the first attempt").containsExactly(3L, 4L, 5L);
    server.stop(worker);
  }

  @Test
  void aRunOfAStreamEndsAfterFiveMinutes() {
    Numbers numbers = new Numbers(Long.MAX_VALUE,
        (job, last) -> server.clock.advance(Duration.ofMinutes(last == 2 ? 5 : 0).minusNanos(last == 2 ? 1 : -1)));
    JobWorker worker = server.worker().lease(Duration.ofHours(1)).dataflow("sync", numbers, Dataflow.streaming())
        .start();
    server.give("sync");
    assertThat(server.reportAfterExtensions("ack"))
        .contains("\"runAgain\":true,\"message\":\"4 items\",\"checkpoint\":\"4\"");
    server.stop(worker);
  }

  @Test
  void streamingRequestsANewRunWhenTheWorkerStops() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    Numbers numbers = new Numbers(Long.MAX_VALUE, (job, last) -> {
      begun.countDown();
      Bound.awaitTrue(job::isStopping);
    });
    JobWorker worker = server.worker().concurrency(1).dataflow("sync", numbers, Dataflow.streaming()).start();
    server.give("sync");
    Bound.await(begun);
    assertThat(worker.stop(Duration.ofSeconds(Bound.BOUND_SECONDS))).isTrue();
    assertThat(server.report("ack")).contains("\"runAgain\":true,\"message\":\"2 items\",\"checkpoint\":\"2\"");
  }

  @Test
  void aStopEndsAStreamAfterItsCurrentRound() {
    Numbers numbers = new Numbers(Long.MAX_VALUE, (job, last) -> {});
    StoppingJob job = new StoppingJob();
    JobResult result = run(new DataflowHandler<>(numbers, Dataflow.streaming(), server.clock), job);
    assertThat(result).isEqualTo(JobResult.runAgain("2 items"));
    assertThat(job.checkpoint()).isEqualTo("2");
  }

  private static JobResult run(JobHandler handler, JobContext job) {
    try {
      return handler.handle(job);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aStreamThatLostItsLeaseSettlesNothing() {
    server.toExtend = request -> Reply.problem(409, "{\"title\":\"Stale token\"}");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch never = new CountDownLatch(1);
    Numbers numbers = new Numbers(Long.MAX_VALUE, (job, last) -> {
      begun.countDown();
      // This round swallows the interrupt.
      assertThatThrownBy(never::await).isInstanceOf(InterruptedException.class);
      interrupted.countDown();
    });
    JobWorker worker = server.worker().dataflow("sync", numbers, Dataflow.streaming()).start();
    server.give("sync");
    Bound.await(begun);
    server.passToTheExtension();
    Bound.await(interrupted);
    assertThat(server.report("extend")).isNotEmpty();
    assertThat(server.stop(worker)).isTrue();
    assertThat(numbers.processed).as("no round after the lease was lost").containsExactly(1L, 2L);
    assertThat(server.reports).isEmpty();
  }
}
