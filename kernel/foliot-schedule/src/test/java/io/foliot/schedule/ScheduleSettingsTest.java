package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests which settings of a schedule go together, and the refusals of invalid settings. */
final class ScheduleSettingsTest {
  private static final Instant NOW = Instant.parse("2026-11-23T00:00:00Z");
  private static final List<Map<String, String>> VALID = List.of(
      Map.of("cron", "0 2 * * MON-FRI", "dialect", "unix", "zone", "Europe/Berlin", "dstGap", "skip", "dstOverlap",
          "both",
          "jitter", "PT30S"),
      Map.of("cron", "H H * * *", "dialect", "unix", "exclude", "holidays"),
      Map.of("cron", "0 0 10 ? * 2", "dialect", "quartz", "from", "2026-12-01T00:00:00Z", "to", "2027-12-01T00:00:00Z"),
      Map.of("every", "PT6H", "offset", "PT10M", "jitter", "PT1M"),
      Map.of("every", "PT0.1S", "exclude", "holidays", "zone", "Asia/Tokyo"),
      Map.of("after", "PT30S", "from", "2026-12-01T00:00:00Z"), Map.of("at", "2026-12-01T00:00:00Z"));

  private static final Calendar HOLIDAYS = Calendar.parse(List.of("2026-12-25"));

  private static ScheduleException refused(Map<String, String> values) {
    return catchThrowableOfType(ScheduleException.class, () -> {
      ScheduleSettings settings = ScheduleSettings.of(values);
      settings.ensureFiresAfter(NOW, settings.schedule("report", Map.of("holidays", HOLIDAYS)::get));
    });
  }

  @Test
  void valuesAreReadAsTheSameSettings() {
    for (Map<String, String> values : VALID) {
      ScheduleSettings settings = ScheduleSettings.of(values);
      assertThat(settings.values()).isEqualTo(values);
      assertThat(ScheduleSettings.of(settings.values())).isEqualTo(settings);
      assertThat(refused(values)).isNull();
    }
    assertThat(ScheduleSettings.of(Map.of("cron", " @daily ", "zone", "UTC")).values())
        .isEqualTo(Map.of("cron", "0 0 * * *", "dialect", "unix"));
  }

  @Test
  void theBuilderMakesTheSchedule() {
    ScheduleSettings settings = ScheduleSettings.builder().cron("0 2 * * MON-FRI").timeZone("Europe/Berlin")
        .from(Instant.parse("2026-12-01T00:00:00Z")).to(Instant.parse("2026-12-03T00:00:00Z")).build();
    Schedule schedule = settings.schedule("report", name -> null);
    assertThat(schedule.preview(NOW, 5)).map(Object::toString).containsExactly("2026-12-01T02:00+01:00[Europe/Berlin]",
        "2026-12-02T02:00+01:00[Europe/Berlin]");
    assertThat(schedule.timing()).isInstanceOf(CronSchedule.class);
    assertThat(schedule).isEqualTo(settings.schedule("report", name -> null));
  }

  @Test
  void exactlyOneKindIsAccepted() {
    assertThat(refused(Map.of()))
        .hasMessage("schedule: expected exactly one kind, but got \"none\"; choose one of cron,"
            + " every, after, at");
    assertThat(refused(Map.of("every", "PT1H", "at", "2027-01-01T00:00:00Z"))).hasMessageContaining("\"every, at\"");
    assertThat(refused(Map.of("cron", "* * * * *", "offset", "PT1S")).setting()).isEqualTo("offset");
    assertThat(refused(Map.of("every", "PT1H", "dialect", "unix")).setting()).isEqualTo("dialect");
    assertThat(refused(Map.of("every", "PT1H", "dstGap", "skip")).setting()).isEqualTo("dstGap");
    assertThat(refused(Map.of("after", "PT1H", "dstOverlap", "both")).setting()).isEqualTo("dstOverlap");
    assertThat(refused(Map.of("at", "2027-01-01T00:00:00Z", "exclude", "holidays")).setting()).isEqualTo("exclude");
    assertThat(refused(Map.of("at", "2027-01-01T00:00:00Z", "to", "2027-01-01T00:00:00Z")).setting()).isEqualTo("to");
    assertThat(refused(Map.of("cron", "* * * * *", "corn", "x")).choices()).contains("cron");
  }

