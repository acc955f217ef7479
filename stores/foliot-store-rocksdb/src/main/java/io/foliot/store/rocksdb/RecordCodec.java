package io.foliot.store.rocksdb;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Probed;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Records as bytes.
 *
 * <pre>
 * version u8 | queue number u32 | state u8 | flags u16 | times, as distances from each other | what the flags announce
 *   | CRC32C of the task id and all before, u32
 * </pre>
 *
 * A body above {@link #INLINE_BYTES} is stored beside the record ({@link Family#BODIES}), which then holds only its
 * checksum: so that a touch of a task that carries much is as small a write as any.
 */
final class RecordCodec {
  /** Above this a body is stored beside its record. A record is rewritten by every step of its task. */
  static final int INLINE_BYTES = 1024;

  private static final int VERSION = 1;
  private static final int QUEUE_AT = 1;
  private static final int STATE_AT = 5;
  private static final int FLAGS_AT = 6;
  private static final int TIMES_AT = 8;
  private static final int TIMES = 6;
  private static final int SMALLEST = 20;

  private static final int SUM_BYTES = 4;

  private static final int PARKED = 1;
  private static final int CANCEL_REQUESTED = 1 << 1;
  private static final int OUTSTANDING = 1 << 2;
  private static final int KEY = 1 << 3;
  private static final int TOKEN = 1 << 4;
  private static final int SUCCESSOR = 1 << 5;
  private static final int BODY_OUTSIDE = 1 << 6;
  private static final int SUCCESSOR_BODY = 1 << 7;
  private static final int SUCCESSOR_BODY_OUTSIDE = 1 << 8;
  private static final int SETTLED = 1 << 9;
  private static final int CLAIMED = 1 << 10;
  private static final int DROP = 1 << 11;
  private static final int ATTEMPTS = 1 << 12;
  private static final int REASON = 1 << 13;

  private static final int OTHER_TYPE = 0;
  private static final String[] CONTENT_TYPES = {"", "application/octet-stream", "application/json", "text/plain"};

  private RecordCodec() {}

  /** Where bodies that stand beside their record are read from. */
  interface BodySource {
    /** The stored body, or null if there is none. */
    byte @Nullable [] body(TaskId id, boolean ofSuccessor);
  }

  /** Whether a body is stored beside its record. */
  static boolean isOutside(@Nullable Body body) {
    if (body == null) {
      return false;
    }
    long size = body.payload().length;
    for (Map.Entry<String, String> header : body.headers().entrySet()) {
      size += header.getKey().length() + header.getValue().length();
    }
    return size > INLINE_BYTES;
  }

  /** The queue's number, without reading the rest. */
  static int queueOf(byte[] value) {
    return value.length < SMALLEST ? -1 : BytesReader.u32(value, QUEUE_AT);
  }

  /** Whether something besides the record itself must go when the record goes: a key, or a body. */
  static boolean leavesTraces(TaskRecord record) {
    return record.key() != null || isOutside(record.body());
  }

  /**
   * The key alone, or null.
   *
   * @throws DamagedException if these are not the bytes that were written under that id
   * @throws UnreadableException if they are, and this Foliot does not understand them
   */
  static @Nullable String keyOf(TaskId id, byte[] value) {
    ensureWhole(id, value);
    if ((BytesReader.u16(value, FLAGS_AT) & KEY) == 0) {
      return null;
    }
    BytesReader in = new BytesReader(value, TIMES_AT, value.length - TIMES_AT);
    for (int i = 0; i < TIMES; i++) {
      in.near();
    }
    in.varint();
    in.varint();
    return in.text();
  }

  /** Whether the body is stored beside the record. */
  static boolean hasBodyOutside(byte[] value) {
    return (BytesReader.u16(value, FLAGS_AT) & BODY_OUTSIDE) != 0;
  }

  /** What a probe tells, without reading or checking the rest: what is claimed or moved for it is read whole. */
  static Probed probed(byte[] value) {
    TaskState state = stateOf(value);
    if (value.length < SMALLEST || value[0] != VERSION || state.isFinal()) {
      return Probed.UNKNOWN;
    }
    int flags = BytesReader.u16(value, FLAGS_AT);
    BytesReader in = new BytesReader(value, TIMES_AT, value.length - TIMES_AT);
    long createdAt = in.near();
    long changedAt = createdAt + in.near();
    long firstDueAt = createdAt + in.near();
    long dueAt = firstDueAt + in.near();
    long wakeAt = dueAt + in.near();
    if (state == TaskState.DELAYED) {
      return new Probed(dueAt, wakeAt);
    }
    in.near();
    in.varint();
    in.varint();
    if ((flags & KEY) != 0) {
      in.text();
    }
    if ((flags & TOKEN) != 0) {
      in.u64();
      in.u64();
    }
    long claimedAt = changedAt + in.near();
    return new Probed(claimedAt + in.near(), wakeAt);
  }

  static void encode(TaskRecord record, int queueNumber, Bytes out) {
    int flags = flags(record);
    int start = out.length();
    out.u8(VERSION).u32(queueNumber).u8(code(record.state())).u16(flags);
    out.near(record.createdAt()).near(record.changedAt() - record.createdAt());
    out.near(record.firstDueAt() - record.createdAt()).near(record.dueAt() - record.firstDueAt());
    out.near(record.wakeAt() - record.dueAt()).near(record.generation() - record.createdAt() * 1_000);
    out.varint(record.attempt()).varint(record.maxAttempts());
    String key = record.key();
    if (key != null) {
      out.text(key);
    }
    Token token = record.token();
    if (token != null) {
      out.u64(token.high()).u64(token.low());
    }
    if ((flags & CLAIMED) != 0) {
      out.near(record.claimedAt() - record.changedAt()).near(record.leaseEnd() - record.claimedAt());
    }
    AttemptRecord.End settledAs = record.settledAs();
    if (settledAs != null) {
      out.u8(code(settledAs));
    }
    if ((flags & DROP) != 0) {
      out.near(record.dropAt() - record.changedAt());
    }
    if ((flags & REASON) != 0) {
      out.text(record.reason());
    }
    if ((flags & ATTEMPTS) != 0) {
      attempts(record, out);
    }
    bodyOrSum(record.body(), out);
    TaskRecord.Successor successor = record.successor();
    if (successor != null) {
      out.near(successor.generation() - record.generation()).near(successor.dueAt() - record.dueAt());
      out.near(successor.firstDueAt() - successor.dueAt()).varint(successor.maxAttempts());
      if (successor.body() != null) {
        bodyOrSum(successor.body(), out);
      }
    }
    out.u32(sum(record.id(), out.array(), start, out.length() - start));
  }

  private static int flags(TaskRecord record) {
    TaskRecord.Successor successor = record.successor();
    Body next = successor == null ? null : successor.body();
    return (record.parked() ? PARKED : 0) | (record.cancelRequested() ? CANCEL_REQUESTED : 0)
        | (record.outstanding() ? OUTSTANDING : 0) | (record.key() != null ? KEY : 0)
        | (record.token() != null ? TOKEN : 0) | (successor != null ? SUCCESSOR : 0)
        | (isOutside(record.body()) ? BODY_OUTSIDE : 0) | (next != null ? SUCCESSOR_BODY : 0)
        | (isOutside(next) ? SUCCESSOR_BODY_OUTSIDE : 0) | (record.settledAs() != null ? SETTLED : 0)
        | (record.claimedAt() != 0 || record.leaseEnd() != 0 ? CLAIMED : 0) | (record.dropAt() != 0 ? DROP : 0)
        | (record.attempts().isEmpty() ? 0 : ATTEMPTS) | (record.reason().isEmpty() ? 0 : REASON);
  }

  private static void attempts(TaskRecord record, Bytes out) {
    out.u8(record.attempts().size());
    for (AttemptRecord attempt : record.attempts()) {
      out.near(attempt.generation() - record.generation()).varint(attempt.attempt());
      out.near(attempt.begunAt() - record.changedAt()).near(attempt.endedAt() - attempt.begunAt());
      out.u8(code(attempt.end())).text(attempt.detail());
    }
  }

  private static void bodyOrSum(Body body, Bytes out) {
    if (isOutside(body)) {
      Bytes encoded = new Bytes(body.payload().length + INLINE_BYTES);
      body(body, encoded);
      out.u32(plainSum(encoded.array(), encoded.length()));
    } else {
      body(body, out);
    }
  }

  /** A body by itself. Its checksum is in the record, so that the two are known to belong together. */
  static void body(Body body, Bytes out) {
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

  /**
   * Reads a record.
   *
   * @param queues the names of queues by number; may throw for a number that is none
   * @throws DamagedException if these are not the bytes that were written under that id
   * @throws UnreadableException if they are, and this Foliot does not understand them
   */
  static TaskRecord decode(TaskId id, byte[] value, IntFunction<String> queues, BodySource bodies) {
    ensureWhole(id, value);
    try {
      BytesReader in = new BytesReader(value, QUEUE_AT, value.length - QUEUE_AT - SUM_BYTES);
      TaskRecord record = read(id, in, queues, bodies);
      if (!in.atEnd()) {
        throw new IndexOutOfBoundsException("bytes are left over");
      }
      return record;
    } catch (IndexOutOfBoundsException e) {
      throw new UnreadableException("a record cannot be read although its checksum is right: task=" + id, e);
    }
  }

  private static void ensureWhole(TaskId id, byte[] value) {
    int body = value.length - SUM_BYTES;
    if (value.length < SMALLEST || BytesReader.u32(value, body) != sum(id, value, 0, body)) {
      throw new DamagedException("a record does not match its checksum: task=" + id + ", bytes=" + value.length, null);
    }
    if (value[0] != VERSION) {
      throw new UnreadableException("a record is of a version that this Foliot does not know: task=" + id + ", version="
          + value[0] + ", known=" + VERSION, null);
    }
  }

  private static TaskRecord read(TaskId id, BytesReader in, IntFunction<String> queues, BodySource bodies) {
    String queue = queues.apply(in.u32());
    TaskState state = state(in.u8());
    int flags = in.u16();
    long createdAt = in.near();
    long changedAt = createdAt + in.near();
    long firstDueAt = createdAt + in.near();
    long dueAt = firstDueAt + in.near();
    long wakeAt = dueAt + in.near();
    long generation = createdAt * 1_000 + in.near();
    int attempt = in.varint();
    int maxAttempts = in.varint();
    String key = (flags & KEY) != 0 ? in.text() : null;
    TaskRecord.Edit edit = TaskRecord.edit(id, queue, key).state(state).createdAt(createdAt).changedAt(changedAt)
        .firstDueAt(firstDueAt).dueAt(dueAt).wakeAt(wakeAt).generation(generation).attempt(attempt)
        .maxAttempts(maxAttempts).parked((flags & PARKED) != 0).cancelRequested((flags & CANCEL_REQUESTED) != 0)
        .outstanding((flags & OUTSTANDING) != 0);
    if ((flags & TOKEN) != 0) {
      edit.token(new Token(in.u64(), in.u64()));
    }
    if ((flags & CLAIMED) != 0) {
      long claimedAt = changedAt + in.near();
      edit.claimedAt(claimedAt).leaseEnd(claimedAt + in.near());
    }
    if ((flags & SETTLED) != 0) {
      edit.settledAs(end(in.u8()));
    }
    if ((flags & DROP) != 0) {
      edit.dropAt(changedAt + in.near());
    }
    if ((flags & REASON) != 0) {
      edit.reason(in.text());
    }
    if ((flags & ATTEMPTS) != 0) {
      edit.attempts(readAttempts(in, generation, changedAt));
    }
    edit.body(readBody(id, false, (flags & BODY_OUTSIDE) != 0, in, bodies));
    if ((flags & SUCCESSOR) != 0) {
      long nextGeneration = generation + in.near();
      long nextDueAt = dueAt + in.near();
      long nextFirstDueAt = nextDueAt + in.near();
      int nextMaxAttempts = in.varint();
      Body next = (flags & SUCCESSOR_BODY) != 0
          ? readBody(id, true, (flags & SUCCESSOR_BODY_OUTSIDE) != 0, in, bodies)
          : null;
      edit.successor(new TaskRecord.Successor(nextGeneration, nextDueAt, nextFirstDueAt, next, nextMaxAttempts));
    }
    return edit.done();
  }

  private static List<AttemptRecord> readAttempts(BytesReader in, long generation, long changedAt) {
    int count = in.u8();
    List<AttemptRecord> attempts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long attempted = generation + in.near();
      int number = in.varint();
      long begunAt = changedAt + in.near();
      long endedAt = begunAt + in.near();
      attempts.add(new AttemptRecord(attempted, number, begunAt, endedAt, end(in.u8()), in.text()));
    }
    return List.copyOf(attempts);
  }

  private static Body readBody(TaskId id, boolean ofSuccessor, boolean outside, BytesReader in, BodySource bodies) {
    if (!outside) {
      return readBody(in);
    }
    int sum = in.u32();
    byte[] stored = bodies.body(id, ofSuccessor);
    if (stored == null || plainSum(stored, stored.length) != sum) {
      throw new DamagedException(
          "what a task carries is missing or does not match its checksum: task=" + id + ", missing="
              + (stored == null),
          null);
    }
    return readBody(new BytesReader(stored));
  }

  private static Body readBody(BytesReader in) {
    int type = in.u8();
    String contentType = type == OTHER_TYPE ? in.text() : CONTENT_TYPES[type];
    int count = in.varint();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(in.text(), in.text());
    }
    byte[] payload = in.bytes(in.varint());
    return new Body(payload, contentType, headers);
  }

  /** The checksum of a record: of its bytes and the id that it is stored under. */
  static int sum(TaskId id, byte[] bytes, int from, int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, from, count);
    // The id is mixed in without another pass over bytes: a record under another task's key must not pass.
    long mixed = (id.high() * 31 + id.low()) * 0x9E37_79B9_7F4A_7C15L;
    return (int) sum.getValue() ^ (int) (mixed >>> 32);
  }

  private static int plainSum(byte[] bytes, int count) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, 0, count);
    return (int) sum.getValue();
  }

  private static int code(AttemptRecord.End end) {
    return switch (end) {
      case FINISHED -> 0;
      case RETRIED -> 1;
      case FAILED -> 2;
      case REARMED -> 3;
      case LEASE_ENDED -> 4;
    };
  }

  private static AttemptRecord.End end(int code) {
    return switch (code) {
      case 0 -> AttemptRecord.End.FINISHED;
      case 1 -> AttemptRecord.End.RETRIED;
      case 2 -> AttemptRecord.End.FAILED;
      case 3 -> AttemptRecord.End.REARMED;
      case 4 -> AttemptRecord.End.LEASE_ENDED;
      default -> throw new IndexOutOfBoundsException("no such end: code=" + code);
    };
  }

  private static int code(TaskState state) {
    return switch (state) {
      case DELAYED -> 1;
      case RUNNING -> 2;
      case FINISHED -> 3;
      case FAILED -> 4;
      case CANCELLED -> 5;
      case READY -> throw new IllegalArgumentException("READY is never written");
    };
  }

  private static TaskState state(int code) {
    return switch (code) {
      case 1 -> TaskState.DELAYED;
      case 2 -> TaskState.RUNNING;
      case 3 -> TaskState.FINISHED;
      case 4 -> TaskState.FAILED;
      case 5 -> TaskState.CANCELLED;
      default -> throw new IndexOutOfBoundsException("no such state: code=" + code);
    };
  }

  /** Where the state stands, for a filter that need not read the rest. */
  static TaskState stateOf(byte[] value) {
    return value.length < SMALLEST ? TaskState.DELAYED : state(value[STATE_AT]);
  }
}
