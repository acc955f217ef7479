package io.foliot.core.store.format;

import io.foliot.api.Body;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.RecordTable.Answered;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a record as bytes: its payload, its attempts, its successor, and the answer to a request. A part is
 * stored in a {@link Frame} of its own, or in the frame of a record. A method that reads throws {@link
 * IndexOutOfBoundsException} past the end or for an unknown content type, and {@link MalformedException} for any other
 * unknown code.
 *
 * <p>The generations and times of attempts, notes and successors are stored as distances from a base. A small distance
 * takes few bytes; the largest takes ten. A store without a base passes 0.
 */
public final class RecordParts {
  /** Code of a content type that is stored as text, because it has no code of its own. */
  private static final int OTHER_TYPE = 0;
  /** Content types by code. They are part of the format: a new content type must be added at the end. */
  private static final String[] CONTENT_TYPES = {"", "application/octet-stream", "application/json", "text/plain"};

  private RecordParts() {}

  /** Writes a payload. */
  public static void writeBody(Body body, Bytes out) {
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
    // Sorted, so that equal bodies have equal bytes: the order of an immutable map differs from process to process.
    Map<String, String> headers = body.headers().size() > 1 ? new TreeMap<>(body.headers()) : body.headers();
    headers.forEach((name, value) -> out.text(name).text(value));
    out.varint(body.payload().length).bytes(body.payload());
  }

  /** Decodes the bytes of {@link #writeBody}. */
  public static Body readBody(BytesReader in) {
    int type = in.u8();
    String contentType = type == OTHER_TYPE ? in.text() : CONTENT_TYPES[type];
    int count = in.varint();
    Map<String, String> headers = count == 0 ? Map.of() : new HashMap<>();
    for (int i = 0; i < count; i++) {
      headers.put(in.text(), in.text());
    }
    return new Body(in.bytes(in.varint()), contentType, headers);
  }

  /**
   * Returns a body in a frame of its own. The owner of the frame is the key, or the id if {@code key} is null. Some
   * writers know only one of the two, so {@link #unframeBody} accepts both owners.
   */
  public static byte[] frameBody(TaskId id, @Nullable String key, Body body) {
    return frameBody(key == null ? Checksum.mark(id) : Checksum.mark(key), body);
  }

  /** Returns, in a frame of its own, the body of a task that has a key. The owner of the frame is the key. */
  public static byte[] frameBody(String key, Body body) {
    return frameBody(Checksum.mark(key), body);
  }

  private static byte[] frameBody(int mark, Body body) {
    Bytes out = new Bytes(body.payload().length + 16);
    int start = Frame.begin(out);
    writeBody(body, out);
    return Frame.end(out, start, mark).toArray();
  }

  /**
   * Decodes the bytes of {@link #frameBody}.
   *
   * @throws UnreadableException if the bytes cannot be read
   */
  public static Body unframeBody(TaskId id, @Nullable String key, byte[] bytes) {
    int ofId = Checksum.mark(id);
    int mark = key == null || Frame.isMarked(ofId, bytes) ? ofId : Checksum.mark(key);
    return Frame.read("the payload of a task", id, mark, bytes, RecordParts::readBody);
  }

  /**
   * Writes attempts.
   *
   * @param generation base of the attempts' generations
   * @param millis base of the attempts' times
   */
  public static void writeAttempts(List<AttemptRecord> attempts, long generation, long millis, Bytes out) {
    out.u8(attempts.size());
    for (AttemptRecord attempt : attempts) {
      out.near(attempt.generation() - generation).varint(attempt.attempt());
      out.near(attempt.begunAt() - millis).near(attempt.endedAt() - attempt.begunAt());
      out.u8(EnumCodes.of(attempt.end())).text(attempt.detail());
    }
  }

