package io.foliot.bench.store;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Computes and formats figures. */
final class Figures {
  /** Significant digits of a percentile. */
  static final int DIGITS = 3;

  /** Least absolute value, other than 0, that is shown without decimals. */
  private static final double WITHOUT_DECIMALS = 100;
  /** Least absolute value that is shown with one decimal. */
  private static final double WITH_ONE_DECIMAL = 10;

  private Figures() {}

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static String shown(double figure) {
    double size = Math.abs(figure);
    String format = size >= WITHOUT_DECIMALS || size == 0 ? "%,.0f" : size >= WITH_ONE_DECIMAL ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, figure);
  }

  /** Returns the text of the least and the greatest value. */
  static String spread(List<Double> values) {
    return shown(values.stream().min(Double::compare).orElseThrow()) + " - "
        + shown(values.stream().max(Double::compare).orElseThrow());
  }

  static String json(String row, String contender, String column, List<Double> values) {
    return String.format(Locale.ROOT,
        "  {\"row\": \"%s\", \"contender\": \"%s\", \"column\": \"%s\", \"median\": %.3f, \"values\": [%s]}", row,
        contender, column, median(values), values.stream().map(value -> String.format(Locale.ROOT, "%.3f", value))
            .collect(Collectors.joining(", ")));
  }
}
