package io.foliot.client;

import java.io.ByteArrayOutputStream;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;

/** The body of a batch: one line per task, encoded while the body is sent. Each iteration begins at the first task. */
final class NdjsonBody implements Iterable<byte[]> {
  /**
   * Minimum size of each chunk except the last. Lines are combined into chunks, so that there are few writes to the
   * socket.
   */
  private static final int CHUNK_BYTES = 32 * 1024;

  private final List<NewTask> tasks;

  NdjsonBody(List<NewTask> tasks) {
    this.tasks = tasks;
  }

  @Override
  public Iterator<byte[]> iterator() {
    return new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        return next < tasks.size();
      }

      @Override
      public byte[] next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        ByteArrayOutputStream chunk = new ByteArrayOutputStream(CHUNK_BYTES);
        while (hasNext() && chunk.size() < CHUNK_BYTES) {
          chunk.writeBytes(line(tasks.get(next++)));
          chunk.write('\n');
        }
        return chunk.toByteArray();
      }
    };
  }

  private static byte[] line(NewTask task) {
    return Json.object(json -> {
      Json.write(json, "key", task.key());
      task.write(json);
      Json.write(json, "idempotencyKey", task.idempotencyKey());
    });
  }
}
