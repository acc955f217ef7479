package io.foliot.load;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Writes reports as JSON, for programs. Used by one thread. */
final class ReportJson {
  private static final JsonMapper MAPPER = new JsonMapper();

  private final ObjectNode root = MAPPER.createObjectNode();
  private final ArrayNode scenarios;

  /** Begins a report with the conditions under which all figures are measured. */
  ReportJson(List<String> conditions) {
    conditions.forEach(root.putArray("conditions")::add);
    scenarios = root.putArray("scenarios");
  }

  /**
   * Adds a scenario.
   *
   * @param report the report of the scenario, or null if the scenario failed
   * @param failure the reason why the scenario failed, or null
   * @param loadAverage the load average before the scenario
   */
  void add(Scenario scenario, @Nullable Report report, @Nullable String failure, double loadAverage) {
    ObjectNode json = scenarios.addObject().put("name", scenario.name()).put("loadAverage", loadAverage)
        .put("proven", failure == null && report != null && report.isProven());
    if (failure != null) {
      json.put("failure", failure);
    }
    if (report != null) {
      ArrayNode figures = json.putArray("figures");
      report.figures().forEach(figure -> write(figures.addObject(), figure));
      ArrayNode checks = json.putArray("checks");
      report.checks().forEach(check -> checks.addObject().put("what", check.what()).put("holds", check.holds()));
      Curve curve = report.curve();
      if (curve != null) {
        write(json.putObject("curve"), curve);
      }
      report.notes().forEach(json.putArray("notes")::add);
    }
  }

  private static void write(ObjectNode json, Report.Figure figure) {
    json.put("name", figure.name()).put("value", figure.value()).put("unit", figure.unit());
    Report.Goal goal = figure.goal();
    if (goal != null) {
      json.put(goal.atMost() ? "atMost" : "atLeast", goal.limit()).put("met", figure.isMet());
    }
  }

  /** Returns the whole report. */
  String finish() {
    return MAPPER.writeValueAsString(root);
  }

  /** Returns a curve as a document of its own. */
  static String curve(Curve curve) {
    ObjectNode json = MAPPER.createObjectNode();
    write(json, curve);
    return MAPPER.writeValueAsString(json) + "\n";
  }

  private static void write(ObjectNode json, Curve curve) {
    curve.columns().forEach(json.putArray("columns")::add);
    ArrayNode rows = json.putArray("rows");
    for (List<Double> row : curve.rows()) {
      row.forEach(rows.addArray()::add);
    }
  }
}
