package io.foliot.store.redis;

import io.foliot.api.Body;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.batch.RequestName;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.BytesReader;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.EnumCodes;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import io.foliot.core.store.format.RecordParts;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The encoding of records as strings of Redis.
 *
 * <pre>
 * version u8 | state u8 | flags u8 | settledAs u8 | attempt u32 | maxAttempts u32
 *   | generation, dueAt, wakeAt, firstDueAt, createdAt, changedAt, claimedAt, leaseEnd, dropAt: i64 each
 *   | token | attempts u8 | queue | key | reason | successor, if there is one | 1 and a note, or 0
 *   | CRC32C of the id and the fields from the queue to here, u32 | attempts
 * </pre>
 *
 * <p>The header consists of the fields up to and including the number of attempts. These fields have fixed positions.
 * The scripts change the header, and append attempts at the end. They do not change the bytes in between, which have a
 * checksum. A body is stored outside of its record, in its own frame, so that a reset copies no payload.
 *
 * <p>The header has no checksum. The scripts would have to compute the checksum with {@code redis.sha1hex}. This takes
 * 1.9 µs per record, more than the record's {@code HSET} (1.1 µs), and Redis runs all scripts on one thread.
 */
final class RecordCodec {
  /**
   * Content type of the placeholder for a body that was not read. Callers of the store get a placeholder only in a
   * final task whose payload cannot be read.
   */
  private static final String UNREAD = "unread";

  private static final int VERSION = 1;
  /** Highest version that is treated as a newer one. A higher first byte is treated as damage. */
  private static final int NEWEST_VERSION = 15;
  private static final int HEADER_BYTES = 101;
  /** Base of the generation of a note; 0 because this generation is stored in full. */
  private static final long NO_BASE = 0;

  // bits of the flags; prelude.lua has the same values
  private static final int PARKED = 1;
  private static final int CANCEL_REQUESTED = 1 << 1;
  private static final int OUTSTANDING = 1 << 2;
  private static final int SUCCESSOR = 1 << 3;
  private static final int KEY = 1 << 4;
  private static final int TOKEN = 1 << 5;
  private static final int BODY = 1 << 6;
  private static final int SUCCESSOR_BODY = 1 << 7;

  private RecordCodec() {}

  static byte[] id(TaskId id) {
    return new Bytes(16).id(id).array();
  }

  static TaskId id(byte[] bytes) {
    return new BytesReader(bytes).id();
  }

