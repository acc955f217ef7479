package io.foliot.api;

import io.foliot.schedule.CronDialect;
import io.foliot.schedule.DstGap;
import io.foliot.schedule.DstOverlap;
import io.foliot.schedule.ScheduleSettings;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;

/** The fields of a schedule. {@link ScheduleSettings} has the rules between them. */
public final class ScheduleFields {
  /** A cron expression. */
  public static final Field<String> CRON = Field.optional("cron", FieldType.Text.ANY,
      "times of a cron expression, such as \"0 2 * * MON-FRI\"");
  /** The dialect of the expression. */
  public static final Field<CronDialect> DIALECT = Field.optional("dialect", FieldType.Choice.of(CronDialect.class),
      "dialect of the cron expression; needed only if its fields are ambiguous").of(CRON);
  /** The period of a fixed rate. */
  public static final Field<Duration> EVERY = Field.optional("every", FieldType.Span.ANY,
      "a fixed rate: the time between two scheduled times");
  /** The offset of a fixed rate. */
  public static final Field<Duration> OFFSET = Field.optional("offset", FieldType.Span.ANY,
      "the offset of a fixed rate from the epoch; derived from the job's name unless given");
  /** The delay from the end of a run to the next run. */
  public static final Field<Duration> AFTER = Field.optional("after", FieldType.Span.ANY,
      "a fixed delay after the end of the previous run");
  /** The only time. */
  public static final Field<Instant> AT = Field.optional("at", new FieldType.Time(), "a single scheduled time");
  /** The zone of local times. */
  public static final Field<String> ZONE = Field.of("zone", FieldType.Text.ANY, "UTC",
      "the time zone of local times, such as Europe/Berlin");
  /** The rule for skipped local times. */
  public static final Field<DstGap> DST_GAP = Field.of("dstGap", FieldType.Choice.of(DstGap.class), DstGap.SHIFT,
      "for local times that a clock change skips").quiet();
  /** The rule for repeated local times. */
  public static final Field<DstOverlap> DST_OVERLAP = Field.of("dstOverlap", FieldType.Choice.of(DstOverlap.class),
      DstOverlap.AUTO, "for local times that a clock change repeats").quiet();
  /** The first instant that may be scheduled. */
  public static final Field<Instant> FROM = Field.optional("from", new FieldType.Time(),
      "the first instant that may be scheduled");
  /** The first instant that must not be scheduled any more. */
  public static final Field<Instant> TO = Field.optional("to", new FieldType.Time(),
      "the end of the schedule: nothing is scheduled at this instant or later");
  /** Names of calendars. */
  public static final Field<List<String>> EXCLUDE = Field.of("exclude",
      new FieldType.Texts(ScheduleSettings.MAX_CALENDARS), List.of(), "calendars whose days are excluded");
  /** The longest delay of the shards of a run after their scheduled time. */
  public static final Field<Duration> JITTER = Field.of("jitter", FieldType.Span.ANY, Duration.ZERO,
      "delays each time by up to this long").quiet();

  /** The table. */
  public static final Fields TABLE = Fields.of("the schedule", CRON, DIALECT, EVERY, OFFSET, AFTER, AT, ZONE, DST_GAP,
      DST_OVERLAP, FROM, TO, EXCLUDE, JITTER);

  private ScheduleFields() {}

  /**
   * Returns the settings with these values.
   *
   * @throws io.foliot.schedule.ScheduleException if a setting is wrong or missing, or two settings exclude each other
   */
  public static ScheduleSettings settings(Values values) {
    ScheduleSettings.Builder builder = ScheduleSettings.builder().timeZone(values.require(ZONE))
        .dstGap(values.require(DST_GAP)).dstOverlap(values.require(DST_OVERLAP)).exclude(values.require(EXCLUDE))
        .jitter(values.require(JITTER));
    return builder.cron(values.get(CRON)).dialect(values.get(DIALECT)).every(values.get(EVERY))
        .offset(values.get(OFFSET)).after(values.get(AFTER)).at(values.get(AT)).from(values.get(FROM))
        .to(values.get(TO)).build();
  }

  /** Returns the values of settings. */
  public static Values values(ScheduleSettings settings) {
    return Values.of(TABLE).with(CRON, settings.cron()).with(DIALECT, settings.dialect()).with(EVERY, settings.every())
        .with(OFFSET, settings.offset()).with(AFTER, settings.after()).with(AT, settings.at())
        .with(ZONE, settings.timeZone().equals(ZoneOffset.UTC) ? "UTC" : settings.timeZone().getId())
        .with(DST_GAP, settings.dstGap()).with(DST_OVERLAP, settings.dstOverlap()).with(FROM, settings.from())
        .with(TO, settings.to()).with(EXCLUDE, settings.exclude()).with(JITTER, settings.jitter());
  }
}
