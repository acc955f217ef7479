package io.foliot.cli;

import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** What a command has to say: names and values, as lines for people or as JSON. */
final class Answer {
  private static final JsonFactory FACTORY = new JsonFactory();

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Adds a value; null adds nothing. */
  Answer add(String name, @Nullable Object value) {
    if (value != null) {
      values.put(name, value);
    }
    return this;
  }

  void print(Shell shell, boolean json) {
    if (json) {
      shell.line(json());
      return;
    }
    int width = values.keySet().stream().mapToInt(String::length).max().orElse(0);
    values.forEach((name, value) -> shell.line(shell.in(Colour.GREY, name + " ".repeat(width - name.length())) + "  "
        + Shell.plain(value.toString())));
  }

  String json() {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      write(json);
    }
    return text.toString();
  }

  private void write(JsonGenerator json) {
    json.writeStartObject();
    values.forEach((name, value) -> {
      json.writeName(name);
      switch (value) {
        case Long number -> json.writeNumber(number);
        case Integer number -> json.writeNumber(number);
        case Double number -> json.writeNumber(number);
        case Boolean truth -> json.writeBoolean(truth);
        case Answer answer -> answer.write(json);
        case Iterable<?> items -> {
          json.writeStartArray();
          for (Object item : items) {
            if (item instanceof Answer answer) {
              answer.write(json);
            } else {
              json.writeString(String.valueOf(item));
            }
          }
          json.writeEndArray();
        }
        default -> json.writeString(value.toString());
      }
    });
    json.writeEndObject();
  }
}
