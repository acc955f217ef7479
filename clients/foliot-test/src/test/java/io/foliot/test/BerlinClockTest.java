package io.foliot.test;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.foliot.JobRun;
import io.foliot.api.Job;
import io.foliot.jobs.JobStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests recurring jobs, including the days of 2026 when daylight saving time begins and ends in Berlin. */
final class BerlinClockTest {
  private final List<String> ran = new ArrayList<>();

  private FoliotTest at(String instant) {
    FoliotTest foliot = FoliotTest.startAt(Instant.parse(instant));
    foliot.tasks("billing", String.class).handle((text, attempt) -> {
      JobRun job = requireNonNull(attempt.run());
      assertThat(job.scheduledAt()).isEqualTo(foliot.now());
      ran.add(job.job() + " " + job.scheduledAt());
    });
    return foliot;
  }

  private static Job.Builder berlin(String name, String cron) {
    return Job.named(name).queue("billing").cron(cron).timeZone("Europe/Berlin");
  }

  @Test
  void aJobInTheSkippedHourRunsAtThree() {
    try (FoliotTest foliot = at("2026-03-29T00:00:00Z")) {
      foliot.jobs().put(berlin("nightly", "30 2 * * *"));
      foliot.advance(Duration.ofHours(2));
      assertThat(foliot.jobs().next("nightly", 1)).hasToString("[2026-03-30T02:30+02:00[Europe/Berlin]]");
    }
    assertThat(ran).containsExactly("nightly 2026-03-29T01:00:00Z");
  }

  @Test
  void aJobInTheRepeatedHourRunsOnce() {
    try (FoliotTest foliot = at("2026-10-25T00:00:00Z")) {
      foliot.jobs().put(berlin("nightly", "30 2 * * *"));
      foliot.advance(Duration.ofHours(3));
      assertThat(foliot.jobs().next("nightly", 1)).hasToString("[2026-10-26T02:30+01:00[Europe/Berlin]]");
    }
    assertThat(ran).containsExactly("nightly 2026-10-25T00:30:00Z");
  }

  @Test
  void anHourlyJobRunsInBothHoursOfTheOverlap() {
    try (FoliotTest foliot = at("2026-10-24T23:59:00Z")) {
      foliot.jobs().put(berlin("hourly", "@hourly"));
      foliot.advance(Duration.ofHours(3));
      JobStatus hourly = foliot.jobs().find("hourly").orElseThrow();
      assertThat(hourly.totals().fired()).isEqualTo(3);
      assertThat(hourly.totals().succeeded()).isEqualTo(3);
    }
    assertThat(ran).as("two of them are at 02:00 in Berlin").containsExactly("hourly 2026-10-25T00:00:00Z",
        "hourly 2026-10-25T01:00:00Z", "hourly 2026-10-25T02:00:00Z");
  }

  @Test
  void aJobIsPausedResumedBackfilledAndDeleted() {
    try (FoliotTest foliot = at("2026-06-02T00:00:00Z")) {
      foliot.jobs().put(berlin("nightly", "30 2 * * *"));
      foliot.jobs().pause("nightly", null, "month end");
      foliot.advance(Duration.ofHours(1));
      assertThat(ran).isEmpty();
      foliot.jobs().resume("nightly");
      assertThat(foliot.jobs().find("nightly").orElseThrow().totals().paused()).isEqualTo(1);
      assertThat(foliot.jobs().next("nightly", 2)).hasToString(
          "[2026-06-03T02:30+02:00[Europe/Berlin], 2026-06-04T02:30+02:00[Europe/Berlin]]");
      Instant from = Instant.parse("2026-05-01T00:00:00Z");
      assertThat(foliot.jobs().backfill("nightly", from, from.plus(Duration.ofDays(3)), true)).hasSize(3);
      assertThat(foliot.jobs().delete("nightly", false)).isTrue();
      foliot.advance(Duration.ofSeconds(1));
      assertThat(foliot.jobs().find("nightly")).isEmpty();
    }
  }

  @Test
  void aJobInAQueueThatDoesNotExistIsRefused() {
    try (FoliotTest foliot = FoliotTest.start()) {
      assertThatIllegalArgumentException().isThrownBy(() -> foliot.jobs().put(berlin("x", "@daily")))
          .withMessageContaining("foliot.tasks(name, type) creates it");
    }
  }
}
