package io.foliot.core.store.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.TaskState;
import io.foliot.core.TaskId;
import io.foliot.core.store.RecordTable.Answered;
import io.foliot.core.store.SubmitResult;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class RecordPartsTest {
  /** Ensures that a frame is refused if any bit of it is flipped, or if it is cut short anywhere. */
  private static void assertGuarded(byte[] bytes, Consumer<byte[]> read) {
    read.accept(bytes);
    for (int at = 0; at < bytes.length; at++) {
      for (int bit = 0; bit < 8; bit++) {
        byte[] flipped = bytes.clone();
        flipped[at] ^= (byte) (1 << bit);
        assertThatThrownBy(() -> read.accept(flipped)).as("byte %s", at).isInstanceOf(DamagedException.class);
      }
      byte[] cut = Arrays.copyOf(bytes, at);
      assertThatThrownBy(() -> read.accept(cut)).as("cut to %s", at).isInstanceOf(DamagedException.class);
    }
  }

  @Test
  void anAnswerIsReadAsItWasWritten() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (SubmitResult.Kind kind : SubmitResult.Kind.values()) {
      for (TaskState state : TaskState.values()) {
        Answered answered = new Answered(random.nextLong(), new SubmitResult(kind,
            new TaskId(random.nextLong(), random.nextLong()), random.nextLong(), random.nextLong(), state,
            random.nextBoolean()), random.nextLong());
        byte[] bytes = RecordParts.frameAnswer(answered, new Bytes(8)).toArray();
        assertThat(RecordParts.unframeAnswer(bytes)).as("seed %s", seed).isEqualTo(answered);
      }
    }
  }

  @Test
  void everyFlippedBitOfAnAnswerIsNoticed() {
    Answered answered = new Answered(1, new SubmitResult(SubmitResult.Kind.RESET, new TaskId(2, 3), 4, 5,
        TaskState.DELAYED, true), 6);
    assertGuarded(RecordParts.frameAnswer(answered, new Bytes(8)).toArray(), RecordParts::unframeAnswer);
  }

  @Test
  void everyFlippedBitOfADocumentIsNoticed() {
    byte[] content = {1, 2, 3};
    byte[] stored = DocumentFormat.frame("name", content);
    assertThat(DocumentFormat.unframe("name", stored)).isEqualTo(content);
    assertGuarded(stored, bytes -> DocumentFormat.unframe("name", bytes));
    assertThatThrownBy(() -> DocumentFormat.unframe("other", stored)).isInstanceOf(DamagedException.class);
  }

  @Test
  void aBodyBelongsToTheKeyOrTheIdOfItsTask() {
    TaskId id = new TaskId(2, 3);
    TaskId other = new TaskId(2, 4);
    Body body = Body.json("1");
    byte[] ofKey = RecordParts.frameBody("key", body);
    byte[] ofId = RecordParts.frameBody(id, null, body);
    assertThat(RecordParts.unframeBody(id, "key", ofKey)).isEqualTo(body);
    assertThat(RecordParts.unframeBody(other, "key", ofKey)).as("a key has one live task").isEqualTo(body);
    assertThat(RecordParts.unframeBody(id, "key", ofId)).isEqualTo(body);
    assertThat(RecordParts.unframeBody(id, null, ofId)).isEqualTo(body);
    assertThatThrownBy(() -> RecordParts.unframeBody(id, "other", ofKey)).isInstanceOf(DamagedException.class);
    assertThatThrownBy(() -> RecordParts.unframeBody(id, null, ofKey)).isInstanceOf(DamagedException.class);
    assertThatThrownBy(() -> RecordParts.unframeBody(other, "key", ofId)).isInstanceOf(DamagedException.class);
    assertGuarded(ofId, bytes -> RecordParts.unframeBody(id, "key", bytes));
    assertGuarded(ofKey, bytes -> RecordParts.unframeBody(id, "key", bytes));
  }

  @Test
  void numbersOfAllSizesAreReadAsTheyWereWritten() {
    long[] numbers = {Long.MIN_VALUE, -1L << 53, -65, -64, -1, 0, 1, 63, 64, 1L << 31, Long.MAX_VALUE};
    Bytes out = new Bytes(1);
    for (long number : numbers) {
      out.near(number).u64(number).ordered(number).varint((int) number).u32((int) number).u16((int) number)
          .u8((int) number);
    }
    BytesReader in = new BytesReader(out.toArray());
    for (long number : numbers) {
      assertThat(in.near()).isEqualTo(number);
      assertThat(in.u64()).isEqualTo(number);
      assertThat(in.u64() ^ Long.MIN_VALUE).isEqualTo(number);
      assertThat(in.varint()).isEqualTo((int) number);
      assertThat(in.u32()).isEqualTo((int) number);
      assertThat(in.u16()).isEqualTo((int) number & 0xFFFF);
      assertThat(in.u8()).isEqualTo((int) number & 0xFF);
    }
    assertThat(in.atEnd()).isTrue();
    assertThatThrownBy(in::u8).isInstanceOf(IndexOutOfBoundsException.class);
  }
}
