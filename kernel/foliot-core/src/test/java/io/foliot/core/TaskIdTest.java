package io.foliot.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** Tests ids, tokens, and the hash that gives the slot of an id. */
final class TaskIdTest {
  private final RandomGenerator random = RandomGenerator.of("L64X128MixRandom");

  @Test
  void anIdIsAUuidOfVersion7ThatReadsBack() {
    for (int i = 0; i < 1_000; i++) {
      long millis = random.nextLong(1L << 48);
      TaskId id = TaskId.of(millis, random.nextInt(), random.nextLong());
      UUID uuid = UUID.fromString(id.toString());
      assertThat(uuid.version()).isEqualTo(7);
      assertThat(uuid.variant()).isEqualTo(2);
      assertThat(uuid.getMostSignificantBits() >>> 16).isEqualTo(millis);
      assertThat(TaskId.parse(id.toString())).isEqualTo(id);
    }
  }

  @Test
  void anIdContainsTheHashThatGivesItsSlot() {
    TaskId id = TaskId.of(1, 0xABCD, -1);
    assertThat(id.hash16()).isEqualTo(0xABCD);
    assertThat(id.slot(256)).isEqualTo(0xCD);
    assertThat(id.slot(512)).isEqualTo(0x1CD);
    assertThat(id.slot(1)).isZero();
  }

  @Test
  void idsCompareAsUnsignedBytes() {
    TaskId early = TaskId.of(1, 0, 0);
    TaskId late = TaskId.of(1L << 47, 0, 0);
    assertThat(late).isGreaterThan(early);
    assertThat(new TaskId(0, -1)).isGreaterThan(new TaskId(0, 1));
  }

  @Test
  void textThatIsNoIdIsRefused() {
    for (String text : new String[]{"", "x", "019b76da-cf10-7000-8000-00000000000",
        "019b76da-cf10-7000-8000-00000000000g",
        "019b76da_cf10-7000-8000-000000000001", "０19b76da-cf10-7000-8000-00000000001", "a".repeat(10_000)}) {
      assertThatThrownBy(() -> TaskId.parse(text)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a task id has the form of a UUID");
    }
  }

  @Test
  void theHashOfAQueueAndKeyNeverChanges() {
    assertThat(SlotHash.of("orders", "order-1")).isEqualTo(10_731);
    assertThat(SlotHash.of("q", "")).isEqualTo(16_163);
    assertThat(SlotHash.of("", "q")).isEqualTo(65_122);
  }

  @Test
  void theHashSpreadsKeysEvenly() {
    int[] slots = new int[256];
    for (int i = 0; i < 256 * 100; i++) {
      slots[SlotHash.of("orders", "order-" + i) & 255]++;
    }
    for (int count : slots) {
      assertThat(count).isBetween(50, 150);
    }
  }

  @Test
  void aTokenReadsBack() {
    Token token = new Token(random.nextLong(), random.nextLong());
    assertThat(Token.parse(token.toString())).isEqualTo(token);
    assertThatThrownBy(() -> Token.parse("nothing")).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Token.parse("z".repeat(32))).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anIdContainsItsAddress() {
    for (Address.Kind kind : Address.Kind.values()) {
      for (int number : new int[]{0, 1, 1_024, Address.MAX_NUMBER}) {
        if (kind == Address.Kind.ANY) {
          continue;
        }
        Address address = new Address(kind, number);
        for (int item : new int[]{0, 1, 9_999, 16_383}) {
          TaskId id = TaskId.addressed(1_700_000_000_000L, 0xBEEF, address, item, -1);
          assertThat(id.address()).isEqualTo(address);
          assertThat(id.hash16()).isEqualTo(0xBEEF);
          assertThat(TaskId.parse(id.toString())).isEqualTo(id);
          assertThat(UUID.fromString(id.toString()).version()).isEqualTo(8);
          assertThat(UUID.fromString(id.toString()).variant()).isEqualTo(2);
        }
      }
    }
  }

  @Test
  void addressedIdsDifferIfAnyPartDiffers() {
    Set<TaskId> ids = new HashSet<>();
    for (int item = 0; item < 3; item++) {
      for (int number = 0; number < 3; number++) {
        for (int hash = 0; hash < 3; hash++) {
          ids.add(TaskId.addressed(1, 2, new Address(Address.Kind.SEAT, number), item, hash));
          ids.add(TaskId.addressed(1, 2, new Address(Address.Kind.ONLY, number), item, hash));
        }
      }
    }
    assertThat(ids).hasSize(54);
  }

  @Test
  void anOrdinaryIdHasNoAddress() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 1_000; i++) {
      assertThat(TaskId.of(random.nextLong(), random.nextInt(), random.nextLong()).address())
          .isEqualTo(Address.ANYWHERE);
    }
  }
}
