package io.foliot;

import io.foliot.core.TaskNote;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A handler's report on its work. For the thread that runs the handler. */
final class RunNote {
  private static final long SEND_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Function<TaskNote, CompletableFuture<?>> send;
  private TaskNote note;
  private boolean said;
  private TaskNote.Mark mark = TaskNote.Mark.NONE;
  private long sentNanos = System.nanoTime();
  private CompletableFuture<?> sending = CompletableFuture.completedFuture(null);

  /**
   * Creates a note as the last attempt left it.
   *
   * @param send sends a note while the attempt lasts; the stage ends when it is stored, or was lost
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
    say(new TaskNote(-1, "", checkpoint, ""));
  }

  void progress(double part, String message) {
    if (!(part >= 0)) {
      throw new IllegalArgumentException("progress is from 0 to 1: progress=" + part);
    }
    say(new TaskNote(part, message, null, ""));
  }

  void log(String line) {
    say(new TaskNote(-1, "", null, note.log().isEmpty() ? line : note.log() + "\n" + line));
  }

  /** Sets what is asked of the job, at an end of the attempt that succeeds. */
  void mark(@Nullable JobRun job, TaskNote.Mark newMark) {
    if (job == null) {
      throw new IllegalStateException("the task belongs to no job, so there is none to end or to run again");
    }
    mark = newMark;
  }

  boolean isMarked() {
    return mark != TaskNote.Mark.NONE;
  }

  /** As {@link #said}, for an end that succeeds. */
  TaskNote saidAtSuccess() {
    return said().marked(mark);
  }

  private void say(TaskNote more) {
    note = more.over(note);
    said = true;
    // One at a time: a later one never arrives before an earlier one.
    if (System.nanoTime() - sentNanos >= SEND_NANOS && sending.isDone()) {
      sentNanos = System.nanoTime();
      sending = send.apply(note);
    }
  }

  /**
   * Returns all that is known, or {@link TaskNote#NONE} if this attempt has said nothing. It is stored with the end of
   * the attempt: one that was sent before may still be on its way, and would come too late.
   */
  TaskNote said() {
    return said ? note : TaskNote.NONE;
  }
}
