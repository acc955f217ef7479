package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.QueueConfig;
import io.foliot.core.Retry;
import io.foliot.core.Target;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.Frame;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The documents of the engine: each is read as it was written, and refused where it is not. */
final class EngineDocumentsTest {
  private static final QueueConfig FULL = new QueueConfig("q",
      new Target("http", Map.of("url", "http://127.0.0.1/", "secret", "s"),
          Duration.ofMillis(1_500)),
      new Retry(7, Duration.ofMillis(5), 1.5, Duration.ofHours(1), 0.3), -3, 12.5, 4,
      Duration.ofHours(2), Duration.ofHours(3), Duration.ofHours(4), Duration.ofDays(5), true);

  /** Ensures that bytes with a flipped bit, cut bytes and bytes of a newer version are refused, each as what it is. */
  private static void assertGuarded(String subject, byte[] bytes, Consumer<byte[]> read) {
    read.accept(bytes);
    for (int at = 0; at < bytes.length; at++) {
      byte[] flipped = bytes.clone();
      flipped[at] ^= 4;
      assertThatThrownBy(() -> read.accept(flipped)).as("byte %s", at).isInstanceOf(DamagedException.class);
      byte[] cut = Arrays.copyOf(bytes, at);
      assertThatThrownBy(() -> read.accept(cut)).as("cut to %s", at).isInstanceOf(DamagedException.class);
    }
    int contentEnd = bytes.length - Checksum.BYTES;
    byte[] newer = bytes.clone();
    newer[0] = (byte) (Frame.VERSION + 1);
    System.arraycopy(new Bytes(4).u32(Checksum.of(Checksum.mark(subject), newer, 0, contentEnd)).array(), 0, newer,
        contentEnd, Checksum.BYTES);
    assertThatThrownBy(() -> read.accept(newer)).isInstanceOf(NewerVersionException.class)
        .hasMessageContaining(subject).hasMessageContaining("version=" + (Frame.VERSION + 1));
    byte[] shorter = DocumentFormat.encode(subject, out -> out.bytes(bytes, 1, contentEnd - 2));
    assertThatThrownBy(() -> read.accept(shorter)).isInstanceOf(MalformedException.class);
    byte[] longer = DocumentFormat.encode(subject, out -> out.bytes(bytes, 1, contentEnd - 1).u8(0));
    assertThatThrownBy(() -> read.accept(longer)).isInstanceOf(MalformedException.class);
    byte[] unframed = Arrays.copyOf(bytes, contentEnd);
    assertThatThrownBy(() -> read.accept(unframed)).isInstanceOf(DamagedException.class)
        .hasMessageContaining("checksum").hasMessageContaining(subject);
  }

  @Test
  void settingsOfAQueueAreReadAsTheyWereWritten() {
    assertThat(QueueCodec.decode(QueueCodec.encode(FULL))).isEqualTo(FULL);
    QueueConfig plain = QueueConfig.of("p", Target.pull());
    assertThat(QueueCodec.decode(QueueCodec.encode(plain))).isEqualTo(plain);
  }

  @Test
  void theMarkOfADeletionIsReadWithTheSettings() {
    assertThat(QueueCodec.decodeAll(QueueCodec.encode(FULL)))
        .isEqualTo(new QueueCodec.Decoded(FULL, QueueCodec.OPEN));
    byte[] marked = QueueCodec.encode(FULL, 1_234);
    assertThat(QueueCodec.decodeAll(marked)).isEqualTo(new QueueCodec.Decoded(FULL, 1_234));
    assertThat(QueueCodec.decode(marked)).isEqualTo(FULL);
  }

  @Test
  void changedSettingsOfAQueueAreRefused() {
    assertGuarded("queue", QueueCodec.encode(FULL), QueueCodec::decode);
  }

  @Test
  void changedPermitsAreRefused() {
    PermitRecord record = PermitRecord.EMPTY.with(new PermitRecord.Holder(-1, "n1", 3, 500, 9, 1_000))
        .with(new PermitRecord.Holder(2, "n2", 1, 0, 2, Long.MAX_VALUE));
    assertThat(PermitRecord.decode(record.encode())).isEqualTo(record);
    assertGuarded("permits", record.encode(), PermitRecord::decode);
  }

  @Test
  void permitsOfTooManyHoldersAreMalformed() {
    for (int count : List.of(-1, 10_001, Integer.MAX_VALUE)) {
      byte[] bytes = DocumentFormat.encode("permits", out -> out.varint(count));
      assertThatThrownBy(() -> PermitRecord.decode(bytes)).isInstanceOf(MalformedException.class);
    }
  }
}
