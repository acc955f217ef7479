package io.foliot.schedule;

import static io.foliot.schedule.CronField.DAY_OF_MONTH;
import static io.foliot.schedule.CronField.DAY_OF_WEEK;
import static io.foliot.schedule.CronField.HOUR;
import static io.foliot.schedule.CronField.MINUTE;
import static io.foliot.schedule.CronField.MONTH;
import static io.foliot.schedule.CronField.SECOND;
import static io.foliot.schedule.CronField.YEAR;

import java.time.Month;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parser of cron expressions in all dialects. The grammar, in upper or lower case:
 *
 * <pre>
 * expression = field *( 1*space field ) / macro
 * macro      = "@hourly" / "@daily" / "@midnight" / "@weekly" / "@monthly" / "@yearly" / "@annually"
 * field      = item *( "," item ) / "?"                   "?" in the day fields of spring and quartz
 * item       = ( "*" / number / number "-" number / hash ) [ "/" step ]
 *            / "L" [ "-" days ] [ "W" ] / number "W"      day of month
 *            / "L" / number "L" / number "#" ( 1 to 5 )   day of week; "L" alone in quartz
 * hash       = "H" [ "(" number "-" number ")" ]
 * </pre>
 *
 * <p>A number may be a name in the month and day-of-week fields; quartz has long names too. {@code 5/15} means from 5
 * to the largest number of the field in steps of 15. For a weekday, this number is 7 in all dialects. A range that ends
 * before it begins is refused, except in quartz, where it wraps around in every field but the year. A step greater than
 * the number of values of the field is refused, because it can only be a mistake.
 *
 * <p>An expression is read as follows.
 * <ol>
 * <li>A macro is replaced by five fields.
 * <li>Without a dialect, five fields are unix and seven are quartz. Six fields are read as spring and as quartz. If
 * both dialects accept them with different meanings, the expression is refused; otherwise a dialect that accepts them
 * is chosen. The name for {@code H} has no effect on this choice.
 * <li>Each field becomes a bit set; the day fields become {@link MonthDays}.
 * <li>An expression that matches no day in 400 years is refused: the calendar repeats after that time, so the
 * expression never fires.
 * </ol>
 */
final class CronText {
  /**
   * Longest expression, in characters. An expression that lists every number of every field except the year is shorter.
   */
  static final int MAX_LENGTH = 1_000;
  /** Largest number of days that an item may count back from the last day of a month: {@code L-30}. */
  private static final int MAX_DAYS_FROM_END = 30;
  private static final int MAX_DIGITS = 4;
  private static final String FIELD_COUNTS = "5 fields (unix), 6 fields (spring or quartz) or 7 fields (quartz)";
  private static final String EXAMPLE = "0 2 * * MON-FRI";
  /** Number of fields of the dialect unix. In a crontab, a command follows. */
  private static final int FIVE = 5;
  private static final int MAX_FIELDS = 7;
  /** Text that no field of an expression has: another character, a slash without a number before, or a long word. */
  private static final Pattern COMMAND = Pattern.compile("[^0-9A-Z*?/,#()-]|^/|[A-Z]{4}");
  /**
   * Name for the comparison of two dialects. Any name would do: it chooses the same position of a range in both
   * dialects. The dialects therefore agree on the weekdays of an {@code H} either for all names or for none.
   */
  private static final String SOME_NAME = "job";

  private static final Map<String, String> MACROS = Map.of("@HOURLY", "0 * * * *", "@DAILY", "0 0 * * *", "@MIDNIGHT",
      "0 0 * * *", "@WEEKLY", "0 0 * * 0", "@MONTHLY", "0 0 1 * *", "@YEARLY", "0 0 1 1 *", "@ANNUALLY", "0 0 1 1 *");

  /**
   * A parsed expression.
   *
   * @param text the fields in upper case, with one space between them; a macro is replaced by fields
   * @param isHashed whether a field depends on the name
   */
  record Parsed(String text, CronDialect dialect, LocalTimes times, boolean isHashed) {}

  private final CronDialect dialect;
  private final @Nullable String name;
  private boolean isHashed;
  // the components of MonthDays, as they are read
  private int days;
  private int fromEnd;
  private int nearest;
  private int nearestFromEnd;
  private int weekdays;
  private int lastWeekdays;
  private long nthWeekdays;

