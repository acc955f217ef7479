package io.foliot.engine;

import io.foliot.api.Due;
import io.foliot.api.Limits;
import io.foliot.core.SlotHash;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.store.Draft;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes drafts from submissions: adds ids, due times and digests. The store writes drafts. Thread-safe.
 *
 * <p>The slot of a task follows from a hash in its id. For a task with a key it is the hash of queue and key, so that
 * all tasks of a key are in one slot. Without a key it is the hash of queue and idempotency key; without both it is
 * random.
 */
final class DraftMaker {
  private final QueueRegistry registry;
  private final RandomSource random;

  DraftMaker(QueueRegistry registry, RandomSource random) {
    this.registry = registry;
    this.random = random;
  }

  /**
   * Returns a draft of each submission, in the same order.
   *
   * @throws io.foliot.core.Scheduler.UnknownQueueException if there is no such queue
   * @throws io.foliot.core.Scheduler.OverloadedException if the queue is being deleted
   * @throws IllegalArgumentException if a submission is due more than 100 years from now
   */
  List<Draft> drafts(List<Submission> submissions, long nowMillis) {
    long[] bits = random.next(2 * submissions.size());
    List<Draft> drafts = new ArrayList<>(submissions.size());
    for (int i = 0; i < submissions.size(); i++) {
      Submission submission = submissions.get(i);
      registry.ensureOpen(submission.queue());
      drafts.add(draft(submission, nowMillis, bits[2 * i], (int) bits[2 * i + 1]));
    }
    return drafts;
  }

  private static Draft draft(Submission submission, long now, long bits, int randomHash) {
    String key = submission.key();
    String idempotencyKey = submission.idempotencyKey();
    int hash = key != null
        ? SlotHash.of(submission.queue(), key)
        : idempotencyKey != null ? SlotHash.of(submission.queue(), idempotencyKey) : randomHash;
    Draft.Idempotency idempotency = idempotencyKey == null
        ? null
        : new Draft.Idempotency(idempotencyKey, Digest.of(submission));
    return new Draft(TaskId.of(now, hash, bits), submission.queue(), key, due(submission, now), submission.body(),
        submission.maxAttempts(), submission.onConflict(), idempotency);
  }

  /** Returns the due time, rounded up to a millisecond so that it is never early; at least 0, the start of 1970. */
  private static Due due(Submission submission, long now) {
    if (submission.delay() != null) {
      return Due.after(QueueRegistry.ceilMillis(submission.delay()));
    }
    Instant dueAt = submission.dueAt();
    assert dueAt != null;
    if (dueAt.getEpochSecond() > (now + Limits.MAX_DELAY_MILLIS) / 1_000) {
      throw new IllegalArgumentException("a task is due within 100 years: dueAt=" + dueAt);
    }
    if (dueAt.getEpochSecond() < 0) {
      return Due.at(0);
    }
    long millis = dueAt.toEpochMilli();
    return Due.at(dueAt.getNano() % 1_000_000 == 0 ? millis : millis + 1);
  }
}
