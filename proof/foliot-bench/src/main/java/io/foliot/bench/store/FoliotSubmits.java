package io.foliot.bench.store;

import io.foliot.core.Submission;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Calls of Foliot's {@code submitAll}, or of {@code submit} if a batch has one task. */
final class FoliotSubmits implements CallLoad {
  private static final Duration LATER = Duration.ofDays(1);

  private final TaskStore store;
  private final FoliotNode node;
  private final int batch;
  private final boolean withKeys;
  private final AtomicInteger next = new AtomicInteger();

  FoliotSubmits(TaskStore store, int batch, boolean withKeys) {
    this.store = store;
    node = FoliotNode.withoutHandlers(store);
    this.batch = batch;
    this.withKeys = withKeys;
  }

  @Override
  public int call(int caller, int turn) {
    int first = next.getAndAdd(batch);
    if (batch == 1) {
      ensureCreated(FoliotNode.await(node.scheduler().submit(submission(first))));
    } else {
      List<Submission> submissions = new ArrayList<>(batch);
      for (int number = first; number < first + batch; number++) {
        submissions.add(submission(number));
      }
      FoliotNode.await(node.scheduler().submitAll(submissions)).forEach(FoliotSubmits::ensureCreated);
    }
    return batch;
  }

  private Submission submission(int number) {
    Submission submission = Submission.after(FoliotNode.QUEUE, LATER, FoliotNode.body(number));
    return withKeys ? submission.toBuilder().key(Integer.toString(number)).build() : submission;
  }

  private static void ensureCreated(SubmitResult result) {
    if (result.kind() != SubmitResult.Kind.CREATED) {
      throw new IllegalStateException("every task must be new: result=" + result);
    }
  }

  @Override
  public void ensureDone(long items) {
    FoliotNode.ensureCounts(store, "the store must hold every task: submitted=" + items,
        counts -> counts.delayed() == items);
  }

  @Override
  public void close() {
    node.close();
    store.close();
  }
}
