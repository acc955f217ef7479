package io.foliot.cluster.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.store.format.Bytes;
import io.foliot.core.store.format.Checksum;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.Frame;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.NewerVersionException;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

final class MemberRecordTest {
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
  void aMemberIsReadAsItWasWritten() {
    for (Member member : new Member[]{new Member("n", ""), new Member("n", "east", false, Long.MIN_VALUE)}) {
      assertThat(MemberRecord.decode("n", new MemberRecord(member).encode()).member()).isEqualTo(member);
    }
  }

  @Test
  void aChangedMemberIsRefused() {
    assertGuarded("member", new MemberRecord(new Member("n", "east", true, -12)).encode(),
        bytes -> MemberRecord.decode("n", bytes));
  }
}
