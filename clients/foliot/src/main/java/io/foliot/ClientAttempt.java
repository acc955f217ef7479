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
final class ClientAttempt implements Attempt {
  private static final Settlement DONE = Settlement.ack();

  private final ClaimedTask task;
  private final AttemptNote note;
  private Settlement settlement = DONE;

  /** @param send sends a note of the attempt; the future completes when the note is stored or lost */
  ClientAttempt(ClaimedTask task, Function<TaskNote, CompletableFuture<?>> send) {
    this.task = task;
    note = new AttemptNote(task.note(), send);
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
  public void again(Duration delay) {
    end(Settlement.again(delay));
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
    if (settlement != DONE || note.isMarked()) {
      throw EngineAttempt.endedTwice();
    }
    note.mark(run(), mark);
  }

  @Override
  public void fail(String reason) {
    end(Settlement.fail(reason));
  }

  private void end(Settlement end) {
    if (settlement != DONE || note.isMarked()) {
      throw EngineAttempt.endedTwice();
    }
    settlement = end;
  }

  /** Returns the end of the attempt, with its note. */
  Settlement settlement() {
    return noted(settlement, note.atSuccess());
  }

  /** Returns the end of the attempt if its handler threw, with the note. */
  Settlement failed(Throwable failure) {
    return noted(Settlement.nack(failure.toString()), note.atEnd());
  }

  private static Settlement noted(Settlement end, TaskNote note) {
    return note.isEmpty() ? end : end.noting(note);
  }
}
