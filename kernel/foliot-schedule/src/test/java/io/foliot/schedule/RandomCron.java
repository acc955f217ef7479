package io.foliot.schedule;

import java.util.Random;

/** Generates random cron expressions with most kinds of items of a dialect, without {@code H}. */
final class RandomCron {
  private static final String[] WEEKDAYS = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
  private static final String[] MONTHS = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV",
      "DEC"};

  private final Random random;
  private final CronDialect dialect;
  private final boolean isPlain;

  /**
   * Creates a source of expressions. Plain expressions have no {@code L}, {@code W} or {@code #}, no names of months
   * and no years.
   */
  RandomCron(Random random, CronDialect dialect, boolean isPlain) {
    this.random = random;
    this.dialect = dialect;
    this.isPlain = isPlain;
  }

  String next() {
    String time = field(0, 59) + " " + field(0, 23);
    boolean byWeekday = random.nextBoolean();
    String month = random.nextInt(3) > 0
        ? "*"
        : !isPlain && random.nextBoolean()
            ? MONTHS[random.nextInt(12)]
            : field(1, 12);
    return switch (dialect) {
      case UNIX -> time + " " + (byWeekday ? "*" : day()) + " " + month + " "
          + (byWeekday || (!isPlain && random.nextInt(4) == 0) ? weekday() : "*");
      case SPRING -> field(0, 59) + " " + time + " " + (byWeekday ? "*" : day()) + " " + month + " "
          + (byWeekday || (!isPlain && random.nextInt(4) == 0) ? weekday() : random.nextBoolean() ? "*" : "?");
      case QUARTZ -> field(0, 59) + " " + time + " " + (byWeekday ? "?" : day()) + " " + month + " "
          + (byWeekday ? weekday() : "?") + (!isPlain && random.nextInt(4) == 0 ? " 2024-2038/" + between(1, 3) : "");
    };
  }

  private int between(int from, int to) {
    return from + random.nextInt(to - from + 1);
  }

  private String field(int min, int max) {
    int from = between(min, max);
    return switch (random.nextInt(8)) {
      case 0, 1 -> "*";
      case 2 -> "*/" + between(1, (max - min + 1) / 2);
      case 3 -> from + "/" + between(1, (max - min + 1) / 2);
      case 4 -> from + "-" + between(from, max) + (random.nextBoolean() ? "" : "/" + between(1, 7));
      case 5 -> from + "," + between(min, max) + "," + between(min, max);
      default -> String.valueOf(from);
    };
  }

  private String day() {
    return isPlain ? field(1, 31) : switch (random.nextInt(8)) {
      case 0 -> "L";
      case 1 -> "L-" + between(0, 27);
      case 2 -> "LW";
      case 3 -> between(1, 31) + "W";
      case 4 -> "L," + between(1, 31);
      default -> field(1, 31);
    };
  }

  private String weekday() {
    int number = dialect == CronDialect.QUARTZ ? between(1, 7) : between(0, 7);
    if (isPlain) {
      return switch (random.nextInt(5)) {
        case 0 -> String.valueOf(number);
        case 3 -> number + "/" + between(1, 6);
        case 4 -> between(1, 3) + "-" + between(4, 7) + "/" + between(1, 4);
        case 1 -> "MON-FRI";
        default -> "TUE,SAT";
      };
    }
    return switch (random.nextInt(10)) {
      case 0 -> number + "L";
      case 1 -> WEEKDAYS[random.nextInt(7)] + "#" + between(1, 5);
      case 2 -> "MON-" + WEEKDAYS[between(2, 6)];
      case 3 -> WEEKDAYS[random.nextInt(7)] + "," + WEEKDAYS[random.nextInt(7)];
      case 4 -> "FRI-SUN".substring(0, dialect == CronDialect.QUARTZ ? 3 : 7);
      case 5 -> "*/" + between(1, 6);
      case 6 -> number + "/" + between(1, 6);
      case 7 -> WEEKDAYS[random.nextInt(7)] + "/" + between(1, 6);
      default -> String.valueOf(number);
    };
  }
}
