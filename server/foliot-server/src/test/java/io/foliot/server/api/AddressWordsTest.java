package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Address;
import io.foliot.core.coordination.Fleet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the words for the address of a due task. */
final class AddressWordsTest {
  private static final Fleet FLEET = new Fleet(
      List.of(seat(0, "report-a", "fra1", true, true, "q"), seat(1, "report-b", "fra1", true, false, "q"),
          seat(2, "report-c", "fra2", false, true, "q"), seat(3, "report-d", "", true, true, "other")),
      List.of("fra1", "fra2", ""));

  private static Fleet.Seat seat(int number, String worker, String zone, boolean isLive, boolean isEnabled,
      String queue) {
    return new Fleet.Seat(number, worker, zone, isLive ? Set.of(queue) : Set.of(), isLive ? "n1" : "", isLive,
        isEnabled);
  }

  private static String words(Address.Kind kind, int number) {
    return AddressWords.of(new Address(kind, number), "q", FLEET);
  }

  @Test
  void aTaskWaitsForALiveWorker() {
    assertThat(words(Address.Kind.SEAT, 0)).isEqualTo(
        "it is addressed to the worker on seat 0 (report-a, zone fra1) and waits for its next claim");
  }

  @Test
  void aSubstituteIsNamed() {
    assertThat(words(Address.Kind.SEAT, 1)).isEqualTo("it is addressed to the worker on seat 1 (report-b, zone fra1),"
        + " which is disabled; the worker on seat 0 (report-a, zone fra1) takes it with its next claim");
    assertThat(words(Address.Kind.SEAT, 2)).contains("report-c, zone fra2), which is gone; the worker on seat 0");
    assertThat(words(Address.Kind.SEAT, 3)).contains("report-d, no zone), which takes no tasks of its queue; the");
    assertThat(words(Address.Kind.SEAT, 9)).contains("seat 9, which no worker has; the worker on seat 0");
  }

  @Test
  void withoutASubstituteATaskWaitsForAWorker() {
    assertThat(words(Address.Kind.ZONE_SEAT, 2)).endsWith("it waits for another worker of its queue in that zone");
    assertThat(AddressWords.of(new Address(Address.Kind.SEAT, 0), "q", Fleet.EMPTY))
        .endsWith("it waits for another worker of its queue");
    assertThat(words(Address.Kind.ONLY, 2)).endsWith("which is gone; no other worker may take it");
  }

  @Test
  void theWordsForAZoneCountItsWorkers() {
    assertThat(words(Address.Kind.ZONE, 0)).isEqualTo(
        "it is addressed to the workers in zone fra1 and waits for the next claim by one of them;"
            + " workers there with its queue: 1");
    assertThat(words(Address.Kind.ZONE, 1)).endsWith("where none takes tasks of its queue; it waits for one");
    assertThat(words(Address.Kind.ZONE, 9)).contains("zone number 9, where none");
  }

  @ParameterizedTest
  @EnumSource(Address.Kind.class)
  void aNameThatTheCallerMayNotSeeIsLeftOut(Address.Kind kind) {
    Fleet hidden = new Fleet(List.of(seat(0, "", "fra1", false, true, "q")), List.of("fra1"));
    assertThat(AddressWords.of(new Address(kind, 0), "q", hidden)).doesNotContain("(,", "( ", ", ,", "null");
  }
}
