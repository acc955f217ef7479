package io.foliot.store.jdbc;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a record that no statement looks into, as bytes.
 *
 * <pre>
 * version u8 | content | CRC32C of what it belongs to and all before, u32
 * </pre>
 *
 * The database keeps checksums of its pages or does not; these find also what was restored, or copied, into another task's row.
 *
 * <p>Every later version keeps the first byte and the checksum where they are, and only counts up: so an old node tells what a
 * newer one wrote from what is damaged, in SQL by the first byte alone.
 */
final class Blobs {
  static final int VERSION = 1;
  private static final int SUM_BYTES = 4;
  private static final int SMALLEST = 1 + SUM_BYTES;

  private static final int OTHER_TYPE = 0;
  private static final String[] CONTENT_TYPES = {"", "application/octet-stream", "application/json", "text/plain"};

  private Blobs() {}

  /** What a task carries is bound to its key, if it has one: a reset by the key knows no id. */
  static byte[] body(TaskId id, @Nullable String key, Body body) {
    return key == null ? body(mark(id), body) : body(key, body);
  }

  static byte[] body(String key, Body body) {
    return body(mark(key), body);
  }

  private static byte[] body(int mark, Body body) {
    Bytes out = new Bytes(body.payload().length + 16).u8(VERSION);
    write(body, out);
    return sealed(mark, out);
  }

  static Body body(TaskId id, @Nullable String key, byte[] blob) {
    return read("what it carries", id, key == null ? mark(id) : mark(key), blob, Blobs::readBody);
  }

  static byte @Nullable [] successor(TaskId id, TaskRecord.@Nullable Successor successor) {
    if (successor == null) {
      return null;
    }
    Bytes out = new Bytes(64).u8(VERSION).u64(successor.generation()).u64(successor.dueAt())
        .u64(successor.firstDueAt()).varint(successor.maxAttempts()).u8(successor.body() == null ? 0 : 1);
    if (successor.body() != null) {
      write(successor.body(), out);
    }
    return sealed(mark(id), out);
  }

  static TaskRecord.@Nullable Successor successor(TaskId id, byte @Nullable [] blob) {
    return blob == null ? null : read("its successor", id, mark(id), blob, Blobs::readSuccessor);
  }

  static byte @Nullable [] attempts(TaskId id, List<AttemptRecord> attempts) {
    if (attempts.isEmpty()) {
      return null;
    }
    Bytes out = new Bytes(64 * attempts.size()).u8(VERSION).varint(attempts.size());
    for (AttemptRecord attempt : attempts) {
      out.u64(attempt.generation()).varint(attempt.attempt()).u64(attempt.begunAt()).u64(attempt.endedAt());
      out.u8(Codes.of(attempt.end())).text(attempt.detail());
    }
    return sealed(mark(id), out);
  }

  static List<AttemptRecord> attempts(TaskId id, byte @Nullable [] blob) {
    return blob == null ? List.of() : read("its attempts", id, mark(id), blob, Blobs::readAttempts);
  }

  private static void write(Body body, Bytes out) {
    int type = OTHER_TYPE;
    for (int i = 1; i < CONTENT_TYPES.length; i++) {
      if (body.contentType().equals(CONTENT_TYPES[i])) {
        type = i;
      }
    }
    out.u8(type);
    if (type == OTHER_TYPE) {
      out.text(body.contentType());
    }
    out.varint(body.headers().size());
    body.headers().forEach((name, value) -> out.text(name).text(value));
    out.varint(body.payload().length).bytes(body.payload());
  }

  private static Body readBody(BytesReader in) {
    int type = in.u8();
    String contentType = type == OTHER_TYPE ? in.text() : CONTENT_TYPES[type];
    int count = in.varint();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(in.text(), in.text());
    }
    return new Body(in.bytes(in.varint()), contentType, headers);
  }

  private static TaskRecord.Successor readSuccessor(BytesReader in) {
    long generation = in.u64();
    long dueAt = in.u64();
    long firstDueAt = in.u64();
    int maxAttempts = in.varint();
    return new TaskRecord.Successor(generation, dueAt, firstDueAt, in.u8() == 0 ? null : readBody(in), maxAttempts);
  }

  private static List<AttemptRecord> readAttempts(BytesReader in) {
    int count = in.varint();
    List<AttemptRecord> attempts = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      attempts.add(new AttemptRecord(in.u64(), in.varint(), in.u64(), in.u64(), Codes.end(in.u8()), in.text()));
    }
    return List.copyOf(attempts);
  }

  private static byte[] sealed(int mark, Bytes out) {
    return out.u32(sum(mark, out.array(), out.length())).toArray();
  }

  private static <T> T read(String what, TaskId id, int mark, byte[] blob, Function<BytesReader, T> content) {
    int end = blob.length - SUM_BYTES;
    if (blob.length < SMALLEST || new BytesReader(blob, end, SUM_BYTES).u32() != sum(mark, blob, end)) {
      throw new DamagedException(
          what + " does not match its checksum: task=" + id + ", bytes=" + blob.length, null);
    }
    int version = Byte.toUnsignedInt(blob[0]);
    if (version > VERSION) {
      throw DamagedException.newer(what + " was written by a newer version of Foliot: task=" + id + ", version="
          + version + ", known=" + VERSION);
    }
    if (version != VERSION) {
      throw new DamagedException(what + " is of no known version: task=" + id + ", version=" + version, null);
    }
    try {
      BytesReader in = new BytesReader(blob, 1, end - 1);
      T value = content.apply(in);
      if (!in.atEnd()) {
        throw new IndexOutOfBoundsException("bytes are left over");
      }
      return value;
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new DamagedException(what + " cannot be read although its checksum is right: task=" + id, e);
    }
  }

  // A blob in another task's row must not pass: what it belongs to is mixed in without another pass over bytes.
  private static int sum(int mark, byte[] bytes, int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, 0, count);
    return (int) sum.getValue() ^ mark;
  }

  private static int mark(TaskId id) {
    return mark(id.high() * 31 + id.low());
  }

  /** By the hash that the language prescribes. */
  private static int mark(String key) {
    return mark((long) key.hashCode());
  }

  private static int mark(long value) {
    return (int) ((value * 0x9E37_79B9_7F4A_7C15L) >>> 32);
  }
}
