package io.foliot.cli;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The output of a command: names and values, as lines for people or as JSON. */
final class CommandOutput {
  private static final JsonMapper MAPPER = new JsonMapper();

  private final Map<String, Object> values = new LinkedHashMap<>();

  /** Adds a value, unless it is null. */
  CommandOutput add(String name, @Nullable Object value) {
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
    String nextLine = "\n" + " ".repeat(width + 2);
    values.forEach((name, value) -> shell.line(shell.in(Colour.GREY, name + " ".repeat(width - name.length())) + "  "
        + value.toString().lines().map(Shell::plain).collect(Collectors.joining(nextLine))));
  }

  String json() {
    return MAPPER.writeValueAsString(plain(this));
  }

  /** Converts a value to a number, a boolean, a map or a list; any other value, such as a path, becomes a text. */
  private static Object plain(Object value) {
    return switch (value) {
      case Number number -> number;
      case Boolean truth -> truth;
      case CommandOutput nested -> {
        Map<String, Object> fields = new LinkedHashMap<>();
        nested.values.forEach((name, item) -> fields.put(name, plain(item)));
        yield fields;
      }
      case Iterable<?> items when !(items instanceof Path) ->
        StreamSupport.stream(items.spliterator(), false).map(CommandOutput::plain).toList();
      default -> value.toString();
    };
  }
}
