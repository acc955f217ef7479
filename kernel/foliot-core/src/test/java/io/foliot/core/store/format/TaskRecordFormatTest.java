package io.foliot.core.store.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class TaskRecordFormatTest {
  private static final String[] QUEUES = {"orders", "mails", "q"};
  private static final long[] EDGES = {Long.MIN_VALUE, -1, 0, 1, 1L << 31, (1L << 53) - 1, Long.MAX_VALUE - 1,
      Long.MAX_VALUE};
  private static final List<AttemptRecord.End> ENDS = List.of(AttemptRecord.End.values());
  private static final TaskState[] STATES = {TaskState.DELAYED, TaskState.RUNNING, TaskState.FINISHED, TaskState.FAILED,
      TaskState.CANCELLED};

  private static long anyLong(Random random) {
    return switch (random.nextInt(3)) {
      case 0 -> EDGES[random.nextInt(EDGES.length)];
      case 1 -> random.nextLong();
      default -> 1_770_000_000_000L + random.nextInt();
    };
  }

  private static String anyText(Random random, int lengthMax) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(lengthMax + 1); i > 0; i--) {
      text.appendCodePoint(new int[]{'a', '-', 'ü', '€', 0x1F600, 0}[random.nextInt(6)]);
    }
    return text.toString();
  }

  private static Body anyBody(Random random) {
    byte[] payload = new byte[random.nextInt(5) == 0 ? random.nextInt(5_000) : random.nextInt(200)];
    random.nextBytes(payload);
    Map<String, String> headers = new HashMap<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      headers.put("h" + i + anyText(random, 3), anyText(random, 20));
    }
    String type = new String[]{"application/json", "application/octet-stream", "text/plain", "x/y", ""}[random
        .nextInt(5)];
    return new Body(payload, type, headers);
  }

  private static AttemptRecord.End anyEnd(Random random) {
    return ENDS.get(random.nextInt(ENDS.size()));
  }

  static TaskRecord anyRecord(Random random) {
    TaskState state = STATES[random.nextInt(STATES.length)];
    String key = random.nextBoolean() ? anyText(random, 30) + "k" : null;
    long wakeAt = anyLong(random);
    long dueAt = Math.max(wakeAt, anyLong(random));
    TaskRecord.Edit edit = TaskRecord
        .edit(new TaskId(random.nextLong(), random.nextLong()), QUEUES[random.nextInt(QUEUES.length)], key)
        .body(anyBody(random)).createdAt(anyLong(random)).changedAt(anyLong(random)).firstDueAt(anyLong(random))
        .maxAttempts(random.nextInt(3) * 4_000).state(state).generation(anyLong(random)).dueAt(dueAt).wakeAt(wakeAt)
        .attempt(random.nextInt(300)).outstanding(random.nextBoolean())
        .reason(random.nextBoolean() ? "" : anyText(random, 60)).dropAt(random.nextBoolean() ? 0 : anyLong(random));
    if (state == TaskState.RUNNING || random.nextBoolean()) {
      edit.token(new Token(random.nextLong(), random.nextLong())).claimedAt(anyLong(random));
    }
    if (state == TaskState.RUNNING) {
      edit.leaseEnd(Math.max(wakeAt, anyLong(random))).cancelRequested(random.nextBoolean());
      if (random.nextBoolean()) {
        edit.successor(new TaskRecord.Successor(anyLong(random), anyLong(random), anyLong(random),
            random.nextBoolean() ? null : anyBody(random), random.nextInt(10)));
      }
    } else {
      edit.settledAs(
          random.nextBoolean() ? null : anyEnd(random));
    }
    if (!state.isFinal()) {
      edit.parked(random.nextBoolean());
    }
    List<AttemptRecord> attempts = new ArrayList<>();
    for (int i = random.nextInt(AttemptRecord.KEPT + 1); i > 0; i--) {
      attempts.add(new AttemptRecord(anyLong(random), i, anyLong(random), anyLong(random),
          anyEnd(random), anyText(random, 40)));
    }
    if (random.nextInt(3) == 0) {
      edit.noted(new TaskRecord.Noted(anyLong(random), new TaskNote(random.nextDouble(), anyText(random, 40),
          random.nextBoolean() ? null : anyText(random, 500), anyText(random, 100))));
    }
    return edit.attempts(attempts).done();
  }

  private static int number(String queue) {
    return List.of(QUEUES).indexOf(queue);
  }

  private static byte[] encode(TaskRecord record) {
    Bytes out = new Bytes(1);
    TaskRecordFormat.encode(record, number(record.queue()), out);
    return out.toArray();
  }

  /** Returns the encoded body of the task or of its successor; null if there is none, or if the record contains it. */
  private static byte @Nullable [] outside(TaskRecord record, boolean ofSuccessor) {
    TaskRecord.Successor successor = record.successor();
    Body body = ofSuccessor ? successor == null ? null : successor.body() : record.body();
    if (body == null || !TaskRecordFormat.isOutside(body)) {
      return null;
    }
    Bytes out = new Bytes(1);
    RecordParts.writeBody(body, out);
    return out.toArray();
  }

  private static TaskRecord decode(TaskRecord like, byte[] bytes) {
    return TaskRecordFormat.decode(like.id(), bytes, number -> QUEUES[number],
        (id, ofSuccessor) -> outside(like, ofSuccessor));
  }

  @Test
  void aRecordIsReadAsItWasWritten() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 1_000; i++) {
      TaskRecord record = anyRecord(random);
      byte[] bytes = encode(record);
      TaskRecord read = decode(record, bytes);
      assertThat(read).as("seed %s, record %s", seed, i).usingRecursiveComparison().isEqualTo(record);
      assertThat(TaskRecordFormat.queueOf(bytes)).isEqualTo(number(record.queue()));
      assertThat(TaskRecordFormat.stateOf(bytes)).isEqualTo(record.state());
      assertThat(TaskRecordFormat.keyOf(record.id(), bytes)).isEqualTo(record.key());
      assertThat(TaskRecordFormat.hasBodyOutside(bytes)).isEqualTo(TaskRecordFormat.isOutside(record.body()));
    }
  }

  @Test
  void aProbeOfDamagedBytesDoesNotThrow() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 30; i++) {
      byte[] bytes = encode(anyRecord(random));
      for (int at = 0; at < bytes.length; at++) {
        byte[] changed = bytes.clone();
        changed[at] = (byte) random.nextInt();
        byte[] cut = Arrays.copyOf(changed, at);
        assertThatCode(() -> {
          TaskRecordFormat.probed(changed);
          TaskRecordFormat.leaseEnd(changed);
          TaskRecordFormat.probed(cut);
          TaskRecordFormat.leaseEnd(cut);
        }).as("seed %s, record %s, byte %s", seed, i, at).doesNotThrowAnyException();
      }
    }
  }

  @Test
  void everyFlippedByteAndEveryTruncationIsNoticed() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 30; i++) {
      TaskRecord record = anyRecord(random);
      byte[] bytes = encode(record);
      for (int at = 0; at < bytes.length; at++) {
        byte[] flipped = bytes.clone();
        flipped[at] ^= (byte) (1 << random.nextInt(8));
        assertThatThrownBy(() -> decode(record, flipped)).as("seed %s, byte %s", seed, at)
            .isInstanceOf(DamagedException.class).hasMessageContaining("checksum");
        byte[] cut = Arrays.copyOf(bytes, at);
        assertThatThrownBy(() -> decode(record, cut)).as("seed %s, cut to %s", seed, at)
            .isInstanceOf(DamagedException.class);
      }
    }
  }

  @Test
  void aRecordUnderAnotherIdIsNoticed() {
    Random random = new Random(1);
    TaskRecord record = anyRecord(random);
    TaskRecord other = anyRecord(random);
    assertThatThrownBy(() -> decode(other, encode(record))).isInstanceOf(DamagedException.class);
  }

  @Test
  void aMissingOrWrongBodyIsNoticed() {
    TaskRecord record = TaskRecord.edit(new TaskId(1, 2), "q", null)
        .body(new Body(new byte[10_000], "x/y", Map.of())).done();
    byte[] bytes = encode(record);
    byte[] body = outside(record, false);
    assertThat(body).isNotNull();
    assertThat(bytes.length).isLessThan(100);
    for (byte @Nullable [] wrong : new byte @Nullable [][]{null, new byte[0], new byte[10_000]}) {
      assertThatThrownBy(() -> TaskRecordFormat.decode(record.id(), bytes, number -> "q", (id, ofSuccessor) -> wrong))
          .isInstanceOf(DamagedException.class);
    }
  }

  @Test
  void aNewerVersionIsDistinguishedFromDamage() {
    TaskRecord record = TaskRecord.edit(new TaskId(1, 2), "q", null).done();
    assertThatThrownBy(() -> decode(record, withVersion(record, Frame.VERSION + 1)))
        .isInstanceOf(NewerVersionException.class).hasMessageContaining("version=" + (Frame.VERSION + 1));
    assertThatThrownBy(() -> decode(record, withVersion(record, Frame.VERSION - 1)))
        .isInstanceOf(MalformedException.class);
  }

  /** Returns the encoded record with another version's number and a correct checksum. */
  private static byte[] withVersion(TaskRecord record, int version) {
    byte[] bytes = encode(record);
    bytes[0] = (byte) version;
    int end = bytes.length - Checksum.BYTES;
    Bytes sum = new Bytes(Checksum.BYTES).u32(Checksum.of(Checksum.mark(record.id()), bytes, 0, end));
    System.arraycopy(sum.array(), 0, bytes, end, Checksum.BYTES);
    return bytes;
  }

  @Test
  void fieldsThatContradictEachOtherAreMalformed() {
    TaskRecord record = TaskRecord.edit(new TaskId(1, 2), "q", null).done();
    byte[] bytes = encode(record);
    bytes[5] = EnumCodes.RUNNING; // Byte 5 is the state. A running task must have a token; this one has none.
    int end = bytes.length - Checksum.BYTES;
    Bytes sum = new Bytes(Checksum.BYTES).u32(Checksum.of(Checksum.mark(record.id()), bytes, 0, end));
    System.arraycopy(sum.array(), 0, bytes, end, Checksum.BYTES);
    assertThatThrownBy(() -> decode(record, bytes)).isInstanceOf(MalformedException.class)
        .hasStackTraceContaining("contradict");
  }
}
