package io.foliot.store.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.Token;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.NewerVersionException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class RecordCodecTest {
  private static final TaskId ID = TaskId.of(1_700_000_000_000L, 7, 42);
  private static final String KEY = "käy\u0080";
  /** Length of the header, which the scripts change and which therefore has no checksum. */
  private static final int HEADER_BYTES = 101;
  private static final Body BODY = new Body(new byte[]{0, 1, -1}, "application/x-thing", Map.of("a", "ß"));

  private static TaskRecord full() {
    return TaskRecord.edit(ID, "orders", KEY).body(BODY).createdAt(1).changedAt(-2).firstDueAt(Long.MIN_VALUE)
        .dueAt(3).wakeAt(4).generation(1L << 51).attempt(3).maxAttempts(5).state(TaskState.RUNNING)
        .token(new Token(-1, Long.MAX_VALUE)).claimedAt(8).leaseEnd(9).outstanding(true)
        .successor(new TaskRecord.Successor(11, 12, 13, Body.json("1"), 14))
        .attempts(List.of(new AttemptRecord(1, 2, 3, 4, AttemptRecord.End.LEASE_ENDED, "ö"),
            new AttemptRecord(5, 6, 7, 8, AttemptRecord.End.RETRIED, "")))
        .done();
  }

  @Test
  void aDecodedRecordEqualsTheEncodedOne() {
    TaskRecord record = full();
    TaskRecord read = RecordCodec.decode(ID, RecordCodec.encode(record), RecordCodec.encode(ID, KEY, BODY),
        RecordCodec.encode(ID, KEY, Body.json("1")));
    assertThat(read).usingRecursiveComparison().isEqualTo(record);
    assertThat(RecordCodec.isWhole(read)).isTrue();
  }

  @Test
  void aRecordReadWithoutItsBodyIsNotWhole() {
    TaskRecord read = RecordCodec.decode(ID, RecordCodec.encode(full()), null, null);
    assertThat(RecordCodec.isWhole(read)).isFalse();
    assertThat(RecordCodec.encode(read)).as("the encoding still has the flag of the body")
        .isEqualTo(RecordCodec.encode(full()));
  }

  @Test
  void damagedAndNewerBytesAreRefused() {
    byte[] record = RecordCodec.encode(full());
    byte[] body = RecordCodec.encode(ID, KEY, BODY);
    byte[] flippedBody = body.clone();
    flippedBody[body.length - 1] ^= 1;
    assertThatThrownBy(() -> RecordCodec.decode(ID, record, flippedBody, null)).isInstanceOf(DamagedException.class);
    byte[] shorter = Arrays.copyOf(record, record.length - 1);
    assertThatThrownBy(() -> RecordCodec.decode(ID, shorter, body, null)).isInstanceOf(DamagedException.class);
    byte[] newer = record.clone();
    newer[0] = 2;
    assertThatThrownBy(() -> RecordCodec.decode(ID, newer, body, null)).isInstanceOf(NewerVersionException.class)
        .hasMessageContaining("version=2");
  }

  @Test
  void everyFlippedBitAfterTheHeaderAndEveryCutIsDetected() {
    TaskRecord record = TaskRecord.edit(ID, "orders", KEY).state(TaskState.FAILED).reason("no luck").done();
    byte[] bytes = RecordCodec.encode(record);
    for (int at = 0; at < bytes.length; at++) {
      byte[] cut = Arrays.copyOf(bytes, at);
      assertThatThrownBy(() -> RecordCodec.decode(ID, cut, null, null)).as("cut to %s", at)
          .isInstanceOf(DamagedException.class);
      for (int bit = 0; at >= HEADER_BYTES && bit < 8; bit++) {
        byte[] flipped = bytes.clone();
        flipped[at] ^= (byte) (1 << bit);
        assertThatThrownBy(() -> RecordCodec.decode(ID, flipped, null, null)).as("byte %s", at)
            .isInstanceOf(DamagedException.class);
      }
    }
    TaskId otherTask = TaskId.of(1_700_000_000_000L, 7, 43);
    assertThatThrownBy(() -> RecordCodec.decode(otherTask, bytes, null, null)).isInstanceOf(DamagedException.class);
  }
}