  @Test
  void periodsHaveTheirBounds() {
    assertThat(refused(Map.of("every", "PT0S"))).hasMessage(
        "every: expected whole milliseconds from 100ms to 3660d, but got \"0s\"; for example \"30m\"");
    assertThat(refused(Map.of("every", "P3661D"))).hasMessageContaining("\"3661d\"");
    assertThat(refused(Map.of("every", "PT1M", "jitter", "PT1M0.5S"))).hasMessage(
        "jitter: expected at most the period of every=1m, but got \"60500ms\"");
    assertThat(refused(Map.of("every", "PT1H", "offset", "PT61M"))).hasMessageContaining("\"61m\"");
    assertThat(refused(Map.of("every", "PT36H", "offset", "-PT1S"))).hasMessageContaining("36h", "\"-1s\"");
    assertThat(refused(Map.of("every", "PT0.099S")).setting()).isEqualTo("every");
    assertThat(refused(Map.of("every", "PT0.1005S")).setting()).isEqualTo("every");
    assertThat(refused(Map.of("every", "P3661D")).setting()).isEqualTo("every");
    assertThat(refused(Map.of("every", "1h"))).hasMessageContaining("a duration of ISO 8601");
    assertThat(refused(Map.of("every", "PT1H", "offset", "PT1H")).setting()).isEqualTo("offset");
    assertThat(refused(Map.of("every", "PT1H", "offset", "-PT1S")).setting()).isEqualTo("offset");
    assertThat(refused(Map.of("after", "PT-1M")).setting()).isEqualTo("after");
    assertThat(refused(Map.of("every", "PT1M", "jitter", "PT2M")).setting()).isEqualTo("jitter");
    assertThat(refused(Map.of("cron", "* * * * *", "jitter", "P2D")).setting()).isEqualTo("jitter");
    assertThat(refused(Map.of("cron", "* * * * *", "jitter", "-PT1S")).setting()).isEqualTo("jitter");
  }

  @Test
  void instantsMustBeInOrderAndInTheFuture() {
    assertThat(refused(Map.of("at", NOW.toString())))
        .hasMessage("at: expected an instant after now=2026-11-23T00:00:00Z, but got \"2026-11-23T00:00:00Z\"");
    assertThat(refused(Map.of("every", "PT1H", "from", "2027-01-02T00:00:00Z", "to", "2027-01-01T00:00:00Z")))
        .hasMessageContaining("to: expected an instant after from=2027-01-02T00:00:00Z");
    assertThat(refused(Map.of("every", "PT1H", "to", "2026-01-01T00:00:00Z")).setting()).isEqualTo("to");
    assertThat(refused(Map.of("every", "PT1H", "from", "tomorrow")).setting()).isEqualTo("from");
    assertThat(refused(Map.of("cron", "0 0 0 1 1 ? 2020")).setting()).isEqualTo("cron");
    assertThat(refused(Map.of("cron", "0 0 25 12 *", "exclude", "holidays", "to", "2027-01-01T00:00:00Z")))
        .as("its only day is excluded").hasMessage("cron: expected a scheduled time after now=2026-11-23T00:00:00Z"
            + " and before to=2027-01-01T00:00:00Z, without the days of exclude, but got \"0 0 25 12 *\"");
  }

  @Test
  void instantsHaveYearsOfFourDigits() {
    for (String setting : List.of("from", "to")) {
      assertThat(refused(Map.of("every", "PT1H", setting, Instant.MAX.toString())).setting()).isEqualTo(setting);
      assertThat(refused(Map.of("every", "PT1H", setting, Instant.MIN.toString())).setting()).isEqualTo(setting);
    }
    assertThat(refused(Map.of("at", Instant.MAX.toString()))).hasMessageContaining(
        "an instant from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z");
    for (String kind : List.of("@daily", "H H * * *")) {
      assertThat(refused(Map.of("cron", kind, "from", "0000-01-01T00:00:00Z", "to", "9999-12-31T23:59:59.999Z")))
          .isNull();
    }
    assertThat(refused(Map.of("every", "PT1H", "from", "0000-01-01T00:00:00Z", "to", "9999-12-31T23:59:59.999Z")))
        .isNull();
  }

