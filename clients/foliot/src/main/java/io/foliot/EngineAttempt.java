package io.foliot;

import io.foliot.api.TaskNote;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.delivery.LocalDelivery;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An attempt of a task that the engine of this process has claimed. */
final class EngineAttempt extends EndableAttempt<Answer> {
  private final DeliveryAttempt attempt;

  /** @param send stores a note of the attempt; the future completes when the note is stored or lost */
  EngineAttempt(DeliveryAttempt attempt, Function<TaskNote, CompletableFuture<?>> send) {
    super(attempt.task().note(), send);
    this.attempt = attempt;
  }

  @Override
  public String id() {
    return attempt.task().id().toString();
  }

  @Override
  public @Nullable String key() {
    return attempt.task().key();
  }

  @Override
  public long generation() {
    return attempt.task().generation();
  }

  @Override
  public String firingId() {
    return attempt.firingId();
  }

  @Override
  public int number() {
    return attempt.task().attempt();
  }

  @Override
  public Instant dueAt() {
    return Instant.ofEpochMilli(attempt.task().dueAt());
  }

  @Override
  public Map<String, String> headers() {
    return attempt.task().body().headers();
  }

  @Override
  Answer againAfter(Duration delay) {
    return new Answer.Again(delay, "");
  }

  @Override
  Answer failedFor(String reason) {
    return new Answer.Fail(reason);
  }

  /** Returns the end of the attempt, with the note of the attempt if the note is not empty. */
  Answer answer() {
    Answer end = end();
    Answer answer = end == null ? new Answer.Done("") : end;
    TaskNote last = noteAtSuccess();
    return last.isEmpty() ? answer : new Answer.Noted(answer, last);
  }

  /**
   * Returns the handler's failure, with the attempt's note if the note is not empty. If the failure is an {@link Error}
   * and the note is empty, throws the error.
   */
  Exception failed(Throwable failure) {
    if (!noteAtFailure().isEmpty()) {
      return new LocalDelivery.NotedFailure(failure, noteAtFailure());
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return (Exception) failure;
  }
}
