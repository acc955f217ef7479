package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.Address;
import io.foliot.core.TaskId;
import io.foliot.core.coordination.Fleet;
import io.foliot.core.coordination.WorkerId;
import io.foliot.core.store.DueEntry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class AddressedEntriesTest {
  private static final String QUEUE = "q";
  private static final int WORKERS = 2_000;
  private static final int ENTRIES_OF_ONE = 3;

  private final Seating seating = seating();
  private final LongPollQueue longPolls = new LongPollQueue(QUEUE, () -> seating);
  private final AddressedEntries entries = new AddressedEntries();

  private static Seating seating() {
    List<Fleet.Seat> seats = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      seats.add(new Fleet.Seat(i, "worker-" + i, "fra", Set.of(QUEUE), "n", true, true));
    }
    return Seating.of(new Fleet(seats, List.of("fra")), "n");
  }

  private void poll(int worker, int max) {
    longPolls.add(new LongPollQueue.Waiter(WorkerId.of("worker-" + worker), max, 1_000, 0, Long.MAX_VALUE,
        CompletableFuture.completedFuture(null)));
  }

  private void add(Address.Kind kind, int number, int item) {
    entries.add(new DueEntry(1, TaskId.addressed(1, 1, new Address(kind, number), item, 1), QUEUE));
  }

  private int taken() {
    int taken = 0;
    for (AddressedEntries.Matched each = entries.match(longPolls, seating); each != null; taken++) {
      int number = each.entry().id().address().number();
      assertThat(each.waiter().worker()).isEqualTo(WorkerId.of("worker-" + number));
      each = entries.match(longPolls, seating);
    }
    return taken;
  }

  @Test
  void aTurnAsksForTheAddressOfABusyWorkerOnce() {
    for (int i = 0; i < WORKERS; i++) {
      for (int item = 0; item < ENTRIES_OF_ONE; item++) {
        add(i % 2 == 0 ? Address.Kind.SEAT : Address.Kind.ONLY, i, item);
      }
    }
    for (int i = WORKERS / 2; i < WORKERS; i++) {
      poll(i, ENTRIES_OF_ONE);
    }
    int idle = WORKERS / 2;
    assertThat(taken()).isEqualTo(idle * ENTRIES_OF_ONE);
    assertThat(entries.asked()).isLessThanOrEqualTo((long) idle * ENTRIES_OF_ONE + 2L * WORKERS);
    long asked = entries.asked();
    assertThat(taken()).isZero();
    assertThat(entries.asked()).as("nothing has changed").isEqualTo(asked);
    poll(0, 1);
    assertThat(taken()).isEqualTo(1);
    assertThat(entries.asked() - asked).isLessThanOrEqualTo(1 + 2L * WORKERS);
  }

  @Test
  void aPlaceThatIsFreeAgainIsUsed() {
    add(Address.Kind.SEAT, 7, 0);
    poll(7, 1);
    AddressedEntries.Matched matched = entries.match(longPolls, seating);
    assertThat(matched).isNotNull();
    add(Address.Kind.SEAT, 7, 1);
    assertThat(entries.match(longPolls, seating)).isNull();
    longPolls.lost(matched.waiter());
    assertThat(entries.match(longPolls, seating)).isNotNull();
    assertThat(entries.isEmpty()).isTrue();
  }

  @Test
  void aZoneIsServedByItsWorkersOnly() {
    add(Address.Kind.ZONE, 0, 0);
    longPolls.add(new LongPollQueue.Waiter(WorkerId.of("stranger"), 1, 1_000, 0, Long.MAX_VALUE,
        CompletableFuture.completedFuture(null)));
    assertThat(entries.match(longPolls, seating)).isNull();
    poll(3, 1);
    AddressedEntries.Matched matched = entries.match(longPolls, seating);
    assertThat(matched).isNotNull();
    assertThat(matched.waiter().worker()).isEqualTo(WorkerId.of("worker-3"));
    assertThat(longPolls.demand()).as("the stranger still waits").isEqualTo(1);
  }
}
