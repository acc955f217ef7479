package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.Frame;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import java.util.Arrays;
import java.util.function.Consumer;

/** Properties of every decoder of a {@linkplain DocumentFormat document}. */
public final class DocumentContract {
  private DocumentContract() {}

  /**
   * Asserts that a decoder accepts a valid document, and refuses it after each of these changes:
   * <ul>
   * <li>A flipped bit, a missing end or a missing checksum causes a {@link DamagedException}.
   * <li>A newer version causes a {@link NewerVersionException}.
   * <li>Content that is a byte too short or too long causes a {@link MalformedException}.
   * </ul>
   *
   * @param subject the kind of document, as given to {@link DocumentFormat#encode}
   * @param bytes a valid document, which the decoder accepts
   * @param read the decoder
   */
  public static void assertGuarded(String subject, byte[] bytes, Consumer<byte[]> read) {
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
    // Byte 0 is the version, which DocumentFormat.encode writes.
    byte[] shorter = DocumentFormat.encode(subject, out -> out.bytes(bytes, 1, contentEnd - 2));
    assertThatThrownBy(() -> read.accept(shorter)).isInstanceOf(MalformedException.class);
    byte[] longer = DocumentFormat.encode(subject, out -> out.bytes(bytes, 1, contentEnd - 1).u8(0));
    assertThatThrownBy(() -> read.accept(longer)).isInstanceOf(MalformedException.class);
    byte[] unframed = Arrays.copyOf(bytes, contentEnd);
    assertThatThrownBy(() -> read.accept(unframed)).isInstanceOf(DamagedException.class)
        .hasMessageContaining("checksum").hasMessageContaining(subject);
  }
}
