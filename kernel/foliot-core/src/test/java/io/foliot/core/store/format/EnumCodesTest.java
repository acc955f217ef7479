package io.foliot.core.store.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.TaskNote;
import io.foliot.api.TaskState;
import io.foliot.core.Address;
import io.foliot.core.store.AttemptRecord;
import io.foliot.core.store.DocumentKind;
import io.foliot.core.store.SubmitResult;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;

/** Pins the numbers that stores keep for constants of enums. Entries may be added here, but never changed. */
final class EnumCodesTest {
  private static <E extends Enum<E>> void assertPinned(Class<E> type, ToIntFunction<E> code, String... table) {
    assertThat(List.of(type.getEnumConstants()).stream().map(value -> code.applyAsInt(value) + " " + value.name()))
        .containsExactlyInAnyOrder(table);
  }

  private static <E extends Enum<E>> void assertReadBack(Class<E> type, ToIntFunction<E> code, IntFunction<E> value) {
    for (E constant : type.getEnumConstants()) {
      assertThat(value.apply(code.applyAsInt(constant))).isEqualTo(constant);
    }
    assertThatThrownBy(() -> value.apply(-1)).isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> value.apply(type.getEnumConstants().length)).isInstanceOf(MalformedException.class);
  }

  @Test
  void statesHaveTheirCodes() {
    assertPinned(TaskState.class, EnumCodes::of, "0 READY", "1 DELAYED", "2 RUNNING", "3 FINISHED", "4 FAILED",
        "5 CANCELLED");
    assertReadBack(TaskState.class, EnumCodes::of, EnumCodes::state);
  }

  @Test
  void endsOfAttemptsHaveTheirCodes() {
    assertPinned(AttemptRecord.End.class, EnumCodes::of, "0 FINISHED", "1 RETRIED", "2 FAILED", "3 REARMED",
        "4 LEASE_ENDED", "5 NOT_BEGUN");
    assertReadBack(AttemptRecord.End.class, EnumCodes::of, EnumCodes::end);
  }

  @Test
  void kindsOfSubmitResultsHaveTheirCodes() {
    assertPinned(SubmitResult.Kind.class, EnumCodes::of, "0 CREATED", "1 RESET", "2 RESET_PENDING", "3 KEPT",
        "4 REJECTED", "5 REPEATED", "6 MISMATCHED", "7 CHANGED");
    assertReadBack(SubmitResult.Kind.class, EnumCodes::of, EnumCodes::submitKind);
  }

  @Test
  void marksAndAddressesHaveTheirCodes() {
    assertPinned(TaskNote.Mark.class, EnumCodes::of, "0 NONE", "1 END_JOB", "2 RUN_AGAIN");
    assertReadBack(TaskNote.Mark.class, EnumCodes::of, EnumCodes::mark);
    assertPinned(Address.Kind.class, Address.Kind::code, "0 ANY", "1 SEAT", "2 ZONE_SEAT", "3 ZONE", "4 ONLY");
    assertThat(Arrays.stream(Address.Kind.values()).map(kind -> Address.Kind.of(kind.code())))
        .containsExactly(Address.Kind.values());
  }

  @Test
  void kindsOfDocumentsHaveTheirCodes() {
    assertPinned(DocumentKind.class, EnumCodes::of, "1 QUEUE", "2 CALENDAR", "3 NODE", "4 PERMITS", "5 CLUSTER",
        "6 API_KEY", "7 FLEET");
    assertThat(Arrays.stream(DocumentKind.values()).map(EnumCodes::nameOf)).containsExactlyInAnyOrder("queue",
        "calendar",
        "node", "permits", "cluster", "api_key", "fleet");
  }
}