  private CronText(CronDialect dialect, @Nullable String name) {
    this.dialect = dialect;
    this.name = name;
  }

  /**
   * Reads an expression.
   *
   * @param dialect null to derive it
   * @param name the name for {@code H}; if it is empty, {@code H} is refused. If it is null, {@code H} means all
   *     numbers that names may choose, so that an expression is accepted if it fires for at least one name
   * @throws ScheduleException if the expression is wrong, ambiguous, or never fires
   */
  static Parsed parse(String cron, @Nullable CronDialect dialect, @Nullable String name) {
    String text = cron.strip().toUpperCase(Locale.ROOT);
    if (text.length() > MAX_LENGTH) {
      throw ScheduleException.of("cron", text, "at most " + MAX_LENGTH + " characters", EXAMPLE);
    }
    List<String> fields = List.of(text.split("\\s+", -1));
    int count = fields.size();
    if (fields.getFirst().contains("=")) {
      throw ScheduleException.of("cron", cron, "an expression without an assignment; set the zone of the schedule"
          + " instead", EXAMPLE);
    }
    if (text.startsWith("@")) {
      String macro = MACROS.get(text);
      if (macro == null && count > 1 && MACROS.containsKey(fields.getFirst())) {
        throw withCommand(cron, fields.getFirst().toLowerCase(Locale.ROOT));
      }
      if (macro == null) {
        throw ScheduleException.ofChoice("cron", null, cron, "a macro",
            MACROS.keySet().stream().map(each -> each.toLowerCase(Locale.ROOT)).sorted().toList(), "@daily");
      }
      return read(List.of(macro.split(" ", -1)), CronDialect.UNIX, name);
    }
    if (count > FIVE && (count > MAX_FIELDS || isCommand(fields.get(FIVE))) && isUnix(fields.subList(0, FIVE), name)) {
      throw withCommand(cron, String.join(" ", fields.subList(0, FIVE)));
    }
    if (count < FIVE || count > MAX_FIELDS || text.isEmpty()) {
      throw ScheduleException.of("cron", cron, FIELD_COUNTS, EXAMPLE);
    }
    if (dialect != null) {
      return read(fields, dialect, name);
    }
    return switch (count) {
      case 5 -> read(fields, CronDialect.UNIX, name);
      case 7 -> read(fields, CronDialect.QUARTZ, name);
      default -> readSixFields(fields, name);
    };
  }

  /** Returns whether the field after the fifth one is a command, or the user of a system's crontab. */
  private static boolean isCommand(String field) {
    return COMMAND.matcher(field).find() && !CronField.DAY_OF_WEEK.hasLongName(field);
  }

  private static boolean isUnix(List<String> fields, @Nullable String name) {
    try {
      Parsed unused = read(fields, CronDialect.UNIX, name);
      return true;
    } catch (ScheduleException e) {
      return false;
    }
  }

  private static ScheduleException withCommand(String cron, String expression) {
    return ScheduleException.of("cron", cron,
        "an expression without a command; the queue of the job says what runs", expression);
  }

  private static Parsed readSixFields(List<String> fields, @Nullable String name) {
    Parsed quartz;
    try {
      quartz = read(fields, CronDialect.QUARTZ, name);
    } catch (ScheduleException e) {
      return read(fields, CronDialect.SPRING, name);
    }
    Parsed spring;
    try {
      spring = read(fields, CronDialect.SPRING, name);
    } catch (ScheduleException e) {
      return quartz;
    }
    if (!new CronText(CronDialect.SPRING, SOME_NAME).times(fields)
        .equals(new CronText(CronDialect.QUARTZ, SOME_NAME).times(fields))) {
      throw ScheduleException.ofChoice("cron", DAY_OF_WEEK.text(), fields.get(5),
          "names of weekdays or a dialect, because the number of a day depends on the dialect: 1 is Monday in spring, Sunday in quartz",
          List.of("dialect spring", "dialect quartz"), String.join(" ", fields.subList(0, 5)) + " TUE");
    }
    return spring;
  }

