package io.foliot.cli;

import java.util.ArrayList;
import java.util.List;

/** Rows in columns that are as wide as their contents. */
final class Table {
  private static final String GAP = "  ";

  private final List<String> names = new ArrayList<>();
  private final List<Boolean> rightAligned = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  /** Adds a column of texts. */
  Table left(String name) {
    names.add(name);
    rightAligned.add(false);
    return this;
  }

  /** Adds a column of numbers. */
  Table right(String name) {
    names.add(name);
    rightAligned.add(true);
    return this;
  }

  /** Adds a row, with a cell for each column. */
  void row(Object... cells) {
    List<String> row = new ArrayList<>();
    for (Object cell : cells) {
      row.add(Shell.plain(String.valueOf(cell)));
    }
    if (row.size() != names.size()) {
      throw new IllegalArgumentException("a row has a cell for each column: cells=" + row.size() + ", columns="
          + names.size());
    }
    rows.add(row);
  }

  boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns the lines of the table; the first one is the heading. */
  List<String> lines() {
    int[] widths = new int[names.size()];
    for (int column = 0; column < widths.length; column++) {
      widths[column] = width(names.get(column));
      for (List<String> row : rows) {
        widths[column] = Math.max(widths[column], width(row.get(column)));
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add(line(names, widths));
    rows.forEach(row -> lines.add(line(row, widths)));
    return lines;
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < widths.length; column++) {
      String cell = cells.get(column);
      String space = " ".repeat(widths[column] - width(cell));
      line.append(column == 0 ? "" : GAP).append(rightAligned.get(column) ? space + cell : cell + space);
    }
    return line.toString().stripTrailing();
  }

  private static int width(String text) {
    return text.codePointCount(0, text.length());
  }

  void print(Shell shell) {
    List<String> lines = lines();
    shell.line(shell.in(Colour.BOLD, lines.getFirst()));
    lines.stream().skip(1).forEach(shell::line);
  }
}
