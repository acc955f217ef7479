package io.foliot.client;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the rounds of a dataflow. */
final class DataflowHandler<T> implements JobHandler {
  private final Dataflow<T> flow;
  private final Dataflow.Mode mode;
  private final ClientClock clock;

  DataflowHandler(Dataflow<T> flow, Dataflow.Mode mode, ClientClock clock) {
    this.flow = flow;
    this.mode = mode;
    this.clock = clock;
  }

  @Override
  public JobResult handle(JobContext job) throws Exception {
    long begunNanos = clock.nanoTime();
    long items = 0;
    while (true) {
      List<T> fetched = flow.fetch(job, job.checkpoint());
      if (fetched.isEmpty()) {
        return JobResult.done(text(items));
      }
      ensureHeld(job);
      @Nullable
      String checkpoint = flow.process(job, fetched);
      items += fetched.size();
      if (checkpoint != null) {
        job.checkpoint(checkpoint);
      }
      ensureHeld(job);
      if (!mode.isStreaming()) {
        return JobResult.done(text(items));
      }
      boolean isOver = Duration.ofNanos(clock.nanoTime() - begunNanos).compareTo(mode.longest()) >= 0;
      if (isOver || job.isStopping()) {
        return JobResult.runAgain(text(items));
      }
    }
  }

  /**
   * Throws if the lease is lost. If the worker is stopping, this method does not throw: the stream ends after its
   * current round.
   */
  private static void ensureHeld(JobContext job) {
    if (job.isLost()) {
      job.ensureRuns();
    }
  }

  private static String text(long items) {
    return items == 1 ? "1 item" : items + " items";
  }
}