  /** Decodes the bytes of {@link #writeAttempts} with the same bases. */
  public static List<AttemptRecord> readAttempts(BytesReader in, long generation, long millis) {
    int count = in.u8();
    List<AttemptRecord> attempts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      long attempted = generation + in.near();
      int number = in.varint();
      long begunAt = millis + in.near();
      long endedAt = begunAt + in.near();
      attempts.add(new AttemptRecord(attempted, number, begunAt, endedAt, EnumCodes.end(in.u8()), in.text()));
    }
    return List.copyOf(attempts);
  }

  /**
   * Writes a note.
   *
   * @param generation base of the note's generation
   */
  public static void writeNote(TaskRecord.Noted noted, long generation, Bytes out) {
    TaskNote note = noted.note();
    String checkpoint = note.checkpoint();
    out.near(noted.generation() - generation);
    out.u64(Double.doubleToRawLongBits(note.progress())).text(note.message()).text(note.log());
    // Bit 0: whether there is a checkpoint. Bits 1 to 7: the mark.
    out.u8((checkpoint == null ? 0 : 1) | EnumCodes.of(note.mark()) << 1);
    if (checkpoint != null) {
      out.text(checkpoint);
    }
  }

  /** Decodes the bytes of {@link #writeNote} with the same base. */
  public static TaskRecord.Noted readNote(BytesReader in, long generation) {
    long noted = generation + in.near();
    double progress = Double.longBitsToDouble(in.u64());
    String message = in.text();
    String log = in.text();
    int flags = in.u8();
    String checkpoint = (flags & 1) == 0 ? null : in.text();
    return new TaskRecord.Noted(noted, new TaskNote(progress, message, checkpoint, log, EnumCodes.mark(flags >> 1)));
  }

  /**
   * Writes a successor without its payload.
   *
   * @param generation base of the successor's generation
   * @param millis base of the successor's times
   */
  public static void writeSuccessor(TaskRecord.Successor successor, long generation, long millis, Bytes out) {
    out.near(successor.generation() - generation).near(successor.dueAt() - millis);
    out.near(successor.firstDueAt() - successor.dueAt()).varint(successor.maxAttempts());
  }

  /** Decodes the bytes of {@link #writeSuccessor} with the same bases. The body of the result is null. */
  public static TaskRecord.Successor readSuccessor(BytesReader in, long generation, long millis) {
    long nextGeneration = generation + in.near();
    long dueAt = millis + in.near();
    long firstDueAt = dueAt + in.near();
    return new TaskRecord.Successor(nextGeneration, dueAt, firstDueAt, null, in.varint());
  }

  /** Writes the answer to a request. */
  public static void writeAnswer(Answered answered, Bytes out) {
    SubmitResult result = answered.result();
    out.u64(answered.digest()).u64(answered.dropAt()).u8(EnumCodes.of(result.kind())).u8(EnumCodes.of(result.state()));
    out.id(result.id()).u64(result.generation()).u64(result.dueAt()).u8(result.indexed() ? 1 : 0);
  }

  /** Decodes the bytes of {@link #writeAnswer}. */
  public static Answered readAnswer(BytesReader in) {
    long digest = in.u64();
    long dropAt = in.u64();
    SubmitResult.Kind kind = EnumCodes.submitKind(in.u8());
    TaskState state = EnumCodes.state(in.u8());
    return new Answered(digest,
        new SubmitResult(kind, in.id(), in.u64(), in.u64(), state, in.u8() == 1), dropAt);
  }

  /** Appends the answer to a request, in a frame of its own. */
  public static Bytes frameAnswer(Answered answered, Bytes out) {
    int start = Frame.begin(out);
    writeAnswer(answered, out);
    return Frame.end(out, start, Checksum.NO_MARK);
  }

  /**
   * Decodes the bytes of {@link #frameAnswer}.
   *
   * @throws UnreadableException if the bytes cannot be read
   */
  public static Answered unframeAnswer(byte[] bytes) {
    return Frame.read("the answer to a request", "a request", Checksum.NO_MARK, bytes, RecordParts::readAnswer);
  }
}
