package io.foliot.schedule;

import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneRules;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The times of a cron expression in a time zone.
 *
 * <p>Guarantees, besides those of {@link Schedule}: a scheduled time is at a whole second, and not before 1970. A
 * matching local time outside gaps and overlaps fires once. A local time in a gap fires at the end of the gap
 * ({@link DstGap#SHIFT}) or not at all; all times that shift to that instant are one scheduled time. A local time in an
 * overlap fires in the first pass, or in both ({@link DstOverlap}).
 *
 * <p>Algorithm of {@link #next}: the time line of a zone is a sequence of spans of constant offset
 * ({@link OffsetSpan}), and the expression is a set of local times ({@link LocalTimes}).
 * <ol>
 * <li>Begin with the span that contains the second after the argument.
 * <li>With {@link DstGap#SHIFT}: a span may begin with a gap that contains an element of the set. If the search is at
 * the start of such a span, this start is the result.
 * <li>If the span begins with an overlap and only first passes fire, skip the repeated local times.
 * <li>Find the next element of the set. If it is before the local end of the span, the result is that element minus the
 * offset of the span.
 * <li>Otherwise continue with the next span. If the span ends at least two days after the current second, an overlap at
 * its end can repeat only later local times. The element from step 4 is then still the next one. The search skips the
 * spans before this element, or ends if there is none.
 * </ol>
 *
 * <p>The rules for clock changes are those of Vixie cron (Debian's cron 3.0, ISC cron 4.1), stated for local times. Two
 * other algorithms were rejected. Spring and cron-utils search a ZonedDateTime field by field: a step into a gap moves
 * fields that were set already, which leads to lost times and endless loops. Quartz uses java.util.Calendar, and its
 * lenient fields lose the hours of an overlap.
 */
public final class CronSchedule implements Schedule {
  /** End of all searches, exclusive: 10000-01-01T00:00Z. */
  private static final long END_SECOND = 253_402_300_800L;
  /** More seconds than the longest overlap has, because two offsets differ by at most 36 hours. */
  private static final long OVERLAP_SECONDS = 2 * LocalTimes.DAY_SECONDS;

  private final CronText.Parsed parsed;
  private final String name;
  private final ZoneId zone;
  private final ZoneRules rules;
  private final DstGap gap;
  private final DstOverlap overlap;
  private final LocalTimes times;
  private final boolean firesTwice;
  /**
   * The span of the latest call. Any thread may write this field. A race only costs another lookup, because a span is
   * immutable.
   */
  private @Nullable OffsetSpan lastSpan;

  private CronSchedule(CronText.Parsed parsed, String name, ZoneId zone, DstGap gap, DstOverlap overlap,
      LocalTimes times) {
    this.parsed = parsed;
    this.name = parsed.isHashed() ? name : "";
    this.zone = zone;
    this.rules = zone.getRules();
    this.gap = gap;
    this.overlap = overlap;
    this.times = times;
    this.firesTwice = overlap == DstOverlap.BOTH || (overlap == DstOverlap.AUTO && times.hasEveryHour());
  }

  /**
   * Returns the schedule of an expression, with {@link DstGap#SHIFT} and {@link DstOverlap#AUTO}.
   *
   * @param cron an expression such as {@code 0 2 * * MON-FRI}, or a macro such as {@code @daily}
   * @param dialect the meaning of the fields; null to derive it from the fields. A macro is always unix
   * @param zone the zone of the local times
   * @param name the name of the job, which determines {@code H}
   * @throws ScheduleException if the expression is wrong, means different times in two dialects, or never fires
   */
  public static CronSchedule parse(String cron, @Nullable CronDialect dialect, ZoneId zone, String name) {
    CronText.Parsed parsed = CronText.parse(cron, dialect, name);
    return new CronSchedule(parsed, name, zone, DstGap.SHIFT, DstOverlap.AUTO, parsed.times());
  }

  /** Returns the schedule of an expression without {@code H}. The dialect is derived from the fields. */
  public static CronSchedule parse(String cron, ZoneId zone) {
    return parse(cron, null, zone, "");
  }

  /** Returns this schedule with other rules for clock changes. */
  public CronSchedule with(DstGap newGap, DstOverlap newOverlap) {
    return new CronSchedule(parsed, name, zone, newGap, newOverlap, times);
  }

  /** Returns this schedule without the days of a calendar. {@code W} then means the business days of that calendar. */
  public CronSchedule excluding(Calendar calendar) {
    return new CronSchedule(parsed, name, zone, gap, overlap, times.without(calendar));
  }

  @Override
  public @Nullable Instant next(Instant after) {
    long second = Math.max(0, after.getEpochSecond() + 1);
    while (second < END_SECOND) {
      OffsetSpan span = span(second);
      if (gap == DstGap.SHIFT && second == span.start() && span.beginsWithGap()
          && isBefore(times.next(span.localEndBefore()), span.localStart())) {
        return Instant.ofEpochSecond(second);
      }
      long local = second + span.offset();
      if (span.beginsWithOverlap() && !firesTwice) {
        local = Math.max(local, span.localEndBefore());
      }
      long match = times.next(local);
      if (isBefore(match, span.localEnd())) {
        return Instant.ofEpochSecond(match - span.offset());
      }
      long end = span.end();
      if (end - second >= OVERLAP_SECONDS) {
        if (match == LocalTimes.NONE) {
          return null;
        }
        end = Math.max(end, match - 2 * OVERLAP_SECONDS);
      }
      second = end;
    }
    return null;
  }

  private static boolean isBefore(long match, long localEnd) {
    return match != LocalTimes.NONE && match < localEnd;
  }

  private OffsetSpan span(long second) {
    OffsetSpan span = lastSpan;
    if (span == null || !span.contains(second)) {
      span = OffsetSpan.at(rules, second);
      lastSpan = span;
    }
    return span;
  }

  /** Returns the fields of the expression in upper case, with one space between them. A macro is replaced by fields. */
  public String cron() {
    return parsed.text();
  }

  /** Returns the dialect that was given or derived; unix for a macro. */
  public CronDialect dialect() {
    return parsed.dialect();
  }

  @Override
  public ZoneId zone() {
    return zone;
  }

  /** Returns the rule for skipped local times. */
  public DstGap gap() {
    return gap;
  }

  /** Returns the rule for repeated local times. */
  public DstOverlap overlap() {
    return overlap;
  }

  /** Returns the excluded days. */
  public Calendar calendar() {
    return times.calendar();
  }

  @Override
  public String text() {
    return "cron " + parsed.text() + " dialect " + dialect().text() + " zone " + zone + " gap " + gap.text()
        + " overlap " + overlap.text() + (name.isEmpty() ? "" : " name " + name)
        + (calendar().isEmpty() ? "" : " exclude " + String.join(",", calendar().entries()));
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CronSchedule that && cron().equals(that.cron()) && dialect() == that.dialect()
        && zone.equals(that.zone) && gap == that.gap && overlap == that.overlap && name.equals(that.name)
        && calendar().equals(that.calendar());
  }

  @Override
  public int hashCode() {
    return Objects.hash(cron(), dialect(), zone, gap, overlap, name, calendar());
  }

  @Override
  public String toString() {
    return text();
  }
}
