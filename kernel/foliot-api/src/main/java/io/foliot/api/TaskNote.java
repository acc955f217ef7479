package io.foliot.api;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A handler's report on its work, made during an attempt or when the attempt ends. The next attempt of the same firing
 * gets the note and can continue from its checkpoint. A new firing of the task does not get the note, but a redriven
 * task gets the checkpoint.
 *
 * @param progress the part of the work that is done, from 0 to 1; negative if it is not known, and then stored as -1
 * @param message the current step, at most {@value #MAX_MESSAGE} characters; may be empty
 * @param checkpoint the point from which the next attempt continues, at most {@value #MAX_CHECKPOINT_BYTES} bytes of
 *     UTF-8, or null if there is none
 * @param log the last lines of the handler's log, cut to its last {@value #MAX_LOG} characters; may be empty
 * @param mark the request to the job; it takes effect when the attempt succeeds, and is dropped if it comes with an
 *     extension of the lease or with any other end
 */
public record TaskNote(double progress, String message, @Nullable String checkpoint, String log, Mark mark) {
  /** Maximum number of characters of a message. */
  public static final int MAX_MESSAGE = 200;
  /** Maximum number of bytes of a checkpoint. */
  public static final int MAX_CHECKPOINT_BYTES = 16 << 10;
  /** Maximum number of characters of a log that are kept. */
  public static final int MAX_LOG = 4 << 10;
  /** A note with nothing in it. */
  public static final TaskNote NONE = new TaskNote(-1, "", null, "");

  /** The request of a shard's handler to its job. */
  public enum Mark {
    /** No request. */
    NONE,
    /** The job ends: no run of a further scheduled time begins. */
    END_JOB,
    /** The next run begins as soon as this run has ended. In the next run, the shard continues from its checkpoint. */
    RUN_AGAIN
  }

  /** Creates a note without a mark. */
  public TaskNote(double progress, String message, @Nullable String checkpoint, String log) {
    this(progress, message, checkpoint, log, Mark.NONE);
  }

  /** @throws IllegalArgumentException if the progress is above 1 or NaN, or the message or checkpoint is too long */
  public TaskNote {
    if (!(progress <= 1)) {
      throw new IllegalArgumentException("progress is from 0 to 1: progress=" + progress);
    }
    progress = progress < 0 ? -1 : progress;
    if (message.length() > MAX_MESSAGE) {
      throw new IllegalArgumentException("a message of progress has at most " + MAX_MESSAGE + " characters: characters="
          + message.length());
    }
    if (checkpoint != null && checkpoint.getBytes(StandardCharsets.UTF_8).length > MAX_CHECKPOINT_BYTES) {
      throw new IllegalArgumentException("a checkpoint has at most " + MAX_CHECKPOINT_BYTES
          + " bytes; keep larger state in a store of your own, and its name here: bytes="
          + checkpoint.getBytes(StandardCharsets.UTF_8).length);
    }
    if (log.length() > MAX_LOG) {
      int from = log.length() - MAX_LOG;
      log = log.substring(Character.isLowSurrogate(log.charAt(from)) ? from + 1 : from);
    }
  }

  /** Returns whether this note equals {@link #NONE}. */
  public boolean isEmpty() {
    return equals(NONE);
  }

  /** Returns this note with a mark. */
  public TaskNote marked(Mark newMark) {
    return mark == newMark ? this : new TaskNote(progress, message, checkpoint, log, newMark);
  }

  /** Returns this note, with missing parts taken from an earlier note. The mark is always the mark of this note. */
  public TaskNote over(TaskNote earlier) {
    return new TaskNote(progress < 0 ? earlier.progress : progress, message.isEmpty() ? earlier.message : message,
        checkpoint == null ? earlier.checkpoint : checkpoint, log.isEmpty() ? earlier.log : log, mark);
  }
}
