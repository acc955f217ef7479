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
      new MemoryStore(SLOTS, clock, () -> new Token(1, 1)), clock, coordinator, (slots, assignment, adopts) -> {
        owned = slots;
        adoption = adopts;
      });

  @BeforeEach
  void begin() {
    ownership.begin();
    assertThat(ownedSlots()).isZero();
    sees(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ENDING);
  }

  private int ownedSlots() {
    return owned == null ? 0 : owned.size();
  }

  private void sees(byte @Nullable [] document, @Nullable String leader, String... members) {
    ownership.changed(RecordedCoordinator.connected(document, leader, members));
  }

  private void sees(Connection connection) {
    ownership.changed(RecordedCoordinator.without(connection));
  }

  @Test
  void aCoordinatorThatIsAwayTakesNothing() {
    for (Connection connection : List.of(Connection.SUSPENDED, Connection.LOST, Connection.SUSPENDED)) {
      sees(connection);
      assertThat(ownedSlots()).isEqualTo(2);
      assertThat(adoption).isEqualTo(Adoption.ALLOWED);
    }
    sees(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ENDING);
  }

  @Test
  void onlyANewerAssignmentTakesSlots() {
    sees(null, null);
    assertThat(ownedSlots()).isEqualTo(2);
    sees(new byte[]{99}, "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
    sees(Assignment.of(Arrays.asList("a", "b", "b", "b")).encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(1);
  }

  @Test
  void aNodeWhoseNameAnotherProcessHasOwnsNothing() {
    sees(Connection.DISPLACED);
    assertThat(ownedSlots()).isZero();
    assertThat(adoption).isEqualTo(Adoption.FORBIDDEN);
    sees(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isEqualTo(2);
  }

  @Test
  void aNodeWhoseClockIsWrongOwnsNothingWhateverTheCoordinatorSays() {
    sees(Connection.LOST);
    ownership.takesSlots(false);
    assertThat(ownedSlots()).isZero();
    assertThat(adoption).isEqualTo(Adoption.FORBIDDEN);
    sees(HALVES.encode(), "b", "a", "b");
    assertThat(ownedSlots()).isZero();
    sees(Connection.LOST);
    ownership.takesSlots(true);
    assertThat(ownedSlots()).isEqualTo(2);
    assertThat(adoption).isEqualTo(Adoption.ALLOWED);
  }

  @Test
  void aLeaderPublishesWhatIsMissingFromWhatItReadLast() {
    sees(null, "a", "a", "b");
    assertThat(published).containsExactly(HALVES);
    sees(new byte[]{99}, "a", "a", "b");
    assertThat(published).containsExactly(HALVES, HALVES);
    sees(HALVES.encode(), "a", "a", "b");
    assertThat(published).hasSize(2);
  }

  @Test
  void aLeaderWhoseSessionWasLostWaitsForThoseItKnew() {
    sees(Connection.LOST);
    sees(HALVES.encode(), "a", "a");
    nowNanos += Duration.ofSeconds(4).toNanos();
    ownership.eachSecond();
    assertThat(published).as("b may register yet").isEmpty();
    sees(HALVES.encode(), "a", "a", "c");
    assertThat(published.getLast().slotsOf("b").cardinality()).isEqualTo(1);
    nowNanos += Duration.ofSeconds(1).toNanos();
    ownership.eachSecond();
    assertThat(published.getLast().slotsOf("b").cardinality()).isZero();
    int before = published.size();
    ownership.eachSecond();
    assertThat(published).hasSize(before);
  }

  @Test
  void aMemberThatHasRegisteredAgainAndLeavesIsNotWaitedFor() {
    sees(Connection.LOST);
    sees(HALVES.encode(), "a", "a", "b");
    assertThat(published).isEmpty();
    sees(HALVES.encode(), "a", "a");
    assertThat(published.getLast().slotsOf("a").cardinality()).isEqualTo(SLOTS);
  }

  @Test
  void aLeaderThatKeptItsSessionWaitsForNoMember() {
    sees(Connection.SUSPENDED);
    sees(HALVES.encode(), "a", "a");
    assertThat(published.getLast().slotsOf("a").cardinality()).isEqualTo(SLOTS);
  }
}