  private static Parsed read(List<String> fields, CronDialect dialect, @Nullable String name) {
    int count = fields.size();
    boolean fits = switch (dialect) {
      case UNIX -> count == 5;
      case SPRING -> count == 6;
      case QUARTZ -> count == 6 || count == 7;
    };
    if (!fits) {
      throw ScheduleException.of("cron", String.join(" ", fields), switch (dialect) {
        case UNIX -> "5 fields of dialect unix: minute, hour, day of month, month, day of week";
        case SPRING -> "6 fields of dialect spring: second, minute, hour, day of month, month, day of week";
        case QUARTZ -> "6 or 7 fields of dialect quartz: second, minute, hour, day of month, month, day of week, year";
      }, switch (dialect) {
        case UNIX -> EXAMPLE;
        case SPRING -> "0 0 2 * * MON-FRI";
        case QUARTZ -> "0 0 2 ? * MON-FRI";
      });
    }
    CronText text = new CronText(dialect, name);
    LocalTimes times = text.times(fields);
    int dayOfMonth = dialect == CronDialect.UNIX ? 2 : 3;
    ensureFires(times, fields.get(dayOfMonth), fields.get(dayOfMonth + 2));
    return new Parsed(String.join(" ", fields), dialect, times, text.isHashed);
  }

  private LocalTimes times(List<String> fields) {
    int minute = dialect == CronDialect.UNIX ? 0 : 1;
    long seconds = minute == 0 ? 1 : bits(SECOND, fields.getFirst());
    long minutes = bits(MINUTE, fields.get(minute));
    int hours = (int) bits(HOUR, fields.get(minute + 1));
    String dayOfMonth = fields.get(minute + 2);
    int months = (int) bits(MONTH, fields.get(minute + 3));
    String dayOfWeek = fields.get(minute + 4);
    ensureDayFieldsFit(dayOfMonth, dayOfWeek);
    if (dayOfMonth.equals("?")) {
      days = MonthDays.ALL_DAYS;
    } else {
      for (String item : items(DAY_OF_MONTH, dayOfMonth)) {
        readDay(item);
      }
    }
    if (dayOfWeek.equals("?")) {
      weekdays = MonthDays.ALL_WEEKDAYS;
    } else {
      for (String item : items(DAY_OF_WEEK, dayOfWeek)) {
        readWeekday(item);
      }
    }
    boolean either = dialect == CronDialect.UNIX && !dayOfMonth.startsWith("*") && !dayOfWeek.startsWith("*");
    MonthDays monthDays = new MonthDays(days, fromEnd, nearest, nearestFromEnd, weekdays, lastWeekdays, nthWeekdays,
        either);
    BitSet years = fields.size() < 7 || fields.get(6).equals("*") ? null : years(fields.get(6));
    return new LocalTimes(seconds, minutes, hours, monthDays, months, years, Calendar.NONE);
  }

  private void ensureDayFieldsFit(String dayOfMonth, String dayOfWeek) {
    boolean noDay = dayOfMonth.equals("?");
    boolean noWeekday = dayOfWeek.equals("?");
    if (dialect == CronDialect.UNIX && (noDay || noWeekday)) {
      throw ScheduleException.ofField((noDay ? DAY_OF_MONTH : DAY_OF_WEEK).text(), "?", "* in dialect unix",
          "0 2 * * MON");
    }
    if (noDay && noWeekday) {
      throw ScheduleException.ofField(DAY_OF_WEEK.text(), "?", "? in one of the two day fields only",
          "0 0 2 * * ?");
    }
    if (dialect == CronDialect.QUARTZ && !noDay && !noWeekday) {
      throw ScheduleException.ofField(DAY_OF_WEEK.text(), dayOfWeek,
          "? in one of the two day fields of dialect quartz", "0 0 2 ? * MON-FRI");
    }
  }

