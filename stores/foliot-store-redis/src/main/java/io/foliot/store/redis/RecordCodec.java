package io.foliot.store.redis;

import io.foliot.core.Body;
import io.foliot.core.TaskId;
import io.foliot.core.TaskState;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.RecordTable;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Records as strings of Redis.
 *
 * <pre>
 * version u8 | state u8 | flags u8 | settledAs u8 | attempt u32 | maxAttempts u32 | generation, dueAt, wakeAt, firstDueAt,
 *   createdAt, changedAt, claimedAt, leaseEnd, dropAt: i64 each | token | attempts u8
 *   | queue | key | reason | successor, if there is one | attempts
 * </pre>
 *
 * The header has fixed places, so that the scripts can change it; behind it they only add attempts. A body stands beside
 * its record, with a checksum of its own, so that a reset moves no payload.
 */
final class RecordCodec {
  /** What stands in the place of a body that was not read; compared by identity, and never shown. */
  private static final String UNREAD = "unread";

  private static final int VERSION = 1;
  /** Versions count up by one. The header has no checksum, and a byte beyond this is damage. */
  private static final int NEWEST_VERSION = 15;
  private static final int HEADER_BYTES = 101;

  private static final int PARKED = 1;
  private static final int CANCEL_REQUESTED = 1 << 1;
  private static final int OUTSTANDING = 1 << 2;
  private static final int SUCCESSOR = 1 << 3;
  private static final int KEY = 1 << 4;
  private static final int TOKEN = 1 << 5;
  private static final int BODY = 1 << 6;
  private static final int SUCCESSOR_BODY = 1 << 7;

  private static final int OTHER_TYPE = 0;
  private static final String[] CONTENT_TYPES = {"", "application/octet-stream", "application/json", "text/plain"};

  private RecordCodec() {}

  static byte[] id(TaskId id) {
    return new Bytes(16).u64(id.high()).u64(id.low()).toArray();
  }

  static TaskId id(byte[] bytes) {
    return new BytesReader(bytes).id();
  }

  /** The field of a key: names of queues have no zeros. */
  static byte[] field(String queue, String key) {
    return (queue + '\0' + key).getBytes(StandardCharsets.UTF_8);
  }

  /** The field of an answer to a request. */
  static byte[] field(String queue, @Nullable String key, String idempotencyKey) {
    return (queue + '\0' + (key == null ? "" : "k" + key) + '\0' + idempotencyKey).getBytes(StandardCharsets.UTF_8);
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
    out.u8(VERSION).u8(code(record.state())).u8(flags)
        .u8(record.settledAs() == null ? 0 : code(record.settledAs()) + 1);
    out.u32(record.attempt()).u32(record.maxAttempts());
    out.u64(record.generation()).u64(record.dueAt()).u64(record.wakeAt()).u64(record.firstDueAt());
    out.u64(record.createdAt()).u64(record.changedAt()).u64(record.claimedAt()).u64(record.leaseEnd());
    out.u64(record.dropAt());
    Token token = record.token();
    out.u64(token == null ? 0 : token.high()).u64(token == null ? 0 : token.low());
    out.u8(record.attempts().size());
    names(record.queue(), record.key(), out);
    out.text(record.reason());
    if (successor != null) {
      out.u64(successor.generation()).u64(successor.dueAt()).u64(successor.firstDueAt()).u32(successor.maxAttempts());
    }
    for (AttemptRecord attempt : record.attempts()) {
      out.u64(attempt.generation()).u32(attempt.attempt()).u64(attempt.begunAt()).u64(attempt.endedAt());
      out.u8(code(attempt.end())).text(attempt.detail());
    }
    return out.toArray();
  }

  private static void names(String queue, @Nullable String key, Bytes out) {
    byte[] name = queue.getBytes(StandardCharsets.UTF_8);
    out.u8(name.length).bytes(name).text(key == null ? "" : key);
  }

  /** What stands behind the header of a new record. */
  static byte[] tail(String queue, @Nullable String key) {
    Bytes out = new Bytes(64);
    names(queue, key, out);
    return out.text("").toArray();
  }

