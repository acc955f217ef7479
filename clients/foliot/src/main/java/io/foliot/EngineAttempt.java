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
final class EngineAttempt implements Attempt {
  private static final Answer DONE = new Answer.Done("");

  private final DeliveryAttempt attempt;
  private final AttemptNote note;
  private Answer answer = DONE;

  /** @param send stores a note of the attempt; the future completes when the note is stored or lost */
  EngineAttempt(DeliveryAttempt attempt, Function<TaskNote, CompletableFuture<?>> send) {
    this.attempt = attempt;
    note = new AttemptNote(attempt.task().note(), send);
  }

  @Override
  public @Nullable String checkpoint() {
    return note.checkpoint();
  }

  @Override
  public void checkpoint(String checkpoint) {
    note.checkpoint(checkpoint);
  }

  @Override
  public void progress(double part, String message) {
    note.progress(part, message);
  }

  @Override
  public void log(String line) {
    note.log(line);
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
  public void again(Duration delay) {
    end(new Answer.Again(delay, ""));
  }

  @Override
  public void endJob() {
    mark(TaskNote.Mark.END_JOB);
  }

  @Override
  public void runAgain() {
    mark(TaskNote.Mark.RUN_AGAIN);
  }

  private void mark(TaskNote.Mark mark) {
    if (answer != DONE || note.isMarked()) {
      throw endedTwice();
    }
    note.mark(run(), mark);
  }

  @Override
  public void fail(String reason) {
    end(new Answer.Fail(reason));
  }

  private void end(Answer end) {
    if (answer != DONE || note.isMarked()) {
      throw endedTwice();
    }
    answer = end;
  }

  static IllegalStateException endedTwice() {
    return new IllegalStateException(
        "the end of an attempt can be set only once, by again, fail, endJob or runAgain");
  }

  /** Returns the end of the attempt, with the note of the attempt if the note is not empty. */
  Answer answer() {
    TaskNote last = note.atSuccess();
    return last.isEmpty() ? answer : new Answer.Noted(answer, last);
  }

  /**
   * Returns the handler's failure, with the attempt's note if the note is not empty. If the failure is an {@link Error}
   * and the note is empty, throws the error.
   */
  Exception failed(Throwable failure) {
    if (!note.atEnd().isEmpty()) {
      return new LocalDelivery.NotedFailure(failure, note.atEnd());
    }
    if (failure instanceof Error error) {
      throw error;
    }
    return (Exception) failure;
  }
}
