package io.foliot.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Checks that {@link Ledger#prove} adds a failed check for each kind of wrong delivery. */
final class LedgerTest {
  private static final long DUE_MILLIS = 1_000;

  private static Ledger ledger(int tasks) {
    Ledger ledger = new Ledger(tasks);
    for (int i = 0; i < tasks; i++) {
      ledger.due(i, DUE_MILLIS);
    }
    return ledger;
  }

  private static List<String> failures(Ledger ledger, int expected) {
    Report report = new Report();
    ledger.prove(report, "lot", expected);
    return report.checks().stream().filter(check -> !check.holds()).map(Report.Check::what).toList();
  }

  @Test
  void oneDeliveryOfEachTaskPassesAllChecks() {
    Ledger ledger = ledger(2);
    ledger.arrived(1, DUE_MILLIS * 1_000);
    ledger.arrived(0, DUE_MILLIS * 1_000 + 5);
    assertThat(failures(ledger, 2)).isEmpty();
    assertThat(ledger.lateMicros().max()).isEqualTo(5);
    assertThat(ledger.lastMicros()).isEqualTo(DUE_MILLIS * 1_000 + 5);
  }

  @Test
  void aMissingTaskIsNoticed() {
    Ledger ledger = ledger(2);
    ledger.arrived(1, DUE_MILLIS * 1_000);
    assertThat(failures(ledger, 2)).containsExactly("lot, delivered: 1 of 2");
    assertThat(ledger.await(2, Duration.ofMillis(1))).isFalse();
  }

  @Test
  void aTaskThatCameTwiceIsNoticed() {
    Ledger ledger = ledger(1);
    ledger.arrived(0, DUE_MILLIS * 1_000);
    ledger.arrived(0, DUE_MILLIS * 1_000);
    assertThat(failures(ledger, 1)).containsExactly("lot, delivered twice: 1");
  }

  @Test
  void aTaskThatCameAMicrosecondEarlyIsNoticed() {
    Ledger ledger = ledger(1);
    ledger.arrived(0, DUE_MILLIS * 1_000 - 1);
    assertThat(failures(ledger, 1)).containsExactly("lot, delivered early: 1");
  }

  @Test
  void anArrivalWithoutASubmitIsNoticed() {
    Ledger ledger = ledger(2);
    ledger.arrived(0, DUE_MILLIS * 1_000);
    ledger.arrived(1, DUE_MILLIS * 1_000);
    ledger.arrived(-1, DUE_MILLIS * 1_000);
    assertThat(failures(ledger, 1)).containsExactly("lot, never submitted: 2");
  }
}
