package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Scheduler.ClusterNode;
import io.foliot.core.coordination.Assignment;
import io.foliot.core.coordination.Coordinator.Connection;
import io.foliot.core.coordination.Coordinator.Member;
import io.foliot.core.store.SlotSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MembershipTest {
  /** The largest clock offset with which a node owns slots. */
  private static final long BOUND_MILLIS = 5_000;
  private static final Assignment HALVES = Assignment.of(Arrays.asList("n1", "n1", "n2", "n2"));

  private record Owned(int slots, OverduePoll.Adoption adoption) {}

  private final LoopRig rig = new LoopRig();
  private final RecordedCoordinator coordinator = new RecordedCoordinator();
  private final List<Owned> reported = new ArrayList<>();
  private final Membership membership = new Membership(
      EngineOptions.builder("n1").zone("east").maxClockOffsetMillis(BOUND_MILLIS).build(), rig.store, rig.nodeClock,
      coordinator, this::own);

  private void own(SlotSet owned, Assignment assignment, OverduePoll.Adoption adoption) {
    reported.add(new Owned(owned.size(), adoption));
  }

  private static Member self(boolean takesSlots, long offsetMillis) {
    return new Member("n1", "east", takesSlots, offsetMillis);
  }

  /** Joins, and reports {@link #HALVES}. */
  private void joins() {
    membership.join();
    coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n2", "n1", "n2"));
    assertThat(reported.getLast().slots()).isEqualTo(2);
  }

  @Test
  void aMemberOwnsNothingUntilAnAssignmentIsRead() {
    membership.join();
    assertThat(coordinator.joined).isEqualTo(self(true, 0));
    assertThat(reported).containsExactly(new Owned(0, OverduePoll.Adoption.ALLOWED));
    coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n2", "n1", "n2"));
    assertThat(reported.getLast()).isEqualTo(new Owned(2, OverduePoll.Adoption.ENDING));
  }

  @Test
  void aNodeOwnsNoSlotsWhileItsClockIsBeyondTheBound() {
    for (int sign : new int[]{1, -1}) {
      joins();
      membership.eachSecond(sign * BOUND_MILLIS);
      assertThat(reported.getLast().slots()).as("at the bound").isEqualTo(2);
      membership.eachSecond(sign * (BOUND_MILLIS + 1));
      assertThat(reported.getLast()).isEqualTo(new Owned(0, OverduePoll.Adoption.FORBIDDEN));
      assertThat(coordinator.updates.getLast()).as("a small change, but the node gives up its slots")
          .isEqualTo(self(false, sign * (BOUND_MILLIS + 1)));
      coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n2", "n1", "n2"));
      assertThat(reported.getLast().slots()).as("even if the assignment names this node").isZero();
      membership.eachSecond(sign * BOUND_MILLIS);
      assertThat(reported.getLast().slots()).isEqualTo(2);
      assertThat(coordinator.updates.getLast()).isEqualTo(self(true, sign * BOUND_MILLIS));
      membership.eachSecond(0);
    }
  }

  @Test
  void onlyLargeChangesOfTheOffsetArePublished() {
    joins();
    for (long offsetMillis : new long[]{0, 9, -9, 10, 19, 1, 20, 11, 10}) {
      membership.eachSecond(offsetMillis);
    }
    assertThat(coordinator.updates).as("compared with the offset published last").containsExactly(self(true, 10),
        self(true, 20), self(true, 10));
    assertThat(reported).as("nothing has changed for the loops").hasSize(2);
  }

  @Test
  void thePublishedOffsetOfAWrongClockIsKeptUpToDate() {
    joins();
    membership.eachSecond(60_000);
    membership.eachSecond(60_005);
    membership.eachSecond(60_010);
    assertThat(coordinator.updates).containsExactly(self(false, 60_000), self(false, 60_010));
  }

  @Test
  void aNodeWithoutAClusterIgnoresTheCoordinatorsViews() {
    coordinator.isShared = false;
    membership.join();
    coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n1", "n1"));
    coordinator.report(RecordedCoordinator.without(Connection.DISPLACED));
    membership.eachSecond(60_000);
    assertThat(reported).as("without a report the loops watch all slots").isEmpty();
    assertThat(coordinator.published).isEmpty();
  }

  @Test
  void aLeaderChecksTheAssignmentEachSecond() {
    joins();
    coordinator.report(RecordedCoordinator.without(Connection.LOST));
    coordinator.report(RecordedCoordinator.connected(HALVES.encode(), "n1", "n1"));
    membership.eachSecond(0);
    assertThat(coordinator.published).as("n2 may register again").isEmpty();
    rig.advance(5_000);
    membership.eachSecond(0);
    assertThat(coordinator.published.getLast().slotsOf("n1").cardinality()).isEqualTo(LoopRig.SLOTS);
  }

  @Test
  void leaveReturnsWhetherOtherNodesTakeOver() {
    membership.join();
    assertThat(membership.leave()).as("no other member is known").isFalse();
    assertThat(coordinator.isClosed).isTrue();
    coordinator.report(RecordedCoordinator.connected(null, "n1", "n1"));
    assertThat(membership.leave()).as("n1 is alone").isFalse();
    coordinator.report(RecordedCoordinator.connected(null, "n1", "n1", "n2"));
    assertThat(membership.leave()).isTrue();
  }

  @Test
  void aNodeAloneListsOnlyItself() {
    assertThat(membership.leader()).isNull();
    assertThat(membership.nodes(4)).containsExactly(new ClusterNode("n1", "east", 4, true, 0));
    membership.join();
    coordinator.report(RecordedCoordinator.without(Connection.SUSPENDED));
    membership.eachSecond(60_000);
    assertThat(membership.nodes(0)).containsExactly(new ClusterNode("n1", "east", 0, false, 60_000));
  }

  @Test
  void nodesAreListedWithTheirSlots() {
    joins();
    assertThat(membership.leader()).isEqualTo("n2");
    assertThat(membership.nodes(1)).as("n1: the slots of its loops, n2: those of the assignment").containsExactly(
        new ClusterNode("n1", "", 1, true, 0), new ClusterNode("n2", "", 2, true, 0));
  }
}