  /** Refuses an expression that never fires, because none of its months and years has one of its days. */
  private static void ensureFires(LocalTimes times, String dayOfMonth, String dayOfWeek) {
    if (times.next(0) == LocalTimes.NONE) {
      if (times.onAnyWeekday().next(0) != LocalTimes.NONE) {
        throw ScheduleException.ofField(DAY_OF_WEEK.text(), dayOfWeek,
            "a weekday that falls on one of the days of the month " + dayOfMonth
                + ", because the two fields exclude each other and the expression never fires",
            null);
      }
      int longest = 0;
      for (Month month : Month.values()) {
        if (((times.months() >>> month.getValue()) & 1) != 0) {
          longest = Math.max(longest, month.maxLength());
        }
      }
      throw ScheduleException.ofField(DAY_OF_MONTH.text(), dayOfMonth,
          "a day that exists in one of the months and years (1-" + longest + "), because the expression never fires",
          "0 0 L * *");
    }
  }

  private static String[] items(CronField field, String text) {
    String[] items = text.split(",", -1);
    for (String item : items) {
      if (item.isEmpty()) {
        throw ScheduleException.ofField(field.text(), text, "an item before and after each comma", field.example());
      }
    }
    return items;
  }

  private long bits(CronField field, String text) {
    long bits = 0;
    for (String item : items(field, text)) {
      bits |= general(field, item);
    }
    return bits;
  }

  private void readDay(String item) {
    if (item.startsWith("L")) {
      boolean business = item.endsWith("W");
      String middle = item.substring(1, item.length() - (business ? 1 : 0));
      int back = middle.isEmpty() ? 0 : middle.startsWith("-") ? digits(middle.substring(1)) : -1;
      if (back < 0 || back > MAX_DAYS_FROM_END) {
        throw ScheduleException.ofField(DAY_OF_MONTH.text(), item, "L, L-1 to L-" + MAX_DAYS_FROM_END + ", or LW",
            "L-3");
      }
      if (business) {
        nearestFromEnd |= 1 << back;
      } else {
        fromEnd |= 1 << back;
      }
    } else if (item.endsWith("W")) {
      nearest |= 1 << (number(DAY_OF_MONTH, item, item.substring(0, item.length() - 1)) - 1);
    } else {
      days |= (int) (general(DAY_OF_MONTH, item) >>> 1);
    }
  }

  private void readWeekday(String item) {
    int hash = item.indexOf('#');
    if (hash >= 0) {
      int week = digits(item.substring(hash + 1));
      if (week < 1 || week > MonthDays.WEEKS) {
        throw ScheduleException.ofField(DAY_OF_WEEK.text(), item, "the first to fifth weekday of a month: #1 to #5",
            "MON#1");
      }
      nthWeekdays |= (long) weekdayBit(item, item.substring(0, hash)) << (MonthDays.WEEK * (week - 1));
    } else if (item.equals("L")) {
      if (dialect != CronDialect.QUARTZ) {
        throw ScheduleException.ofField(DAY_OF_WEEK.text(), item, "a weekday before L", "FRIL");
      }
      weekdays |= weekdayBit(item, "SAT");
    } else if (item.endsWith("L") && item.length() > 1) {
      lastWeekdays |= weekdayBit(item, item.substring(0, item.length() - 1));
    } else {
      weekdays |= weekdayBits(general(DAY_OF_WEEK, item));
    }
  }

  private int weekdayBit(String item, String weekday) {
    return weekdayBits(1L << number(DAY_OF_WEEK, item, weekday));
  }

  /**
   * Converts a set of weekdays from the numbers of the dialect. Bit 0 of the result is Sunday, which is also the number
   * 7 of unix and spring.
   */
  private int weekdayBits(long numbers) {
    int bits = (int) (dialect == CronDialect.QUARTZ ? numbers >>> 1 : numbers);
    return (bits | (bits >>> MonthDays.WEEK)) & MonthDays.ALL_WEEKDAYS;
  }

  private BitSet years(String text) {
    BitSet years = new BitSet();
    for (String item : items(YEAR, text)) {
      Range range = range(YEAR, item);
      for (int year = range.from; year <= range.to; year += range.step) {
        years.set(year);
      }
    }
    return years;
  }

  /** Returns the numbers of an item whose syntax all fields accept, as a bit set: bit 0 is the number 0. */
  private long general(CronField field, String item) {
    Range range = range(field, item);
    long bits = 0;
    int first = field.first(dialect);
    int size = field.last(dialect) - first + 1;
    int to = range.to < range.from ? range.to + size : range.to;
    for (int value = range.from; value <= to; value += range.step) {
      bits |= 1L << (value > field.max() ? value - size : value);
    }
    return bits;
  }

