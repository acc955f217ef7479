package io.foliot;

import io.foliot.api.TaskNote;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The note of an attempt: the progress, checkpoint, log and mark that its handler reports. Only the thread that runs
 * the handler may use it.
 */
final class AttemptNote {
  /**
   * Shortest time from the start of the attempt to the first sent note, and from each sent note to the next.
   */
  private static final long SEND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Function<TaskNote, CompletableFuture<?>> send;
  private TaskNote note;
  private boolean hasReports;
  private TaskNote.Mark mark = TaskNote.Mark.NONE;
  private long sentNanos = System.nanoTime();
  private CompletableFuture<?> sending = CompletableFuture.completedFuture(null);

  /**
   * Creates a note that begins with the note of the previous attempt.
   *
   * @param send sends a note while the attempt runs; the future completes when the note is stored or lost
   */
  AttemptNote(TaskNote note, Function<TaskNote, CompletableFuture<?>> send) {
    this.note = note;
    this.send = send;
  }

  @Nullable
  String checkpoint() {
    return note.checkpoint();
  }

  void checkpoint(String checkpoint) {
    report(new TaskNote(-1, "", checkpoint, ""));
  }

  void progress(double part, String message) {
    // The condition also refuses NaN. The constructor of the note refuses a part above 1.
    if (!(part >= 0)) {
      throw new IllegalArgumentException("progress is from 0 to 1: progress=" + part);
    }
    report(new TaskNote(part, message, null, ""));
  }

  void log(String line) {
    report(new TaskNote(-1, "", null, note.log().isEmpty() ? line : note.log() + "\n" + line));
  }

  /**
   * Sets the mark, which has an effect only if the attempt succeeds.
   *
   * @param job the job of the task, or null if the task belongs to no job
   * @throws IllegalStateException if the task belongs to no job
   */
  void mark(@Nullable JobRun job, TaskNote.Mark newMark) {
    if (job == null) {
      throw new IllegalStateException("the task belongs to no job, so no job can be ended or run again");
    }
    mark = newMark;
  }

  boolean isMarked() {
    return mark != TaskNote.Mark.NONE;
  }

  /** Returns the note for the end of an attempt that succeeds: the note of {@link #atEnd}, and the mark. */
  TaskNote atSuccess() {
    return atEnd().marked(mark);
  }

  private void report(TaskNote more) {
    note = more.over(note);
    hasReports = true;
    // One note is sent at a time, so that notes arrive in their order.
    if (System.nanoTime() - sentNanos >= SEND_NANOS && sending.isDone()) {
      sentNanos = System.nanoTime();
      sending = send.apply(note);
    }
  }

  /**
   * Returns the whole note, or {@link TaskNote#NONE} if this attempt has reported nothing. The note is stored with the
   * end of the attempt, because a note that arrives after the end is refused.
   */
  TaskNote atEnd() {
    return hasReports ? note : TaskNote.NONE;
  }
}
