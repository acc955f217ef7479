package io.foliot.core.coordination;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Coordinator.Member;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/** The message of a failure has the seed. {@code -Dfoliot.seed=N} runs each test with seed N. */
final class AssignmentTest {
  private static final List<String> ZONES = List.of("east", "west", "");

  private final long seed = Long.getLong("foliot.seed", new Random().nextLong());
  private final Random random = new Random(seed);

  @RegisterExtension
  final TestExecutionExceptionHandler failures = (test, failure) -> {
    throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
  };

  private List<Member> members(int count) {
    List<Member> members = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      members.add(new Member("node " + random.nextInt(1_000_000), ZONES.get(random.nextInt(ZONES.size()))));
    }
    return members;
  }

  private static void ensureEven(Assignment assignment, List<Member> members) {
    int least = assignment.slotCount() / members.size();
    int total = 0;
    for (Member member : members) {
      int owned = assignment.slotsOf(member.node()).cardinality();
      assertThat(owned).isBetween(least, least + (assignment.slotCount() % members.size() == 0 ? 0 : 1));
      total += owned;
    }
    assertThat(total).isEqualTo(assignment.slotCount());
  }

  private static int moved(Assignment before, Assignment after) {
    int moved = 0;
    for (int slot = 0; slot < after.slotCount(); slot++) {
      moved += Objects.equals(before.owner(slot), after.owner(slot)) ? 0 : 1;
    }
    return moved;
  }

  @RepeatedTest(200)
  void theAssignmentIsEvenAndMovesFewSlots() {
    int slots = 1 << random.nextInt(11);
    List<Member> members = members(1 + random.nextInt(12));
    Assignment assignment = Assignment.none(slots).with(members, slots);
    ensureEven(assignment, members);
    for (int change = 0; change < 10; change++) {
      Assignment before = assignment;
      List<Member> now = new ArrayList<>(members);
      if (random.nextBoolean() || now.size() == 1) {
        now.addAll(members(1));
      } else {
        now.remove(random.nextInt(now.size()));
      }
      assignment = before.with(now, slots);
      ensureEven(assignment, now);
      // Only the slots that a new member gets, or that a removed member had, may move: the share of one member.
      int most = now.size() > members.size() ? slots / now.size() + 1 : slots / members.size() + 1;
      assertThat(moved(before, assignment)).as("%s to %s", members, now).isLessThanOrEqualTo(most);
      members = now;
    }
  }

  @RepeatedTest(50)
  void theOrderOfMembersDoesNotMatter() {
    List<Member> members = members(7);
    List<Member> shuffled = new ArrayList<>(members);
    Collections.shuffle(shuffled, random);
    Assignment one = Assignment.none(256).with(members, 256);
    assertThat(moved(one, Assignment.none(256).with(shuffled, 256))).isZero();
    shuffled.removeLast();
    assertThat(moved(one.with(shuffled, 256), one.with(List.copyOf(shuffled.reversed()), 256))).isZero();
  }

  @Test
  void aSlotOfADoubledStoreHasTheOwnerOfItsOldSlot() {
    Assignment assignment = Assignment.of(Arrays.asList("a", null, "b", "a"));
    for (int slot = 0; slot < 16; slot++) {
      assertThat(assignment.owner(slot)).isEqualTo(assignment.owner(slot % 4));
    }
    assertThat(Assignment.none(0).owner(3)).isNull();
  }

  @Test
  void noSlotMovesIfTheMembersAreTheSame() {
    List<Member> members = members(5);
    Assignment assignment = Assignment.none(64).with(members, 64);
    assertThat(moved(assignment, assignment.with(members, 64))).isZero();
  }

  @Test
  void neighbouringSlotsGoToDifferentZones() {
    List<Member> members = List.of(new Member("a", "east"), new Member("b", "east"), new Member("c", "west"),
        new Member("d", "west"));
    Assignment assignment = Assignment.none(64).with(members, 64);
    List<String> east = List.of("a", "b");
    for (int slot = 1; slot < 64; slot++) {
      assertThat(east.contains(assignment.owner(slot))).isNotEqualTo(east.contains(assignment.owner(slot - 1)));
    }
  }

  @Test
  void aNewSlotHasTheOwnerOfTheSlotItWasSplitFrom() {
    List<Member> members = members(4);
    Assignment assignment = Assignment.none(16).with(members, 16);
    Assignment doubled = assignment.with(members, 32);
    ensureEven(doubled, members);
    assertThat(moved(assignment, doubled)).isZero();
  }

  @Test
  void withoutMembersNoSlotHasAnOwner() {
    Assignment assignment = Assignment.none(8).with(members(3), 8).with(List.of(), 8);
    for (int slot = 0; slot < 8; slot++) {
      assertThat(assignment.owner(slot)).isNull();
    }
    ensureEven(assignment.with(List.of(new Member("x", "")), 8), List.of(new Member("x", "")));
  }

  @Test
  void anAssignmentCanBeRebuiltFromItsOwners() {
    List<Member> members = members(3);
    Assignment assignment = Assignment.none(32).with(members, 32);
    List<String> owners = new ArrayList<>();
    for (int slot = 0; slot < 32; slot++) {
      owners.add(assignment.owner(slot));
    }
    assertThat(moved(assignment, Assignment.of(owners))).isZero();
    assertThat(moved(assignment.with(members.subList(0, 2), 32), Assignment.of(owners).with(members.subList(0, 2), 32)))
        .isZero();
  }

  @Test
  void aSlotRanksItsHelpersAndFirstRanksAreSpread() {
    List<String> names = List.of("a", "b", "c", "d");
    Assignment assignment = Assignment.none(400).with(names.stream().map(name -> new Member(name, "")).toList(), 400);
    // The helpers of a slot are all nodes except its owner.
    Map<String, Integer> first = new HashMap<>();
    for (int slot = 0; slot < 400; slot++) {
      int at = slot;
      String owner = assignment.owner(slot);
      List<Integer> order = names.stream().filter(name -> !name.equals(owner))
          .map(name -> assignment.helpersBefore(at, name)).sorted().toList();
      assertThat(order).containsExactly(0, 1, 2);
      names.stream().filter(name -> !name.equals(owner) && assignment.helpersBefore(at, name) == 0)
          .forEach(name -> first.merge(name, 1, Integer::sum));
    }
    assertThat(first.values()).hasSize(4).allSatisfy(slots -> assertThat(slots).isBetween(60, 140));
  }
}
