package io.foliot.cli;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.DurationText;
import io.foliot.api.Target;
import io.foliot.server.config.Defaults;
import io.foliot.server.config.Option;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Checks that documents and the help of commands state the defaults of the code. */
final class DefaultsTest {
  private static final Path ROOT = Files.exists(Path.of("ARCHITECTURE.md")) ? Path.of("") : Path.of("..", "..");

  private static final Map<String, String> STANDARDS = Option.all().stream()
      .collect(Collectors.toUnmodifiableMap(Option::key, Option::standard));
  private static final String KEY = "`(" + STANDARDS.keySet().stream().map(Pattern::quote)
      .collect(Collectors.joining("|")) + ")`";
  private static final String VALUE = "`?(\\d[\\d,.]*(?: ?[A-Za-z]+)?)`?";

  /** A row of a table. Its first cell has only the key; its last cell begins with the default and a semicolon. */
  private static final Pattern ROW = Pattern.compile("^\\| *" + KEY + " *\\|(?:.*\\|)? *([^|;]+);[^|]*\\| *$",
      Pattern.MULTILINE);
  /** A default in brackets: {@code `key` (5 s)}. */
  private static final Pattern BRACKETS = Pattern.compile(KEY + " \\(" + VALUE + "\\)");
  /** A default in a sentence: {@code `key` ... 5 s unless set} or {@code by default}, with no second key in between. */
  private static final Pattern SENTENCE = Pattern.compile(KEY + "(?:(?!" + KEY + "|\\. |\\|).){0,200}?" + "\\b" + VALUE
      + " (?:unless set|by default)");

  /** Defaults that the help of a command must state, by command and option. */
  private static final Map<String, String> HELP = help();

  private static Map<String, String> help() {
    String timeout = "default: " + DurationText.format(Target.DEFAULT_TIMEOUT);
    return Map.of("tasks --limit", "default: " + Defaults.PAGE,
        "queues redrive --limit", "default: " + Defaults.REDRIVE, "queues put --timeout", timeout,
        "queues set --timeout", timeout,
        "demo --port", "default: " + Option.PORT.standard() + ", or any free one", "submit --delay", "default: at once",
        "submit --max-attempts", "default: the setting of the queue", "submit --on-conflict", "default: reset");
  }

  /** A default that a document states. */
  private record Stated(String key, String value) {
    boolean isTrue() {
      return normal(value).equals(normal(String.valueOf(STANDARDS.get(key))));
    }

    private static String normal(String text) {
      return text.replaceAll("[ ,`]", "").toLowerCase(Locale.ROOT);
    }
  }

  private static List<Stated> stated(String document) {
    List<Stated> found = new ArrayList<>();
    find(ROW, document, found);
    String prose = document.replaceAll("\\s+", " ");
    find(BRACKETS, prose, found);
    find(SENTENCE, prose, found);
    return found;
  }

  private static void find(Pattern pattern, String text, List<Stated> to) {
    Matcher matcher = pattern.matcher(text);
    while (matcher.find()) {
      to.add(new Stated(matcher.group(1), matcher.group(matcher.groupCount()).strip()));
    }
  }

  @Test
  void documentsStateTheDefaultsOfTheOptions() throws IOException {
    List<Path> documents = new ArrayList<>(List.of(ROOT.resolve("README.md")));
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      files.filter(each -> each.toString().endsWith(".md")).forEach(documents::add);
    }
    List<String> wrong = new ArrayList<>();
    List<Stated> all = new ArrayList<>();
    for (Path document : documents) {
      List<Stated> found = stated(Files.readString(document));
      all.addAll(found);
      found.stream().filter(each -> !each.isTrue())
          .forEach(each -> wrong.add(document + ": " + each + ", but the code has " + STANDARDS.get(each.key())));
    }
    assertThat(wrong).isEmpty();
    assertThat(all).as("the documents state defaults in a form that this test reads").extracting(Stated::key)
        .contains("store.connections", "store.namespace", "store.wait-replicas", "cluster.session-timeout",
            "engine.max-clock-offset", "limits.answer-bytes", "delivery.destination-limit");
  }

  @Test
  void aWrongDefaultIsFoundInEachForm() {
    assertThat(stated("| `store.connections` | `FOLIOT_STORE_CONNECTIONS` | 9; connections |\n")).singleElement()
        .matches(each -> !each.isTrue());
    assertThat(stated("A clock beyond\n`engine.max-clock-offset` (6 s) says so.")).singleElement()
        .matches(each -> !each.isTrue());
    assertThat(stated("Attempts (`delivery.destination-limit` of a server), 512 unless set.")).singleElement()
        .matches(each -> !each.isTrue());
    assertThat(stated("Attempts (`delivery.destination-limit` of a server), 1,000 unless set.")).singleElement()
        .matches(Stated::isTrue);
    assertThat(stated("`store.user` is first. Another thing is 512 unless set.")).isEmpty();
  }

  private static boolean isOfTable(CommandLine.Model.OptionSpec option) {
    return option.userObject() == null;
  }

  private static CommandLine foliot() {
    return FoliotCommand.commandLine(new Shell(new ByteArrayInputStream(new byte[0]),
        new PrintStream(new ByteArrayOutputStream()), new PrintStream(new ByteArrayOutputStream()), Map.of(), false));
  }

  private static void statedByHelp(CommandLine command, String path, Map<String, String> found) {
    for (CommandLine.Model.OptionSpec option : command.getCommandSpec().options()) {
      String description = String.join(" ", option.description());
      // The options of a table of fields have generated help.
      if (description.contains("default:") && !isOfTable(option)) {
        found.put(path + " " + option.longestName(), description);
      }
    }
    command.getSubcommands().forEach((name, subcommand) -> {
      // Both commands have the options of the configuration, with generated help.
      if (!name.equals("server") && !name.equals("doctor")) {
        statedByHelp(subcommand, path.isEmpty() ? name : path + " " + name, found);
      }
    });
  }

  @Test
  void theHelpOfCommandsStatesTheDefaultsOfTheCode() {
    Map<String, String> found = new TreeMap<>();
    statedByHelp(foliot(), "", found);
    assertThat(found).as("add each new default to HELP, with its constant").containsOnlyKeys(HELP.keySet())
        .allSatisfy((option, description) -> assertThat(description).as(option).contains(HELP.get(option)));
  }

  @Test
  void theHelpOfTheServerStatesTheDefaultOfEachOption() {
    CommandLine server = requireNonNull(foliot().getSubcommands().get("server"));
    for (Option<?> option : Option.all()) {
      String description = String.join(" ", server.getCommandSpec().findOption("--" + option.flag()).description());
      assertThat(description.endsWith(" (" + option.standard() + ")")).as(description)
          .isEqualTo(!option.standard().isEmpty());
    }
  }
}
