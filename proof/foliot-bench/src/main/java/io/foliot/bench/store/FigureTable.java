package io.foliot.bench.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A table with a different figure in each column. A cell shows the median of its values and, if there are several, the
 * least and the greatest.
 */
final class FigureTable implements Table {
  private final String name;
  private final String title;
  private final Map<String, Map<String, List<Double>>> columns = new LinkedHashMap<>();
  private final List<String> notes = new ArrayList<>();

  FigureTable(String name, String title) {
    this.name = name;
    this.title = title;
  }

  /** Adds the value of a round to a cell. */
  void add(String line, String column, double value) {
    columns.computeIfAbsent(column, absent -> new LinkedHashMap<>())
        .computeIfAbsent(line, absent -> new ArrayList<>()).add(value);
  }

  double median(String line, String column) {
    return Figures.median(values(line, column));
  }

  private List<Double> values(String line, String column) {
    List<Double> values = columns.getOrDefault(column, Map.of()).get(line);
    if (values == null) {
      throw new IllegalArgumentException("there is no such figure: line=" + line + ", column=" + column);
    }
    return values;
  }

  private String shown(String line, String column) {
    List<Double> values = values(line, column);
    String median = Figures.shown(Figures.median(values));
    return values.size() == 1 ? median : median + " (" + Figures.spread(values) + ")";
  }

  /** Adds a note below the table, with a goal and whether it was reached. */
  void addGoal(String goal, boolean isReached) {
    notes.add(goal + ": " + (isReached ? "reached" : "**not reached**"));
  }

  @Override
  public String markdown() {
    StringBuilder text = new StringBuilder("\n### " + title + " (" + name + ")\n\n|");
    Set<String> lines = new LinkedHashSet<>();
    columns.forEach((column, values) -> {
      text.append(" | ").append(column);
      lines.addAll(values.keySet());
    });
    text.append(" |\n|---|").append("---:|".repeat(columns.size())).append('\n');
    for (String line : lines) {
      text.append("| ").append(line);
      columns.keySet().forEach(column -> text.append(" | ").append(shown(line, column)));
      text.append(" |\n");
    }
    notes.forEach(note -> text.append('\n').append(note).append('\n'));
    return text.toString();
  }

  @Override
  public List<String> json() {
    List<String> all = new ArrayList<>();
    columns
        .forEach((column, lines) -> lines.forEach((line, values) -> all.add(Figures.json(name, line, column, values))));
    return all;
  }
}
