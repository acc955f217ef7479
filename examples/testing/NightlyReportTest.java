import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.Foliot;
import io.foliot.api.Job;
import io.foliot.test.FoliotTest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests a job that runs at 02:30 in Berlin: on the days when the clock changes, and during a pause. No test waits. */
final class NightlyReportTest {
  /** The code under test. */
  static final class Reports {
    final List<Instant> written = new ArrayList<>();

    Reports(Foliot foliot) {
      foliot.tasks("reports", String.class).handle((text, attempt) -> written.add(attempt.run().scheduledAt()));
      foliot.jobs().put(Job.named("nightly").queue("reports").cron("30 2 * * *").timeZone("Europe/Berlin"));
    }
  }

  /** From 02:00 the clock jumps to 03:00: there is no 02:30, and the job runs at the end of the gap. */
  @Test
  void inSpringTheReportIsWrittenAtThree() {
    try (FoliotTest foliot = FoliotTest.startAt(Instant.parse("2026-03-28T12:00:00+01:00"))) {
      Reports reports = new Reports(foliot);
      foliot.advance(Duration.ofDays(2));
      assertThat(reports.written).containsExactly(Instant.parse("2026-03-29T03:00:00+02:00"),
          Instant.parse("2026-03-30T02:30:00+02:00"));
    }
  }

  /** At 03:00 the clock goes back to 02:00: 02:30 exists twice, and the job runs at the first 02:30. */
  @Test
  void inAutumnTheReportIsWrittenOnce() {
    try (FoliotTest foliot = FoliotTest.startAt(Instant.parse("2026-10-24T12:00:00+02:00"))) {
      Reports reports = new Reports(foliot);
      foliot.advance(Duration.ofDays(2));
      assertThat(reports.written).containsExactly(Instant.parse("2026-10-25T02:30:00+02:00"),
          Instant.parse("2026-10-26T02:30:00+01:00"));
    }
  }

  /** The scheduled times during the pause are recorded, and the job does not run for them later. */
  @Test
  void aPausedReportIsNotWrittenLater() {
    try (FoliotTest foliot = FoliotTest.startAt(Instant.parse("2026-06-01T12:00:00Z"))) {
      Reports reports = new Reports(foliot);
      foliot.jobs().pause("nightly", null, "month end");
      foliot.advance(Duration.ofDays(3));
      assertThat(reports.written).isEmpty();
      foliot.jobs().resume("nightly");
      foliot.advance(Duration.ofDays(1));
      assertThat(reports.written).containsExactly(Instant.parse("2026-06-05T00:30:00Z"));
      assertThat(foliot.jobs().find("nightly").orElseThrow().totals().paused()).isEqualTo(3);
    }
  }
}
