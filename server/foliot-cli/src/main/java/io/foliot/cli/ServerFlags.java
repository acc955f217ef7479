package io.foliot.cli;

import io.foliot.server.config.Option;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** Adds each {@link Option} of the server to a command, so that no command has its own list of them. */
final class ServerFlags {
  private ServerFlags() {}

  static void addTo(CommandSpec spec) {
    Option.all().forEach(option -> spec.addOption(optionSpec(option)));
  }

  private static OptionSpec optionSpec(Option<?> option) {
    String label = option.flag().substring(option.flag().lastIndexOf('-') + 1).toUpperCase(Locale.ROOT);
    String standard = option.standard().isEmpty() ? "" : " (" + option.standard() + ")";
    OptionSpec.Builder builder = OptionSpec.builder("--" + option.flag()).paramLabel(label)
        .description(HelpWriter.glued(option.about() + standard)).arity("1");
    return option.equals(Option.ALLOW_NETWORK)
        ? builder.type(List.class).auxiliaryTypes(String.class).build()
        : builder.type(String.class).build();
  }

  /** Returns the values of the options that the command line sets, by {@link Option#flag}. */
  static Map<String, String> of(ParseResult parsed) {
    Map<String, String> flags = new LinkedHashMap<>();
    for (Option<?> option : Option.all()) {
      Object value = parsed.matchedOptionValue("--" + option.flag(), null);
      if (value instanceof List<?> values) {
        flags.put(option.flag(), String.join(",", values.stream().map(String::valueOf).toList()));
      } else if (value != null) {
        flags.put(option.flag(), value.toString());
      }
    }
    return flags;
  }
}
