package io.foliot.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Figures that depend on a size: a row for each size, a column for each figure. */
final class Curve {
  private final List<String> columns;
  private final List<List<Double>> rows = new ArrayList<>();

  /** Creates a curve without rows. The first column is the size. */
  Curve(List<String> columns) {
    this.columns = List.copyOf(columns);
  }

  void row(List<Double> values) {
    if (values.size() != columns.size()) {
      throw new IllegalArgumentException("expected one value for each column: values=" + values.size() + ", columns="
          + columns.size());
    }
    rows.add(List.copyOf(values));
  }

  List<String> columns() {
    return columns;
  }

  List<List<Double>> rows() {
    return List.copyOf(rows);
  }

  /** Returns the values of a column, in the order of the rows. */
  List<Double> column(String name) {
    int column = columns.indexOf(name);
    if (column < 0) {
      throw new IllegalArgumentException("there is no such column: name=" + name + ", columns=" + columns);
    }
    return rows.stream().map(row -> row.get(column)).toList();
  }

  /** Returns the rows as comma-separated values, after a line with the names of the columns. */
  String csv() {
    return String.join(",", columns) + "\n" + rows.stream()
        .map(row -> row.stream().map(value -> String.format(Locale.ROOT, "%.3f", value))
            .collect(Collectors.joining(",")) + "\n")
        .collect(Collectors.joining());
  }
}
