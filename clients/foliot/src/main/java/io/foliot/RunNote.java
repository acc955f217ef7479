package io.foliot;

import io.foliot.core.TaskNote;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A handler's report on its work. For use by the thread that runs the handler only. */
final class RunNote {
  private static final long SEND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Function<TaskNote, CompletableFuture<?>> send;
  private TaskNote note;
  private boolean said;
  private TaskNote.Mark mark = TaskNote.Mark.NONE;
  private long sentNanos = System.nanoTime();
  private CompletableFuture<?> sending = CompletableFuture.completedFuture(null);

  /**
   * Creates a note that begins with the note of the last attempt.
   *
   * @param send sends a note while the attempt runs; the stage completes when the note is stored, or was lost
   */
  RunNote(TaskNote note, Function<TaskNote, CompletableFuture<?>> send) {
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
    if (!(part >= 0)) {
      throw new IllegalArgumentException("progress is from 0 to 1: progress=" + part);
    }
    report(new TaskNote(part, message, null, ""));
  }

  void log(String line) {
    report(new TaskNote(-1, "", null, note.log().isEmpty() ? line : note.log() + "\n" + line));
  }

  /** Sets the request to the job. It counts only if the attempt succeeds. */
  void mark(@Nullable JobRun job, TaskNote.Mark newMark) {
    if (job == null) {
      throw new IllegalStateException("the task belongs to no job, so there is none to end or to run again");
    }
    mark = newMark;
  }

  boolean isMarked() {
    return mark != TaskNote.Mark.NONE;
  }

  /** As {@link #said}, with the mark, for an attempt that succeeds. */
  TaskNote saidAtSuccess() {
    return said().marked(mark);
  }

  private void report(TaskNote more) {
    note = more.over(note);
    said = true;
    // One note is sent at a time, so that a later one never arrives before an earlier one.
    if (System.nanoTime() - sentNanos >= SEND_NANOS && sending.isDone()) {
      sentNanos = System.nanoTime();
      sending = send.apply(note);
    }
  }

  /**
   * Returns the whole note, or {@link TaskNote#NONE} if this attempt has reported nothing. It is stored with the end of
   * the attempt, because a note that was sent earlier may still be in flight and would then be refused.
   */
  TaskNote said() {
    return said ? note : TaskNote.NONE;
  }
}
