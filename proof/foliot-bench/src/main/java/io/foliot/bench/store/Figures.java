package io.foliot.bench.store;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Arithmetic and text of figures. */
final class Figures {
  /** Significant digits of a percentile. */
  static final int DIGITS = 3;

  private static final double MANY = 100;
  private static final double SOME = 10;

  private Figures() {}

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static String shown(double figure) {
    double size = Math.abs(figure);
    return String.format(Locale.ROOT, size >= MANY || size == 0 ? "%,.0f" : size >= SOME ? "%.1f" : "%.2f", figure);
  }

  /** The least and the most. */
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