  /**
   * Reads a record.
   *
   * @param body its body as it is stored; null if it has none, or if it is not needed
   * @param nextBody the same of its successor
   * @throws DamagedException if these are not the bytes of a record
   */
  static TaskRecord decode(TaskId id, byte[] value, byte @Nullable [] body, byte @Nullable [] nextBody) {
    if (value.length >= HEADER_BYTES && value[0] > VERSION && value[0] <= NEWEST_VERSION) {
      throw DamagedException.newer("a record was written by a newer version of Foliot: task=" + id + ", version="
          + value[0] + ", known=" + VERSION);
    }
    if (value.length < HEADER_BYTES || value[0] != VERSION) {
      throw new DamagedException("a record is of no known version: task=" + id + ", version="
          + (value.length == 0 ? -1 : value[0]) + ", known=" + VERSION + ", bytes=" + value.length, null);
    }
    try {
      return read(id, new BytesReader(value, 1), body, nextBody);
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      throw new DamagedException("a record cannot be read: task=" + id + ", bytes=" + value.length, e);
    }
  }

  private static TaskRecord read(TaskId id, BytesReader in, byte @Nullable [] body, byte @Nullable [] nextBody) {
    TaskState state = state(in.u8());
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
    String key = in.text();
    String reason = in.text();
    TaskRecord.Successor successor = null;
    if ((flags & SUCCESSOR) != 0) {
      Body next = (flags & SUCCESSOR_BODY) != 0 ? body(id, nextBody) : null;
      successor = new TaskRecord.Successor(in.u64(), in.u64(), in.u64(), next, in.u32());
    }
    List<AttemptRecord> past = new ArrayList<>(attempts);
    for (int i = 0; i < attempts; i++) {
      past.add(new AttemptRecord(in.u64(), in.u32(), in.u64(), in.u64(), end(in.u8()), in.text()));
    }
    if (!in.atEnd()) {
      throw new IndexOutOfBoundsException("bytes are left over");
    }
    ensurePossible(state, (flags & (CANCEL_REQUESTED | SUCCESSOR)) != 0, (flags & TOKEN) != 0, wakeAt, dueAt, leaseEnd);
    return TaskRecord.edit(id, queue, (flags & KEY) != 0 ? key : null)
        .body((flags & BODY) != 0 ? body(id, body) : Body.EMPTY).state(state).generation(generation).dueAt(dueAt)
        .wakeAt(wakeAt).firstDueAt(firstDueAt).createdAt(createdAt).changedAt(changedAt).claimedAt(claimedAt)
        .leaseEnd(leaseEnd).dropAt(dropAt).attempt(attempt).maxAttempts(maxAttempts).parked((flags & PARKED) != 0)
        .cancelRequested((flags & CANCEL_REQUESTED) != 0).outstanding((flags & OUTSTANDING) != 0)
        .token((flags & TOKEN) != 0 ? token : null).settledAs(settledAs == 0 ? null : end(settledAs - 1))
        .reason(reason).successor(successor).attempts(List.copyOf(past)).done();
  }

  /** What no writer leaves behind. */
  private static void ensurePossible(TaskState state, boolean waits, boolean claimed, long wakeAt, long dueAt,
      long leaseEnd) {
    boolean possible = switch (state) {
      case RUNNING -> claimed && wakeAt <= leaseEnd;
      case DELAYED -> !waits && wakeAt <= dueAt;
      case READY -> false;
      case FINISHED, FAILED, CANCELLED -> true;
    };
    if (!possible) {
      throw new IndexOutOfBoundsException("its fields contradict each other: state=" + state);
    }
  }

