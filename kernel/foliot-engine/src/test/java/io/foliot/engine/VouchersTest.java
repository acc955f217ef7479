package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.core.Scheduler.TooManyWorkersException;
import io.foliot.core.coordination.WorkerId;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class VouchersTest {
  private static final long NOW_MICROS = 1_800_000_000_000_000L;
  private static final long SECOND_MICROS = 1_000_000L;
  private static final long HOUR_MICROS = 3_600 * SECOND_MICROS;

  private final Vouchers.Sightings sightings = new Vouchers.Sightings();

  private boolean holds(long untilMicros, long nowMicros) {
    return sightings.holds("node", new Vouchers(untilMicros, Map.of()), nowMicros);
  }

  @Test
  void allWorkersOfANodeAreReadAsTheyWereWritten() {
    WorkerRoster roster = new WorkerRoster();
    IntStream.range(0, 40_000).parallel()
        .forEach(i -> roster.waits(WorkerId.of("worker-" + i % 20_000), "fra", "billing", 1_000, 0));
    WorkerId first = roster.alive(0).keySet().iterator().next();
    IntStream.range(0, 2 * Vouchers.MAX_QUEUES).forEach(i -> roster.waits(first, "fra", "queue-" + i, 1_000, 0));
    Map<WorkerId, WorkerRoster.Present> own = roster.alive(0);
    assertThat(own).hasSize(WorkerRoster.MAX_WORKERS);
    assertThat(own.get(first).queues()).hasSize(Vouchers.MAX_QUEUES);
    own.put(WorkerId.of("the node itself"), new WorkerRoster.Present("fra", Set.of("billing")));
    Vouchers vouchers = new Vouchers(NOW_MICROS, own);
    assertThat(Vouchers.decode(vouchers.encode())).isEqualTo(vouchers);
    own.put(WorkerId.of("one too many"), new WorkerRoster.Present("fra", Set.of("billing")));
    assertThatThrownBy(() -> new Vouchers(NOW_MICROS, own)).hasMessageContaining("too many");
  }

  @Test
  void anOwnerNeverTakesAllWorkersThatANodeCanKnow() {
    WorkerRoster roster = new WorkerRoster();
    int known = 0;
    for (int i = 0; i < 2 * WorkerRoster.MAX_WORKERS; i++) {
      WorkerId worker = new WorkerId("greedy", "worker-" + i);
      if (known < WorkerRoster.MAX_WORKERS / 2 + 1) {
        roster.waits(worker, "fra", "billing", 1_000, 0);
        known++;
      } else {
        assertThatThrownBy(() -> roster.waits(worker, "fra", "billing", 1_000, 0))
            .isInstanceOf(TooManyWorkersException.class);
      }
    }
    WorkerId other = new WorkerId("other", "one");
    roster.waits(other, "fra", "billing", 1_000, 0);
    assertThat(roster.alive(0)).hasSize(known + 1).containsKey(other);
    long later = 3_000_000_000L;
    assertThat(roster.alive(later)).isEmpty();
    roster.waits(new WorkerId("greedy", "new"), "fra", "billing", 1_000, later);
    assertThat(roster.alive(later)).as("names that are gone do not count").hasSize(1);
  }

  @Test
  void aDeclarationHoldsUntilItsEnd() {
    assertThat(holds(NOW_MICROS + 1, NOW_MICROS)).isTrue();
    assertThat(holds(NOW_MICROS, NOW_MICROS)).isFalse();
    assertThat(holds(NOW_MICROS - HOUR_MICROS, NOW_MICROS)).isFalse();
  }

  @Test
  void aDeclarationFarAheadIsInvalidOnceItIsNotRenewed() {
    long farAhead = NOW_MICROS + HOUR_MICROS;
    assertThat(holds(farAhead, NOW_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS + Vouchers.VALID_MICROS - 1)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS + Vouchers.VALID_MICROS)).isFalse();
    assertThat(holds(farAhead, NOW_MICROS + 2 * Vouchers.VALID_MICROS)).isFalse();
  }

  @Test
  void aDeclarationFarAheadThatIsRenewedHolds() {
    for (int i = 0; i < 20; i++) {
      assertThat(holds(NOW_MICROS + HOUR_MICROS + i * SECOND_MICROS, NOW_MICROS + i * SECOND_MICROS)).isTrue();
    }
  }

  @Test
  void aClockThatIsSetBackAgainIsNoEvidence() {
    long farAhead = NOW_MICROS + HOUR_MICROS;
    assertThat(holds(farAhead, NOW_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS - HOUR_MICROS)).isTrue();
    assertThat(holds(farAhead, NOW_MICROS - HOUR_MICROS + Vouchers.VALID_MICROS)).isFalse();
  }
}
