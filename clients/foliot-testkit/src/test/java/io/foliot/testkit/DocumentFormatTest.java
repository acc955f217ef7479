package io.foliot.testkit;

import static io.foliot.testkit.DocumentContract.assertGuarded;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.coordination.Assignment;
import io.foliot.core.store.StoreSeal;
import io.foliot.core.store.format.DamagedException;
import io.foliot.core.store.format.DocumentFormat;
import io.foliot.core.store.format.MalformedException;
import io.foliot.core.store.format.SealFormat;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The documents of foliot-core: each is read as it was written, and is refused if its bytes have changed. */
final class DocumentFormatTest {
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
  void invalidOwnersAndSlotCountsAreMalformed() {
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
