package io.foliot.core.store.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.StoreSeal;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The documents of the core: each is read as it was written, and refused where it is not. */
final class DocumentFormatTest {
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
  void aSealIsReadAsItWasWritten() {
    for (StoreSeal.State state : StoreSeal.State.values()) {
      StoreSeal plain = StoreSeal.of(state, "elsewhere");
      assertThat(SealFormat.decode(SealFormat.encode(plain))).isEqualTo(plain);
      StoreSeal filling = new StoreSeal(state, "ü", "cursor", Long.MAX_VALUE);
      assertThat(SealFormat.decode(SealFormat.encode(filling))).isEqualTo(filling);
    }
  }

  @Test
  void aChangedSealIsRefused() {
    assertGuarded("seal", SealFormat.encode(new StoreSeal(StoreSeal.State.FILLING, "other", "c", 7)),
        SealFormat::decode);
  }

  @Test
  void anUnknownStateOfASealIsMalformed() {
    byte[] bytes = DocumentFormat.encode("seal", out -> out.u8(99).text("other").u8(0).u64(0));
    assertThatThrownBy(() -> SealFormat.decode(bytes)).isInstanceOf(MalformedException.class);
  }

  @Test
  void anAssignmentIsReadAsItWasWritten() {
    for (Assignment each : List.of(Assignment.none(0), Assignment.none(16),
        Assignment.of(Arrays.asList("a", null, "b", "a")))) {
      assertThat(Assignment.decode(each.encode())).isEqualTo(each);
    }
  }

  @Test
  void aChangedAssignmentIsRefused() {
    assertGuarded("slot assignment", Assignment.of(Arrays.asList("a", null, "b")).encode(), Assignment::decode);
  }

  @Test
  void anAssignmentToNoNodeIsMalformed() {
    for (long owner : new long[]{-2, 1, 1L << 32}) {
      byte[] bytes = DocumentFormat.encode("slot assignment", out -> out.varint(1).text("a").varint(1).near(owner));
      assertThatThrownBy(() -> Assignment.decode(bytes)).isInstanceOf(MalformedException.class);
    }
    byte[] endless = DocumentFormat.encode("slot assignment", out -> out.varint(0).varint(Integer.MAX_VALUE));
    assertThatThrownBy(() -> Assignment.decode(endless)).isInstanceOf(MalformedException.class);
  }

  @Test
  void aDocumentOfAnotherSubjectIsRefused() {
    byte[] seal = SealFormat.encode(StoreSeal.of(StoreSeal.State.MOVED, "other"));
    assertThatThrownBy(() -> Assignment.decode(seal)).isInstanceOf(DamagedException.class);
  }
}
