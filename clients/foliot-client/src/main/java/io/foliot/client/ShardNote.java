package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.api.TaskNote;
import org.jspecify.annotations.Nullable;

/**
 * The note of an attempt. It begins as the note of the earlier attempts, and the reports of the handler change it. Safe
 * for use by any thread.
 */
final class ShardNote implements RunningAttempt.Notes {
  /** Maximum number of characters of a message that the server accepts; the rest is cut off. */
  private static final int MAX_MESSAGE = 200;
  /** Maximum number of bytes of a checkpoint that the server accepts. */
  private static final int MAX_CHECKPOINT_BYTES = 16 << 10;
  /** Maximum number of characters of a log that the server keeps; older characters are removed. */
  private static final int MAX_LOG = 4 << 10;

  // Guarded by this.
  private final StringBuilder log;
  private double progress;
  private String message;
  private @Nullable String checkpoint;
  private long version;

  ShardNote(TaskNote before) {
    progress = before.progress();
    message = before.message();
    checkpoint = before.checkpoint();
    log = new StringBuilder(before.log());
  }

  @Override
  public synchronized long version() {
    return version;
  }

  @Override
  public synchronized TaskNote note() {
    return new TaskNote(progress, message, checkpoint, log.toString());
  }

  /**
   * Sets the message if the text is not empty. Returns the note, or {@link TaskNote#NONE} if the note has not changed.
   */
  synchronized TaskNote ended(String text) {
    message(text);
    return version == 0 ? TaskNote.NONE : note();
  }

  synchronized @Nullable String checkpoint() {
    return checkpoint;
  }

  void checkpoint(String newCheckpoint) {
    int bytes = Names.requireWellFormed("checkpoint", newCheckpoint).getBytes(UTF_8).length;
    if (bytes > MAX_CHECKPOINT_BYTES) {
      throw new IllegalArgumentException("checkpoint: expected at most " + MAX_CHECKPOINT_BYTES
          + " bytes, but got " + bytes + "; store larger state elsewhere, and only its name here");
    }
    synchronized (this) {
      checkpoint = newCheckpoint;
      version++;
    }
  }

  synchronized void progress(double part, String text) {
    if (!(part >= 0 && part <= 1)) {
      throw new IllegalArgumentException("progress must be from 0 to 1: progress=" + part);
    }
    progress = part;
    version++;
    message(text);
  }

  private void message(String text) {
    if (!text.isEmpty()) {
      message = cut(text, MAX_MESSAGE);
      version++;
    }
  }

  synchronized void log(String line) {
    if (!log.isEmpty()) {
      log.append('\n');
    }
    log.append(sendable(line.length() > MAX_LOG ? line.substring(line.length() - MAX_LOG) : line));
    int from = log.length() - MAX_LOG;
    if (from > 0) {
      log.delete(0, Character.isLowSurrogate(log.charAt(from)) ? from + 1 : from);
    }
    version++;
  }

  /** Returns the first {@code max} characters of a text, with unpaired surrogates replaced by question marks. */
  static String cut(String text, int max) {
    return sendable(text.length() > max ? text.substring(0, max) : text);
  }

  /** Returns a text with unpaired surrogates replaced by question marks, because UTF-8 cannot encode them. */
  static String sendable(String text) {
    return new String(text.getBytes(UTF_8), UTF_8);
  }
}
