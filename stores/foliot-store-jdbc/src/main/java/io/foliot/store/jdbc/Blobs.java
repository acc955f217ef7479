package io.foliot.store.jdbc;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.Frame;
import io.foliot.core.store.format.RecordParts;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a record that no statement interprets, each in a separate {@link Frame}. If a part was restored or
 * copied into the row of another task, the checksum of its frame detects this. The database's checksums of pages do
 * not.
 */
final class Blobs {
  /**
   * Base of the generations and times in a blob. The base is 0. The value of a column cannot be the base, because a
   * statement may change the column and leave the blob unchanged.
   */
  private static final long NO_BASE = 0;

  private Blobs() {}

  static byte[] body(TaskId id, @Nullable String key, Body body) {
    return RecordParts.frameBody(id, key, body);
  }

  static byte[] body(String key, Body body) {
    return RecordParts.frameBody(key, body);
  }

  static byte[] body(TaskId id, Body body) {
    return RecordParts.frameBody(id, null, body);
  }

  static Body body(TaskId id, @Nullable String key, byte[] blob) {
    return RecordParts.unframeBody(id, key, blob);
  }

  static byte @Nullable [] successor(TaskId id, TaskRecord.@Nullable Successor successor) {
    if (successor == null) {
      return null;
    }
    Bytes out = new Bytes(64);
    int start = Frame.begin(out);
    RecordParts.writeSuccessor(successor, NO_BASE, NO_BASE, out);
    Body body = successor.body();
    out.u8(body == null ? 0 : 1);
    if (body != null) {
      RecordParts.writeBody(body, out);
    }
    return Frame.end(out, start, Checksum.mark(id)).toArray();
  }

  static TaskRecord.@Nullable Successor successor(TaskId id, byte @Nullable [] blob) {
    return blob == null ? null : Frame.read("a successor", id, Checksum.mark(id), blob, in -> {
      TaskRecord.Successor successor = RecordParts.readSuccessor(in, NO_BASE, NO_BASE);
      return in.u8() == 0 ? successor : successor.with(RecordParts.readBody(in));
    });
  }

  /**
   * The attempts of a task and its latest note. One column holds both, because they are read and written together.
   *
   * @param attempts the attempts that have ended
   * @param noted the latest note, or null if there is none
   */
  record History(List<AttemptRecord> attempts, TaskRecord.@Nullable Noted noted) {
    private static final History NONE = new History(List.of(), null);
  }

  static byte @Nullable [] history(TaskRecord record) {
    TaskRecord.Noted noted = record.noted();
    if (record.attempts().isEmpty() && noted == null) {
      return null;
    }
    Bytes out = new Bytes(64 * record.attempts().size() + 64);
    int start = Frame.begin(out);
    RecordParts.writeAttempts(record.attempts(), NO_BASE, NO_BASE, out);
    out.u8(noted == null ? 0 : 1);
    if (noted != null) {
      RecordParts.writeNote(noted, NO_BASE, out);
    }
    return Frame.end(out, start, Checksum.mark(record.id())).toArray();
  }

  static History history(TaskId id, byte @Nullable [] blob) {
    return blob == null
        ? History.NONE
        : Frame.read("attempts", id, Checksum.mark(id), blob, in -> new History(
            RecordParts.readAttempts(in, NO_BASE, NO_BASE), in.u8() == 0 ? null : RecordParts.readNote(in, NO_BASE)));
  }
}