  /** Returns the hash field of a key: queue, zero byte, key. Names of queues have no zero bytes. */
  static byte[] field(String queue, String key) {
    return (queue + '\0' + key).getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the hash field of an answer to a request. */
  static byte[] field(RequestName request) {
    String key = request.key();
    return (request.queue() + '\0' + (key == null ? "" : "k" + key) + '\0' + request.request())
        .getBytes(StandardCharsets.UTF_8);
  }

  static boolean hasBody(Body body) {
    return body.payload().length > 0 || !body.contentType().equals(Body.EMPTY.contentType())
        || !body.headers().isEmpty();
  }

  static byte[] encode(TaskRecord record) {
    TaskRecord.Successor successor = record.successor();
    Body next = successor == null ? null : successor.body();
    int flags = (record.parked() ? PARKED : 0) | (record.cancelRequested() ? CANCEL_REQUESTED : 0)
        | (record.outstanding() ? OUTSTANDING : 0) | (successor != null ? SUCCESSOR : 0)
        | (record.key() != null ? KEY : 0) | (record.token() != null ? TOKEN : 0)
        | (hasBody(record.body()) ? BODY : 0) | (next != null ? SUCCESSOR_BODY : 0);
    Bytes out = new Bytes(256);
    out.u8(VERSION).u8(EnumCodes.of(record.state())).u8(flags)
        .u8(record.settledAs() == null ? 0 : EnumCodes.of(record.settledAs()) + 1);
    out.u32(record.attempt()).u32(record.maxAttempts());
    out.u64(record.generation()).u64(record.dueAt()).u64(record.wakeAt()).u64(record.firstDueAt());
    out.u64(record.createdAt()).u64(record.changedAt()).u64(record.claimedAt()).u64(record.leaseEnd());
    out.u64(record.dropAt());
    Token token = record.token();
    out.u64(token == null ? 0 : token.high()).u64(token == null ? 0 : token.low());
    out.u8(record.attempts().size());
    int from = out.length();
    names(record.queue(), record.key(), out);
    out.text16(record.reason());
    if (successor != null) {
      out.u64(successor.generation()).u64(successor.dueAt()).u64(successor.firstDueAt()).u32(successor.maxAttempts());
    }
    TaskRecord.Noted noted = record.noted();
    out.u8(noted == null ? 0 : 1);
    if (noted != null) {
      RecordParts.writeNote(noted, NO_BASE, out);
    }
    out.u32(sum(record.id(), out.array(), from, out.length() - from));
    for (AttemptRecord attempt : record.attempts()) {
      out.u64(attempt.generation()).u32(attempt.attempt()).u64(attempt.begunAt()).u64(attempt.endedAt());
      out.u8(EnumCodes.of(attempt.end())).text16(attempt.detail());
    }
    return out.toArray();
  }

  private static void names(String queue, @Nullable String key, Bytes out) {
    byte[] name = queue.getBytes(StandardCharsets.UTF_8);
    out.u8(name.length).bytes(name).text16(key == null ? "" : key);
  }

  /** Returns the bytes after the header of a new record. */
  static byte[] tail(TaskId id, String queue, @Nullable String key) {
    Bytes out = new Bytes(64);
    names(queue, key, out);
    out.text16("").u8(0);
    return out.u32(sum(id, out.array(), 0, out.length())).toArray();
  }

  /**
   * Returns the checksum of an id and of the bytes between header and attempts. {@code setAside} in prelude.lua
   * computes it too.
   */
  private static int sum(TaskId id, byte[] bytes, int from, int count) {
    Bytes all = new Bytes(16 + count).id(id).bytes(bytes, from, count);
    return Checksum.of(all.array(), 0, all.length());
  }

  /**
   * Reads a record.
   *
   * @param body the stored bytes of the task's body; null if there is none, or if the body is not needed
   * @param nextBody the stored bytes of the successor's body; null if there is none, or if it is not needed
   * @throws NewerVersionException if a newer version wrote the record
   * @throws DamagedException if the record cannot be read for another reason
   */
  static TaskRecord decode(TaskId id, byte[] value, byte @Nullable [] body, byte @Nullable [] nextBody) {
    if (value.length >= HEADER_BYTES && value[0] > VERSION && value[0] <= NEWEST_VERSION) {
      throw new NewerVersionException("a record was written by a newer version of Foliot: task=" + id + ", version="
          + value[0] + ", known=" + VERSION);
    }
    if (value.length < HEADER_BYTES || value[0] != VERSION) {
      throw new DamagedException("a record has an unknown version or is too short: task=" + id + ", version="
          + (value.length == 0 ? -1 : value[0]) + ", known=" + VERSION + ", bytes=" + value.length, null);
    }
    try {
      return read(id, value, body, nextBody);
    } catch (IndexOutOfBoundsException | IllegalArgumentException | MalformedException e) {
      throw new DamagedException("a record cannot be read: task=" + id + ", bytes=" + value.length, e);
    }
  }

  private static TaskRecord read(TaskId id, byte[] value, byte @Nullable [] body, byte @Nullable [] nextBody) {
    BytesReader in = new BytesReader(value, 1, value.length - 1);
    TaskState state = EnumCodes.state(in.u8());
    int flags = in.u8();
    int settledAs = in.u8();
    int attempt = in.u32();
    int maxAttempts = in.u32();
    long generation = in.u64();
    long dueAt = in.u64();
    long wakeAt = in.u64();
    long firstDueAt = in.u64();
    long createdAt = in.u64();
    long changedAt = in.u64();
    long claimedAt = in.u64();
    long leaseEnd = in.u64();
    long dropAt = in.u64();
    Token token = new Token(in.u64(), in.u64());
    int attempts = in.u8();
    String queue = in.text(in.u8());
    String name = in.text16();
    String key = (flags & KEY) != 0 ? name : null;
    String reason = in.text16();
    TaskRecord.Successor successor = null;
    if ((flags & SUCCESSOR) != 0) {
      Body next = (flags & SUCCESSOR_BODY) != 0 ? body(id, key, nextBody) : null;
      successor = new TaskRecord.Successor(in.u64(), in.u64(), in.u64(), next, in.u32());
    }
    TaskRecord.Noted noted = in.u8() == 0 ? null : RecordParts.readNote(in, NO_BASE);
    int end = in.at();
    if (in.u32() != sum(id, value, HEADER_BYTES, end - HEADER_BYTES)) {
      throw new DamagedException("a record does not match its checksum: task=" + id + ", bytes=" + value.length, null);
    }
    List<AttemptRecord> past = new ArrayList<>(attempts);
    for (int i = 0; i < attempts; i++) {
      past.add(new AttemptRecord(in.u64(), in.u32(), in.u64(), in.u64(), EnumCodes.end(in.u8()), in.text16()));
    }
    if (!in.atEnd()) {
      throw new IndexOutOfBoundsException("bytes are left over");
    }
    return TaskRecord.edit(id, queue, key)
        .body((flags & BODY) != 0 ? body(id, key, body) : Body.EMPTY).state(state).generation(generation).dueAt(dueAt)
        .wakeAt(wakeAt).firstDueAt(firstDueAt).createdAt(createdAt).changedAt(changedAt).claimedAt(claimedAt)
        .leaseEnd(leaseEnd).dropAt(dropAt).attempt(attempt).maxAttempts(maxAttempts).parked((flags & PARKED) != 0)
        .cancelRequested((flags & CANCEL_REQUESTED) != 0).outstanding((flags & OUTSTANDING) != 0)
        .token((flags & TOKEN) != 0 ? token : null).settledAs(settledAs == 0 ? null : EnumCodes.end(settledAs - 1))
        .reason(reason).noted(noted).successor(successor).attempts(List.copyOf(past)).possible();
  }

  /** Returns the stored bytes of a body, with their frame. */
  static byte[] encode(TaskId id, @Nullable String key, Body body) {
    assert !body.contentType().equals(UNREAD) : "a body that was not read is not written";
    return RecordParts.frameBody(id, key, body);
  }

  private static Body body(TaskId id, @Nullable String key, byte @Nullable [] stored) {
    return stored == null ? new Body(new byte[0], UNREAD, Map.of()) : RecordParts.unframeBody(id, key, stored);
  }

  /** Returns whether a record contains its body and the body of its successor, as far as they exist. */
  static boolean isWhole(TaskRecord record) {
    TaskRecord.Successor successor = record.successor();
    return !record.body().contentType().equals(UNREAD)
        && (successor == null || successor.body() == null || !successor.body().contentType().equals(UNREAD));
  }
}
