package io.foliot.engine.migration;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.RecordPage;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A fingerprint of a set of tasks, in 64 bits. Each task has a hash: the first eight bytes of SHA-256 over the
 * fields of the task, without {@link TaskRecord#dropAt} and without the mark of the note. The fingerprint is the sum of
 * these hashes, so it does not depend on the order of the tasks.
 *
 * @param tasks number of tasks
 * @param sum the sum of their hashes
 */
record Fingerprint(long tasks, long sum) {
  static final Fingerprint NONE = new Fingerprint(0, 0);

  /** Returns the fingerprint of all live tasks of a store. After each page, passes the sum so far to the consumer. */
  static Fingerprint of(TaskStore store, Consumer<Fingerprint> progress) {
    Fingerprint sum = NONE;
    String cursor = null;
    do {
      RecordPage page = Migration.await(store.live(Migration.PAGE, cursor));
      for (TaskRecord task : page.tasks()) {
        sum = sum.plus(task);
      }
      cursor = page.cursor();
      progress.accept(sum);
    } while (cursor != null);
    return sum;
  }

  Fingerprint plus(TaskRecord task) {
    return new Fingerprint(tasks + 1, sum + new Digest().of(task));
  }

  @Override
  public String toString() {
    return tasks + " tasks, checksum " + Long.toHexString(sum);
  }

  private static final class Digest {
    private final MessageDigest sha256;
    private final ByteBuffer eight = ByteBuffer.allocate(Long.BYTES);

    Digest() {
      try {
        sha256 = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every Java has SHA-256", e);
      }
    }

    long of(TaskRecord task) {
      add(task.id());
      add(task.queue());
      add(task.key());
      add(task.body());
      add(task.createdAt(), task.changedAt(), task.firstDueAt(), task.maxAttempts(), task.state().name().charAt(0),
          task.generation(), task.dueAt(), task.wakeAt(), task.parked() ? 1 : 0, task.attempt());
      add(task.token());
      add(task.leaseEnd(), task.claimedAt());
      AttemptRecord.End settledAs = task.settledAs();
      add(settledAs == null ? null : settledAs.name());
      add(task.cancelRequested() ? 1 : 0, task.outstanding() ? 1 : 0);
      TaskRecord.Successor successor = task.successor();
      if (successor != null) {
        add(successor.generation(), successor.dueAt(), successor.firstDueAt(), successor.maxAttempts());
        add(successor.body());
      }
      for (AttemptRecord attempt : task.attempts()) {
        add(attempt.generation(), attempt.attempt(), attempt.begunAt(), attempt.endedAt());
        add(attempt.end().name());
        add(attempt.detail());
      }
      TaskRecord.Noted noted = task.noted();
      if (noted != null) {
        add(noted.generation(), Double.doubleToLongBits(noted.note().progress()));
        add(noted.note().message());
        add(noted.note().checkpoint());
        add(noted.note().log());
      }
      add(task.reason());
      return ByteBuffer.wrap(sha256.digest()).getLong();
    }

    private void add(long... numbers) {
      for (long number : numbers) {
        sha256.update(eight.putLong(0, number).array());
      }
    }

    private void add(TaskId id) {
      add(id.high(), id.low());
    }

    private void add(@Nullable Token token) {
      add(token == null ? "" : token.toString());
    }

    private void add(@Nullable String text) {
      add(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
    }

    private void add(byte @Nullable [] bytes) {
      add(bytes == null ? -1 : bytes.length);
      if (bytes != null) {
        sha256.update(bytes);
      }
    }

    private void add(@Nullable Body body) {
      add(body == null ? null : body.payload());
      if (body != null) {
        add(body.contentType());
        for (Map.Entry<String, String> header : new TreeMap<>(body.headers()).entrySet()) {
          add(header.getKey());
          add(header.getValue());
        }
      }
    }
  }
}