  /** A body by itself, with its checksum. */
  static byte[] encode(Body body) {
    assert !body.contentType().equals(UNREAD) : "a body that was not read is not written";
    int type = OTHER_TYPE;
    for (int i = 1; i < CONTENT_TYPES.length; i++) {
      if (body.contentType().equals(CONTENT_TYPES[i])) {
        type = i;
      }
    }
    Bytes out = new Bytes(body.payload().length + 64).u8(type);
    if (type == OTHER_TYPE) {
      out.text(body.contentType());
    }
    out.u8(body.headers().size());
    body.headers().forEach((name, value) -> out.text(name).text(value));
    byte[] content = out.bytes(body.payload()).toArray();
    return new Bytes(content.length + 4).u32(sum(content, 0)).bytes(content).toArray();
  }

  private static Body body(TaskId id, byte @Nullable [] stored) {
    if (stored == null) {
      return new Body(new byte[0], UNREAD, Map.of());
    }
    BytesReader in = new BytesReader(stored);
    if (stored.length < 6 || in.u32() != sum(stored, 4)) {
      throw new DamagedException("what a task carries does not match its checksum: task=" + id, null);
    }
    int type = in.u8();
    String contentType = type == OTHER_TYPE ? in.text() : CONTENT_TYPES[type];
    int count = in.u8();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(in.text(), in.text());
    }
    return new Body(in.rest(), contentType, headers);
  }

  /** Whether a record was read with its body, or needs none. */
  static boolean isWhole(TaskRecord record) {
    TaskRecord.Successor successor = record.successor();
    return !record.body().contentType().equals(UNREAD)
        && (successor == null || successor.body() == null || !successor.body().contentType().equals(UNREAD));
  }

  private static int sum(byte[] bytes, int from) {
    CRC32C sum = new CRC32C();
    sum.update(bytes, from, bytes.length - from);
    return (int) sum.getValue();
  }

  static byte[] encode(RecordTable.Answered answered) {
    SubmitResult result = answered.result();
    return new Bytes(64).u8(VERSION).u64(answered.digest()).u64(answered.dropAt()).u8(code(result.kind()))
        .u8(code(result.state())).u64(result.id().high()).u64(result.id().low()).u64(result.generation())
        .u64(result.dueAt()).toArray();
  }

  static RecordTable.Answered decodeAnswer(byte[] value) {
    BytesReader in = new BytesReader(value);
    if (in.u8() != VERSION) {
      throw new DamagedException("an answer is of a version that this Foliot does not know: version=" + value[0], null);
    }
    long digest = in.u64();
    long dropAt = in.u64();
    SubmitResult.Kind kind = kind(in.u8());
    TaskState state = state(in.u8());
    TaskId id = in.id();
    return new RecordTable.Answered(digest, new SubmitResult(kind, id, in.u64(), in.u64(), state, false), dropAt);
  }

  static SubmitResult.Kind kind(int code) {
    return switch (code) {
      case 1 -> SubmitResult.Kind.CREATED;
      case 3 -> SubmitResult.Kind.KEPT;
      case 4 -> SubmitResult.Kind.REJECTED;
      case 5 -> SubmitResult.Kind.RESET;
      case 6 -> SubmitResult.Kind.RESET_PENDING;
      case 7 -> SubmitResult.Kind.REPEATED;
      case 8 -> SubmitResult.Kind.MISMATCHED;
      default -> throw new IndexOutOfBoundsException("no such kind: code=" + code);
    };
  }

  private static int code(SubmitResult.Kind kind) {
    return switch (kind) {
      case CREATED -> 1;
      case KEPT -> 3;
      case REJECTED -> 4;
      case RESET -> 5;
      case RESET_PENDING -> 6;
      case REPEATED -> 7;
      case MISMATCHED -> 8;
    };
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
      case READY -> 0;
      case DELAYED -> 1;
      case RUNNING -> 2;
      case FINISHED -> 3;
      case FAILED -> 4;
      case CANCELLED -> 5;
    };
  }

  static TaskState state(int code) {
    return switch (code) {
      case 0 -> TaskState.READY;
      case 1 -> TaskState.DELAYED;
      case 2 -> TaskState.RUNNING;
      case 3 -> TaskState.FINISHED;
      case 4 -> TaskState.FAILED;
      case 5 -> TaskState.CANCELLED;
      default -> throw new IndexOutOfBoundsException("no such state: code=" + code);
    };
  }
}