  @Test
  void anUnknownZoneIsRefusedWithChoices() {
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "CST"))).hasMessage("zone: expected the name of a time zone"
        + " or an offset, not an abbreviation, which several zones may share and which does not say when their clocks"
        + " change, but got \"CST\"; choose one of America/Chicago, Asia/Shanghai, America/Havana; for example"
        + " \"Europe/Berlin\"");
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "EST")).choices()).containsExactly("America/New_York",
        "America/Panama", "-05:00");
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "europe/berlin")).choices().getFirst())
        .isEqualTo("Europe/Berlin");
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "Berlin")).choices()).contains("Europe/Berlin");
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "Asia/Shangai")).choices().getFirst())
        .isEqualTo("Asia/Shanghai");
    assertThat(refused(Map.of("cron", "* * * * *", "zone", "")).choices()).isEmpty();
    assertThat(ScheduleSettings.of(Map.of("cron", "* * * * *", "zone", "+02:00")).timeZone())
        .isEqualTo(ZoneOffset.ofHours(2));
  }

  @Test
  void aCalendarMustExist() {
    assertThat(refused(Map.of("cron", "* * * * *", "exclude", "easter"))).hasMessageContaining("easter")
        .extracting(ScheduleException::setting).isEqualTo("exclude");
    assertThat(refused(Map.of("cron", "* * * * *", "exclude", "")).setting()).isEqualTo("exclude");
  }

  @Test
  void cronErrorsNameTheirField() {
    assertThat(refused(Map.of("cron", "61 * * * *")).field()).isEqualTo("minute");
    assertThat(refused(Map.of("cron", "0 0 10 ? * 2")).choices()).hasSize(2);
    assertThat(refused(Map.of("cron", "* * * * *", "dialect", "vixie")).choices()).containsExactly("unix", "spring",
        "quartz");
  }

  @Test
  void theTimesOfAFixedRateAreInItsZone() {
    ScheduleSettings settings = ScheduleSettings.builder().every(Duration.ofHours(6)).offset(Duration.ZERO)
        .timeZone("Asia/Tokyo").build();
    assertThat(settings.schedule("report", name -> null).preview(NOW, 1).getFirst())
        .hasToString("2026-11-23T15:00+09:00[Asia/Tokyo]");
  }

  @Test
  void anExpressionWithAHashIsJudgedByTheNameOfItsJob() {
    for (String cron : List.of("0 0 H(29-31) 2 *", "0 0 30 H(2-3) *", "0 0 31 H(3-4) *", "0 0 31 H(4-5) *")) {
      ScheduleSettings settings = ScheduleSettings.of(Map.of("cron", cron));
      int refused = 0;
      for (int i = 0; i < 50; i++) {
        String name = "report-" + i;
        ScheduleException failure = catchThrowableOfType(ScheduleException.class,
            () -> settings.schedule(name, none -> null));
        refused += failure == null ? 0 : 1;
        assertThat(failure == null).as("%s of %s", cron, name).isEqualTo(
            catchThrowableOfType(ScheduleException.class,
                () -> CronSchedule.parse(cron, null, ZoneOffset.UTC, name)) == null);
      }
      assertThat(refused).as("names for which %s never fires", cron).isBetween(1, 49);
    }
    assertThat(refused(Map.of("cron", "0 0 H(30-31) 2 *"))).as("no name fires").isNotNull();
    assertThat(refused(Map.of("cron", "0 60 H * *"))).isNotNull();
  }

  @Test
  void theDialectOfAHashedWeekdayIsTheSameForAllNames() {
    assertThat(ScheduleSettings.of(Map.of("cron", "0 0 10 ? * H(MON-FRI)")).dialect()).isEqualTo(CronDialect.SPRING);
    for (String days : List.of("H", "H(1-3)", "H(1-7)", "1,H")) {
      assertThat(refused(Map.of("cron", "0 0 10 ? * " + days))).as(days).hasMessageContaining("dialect");
    }
  }
}
