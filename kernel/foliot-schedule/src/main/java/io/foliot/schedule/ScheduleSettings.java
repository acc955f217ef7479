package io.foliot.schedule;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a job's schedule as a caller writes them: exactly one of cron, every, after and at, and the settings
 * that belong to it. A job stores these settings and not its schedule, because the calendars that the settings name may
 * change. {@link #schedule} creates the schedule. The constructor checks each setting and the rules between them. The
 * times of an expression with {@code H} depend on the name of the job, which the constructor does not know. So it only
 * refuses an expression that fires for no name, and {@link #schedule} checks it for the name of the job.
 *
 * @param cron an expression in canonical text, or null
 * @param dialect the dialect of the expression, derived from its fields if it is not given; null without an expression
 * @param every a period, or null
 * @param offset the time from the epoch to the first scheduled time, less than the period; null to derive it from the
 *     job's name
 * @param after a delay from the end of a run to the next run, or null
 * @param at the only time, or null
 * @param timeZone the zone of local times, of calendars and of previews; UTC unless set
 * @param dstGap the rule for skipped local times
 * @param dstOverlap the rule for repeated local times
 * @param from the first instant that may be scheduled, or null
 * @param to the first instant that must not be scheduled any more, or null
 * @param exclude names of calendars whose days are excluded
 * @param jitter the longest delay of the shards of a run after their scheduled time
 */
public record ScheduleSettings(@Nullable String cron, @Nullable CronDialect dialect, @Nullable Duration every,
    @Nullable Duration offset, @Nullable Duration after, @Nullable Instant at, ZoneId timeZone, DstGap dstGap,
    DstOverlap dstOverlap, @Nullable Instant from, @Nullable Instant to, List<String> exclude, Duration jitter) {
  /** Maximum number of calendars of one schedule. */
  public static final int MAX_CALENDARS = 16;
  /** Names of the settings, in the order of {@link #values}. */
  public static final List<String> NAMES = List.of("cron", "dialect", "every", "offset", "after", "at", "zone",
      "dstGap", "dstOverlap", "from", "to", "exclude", "jitter");

  private static final List<String> KINDS = List.of("cron", "every", "after", "at");
  /** First instant that may be set: a year of RFC 3339 has four digits. */
  private static final Instant FIRST = Instant.parse("0000-01-01T00:00:00Z");
  /** Last instant that may be set. Its milliseconds since 1970 fit into a long. */
  private static final Instant LAST = Instant.parse("9999-12-31T23:59:59.999Z");

  public ScheduleSettings {
    List<String> kinds = new ArrayList<>();
    addIfSet(kinds, "cron", cron);
    addIfSet(kinds, "every", every);
    addIfSet(kinds, "after", after);
    addIfSet(kinds, "at", at);
    if (kinds.size() != 1) {
      throw ScheduleException.ofChoice("schedule", null, kinds.isEmpty() ? "none" : String.join(", ", kinds),
          "exactly one kind", KINDS, null);
    }
    if (cron != null) {
      CronText.Parsed parsed = CronText.parse(cron, dialect, null);
      cron = parsed.text();
      dialect = parsed.dialect();
    } else {
      refuseWithout("cron", "dialect", dialect == null ? null : dialect.text());
      refuseWithout("cron", "dstGap", dstGap == DstGap.SHIFT ? null : dstGap.text());
      refuseWithout("cron", "dstOverlap", dstOverlap == DstOverlap.AUTO ? null : dstOverlap.text());
    }
    if (every != null) {
      new EverySchedule(every, offset == null ? Duration.ZERO : offset);
      if (jitter.compareTo(every) > 0) {
        throw ScheduleException.of("jitter", ScheduleException.text(jitter),
            "at most the period of every=" + ScheduleException.text(every), null);
      }
    } else {
      refuseWithout("every", "offset", offset == null ? null : ScheduleException.text(offset));
    }
    if (after != null) {
      new AfterSchedule(after);
    }
    if (at != null) {
      refuseWith("at", "from", from);
      refuseWith("at", "to", to);
      refuseWith("at", "exclude", exclude.isEmpty() ? null : exclude);
    }
    ensureYear("at", at);
    ensureYear("from", from);
    ensureYear("to", to);
    if (from != null && to != null && !from.isBefore(to)) {
      throw ScheduleException.of("to", to.toString(), "an instant after from=" + from, null);
    }
    if (exclude.size() > MAX_CALENDARS) {
      throw ScheduleException.of("exclude", exclude.size() + " calendars", "at most " + MAX_CALENDARS + " calendars",
          null);
    }
    for (String calendar : exclude) {
      if (calendar.isBlank() || calendar.indexOf(',') >= 0) {
        throw ScheduleException.of("exclude", calendar, "the name of a calendar, without a comma", "holidays");
      }
    }
    exclude = List.copyOf(exclude);
    new Jitter(jitter, "");
  }

  private static void ensureYear(String setting, @Nullable Instant instant) {
    if (instant != null && (instant.isBefore(FIRST) || instant.isAfter(LAST))) {
      throw ScheduleException.of(setting, instant.toString(), "an instant from " + FIRST + " to " + LAST,
          "2027-01-01T00:00:00Z");
    }
  }

  private static void addIfSet(List<String> kinds, String name, @Nullable Object value) {
    if (value != null) {
      kinds.add(name);
    }
  }

  private static void refuseWithout(String kind, String setting, @Nullable String value) {
    if (value != null) {
      throw ScheduleException.of(setting, value, "no " + setting + " without " + kind, null);
    }
  }

  private static void refuseWith(String kind, String setting, @Nullable Object value) {
    if (value != null) {
      throw ScheduleException.of(setting, value.toString(), "no " + setting + " with " + kind, null);
    }
  }

  /** Returns a builder in which no setting is set. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns the settings from a map of their names to their texts. {@link #values} returns such a map. Durations and
   * instants are in ISO 8601.
   *
   * @throws ScheduleException if a name is unknown, or if {@link Builder#build} refuses the settings
   */
  public static ScheduleSettings of(Map<String, String> values) {
    Builder builder = new Builder();
    values.forEach(builder::set);
    return builder.build();
  }

  /** Returns the settings that differ from the defaults, as texts by name. Equal settings have equal values. */
  public Map<String, String> values() {
    Map<String, String> values = new LinkedHashMap<>();
    putIfSet(values, "cron", cron);
    putIfSet(values, "dialect", dialect == null ? null : dialect.text());
    putIfSet(values, "every", every);
    putIfSet(values, "offset", offset);
    putIfSet(values, "after", after);
    putIfSet(values, "at", at);
    putIfSet(values, "zone", timeZone.equals(ZoneOffset.UTC) ? null : timeZone.getId());
    putIfSet(values, "dstGap", dstGap == DstGap.SHIFT ? null : dstGap.text());
    putIfSet(values, "dstOverlap", dstOverlap == DstOverlap.AUTO ? null : dstOverlap.text());
    putIfSet(values, "from", from);
    putIfSet(values, "to", to);
    putIfSet(values, "exclude", exclude.isEmpty() ? null : String.join(",", exclude));
    putIfSet(values, "jitter", jitter.isZero() ? null : jitter);
    return values;
  }

  private static void putIfSet(Map<String, String> values, String name, @Nullable Object value) {
    if (value != null) {
      values.put(name, value.toString());
    }
  }

  /**
   * Returns the schedule of a job.
   *
   * @param job the name of the job, which determines {@code H} and the offset of a period
   * @param calendars returns a calendar by its name, or null if there is none
   * @throws ScheduleException if a calendar does not exist, if the calendars together exclude all weekdays or have too
   *     many dates, or if an expression with {@code H} never fires for the name of this job
   */
  public Schedule schedule(String job, Function<String, @Nullable Calendar> calendars) {
    Calendar calendar = calendar(calendars);
    Schedule timing = timing(job, calendar);
    Calendar left = cron == null ? calendar : Calendar.NONE;
    if (from == null && to == null && left.isEmpty() && (cron != null || timeZone.equals(ZoneOffset.UTC))) {
      return timing;
    }
    return new BoundedSchedule(timing, from == null ? null : wholeMillis(from), to, left, timeZone);
  }

  private Schedule timing(String job, Calendar calendar) {
    if (cron != null) {
      return CronSchedule.parse(cron, dialect, timeZone, job).with(dstGap, dstOverlap).excluding(calendar);
    }
    if (every != null) {
      return offset == null ? EverySchedule.spread(every, job) : new EverySchedule(every, offset);
    }
    return after != null ? new AfterSchedule(after) : new AtSchedule(wholeMillis(Objects.requireNonNull(at)));
  }

  /** Rounds an instant up to whole milliseconds, because jobs are planned in milliseconds. */
  private static Instant wholeMillis(Instant instant) {
    Instant floor = instant.truncatedTo(ChronoUnit.MILLIS);
    return floor.equals(instant) ? floor : floor.plusMillis(1);
  }

  private Calendar calendar(Function<String, @Nullable Calendar> calendars) {
    Calendar all = Calendar.NONE;
    for (String name : exclude) {
      Calendar calendar = calendars.apply(name);
      if (calendar == null) {
        throw ScheduleException.of("exclude", name, "the name of a calendar that exists", null);
      }
      all = all.and(calendar);
    }
    return all;
  }

  /** Returns the jitter of a job. */
  public Jitter jitter(String job) {
    return new Jitter(jitter, job);
  }

  /**
   * Ensures that a new job has a scheduled time in the future; with a fixed delay, the first one may be now.
   *
   * @param schedule the schedule of these settings
   * @param now the store's time at the creation
   * @throws ScheduleException if {@code at} or {@code to} is not after {@code now}, or if no scheduled time follows
   */
  public void ensureFiresAfter(Instant now, Schedule schedule) {
    if (at != null && !at.isAfter(now)) {
      throw ScheduleException.of("at", at.toString(), "an instant after now=" + now, null);
    }
    if (to != null && !to.isAfter(now)) {
      throw ScheduleException.of("to", to.toString(), "an instant after now=" + now, null);
    }
    if ((after == null ? schedule.next(now) : schedule.first(now)) == null) {
      String kind = cron != null ? "cron" : every != null ? "every" : "after";
      throw ScheduleException.of(kind,
          cron != null ? cron : ScheduleException.text(Objects.requireNonNull(every != null ? every : after)),
          "a scheduled time after now=" + now + (from == null ? "" : ", from=" + from)
              + (to == null ? "" : " and before to=" + to) + (exclude.isEmpty() ? "" : ", without the days of exclude"),
          null);
    }
  }

  /** Collects settings; {@link #build} checks them. */
  public static final class Builder {
    private @Nullable String cron;
    private @Nullable CronDialect dialect;
    private @Nullable Duration every;
    private @Nullable Duration offset;
    private @Nullable Duration after;
    private @Nullable Instant at;
    private ZoneId timeZone = ZoneOffset.UTC;
    private DstGap dstGap = DstGap.SHIFT;
    private DstOverlap dstOverlap = DstOverlap.AUTO;
    private @Nullable Instant from;
    private @Nullable Instant to;
    private List<String> exclude = List.of();
    private Duration jitter = Duration.ZERO;

    private Builder() {}

    /** Sets a cron expression. */
    public Builder cron(@Nullable String expression) {
      cron = expression;
      return this;
    }

    /** Sets the dialect of the expression. */
    public Builder dialect(@Nullable CronDialect newDialect) {
      dialect = newDialect;
      return this;
    }

    /** Sets a fixed rate. */
    public Builder every(@Nullable Duration period) {
      every = period;
      return this;
    }

    /** Sets the offset of a fixed rate: the time from the epoch to the first scheduled time, less than the period. */
    public Builder offset(@Nullable Duration newOffset) {
      offset = newOffset;
      return this;
    }

    /** Sets a fixed delay from the end of a run to the next run. */
    public Builder after(@Nullable Duration delay) {
      after = delay;
      return this;
    }

    /** Sets the only time. */
    public Builder at(@Nullable Instant time) {
      at = time;
      return this;
    }

    /**
     * Sets the zone by its name or its offset.
     *
     * @throws ScheduleException if there is no such zone; the exception names the zones that may be meant
     */
    public Builder timeZone(String name) {
      return timeZone(ZoneNames.parse(name));
    }

    /** Sets the zone. */
    public Builder timeZone(ZoneId newZone) {
      // Z and UTC are names of the same zone.
      timeZone = newZone.normalized().equals(ZoneOffset.UTC) ? ZoneOffset.UTC : newZone;
      return this;
    }

    /** Sets the rule for skipped local times. */
    public Builder dstGap(DstGap gap) {
      dstGap = gap;
      return this;
    }

    /** Sets the rule for repeated local times. */
    public Builder dstOverlap(DstOverlap overlap) {
      dstOverlap = overlap;
      return this;
    }

    /** Sets the first instant that may be scheduled. */
    public Builder from(@Nullable Instant first) {
      from = first;
      return this;
    }

    /** Sets the first instant that must not be scheduled any more. */
    public Builder to(@Nullable Instant end) {
      to = end;
      return this;
    }

    /** Sets the names of calendars whose days are excluded. */
    public Builder exclude(List<String> calendars) {
      exclude = calendars;
      return this;
    }

    /** Sets the longest delay of a scheduled time. */
    public Builder jitter(Duration max) {
      jitter = max;
      return this;
    }

    /**
     * Returns the settings.
     *
     * @throws ScheduleException if a setting is wrong or missing, or two settings exclude each other
     */
    public ScheduleSettings build() {
      return new ScheduleSettings(cron, dialect, every, offset, after, at, timeZone, dstGap, dstOverlap, from, to,
          exclude,
          jitter);
    }

    private void set(String setting, String value) {
      switch (setting) {
        case "cron" -> cron(value);
        case "dialect" -> dialect(constant(setting, value, CronDialect.values()));
        case "every" -> every(duration(setting, value));
        case "offset" -> offset(duration(setting, value));
        case "after" -> after(duration(setting, value));
        case "at" -> at(instant(setting, value));
        case "zone" -> timeZone(value);
        case "dstGap" -> dstGap(constant(setting, value, DstGap.values()));
        case "dstOverlap" -> dstOverlap(constant(setting, value, DstOverlap.values()));
        case "from" -> from(instant(setting, value));
        case "to" -> to(instant(setting, value));
        case "exclude" -> exclude(List.of(value.split(",", -1)));
        case "jitter" -> jitter(duration(setting, value));
        default -> throw ScheduleException.ofChoice("schedule", null, setting, "the name of a setting", NAMES, null);
      }
    }

    private static <E extends Enum<E>> E constant(String setting, String value, E[] constants) {
      List<String> names = new ArrayList<>();
      for (E constant : constants) {
        String name = constant.name().toLowerCase(Locale.ROOT);
        if (name.equals(value)) {
          return constant;
        }
        names.add(name);
      }
      throw ScheduleException.ofChoice(setting, null, value, "a known name", names, null);
    }

    private static Duration duration(String setting, String value) {
      try {
        return Duration.parse(value);
      } catch (DateTimeException e) {
        ScheduleException refused = ScheduleException.of(setting, value, "a duration of ISO 8601", "PT30M");
        refused.initCause(e);
        throw refused;
      }
    }

    private static Instant instant(String setting, String value) {
      try {
        return Instant.parse(value);
      } catch (DateTimeException e) {
        ScheduleException refused = ScheduleException.of(setting, value, "an instant of RFC 3339",
            "2026-11-23T02:00:00Z");
        refused.initCause(e);
        throw refused;
      }
    }
  }
}
