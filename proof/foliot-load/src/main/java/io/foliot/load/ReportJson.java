package io.foliot.load;

import java.io.StringWriter;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Reports as programs read them. One thread. */
final class ReportJson {
  private static final JsonFactory FACTORY = new JsonFactory();

  private final StringWriter text = new StringWriter();
  private final JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text);

  /** Begins with what all figures depend on. */
  ReportJson(List<String> conditions) {
    json.writeStartObject();
    json.writeArrayPropertyStart("conditions");
    conditions.forEach(json::writeString);
    json.writeEndArray();
    json.writeArrayPropertyStart("scenarios");
  }

  /** Adds a scenario. */
  void add(Scenario scenario, @Nullable Report report, @Nullable String failure, double loadAverage) {
    json.writeStartObject();
    json.writeStringProperty("name", scenario.name());
    json.writeNumberProperty("loadAverage", loadAverage);
    json.writeBooleanProperty("proven", failure == null && report != null && report.isProven());
    if (failure != null) {
      json.writeStringProperty("failure", failure);
    }
    if (report != null) {
      json.writeArrayPropertyStart("figures");
      report.figures().forEach(this::figure);
      json.writeEndArray();
      json.writeArrayPropertyStart("checks");
      report.checks().forEach(this::check);
      json.writeEndArray();
      Curve curve = report.curve();
      if (curve != null) {
        json.writeName("curve");
        write(json, curve);
      }
      json.writeArrayPropertyStart("notes");
      report.notes().forEach(json::writeString);
      json.writeEndArray();
    }
    json.writeEndObject();
  }

  private void figure(Report.Figure figure) {
    json.writeStartObject();
    json.writeStringProperty("name", figure.name());
    json.writeNumberProperty("value", figure.value());
    json.writeStringProperty("unit", figure.unit());
    Report.Goal goal = figure.goal();
    if (goal != null) {
      json.writeNumberProperty(goal.atMost() ? "atMost" : "atLeast", goal.limit());
      json.writeBooleanProperty("met", figure.isMet());
    }
    json.writeEndObject();
  }

  private void check(Report.Check check) {
    json.writeStartObject();
    json.writeStringProperty("what", check.what());
    json.writeBooleanProperty("holds", check.holds());
    json.writeEndObject();
  }

  /** All of it. */
  String finish() {
    json.writeEndArray();
    json.writeEndObject();
    json.close();
    return text.toString();
  }

  /** A curve alone. */
  static String curve(Curve curve) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      write(json, curve);
    }
    return text + "\n";
  }

  private static void write(JsonGenerator json, Curve curve) {
    json.writeStartObject();
    json.writeArrayPropertyStart("columns");
    curve.columns().forEach(json::writeString);
    json.writeEndArray();
    json.writeArrayPropertyStart("rows");
    for (List<Double> row : curve.rows()) {
      json.writeStartArray();
      row.forEach(json::writeNumber);
      json.writeEndArray();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
