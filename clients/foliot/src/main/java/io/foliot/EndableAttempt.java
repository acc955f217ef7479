package io.foliot;

import io.foliot.api.TaskNote;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An attempt with its note and its end. The handler sets the end at most once.
 *
 * @param <E> the type of ends
 */
abstract class EndableAttempt<E> implements Attempt {
  private final AttemptNote note;
  private @Nullable E end;

  /**
   * Creates an attempt without an end.
   *
   * @param before the note of the previous attempt
   * @param send stores a note of the attempt; the future completes when the note is stored or lost
   */
  EndableAttempt(TaskNote before, Function<TaskNote, CompletableFuture<?>> send) {
    note = new AttemptNote(before, send);
  }

  /** Returns the end of an attempt whose task fires again. */
  abstract E againAfter(Duration delay);

  /** Returns the end of an attempt that has failed for good. */
  abstract E failedFor(String reason);

  /** Returns the end that the handler has set, or null if the attempt has succeeded. */
  @Nullable
  E end() {
    return end;
  }

  /** Returns the note for the end of an attempt that succeeds. */
  TaskNote noteAtSuccess() {
    return note.atSuccess();
  }

  /** Returns the note for the end of an attempt that fails. */
  TaskNote noteAtFailure() {
    return note.atEnd();
  }

  @Override
  public final @Nullable String checkpoint() {
    return note.checkpoint();
  }

  @Override
  public final void checkpoint(String checkpoint) {
    note.checkpoint(checkpoint);
  }

  @Override
  public final void progress(double part, String message) {
    note.progress(part, message);
  }

  @Override
  public final void log(String line) {
    note.log(line);
  }

  @Override
  public final void again(Duration delay) {
    ensureOpen();
    end = againAfter(delay);
  }

  @Override
  public final void fail(String reason) {
    ensureOpen();
    end = failedFor(reason);
  }

  @Override
  public final void endJob() {
    ensureOpen();
    note.mark(run(), TaskNote.Mark.END_JOB);
  }

  @Override
  public final void runAgain() {
    ensureOpen();
    note.mark(run(), TaskNote.Mark.RUN_AGAIN);
  }

  private void ensureOpen() {
    if (end != null || note.isMarked()) {
      throw new IllegalStateException(
          "the end of an attempt can be set only once, by again, fail, endJob or runAgain");
    }
  }
}
