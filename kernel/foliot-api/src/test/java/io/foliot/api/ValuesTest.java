package io.foliot.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.schedule.CronDialect;
import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the values of a table of fields, and the types of fields. */
final class ValuesTest {
  private static final Values JOB = Values.of(JobFields.TABLE);

  @Test
  void aValueThatEqualsItsDefaultIsNotSet() {
    Values set = JOB.with(JobFields.SHARDS, 3);
    assertThat(set.get(JobFields.SHARDS)).isEqualTo(3);
    assertThat(set.isSet(JobFields.SHARDS)).isTrue();
    assertThat(set).isNotEqualTo(JOB).hasToString("the job[shards=3]");
    for (Values reset : List.of(set.with(JobFields.SHARDS, 1), set.with(JobFields.SHARDS, null))) {
      assertThat(reset).isEqualTo(JOB).hasSameHashCodeAs(JOB);
      assertThat(reset.get(JobFields.SHARDS)).isEqualTo(1);
    }
    assertThat(JOB.with(JobFields.SHARD_PARAMETERS, List.of("token"))).as("a value that may be a secret")
        .hasToString("the job[shardParameters=***]");
    assertThat(set.difference(JOB)).containsExactly(JobFields.SHARDS);
    assertThatThrownBy(() -> JOB.get(ScheduleFields.CRON)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("field=cron");
  }

  @Test
  void eachValueIsChecked() {
    assertRefused(JOB.with(JobFields.SHARDS, 0), "shards: expected a whole number from 1 to 10000, but got 0");
    assertRefused(JOB.with(JobFields.HISTORY, 201), "history: expected a whole number from 1 to 200, but got 201");
    assertRefused(JOB.with(JobFields.TIMEOUT, Duration.ZERO), "timeout: expected a duration above 0 and at most 24 h");
    assertRefused(JOB.with(JobFields.QUEUE, "a b"), "queue: expected 1 to 128 of A-Z");
    assertRefused(JOB.with(JobFields.RUN_LISTENERS, Set.of(RunPhase.SHARDS)),
        "runListeners: expected before, after, or both, but got shards");
  }

  private static void assertRefused(Values values, String message) {
    assertThatThrownBy(() -> values.checked("")).isInstanceOf(InvalidSettingException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void aFieldEndsWithTheValueThatItBelongsTo() {
    Values before = Values.of(ScheduleFields.TABLE).with(ScheduleFields.CRON, "0 0 2 * * *")
        .with(ScheduleFields.DIALECT, CronDialect.SPRING);
    Values changed = before.with(ScheduleFields.CRON, "0 3 * * *");
    assertThat(changed.merged(before, List.of(ScheduleFields.CRON)).get(ScheduleFields.DIALECT)).isNull();
    assertThat(changed.merged(before, List.of(ScheduleFields.CRON, ScheduleFields.DIALECT))).isEqualTo(changed);
    assertThat(before.merged(before, List.of(ScheduleFields.CRON))).as("the owner keeps its value").isEqualTo(before);
  }

  @Test
  void theTextOfAValueIsReadAgain() {
    assertReadAgain(new FieldType.Whole(1, 9), 7, "7");
    assertReadAgain(new FieldType.Decimal(0, 1), 0.25, "0.25");
    assertReadAgain(new FieldType.Truth(), true, "true");
    assertReadAgain(FieldType.Span.ANY, Duration.ofMinutes(90), "90m");
    assertReadAgain(new FieldType.Time(), Instant.parse("2027-01-01T00:00:00.5Z"), "2027-01-01T00:00:00.500Z");
    assertReadAgain(FieldType.Choice.of(Scope.class), Scope.PER_ZONE, "per-zone");
    assertReadAgain(new FieldType.Choices<>(FieldType.Choice.of(RunPhase.class)),
        Set.of(RunPhase.AFTER, RunPhase.BEFORE), "before,after");
    assertReadAgain(new FieldType.Texts(3), List.of("a,b", "c"), "a,b\nc");
    assertReadAgain(new FieldType.Json(), Body.json("{\"a\": 1}"), "{\"a\": 1}");
    for (FieldType<?> type : List.of(new FieldType.Whole(1, 9), new FieldType.Decimal(0, 1), new FieldType.Truth(),
        FieldType.Span.ANY, new FieldType.Time(), FieldType.Choice.of(Scope.class))) {
      assertThatThrownBy(() -> type.parse("--x", "many")).isInstanceOf(InvalidSettingException.class)
          .hasMessage("--x: expected " + type.expected() + ", but got \"many\"");
    }
  }

  private static <T> void assertReadAgain(FieldType<T> type, T value, String text) {
    assertThat(type.text(value)).isEqualTo(text);
    assertThat(type.parse("x", text)).isEqualTo(value);
  }

  @Test
  void aScheduleAndARuleForMisfiresAreTheSameAsTheirValues() {
    ScheduleSettings schedule = ScheduleSettings.builder().cron("0 2 * * MON").timeZone("Europe/Berlin")
        .exclude(List.of("holidays")).jitter(Duration.ofSeconds(5)).from(Instant.EPOCH).build();
    assertThat(ScheduleFields.settings(ScheduleFields.values(schedule))).isEqualTo(schedule);
    for (Misfire misfire : List.of(Misfire.DEFAULT, Misfire.all(7, Duration.ofHours(1)),
        Misfire.skip(Duration.ofMinutes(2)))) {
      assertThat(MisfireFields.misfire(MisfireFields.values(misfire))).isEqualTo(misfire);
    }
    Values max = Values.of(MisfireFields.TABLE).with(MisfireFields.MAX, 3);
    assertThatThrownBy(() -> MisfireFields.misfire(max)).hasMessageContaining("only the policy all has a maximum");
  }

  @Test
  void aJobNeedsAQueueAndASchedule() {
    assertThatThrownBy(() -> Job.named("a").every(Duration.ofHours(1)).build()).hasMessageContaining("queue: expected");
    assertThatThrownBy(() -> Job.of("a", JOB.with(JobFields.QUEUE, "q"))).hasMessageContaining("schedule: expected");
    Job job = Job.named("a").every(Duration.ofHours(1)).buildIn("q");
    assertThat(job.queue()).isEqualTo("q");
    assertThat(job).isEqualTo(Job.of("a", job.values())).isNotEqualTo(Job.of("b", job.values()));
  }
}
