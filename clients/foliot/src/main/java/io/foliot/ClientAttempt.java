package io.foliot;

import io.foliot.api.TaskNote;
import io.foliot.client.ClaimedTask;
import io.foliot.client.Settlement;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An attempt of a task that was claimed from a server. */
final class ClientAttempt extends EndableAttempt<Settlement> {
  private final ClaimedTask task;

  /** @param send sends a note of the attempt; the future completes when the note is stored or lost */
  ClientAttempt(ClaimedTask task, Function<TaskNote, CompletableFuture<?>> send) {
    super(task.note(), send);
    this.task = task;
  }

  @Override
  public String id() {
    return task.id();
  }

  @Override
  public @Nullable String key() {
    return task.key();
  }

  @Override
  public long generation() {
    return task.generation();
  }

  @Override
  public String firingId() {
    return task.id() + "-" + task.generation();
  }

  @Override
  public int number() {
    return task.attempt();
  }

  @Override
  public Instant dueAt() {
    return task.dueAt();
  }

  @Override
  public Map<String, String> headers() {
    return task.headers();
  }

  @Override
  Settlement againAfter(Duration delay) {
    return Settlement.again(delay);
  }

  @Override
  Settlement failedFor(String reason) {
    return Settlement.fail(reason);
  }

  /** Returns the end of the attempt, with its note. */
  Settlement settlement() {
    Settlement end = end();
    return noted(end == null ? Settlement.ack() : end, noteAtSuccess());
  }

  /** Returns the end of the attempt if its handler threw, with the note. */
  Settlement failed(Throwable failure) {
    return noted(Settlement.nack(failure.toString()), noteAtFailure());
  }

  private static Settlement noted(Settlement end, TaskNote note) {
    return note.isEmpty() ? end : end.noting(note);
  }
}
