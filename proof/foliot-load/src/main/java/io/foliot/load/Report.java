package io.foliot.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The figures and checks of a scenario. Filled by the thread that runs the scenario. */
final class Report {
  private final List<Figure> figures = new ArrayList<>();
  private final List<Check> checks = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private @Nullable Curve curve;

  /**
   * A measured value.
   *
   * @param goal the limit that the value should meet, or null
   */
  record Figure(String name, double value, String unit, @Nullable Goal goal) {
    boolean isMet() {
      return goal == null || (goal.atMost ? value <= goal.limit : value >= goal.limit);
    }
  }

  /** The goal of a figure: an upper limit if {@code atMost}, else a lower limit. */
  record Goal(double limit, boolean atMost) {}

  /** The result of a check. The text describes the check, and contains the counts that were compared. */
  record Check(String what, boolean holds) {}

  /** Adds a value without a goal. */
  Report figure(String name, double value, String unit) {
    figures.add(new Figure(name, value, unit, null));
    return this;
  }

  /** Adds a value whose goal is to be at most {@code limit}. */
  Report atMost(double limit, String name, double value, String unit) {
    figures.add(new Figure(name, value, unit, new Goal(limit, true)));
    return this;
  }

  /** Adds a value whose goal is to be at least {@code limit}. */
  Report atLeast(double limit, String name, double value, String unit) {
    figures.add(new Figure(name, value, unit, new Goal(limit, false)));
    return this;
  }

  /** Adds the check that two counts are equal. */
  Report checkEqual(String what, long expected, long found) {
    checks.add(new Check(String.format(Locale.ROOT, "%s: %,d of %,d", what, found, expected), expected == found));
    return this;
  }

  /** Adds the check that a count is zero. */
  Report checkNone(String what, long found) {
    checks.add(new Check(String.format(Locale.ROOT, "%s: %,d", what, found), found == 0));
    return this;
  }

  /** Adds the result of a check. */
  Report check(String what, boolean holds) {
    checks.add(new Check(what, holds));
    return this;
  }

  Report note(String text) {
    notes.add(text);
    return this;
  }

  /** Sets the curve: figures for several sizes. */
  Report curve(Curve newCurve) {
    curve = newCurve;
    return this;
  }

  List<Figure> figures() {
    return List.copyOf(figures);
  }

  List<Check> checks() {
    return List.copyOf(checks);
  }

  List<String> notes() {
    return List.copyOf(notes);
  }

  @Nullable
  Curve curve() {
    return curve;
  }

  /** Returns whether there is at least one check, and all checks hold. */
  boolean isProven() {
    return !checks.isEmpty() && checks.stream().allMatch(Check::holds);
  }
}
