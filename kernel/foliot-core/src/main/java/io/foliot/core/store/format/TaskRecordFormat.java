package io.foliot.core.store.format;

import io.foliot.api.Body;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.Probed;
import io.foliot.core.store.TaskRecord;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A whole record of a task as the content of one {@link Frame}.
 *
 * <pre>
 * version u8 | queue number u32 | state u8 | flags u16 | times, as distances from each other
 *   | number of the attempt, largest number of attempts | parts that the flags name, and the body
 *   | CRC32C of all bytes before it, with the mark of the task, u32
 * </pre>
 *
 * <p>The record has a number in place of the queue's name; the store assigns the numbers. So a filter by queue or state
 * reads a few bytes at fixed indexes. A body above {@link #INLINE_BYTES} is stored beside the record, and the record
 * contains only the checksum of the body. A touch of a task with a large body is therefore a small write, too.
 *
 * <p>This format is for stores that read and write records as a whole. A store whose statements or scripts change
 * single fields stores those fields separately, and the rest as {@link RecordParts}.
 */
public final class TaskRecordFormat {
  /**
   * Largest size of a body that is stored in its record: the bytes of the payload plus the characters of the headers.
   * Every step of a task rewrites the record, so a larger body is stored beside it.
   */
  public static final int INLINE_BYTES = 1024;

  private static final String WHAT = "a record";
  // Indexes of the fields of fixed size, and of the first time.
  private static final int QUEUE_AT = 1;
  private static final int STATE_AT = 5;
  private static final int FLAGS_AT = 6;
  private static final int TIMES_AT = 8;
  /** Number of fields with a time, including the generation. */
  private static final int TIMES = 6;
  /** Smallest size of a record in bytes, without its body. Each time and number of attempts takes at least one byte. */
  private static final int SMALLEST = 20;

  // Flags: a property of the task, or a part that the record contains.
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
  private static final int NOTE = 1 << 14;

  private TaskRecordFormat() {}

  /** Source of the bodies that are stored beside their records. */
  public interface BodySource {
    /** Returns the stored body, or null if there is none. */
    byte @Nullable [] body(TaskId id, boolean ofSuccessor);
  }

  /** Returns whether a body is stored beside its record; false for null. */
  public static boolean isOutside(@Nullable Body body) {
    if (body == null) {
      return false;
    }
    long size = body.payload().length;
    for (Map.Entry<String, String> header : body.headers().entrySet()) {
      size += header.getKey().length() + header.getValue().length();
    }
    return size > INLINE_BYTES;
  }

  /** Returns the number of the queue without reading the rest; -1 if the bytes are too short for a record. */
  public static int queueOf(byte[] value) {
    return value.length < SMALLEST ? -1 : BytesReader.u32(value, QUEUE_AT);
  }

  /** Returns whether an entry of a key, or a body, must be deleted together with the record. */
  public static boolean leavesTraces(TaskRecord record) {
    return record.key() != null || isOutside(record.body());
  }

  /**
   * Returns the key without decoding the rest, or null if the task has none. Checks the checksum of all bytes.
   *
   * @throws UnreadableException if the bytes cannot be read; the class of the exception says why
   */
  public static @Nullable String keyOf(TaskId id, byte[] value) {
    Frame.ensureWhole(WHAT, id, Checksum.mark(id), value);
    try {
      if ((BytesReader.u16(value, FLAGS_AT) & KEY) == 0) {
        return null;
      }
      BytesReader in = new BytesReader(value, TIMES_AT, value.length - TIMES_AT);
      for (int i = 0; i < TIMES; i++) {
        in.near();
      }
      // The number of the attempt, and the largest number of attempts.
      in.varint();
      in.varint();
      return in.text();
    } catch (IndexOutOfBoundsException e) {
      throw new MalformedException(WHAT + " cannot be read although its checksum is right: of=" + id, e);
    }
  }

  /** Returns whether the body is stored beside the record. */
  public static boolean hasBodyOutside(byte[] value) {
    return (BytesReader.u16(value, FLAGS_AT) & BODY_OUTSIDE) != 0;
  }

  /**
   * Returns the lease end of a RUNNING task, in milliseconds since 1970; {@link Long#MIN_VALUE} in any other state, or
   * if the bytes cannot be read.
   */
  public static long leaseEnd(byte[] value) {
    return value.length >= SMALLEST && value[STATE_AT] == EnumCodes.RUNNING
        ? probed(value).claimableAt()
        : Long.MIN_VALUE;
  }

  /**
   * Returns the result of a probe; {@link Probed#UNKNOWN} if the task is final, or if the bytes cannot be read. This
   * method does not verify the checksum, because a later claim or move reads the whole record. It does not throw, so
   * that a damaged record does not make the probe of its whole batch fail.
   */
  public static Probed probed(byte[] value) {
    if (value.length < SMALLEST || value[0] != Frame.VERSION) {
      return Probed.UNKNOWN;
    }
    try {
      return decodeProbed(value);
    } catch (MalformedException | IndexOutOfBoundsException e) {
      return Probed.UNKNOWN;
    }
  }

  private static Probed decodeProbed(byte[] value) {
    TaskState state = stateOf(value);
    if (state.isFinal()) {
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
    // The generation, the number of the attempt, and the largest number of attempts.
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

  /**
   * Appends a record.
   *
   * @param queueNumber the number of the task's queue
   */
  public static void encode(TaskRecord record, int queueNumber, Bytes out) {
    int flags = flags(record);
    int start = Frame.begin(out);
    out.u32(queueNumber).u8(EnumCodes.of(record.state())).u16(flags);
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
      out.u8(EnumCodes.of(settledAs));
    }
    if ((flags & DROP) != 0) {
      out.near(record.dropAt() - record.changedAt());
    }
    if ((flags & REASON) != 0) {
      out.text(record.reason());
    }
    if ((flags & ATTEMPTS) != 0) {
      RecordParts.writeAttempts(record.attempts(), record.generation(), record.changedAt(), out);
    }
    TaskRecord.Noted noted = record.noted();
    if (noted != null) {
      RecordParts.writeNote(noted, record.generation(), out);
    }
    bodyOrSum(record.body(), out);
    TaskRecord.Successor successor = record.successor();
    if (successor != null) {
      RecordParts.writeSuccessor(successor, record.generation(), record.dueAt(), out);
      if (successor.body() != null) {
        bodyOrSum(successor.body(), out);
      }
    }
    Frame.end(out, start, Checksum.mark(record.id()));
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
        | (record.attempts().isEmpty() ? 0 : ATTEMPTS) | (record.reason().isEmpty() ? 0 : REASON)
        | (record.noted() == null ? 0 : NOTE);
  }

  private static void bodyOrSum(Body body, Bytes out) {
    if (isOutside(body)) {
      Bytes encoded = new Bytes(body.payload().length + INLINE_BYTES);
      RecordParts.writeBody(body, encoded);
      out.u32(Checksum.of(encoded.array(), 0, encoded.length()));
    } else {
      RecordParts.writeBody(body, out);
    }
  }

  /**
   * Reads a record.
   *
   * @param queues returns the name of the queue with a number; may throw for an unknown number
   * @throws UnreadableException if the bytes cannot be read; the class of the exception says why
   */
  public static TaskRecord decode(TaskId id, byte[] value, IntFunction<String> queues, BodySource bodies) {
    return Frame.read(WHAT, id, Checksum.mark(id), value, in -> read(id, in, queues, bodies));
  }

  private static TaskRecord read(TaskId id, BytesReader in, IntFunction<String> queues, BodySource bodies) {
    String queue = queues.apply(in.u32());
    TaskState state = EnumCodes.state(in.u8());
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
      edit.settledAs(EnumCodes.end(in.u8()));
    }
    if ((flags & DROP) != 0) {
      edit.dropAt(changedAt + in.near());
    }
    if ((flags & REASON) != 0) {
      edit.reason(in.text());
    }
    if ((flags & ATTEMPTS) != 0) {
      edit.attempts(RecordParts.readAttempts(in, generation, changedAt));
    }
    if ((flags & NOTE) != 0) {
      edit.noted(RecordParts.readNote(in, generation));
    }
    edit.body(readBody(id, false, (flags & BODY_OUTSIDE) != 0, in, bodies));
    if ((flags & SUCCESSOR) != 0) {
      TaskRecord.Successor numbers = RecordParts.readSuccessor(in, generation, dueAt);
      Body next = (flags & SUCCESSOR_BODY) != 0
          ? readBody(id, true, (flags & SUCCESSOR_BODY_OUTSIDE) != 0, in, bodies)
          : null;
      edit.successor(numbers.with(next));
    }
    return edit.possible();
  }

  private static Body readBody(TaskId id, boolean ofSuccessor, boolean outside, BytesReader in, BodySource bodies) {
    if (!outside) {
      return RecordParts.readBody(in);
    }
    int sum = in.u32();
    byte[] stored = bodies.body(id, ofSuccessor);
    if (stored == null || Checksum.of(stored, 0, stored.length) != sum) {
      throw new DamagedException(
          "the payload of a task is missing or does not match its checksum: task=" + id + ", missing="
              + (stored == null),
          null);
    }
    return RecordParts.readBody(new BytesReader(stored));
  }

  /** Returns the state without reading the rest; DELAYED if the bytes are too short for a record. */
  public static TaskState stateOf(byte[] value) {
    return value.length < SMALLEST ? TaskState.DELAYED : EnumCodes.state(value[STATE_AT]);
  }
}
