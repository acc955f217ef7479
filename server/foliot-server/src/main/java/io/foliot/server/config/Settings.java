package io.foliot.server.config;

import io.foliot.server.text.Nearest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.dataformat.yaml.YAMLFactory;

/** The settings and their sources. The command line overrides the environment, which overrides the file. */
final class Settings {
  private static final String PREFIX = "FOLIOT_";

  private record Setting(String text, String source) {}

  private final Map<Option<?>, Setting> settings = new HashMap<>();

  /**
   * Reads a file. Must be called before {@link #readEnvironment} and {@link #readFlags}, whose settings override those
   * of the file.
   *
   * @throws ConfigException if the file cannot be read or has a mistake
   */
  void readFile(Path file) {
    try (InputStream in = Files.newInputStream(file);
        JsonParser yaml = new YAMLFactory().createParser(ObjectReadContext.empty(), in)) {
      JsonToken first = yaml.nextToken();
      if (first == null || first == JsonToken.VALUE_NULL) {
        return;
      }
      if (first != JsonToken.START_OBJECT) {
        throw new ConfigException(file + ": expected keys and values, such as \"server: {port: 7400}\"");
      }
      readObject(yaml, "", file.toString());
    } catch (NoSuchFileException e) {
      throw new ConfigException("the configuration file does not exist: " + file + ". Name another file with --config");
    } catch (IOException e) {
      throw new ConfigException("the configuration file cannot be read: " + file + " (" + e.getMessage() + ")");
    } catch (JacksonException e) {
      throw new ConfigException(file + ", " + at(e.getLocation()) + ", is not YAML: " + reason(e.getOriginalMessage()));
    }
  }

  /** Returns the message of the parser in one line. The parser calls a tab by its escape, in a line of its own. */
  private static String reason(@Nullable String text) {
    String message = String.valueOf(text);
    return message.contains("'\\t'")
        ? "a line begins with a tab; YAML is indented by spaces"
        : message.lines().findFirst().orElse("");
  }

  private static String at(@Nullable TokenStreamLocation location) {
    return location == null ? "somewhere" : "line " + location.getLineNr() + ", column " + location.getColumnNr();
  }

  private void readObject(JsonParser yaml, String prefix, String file) {
    while (yaml.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = prefix + yaml.currentName();
      String source = key + " in " + file + ", line " + yaml.currentTokenLocation().getLineNr();
      switch (yaml.nextToken()) {
        case START_OBJECT -> readObject(yaml, key + ".", file);
        case START_ARRAY -> set(known(key, source), readList(yaml, source), source);
        case VALUE_NULL -> known(key, source);
        default -> set(known(key, source), yaml.getString(), source);
      }
    }
  }

  private static String readList(JsonParser yaml, String source) {
    List<String> parts = new ArrayList<>();
    for (JsonToken token = yaml.nextToken(); token != JsonToken.END_ARRAY; token = yaml.nextToken()) {
      if (token == JsonToken.START_OBJECT || token == JsonToken.START_ARRAY) {
        throw new ConfigException(source + ": expected a list of texts, such as [a, b]");
      }
      parts.add(yaml.getString());
    }
    return String.join(",", parts);
  }

  private void set(Option<?> option, String text, String source) {
    Setting before = settings.put(option, new Setting(text, source));
    if (before != null) {
      throw new ConfigException(source + " occurs twice; remove one of the two");
    }
  }

  private static Option<?> known(String key, String source) {
    for (Option<?> option : Option.all()) {
      if (option.key().equals(key)) {
        return option;
      }
    }
    List<String> keys = Option.all().stream().map(Option::key).toList();
    throw new ConfigException("there is no key " + source + ": " + Nearest.hint(key, keys));
  }

  /**
   * Reads the environment variables of the options, and ignores all other variables.
   *
   * @throws ConfigException if a variable has the prefix of a section, such as {@code FOLIOT_STORE_}, but no option
   *     has this variable
   */
  void readEnvironment(Map<String, String> environment) {
    Map<String, Option<?>> options = new HashMap<>();
    Option.all().forEach(option -> options.put(option.variable(), option));
    List<String> sections = Option.all().stream().map(Settings::section).distinct().toList();
    environment.forEach((name, value) -> {
      Option<?> option = options.get(name);
      if (option != null) {
        settings.put(option, new Setting(value, "the variable " + name));
      } else if (sections.stream().anyMatch(name::startsWith)) {
        throw new ConfigException("there is no variable " + name + ": "
            + Nearest.hint(name, Option.all().stream().map(Option::variable).toList()));
      }
    });
  }

  private static String section(Option<?> option) {
    return option.variable().substring(0, option.variable().indexOf('_', PREFIX.length()) + 1);
  }

  /**
   * Reads the options of the command line: values by flag, without the hyphens.
   *
   * @throws ConfigException if no option has one of the flags
   */
  void readFlags(Map<String, String> flags) {
    flags.forEach((flag, value) -> {
      for (Option<?> option : Option.all()) {
        if (option.flag().equals(flag)) {
          settings.put(option, new Setting(value, "--" + flag));
          return;
        }
      }
      throw new ConfigException("there is no option --" + flag + ": "
          + Nearest.hint(flag, Option.all().stream().map(Option::flag).toList()));
    });
  }

  /**
   * Returns the effective value of an option: its default if no source sets it.
   *
   * @throws ConfigException if the text of the setting does not have the form that the option expects
   */
  <T> T get(Option<T> option) {
    Setting setting = settings.get(option);
    if (setting == null) {
      return option.parse(option.standard());
    }
    try {
      return option.parse(setting.text.strip());
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw new ConfigException(setting.source + ": expected " + option.expected() + ", but got "
          + (option.isSecret()
              ? "something else (" + setting.text.length() + " characters)"
              : "\"" + setting.text + "\""));
    }
  }

  /** Returns the exception for a value that is refused although it has the expected form. */
  ConfigException refuse(Option<?> option, String reason) {
    Setting setting = settings.get(option);
    return new ConfigException((setting == null ? option.key() : setting.source) + ": " + reason);
  }
}
