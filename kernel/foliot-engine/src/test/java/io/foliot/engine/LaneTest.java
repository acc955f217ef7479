package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.store.DueEntry;
import io.foliot.engine.Lane.ParkedOf;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests how a lane chooses the slots whose parked entries it reads: the slots that its node owns, or all slots. */
final class LaneTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Lane lane = new Lane("q",
      new Lane.Shared(new Permits(() -> {}), new LongPollQueue("q", () -> Seating.UNKNOWN), new Budget.Share()), 10, 0);

  private static DueEntry entry(long wakeAt) {
    return new DueEntry(wakeAt, new TaskId(wakeAt, wakeAt), "q");
  }

  private ParkedOf read(boolean sharesSlots, long nowNanos, @Nullable DueEntry found) {
    ParkedOf parkedOf = lane.readParked(sharesSlots, nowNanos);
    lane.parkedReadEnded(found, found, nowNanos);
    return parkedOf;
  }

  @Test
  void ownSlotsAreReadFirstAndThenAllSlots() {
    assertThat(read(true, 0, entry(1))).isEqualTo(ParkedOf.OWN);
    assertThat(lane.parkedCursor()).isEqualTo(entry(1));
    assertThat(read(true, 0, null)).isEqualTo(ParkedOf.OWN);
    assertThat(lane.readParked(true, 0)).isEqualTo(ParkedOf.ALL);
    assertThat(lane.parkedCursor()).as("from the beginning").isNull();
    lane.parkedReadEnded(entry(7), entry(7), 0);
    assertThat(lane.hasParked()).isTrue();
    assertThat(read(true, 0, null)).isEqualTo(ParkedOf.ALL);
    assertThat(read(true, 0, entry(9))).isEqualTo(ParkedOf.OWN);
  }

  @Test
  void aPageOfAllSlotsIsReadEveryTwoSeconds() {
    assertThat(read(true, 0, entry(1))).isEqualTo(ParkedOf.OWN);
    assertThat(read(true, SECOND, entry(2))).isEqualTo(ParkedOf.OWN);
    assertThat(lane.readParked(true, 2 * SECOND)).isEqualTo(ParkedOf.GLANCE_AT_ALL);
    assertThat(lane.parkedCursor()).as("from the beginning").isNull();
    lane.parkedReadEnded(entry(1), entry(5), 2 * SECOND);
    assertThat(lane.readParked(true, 2 * SECOND)).isEqualTo(ParkedOf.OWN);
    assertThat(lane.parkedCursor()).as("from the beginning").isNull();
    lane.parkedReadEnded(entry(3), entry(3), 2 * SECOND);
    assertThat(read(true, 3 * SECOND, entry(4))).isEqualTo(ParkedOf.OWN);
    assertThat(read(true, 4 * SECOND, entry(5))).isEqualTo(ParkedOf.GLANCE_AT_ALL);
  }

  @Test
  void afterAnIdleMinuteOwnSlotsAreReadFirstAgain() {
    assertThat(read(true, 0, null)).isEqualTo(ParkedOf.OWN);
    assertThat(read(true, 0, null)).isEqualTo(ParkedOf.ALL);
    assertThat(read(true, 60 * SECOND, entry(1))).isEqualTo(ParkedOf.OWN);
    assertThat(read(true, 60 * SECOND, entry(2))).isEqualTo(ParkedOf.OWN);
  }

  @Test
  void aNodeThatOwnsAllSlotsOrNoneReadsAll() {
    assertThat(read(false, 0, entry(1))).isEqualTo(ParkedOf.ALL);
    assertThat(lane.readParked(false, 9 * SECOND)).isEqualTo(ParkedOf.ALL);
    assertThat(lane.parkedCursor()).isEqualTo(entry(1));
  }
}
