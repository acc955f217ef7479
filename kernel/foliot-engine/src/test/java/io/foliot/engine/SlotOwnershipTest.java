package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SlotSet;
import io.foliot.engine.OverduePoll.Adoption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class SlotOwnershipTest {
  private static final int SLOTS = 4;
  private static final Assignment HALVES = Assignment.of(Arrays.asList("a", "a", "b", "b"));

  private long nowNanos;
  private final TimeSource clock = new TimeSource() {
    @Override
    public long wallMicros() {
      return nowNanos / 1_000;
    }

    @Override
    public long monotonicNanos() {
      return nowNanos;
    }
  };
  private final RecordedCoordinator coordinator = new RecordedCoordinator();
  private final List<Assignment> published = coordinator.published;
  private @Nullable SlotSet owned;
  private @Nullable Adoption adoption;
  private final SlotOwnership ownership = new SlotOwnership("a",
      new MemoryStore(SLOTS, clock, () -> new Token(1, 1)), clock, coordinator, (slots, assignment, allowed) -> {
        owned = slots;
        adoption = allowed;
      });

  @BeforeEach
  void begin() {
    ownership.begin();
    assertThat(ownedSlots()).isZero();
    report(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ENDING);
  }

  private int ownedSlots() {
    return owned == null ? 0 : owned.size();
  }

  private void report(byte @Nullable [] document, @Nullable String leader, String... members) {
    ownership.changed(RecordedCoordinator.connected(document, leader, members));
  }

  private void report(Connection connection) {
    ownership.changed(RecordedCoordinator.without(connection));
  }

  @Test
  void aNodeKeepsItsSlotsWhileTheCoordinatorIsUnavailable() {
    for (Connection connection : List.of(Connection.SUSPENDED, Connection.LOST, Connection.SUSPENDED)) {
      report(connection);
      assertThat(ownedSlots()).isEqualTo(2);
      assertThat(adoption).isEqualTo(Adoption.ALLOWED);
    }
    report(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ENDING);
  }

  @Test
  void aNodeKeepsItsSlotsUntilANewerAssignment() {
    report(null, null);
    assertThat(ownedSlots()).isEqualTo(2);
    report(new byte[]{99}, "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    report(Assignment.of(Arrays.asList("a", "b", "b", "b")).encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(1);
  }

  @Test
  void aNodeDisplacedByAnotherProcessOwnsNoSlots() {
    report(Connection.DISPLACED);
    assertThat(ownedSlots()).isZero();
    assertThat(adoption).isEqualTo(Adoption.FORBIDDEN);
    report(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
  }

  @Test
  void aNodeWithAWrongClockOwnsNoSlotsUnderAnyView() {
    report(Connection.LOST);
    ownership.takesSlots(false);
    assertThat(ownedSlots()).isZero();
    assertThat(adoption).isEqualTo(Adoption.FORBIDDEN);
    report(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isZero();
    report(Connection.LOST);
    ownership.takesSlots(true);
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ALLOWED);
  }

  @Test
  void aLeaderReplacesAMissingOrUnreadableAssignment() {
    report(null, "a", "a", "b");
    assertThat(published).containsExactly(HALVES);
    report(new byte[]{99}, "a", "a", "b");
    assertThat(published).containsExactly(HALVES, HALVES);
    report(HALVES.encode(), "a", "a", "b");
    assertThat(published).hasSize(2);
  }

  @Test
  void aLeaderThatLostItsSessionWaitsForKnownMembers() {
    report(Connection.LOST);
    report(HALVES.encode(), "a", "a");
    nowNanos += Duration.ofSeconds(4).toNanos();
    ownership.eachSecond();
    assertThat(published).as("b may still register").isEmpty();
    report(HALVES.encode(), "a", "a", "c");
    assertThat(published.getLast().slotsOf("b").cardinality()).isEqualTo(1);
    nowNanos += Duration.ofSeconds(1).toNanos();
    ownership.eachSecond();
    assertThat(published.getLast().slotsOf("b").cardinality()).isZero();
    int before = published.size();
    ownership.eachSecond();
    assertThat(published).hasSize(before);
  }

  @Test
  void aMemberThatReturnedAndLeftIsNotWaitedFor() {
    report(Connection.LOST);
    report(HALVES.encode(), "a", "a", "b");
    assertThat(published).isEmpty();
    report(HALVES.encode(), "a", "a");
    assertThat(published.getLast().slotsOf("a").cardinality()).isEqualTo(SLOTS);
  }

  @Test
  void aLeaderThatKeptItsSessionWaitsForNoMember() {
    report(Connection.SUSPENDED);
    report(HALVES.encode(), "a", "a");
    assertThat(published.getLast().slotsOf("a").cardinality()).isEqualTo(SLOTS);
  }
}