  /** The numbers of an item. In quartz, {@code to} may be less than {@code from}, and the range then wraps around. */
  private record Range(int from, int to, int step) {}

  private Range range(CronField field, String item) {
    int slash = item.indexOf('/');
    String base = slash < 0 ? item : item.substring(0, slash);
    int values = field.last(dialect) - field.first(dialect) + 1;
    int step = slash < 0 ? 1 : digits(item.substring(slash + 1));
    if (step < 1 || step > values) {
      throw ScheduleException.ofField(field.text(), item,
          "a step from 1 to " + values + "; for a longer period, use every",
          field.example());
    }
    if (base.equals("*")) {
      return new Range(field.first(dialect), field.last(dialect), step);
    }
    if (base.startsWith("H") && (base.length() == 1 || base.charAt(1) == '(')) {
      return hashed(field, item, base, slash < 0 ? 0 : step);
    }
    int dash = base.indexOf('-');
    if (dash < 0) {
      int from = number(field, item, base);
      return new Range(from, slash < 0 ? from : field.max(), step);
    }
    int from = number(field, item, base.substring(0, dash));
    int to = number(field, item, base.substring(dash + 1));
    if (field == DAY_OF_WEEK && dialect != CronDialect.QUARTZ && base.endsWith("-SUN")) {
      to = field.max();
    }
    if (from > to && (dialect != CronDialect.QUARTZ || field == YEAR)) {
      throw ScheduleException.ofField(field.text(), item,
          "a range that begins before it ends; a range past the end of the field is two ranges",
          slash >= 0 || field == YEAR ? field.example() : twoRanges(field, from, to));
    }
    return new Range(from, to, step);
  }

  /** Returns the two ranges that mean a range past the end of a field: 22-23,0-6. */
  private String twoRanges(CronField field, int from, int to) {
    int last = field.last(dialect);
    int first = field.first(dialect);
    return (from >= last ? String.valueOf(from) : from + "-" + last) + ","
        + (to <= first ? String.valueOf(to) : first + "-" + to);
  }

  private Range hashed(CronField field, String item, String base, int step) {
    int from = field.first(dialect);
    int to = field.lastHashed(dialect);
    if (base.length() > 1) {
      int dash = base.indexOf('-');
      if (dash < 0 || !base.endsWith(")")) {
        throw ScheduleException.ofField(field.text(), item, "H, H/15 or H(0-29)", "H(0-29)");
      }
      from = number(field, item, base.substring(2, dash));
      to = number(field, item, base.substring(dash + 1, base.length() - 1));
    }
    if (from > to) {
      throw ScheduleException.ofField(field.text(), item, "a range that begins before it ends", "H(0-29)");
    }
    isHashed = true;
    if (name == null) {
      return new Range(from, to, 1);
    }
    if (name.isEmpty()) {
      throw ScheduleException.ofField(field.text(), item, "a schedule with a name, from which H follows", "*/15");
    }
    int choices = step == 0 ? to - from + 1 : Math.min(step, to - from + 1);
    int first = from + (int) NameHash.below(choices, name, field.salt());
    return step == 0 ? new Range(first, first, 1) : new Range(first, to, step);
  }

  private int number(CronField field, String item, String text) {
    int named = field.named(text, dialect);
    int number = named >= 0 ? named + field.firstNamed(dialect) : digits(text);
    if (number < field.min(dialect) || number > field.max()) {
      throw ScheduleException.ofField(field.text(), item, field.range(dialect), field.example());
    }
    return number;
  }

  /** Returns the number that a text denotes, or -1 if the text is not 1 to {@value #MAX_DIGITS} digits. */
  private static int digits(String text) {
    if (text.isEmpty() || text.length() > MAX_DIGITS) {
      return -1;
    }
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      char digit = text.charAt(i);
      if (digit < '0' || digit > '9') {
        return -1;
      }
      number = number * 10 + digit - '0';
    }
    return number;
  }
}
