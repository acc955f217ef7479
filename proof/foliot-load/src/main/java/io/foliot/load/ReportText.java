package io.foliot.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes reports as text, for people. */
final class ReportText {
  private static final int NAME_WIDTH = 66;
  /** Maximum number of passed checks that are listed by name; further passed checks are only counted. */
  private static final int LISTED_CHECKS = 6;

  private ReportText() {}

  /**
   * Returns the lines about a scenario.
   *
   * @param report the report of the scenario, or null if the scenario failed
   * @param failure the reason why the scenario failed, or null
   * @param loadAverage the load average before the scenario
   * @param targets whether to compare the figures with the goals of this project
   */
  static List<String> lines(Scenario scenario, @Nullable Report report, @Nullable String failure, double loadAverage,
      boolean targets) {
    List<String> lines = new ArrayList<>();
    lines.add(String.format(Locale.ROOT, "%s: %s (load average %.1f)", scenario.name(), about(scenario, targets),
        loadAverage));
    if (failure != null) {
      lines.add("  FAILED: " + failure);
    }
    if (report != null) {
      report.figures().forEach(figure -> lines.add("  " + line(figure, targets)));
      Curve curve = report.curve();
      if (curve != null) {
        lines.addAll(table(curve));
      }
      lines.add("  " + checked(report));
      report.checks().stream().filter(check -> !check.holds()).forEach(check -> lines.add("  FAILED: " + check.what()));
      report.notes().forEach(note -> lines.add("  (" + note + ")"));
    }
    return lines;
  }

  private static String about(Scenario scenario, boolean targets) {
    return targets && !scenario.wanted().isEmpty()
        ? scenario.about() + "; wanted: " + scenario.wanted()
        : scenario.about();
  }

  private static String line(Report.Figure figure, boolean targets) {
    String unit = figure.unit().isEmpty() || figure.unit().startsWith("/") ? figure.unit() : " " + figure.unit();
    String line = String.format(Locale.ROOT, "%-" + NAME_WIDTH + "s %12s%s", figure.name(), number(figure.value()),
        unit);
    Report.Goal goal = figure.goal();
    if (goal == null || !targets) {
      return line;
    }
    return line + "  " + (figure.isMet() ? "ok" : "MISSED") + ", wanted " + (goal.atMost() ? "at most " : "at least ")
        + number(goal.limit());
  }

  private static String checked(Report report) {
    long held = report.checks().stream().filter(Report.Check::holds).count();
    return "checked: " + held + " of " + report.checks().size() + " hold: " + String.join("; ",
        report.checks().stream().filter(Report.Check::holds).map(Report.Check::what).limit(LISTED_CHECKS).toList())
        + (held > LISTED_CHECKS ? "; ..." : "");
  }

  private static List<String> table(Curve curve) {
    List<String> lines = new ArrayList<>();
    StringBuilder heading = new StringBuilder(" ");
    curve.columns().forEach(column -> heading.append(String.format(" %" + width(column) + "s", column)));
    lines.add(heading.toString());
    for (List<Double> row : curve.rows()) {
      StringBuilder line = new StringBuilder(" ");
      for (int i = 0; i < row.size(); i++) {
        line.append(String.format(" %" + width(curve.columns().get(i)) + "s", number(row.get(i))));
      }
      lines.add(line.toString());
    }
    return lines;
  }

  private static int width(String column) {
    return Math.max(10, column.length());
  }

  /** Formats a number: two decimals below 10, one below 100, else none. */
  static String number(double value) {
    double size = Math.abs(value);
    return String.format(Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : "%.2f", value);
  }
}
