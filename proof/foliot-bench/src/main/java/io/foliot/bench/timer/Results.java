package io.foliot.bench.timer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The figures of all rounds, by column and contender, and the tables that show them. */
final class Results {
  /**
   * The meaning of a figure.
   *
   * @param table the heading of the table that contains this column
   * @param title the title of the column
   * @param isRated whether less is better; each figure is then also shown as a multiple of the least in its column
   */
  record Column(String table, String title, boolean isRated) {}

  private final Map<Column, Map<Contender, List<Double>>> figures = new LinkedHashMap<>();

  void add(Column column, Contender contender, double figure) {
    figures.computeIfAbsent(column, absent -> new LinkedHashMap<>())
        .computeIfAbsent(contender, absent -> new ArrayList<>()).add(figure);
  }

  /** Returns the tables of medians. Brackets contain a median as a multiple of the least median of its column. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    for (String table : figures.keySet().stream().map(Column::table).distinct().toList()) {
      appendTable(text, table, figures.keySet().stream().filter(column -> column.table().equals(table)).toList());
    }
    return text.toString();
  }

  private void appendTable(StringBuilder text, String table, List<Column> columns) {
    Set<Contender> rows = new LinkedHashSet<>();
    columns.forEach(column -> rows.addAll(of(column).keySet()));
    text.append("\n### ").append(table).append("\n\n| |");
    columns.forEach(column -> text.append(' ').append(column.title()).append(" |"));
    text.append("\n|---|").append("---:|".repeat(columns.size())).append('\n');
    for (Contender row : rows) {
      text.append("| ").append(row.title()).append(" |");
      columns.forEach(column -> text.append(' ').append(cell(column, row)).append(" |"));
      text.append('\n');
    }
  }

  private Map<Contender, List<Double>> of(Column column) {
    return figures.getOrDefault(column, Map.of());
  }

  private String cell(Column column, Contender row) {
    Map<Contender, List<Double>> all = of(column);
    List<Double> own = all.get(row);
    if (own == null) {
      return "-";
    }
    double median = median(own);
    double least = all.values().stream().mapToDouble(Results::median).min().orElse(median);
    String figure = shown(median);
    return column.isRated() && least > 0 ? figure + " (" + shown(median / least) + "x)" : figure;
  }

  private static String shown(double figure) {
    return String.format(Locale.ROOT, Math.abs(figure) < 10 && figure != 0 ? "%.1f" : "%,.0f", figure);
  }

  static double median(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Returns the figures of all rounds as one JSON array. */
  String json() {
    List<String> lines = new ArrayList<>();
    figures.forEach((column, all) -> all.forEach((contender, values) -> lines.add(
        String.format(
            Locale.ROOT,
            "  {\"table\": \"%s\", \"column\": \"%s\", \"peer\": \"%s\", \"median\": %.3f, \"values\": [%s]}",
            column.table(),
            column.title(),
            contender.title(),
            median(values),
            values.stream().map(value -> String.format(Locale.ROOT, "%.3f", value))
                .collect(Collectors.joining(", "))))));
    return "[\n" + String.join(",\n", lines) + "\n]\n";
  }
}
