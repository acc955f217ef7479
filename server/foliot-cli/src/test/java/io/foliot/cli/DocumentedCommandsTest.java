package io.foliot.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Checks that the commands in the documents can be parsed. */
final class DocumentedCommandsTest {
  private static final Pattern COMMAND = Pattern.compile("\\./foliot((?: [^`\\n]*)?)");
  /** An argument of a shell command. An argument with spaces is in quotes. */
  private static final Pattern WORD = Pattern.compile("\"[^\"]*\"|\\S+");

  /** Returns the problem of a command line; null if the command can be parsed. */
  private static @Nullable String problem(String words) {
    String command = words.replaceFirst("\\s+#.*", "").strip();
    Shell shell = new Shell(new ByteArrayInputStream(new byte[0]), new PrintStream(new ByteArrayOutputStream()),
        new PrintStream(new ByteArrayOutputStream()), Map.of(), false);
    List<String> arguments = WORD.matcher(command).results().map(word -> word.group().replace("\"", "")).toList();
    try {
      FoliotCommand.commandLine(shell).parseArgs(arguments.toArray(String[]::new));
      return null;
    } catch (CommandLine.ParameterException e) {
      return "./foliot " + command + ": " + e.getMessage();
    }
  }

  @Test
  void theCommandsOfTheDocumentsParse() throws IOException {
    int parsed = 0;
    List<String> problems = new ArrayList<>();
    for (Path document : TidyTest.files(".md")) {
      // Joins the two lines of a command that is broken in prose.
      String text = Files.readString(TidyTest.ROOT.resolve(document)).replaceAll("(`\\./foliot[^`\\n]*)\\n\\s*", "$1 ");
      Matcher commands = COMMAND.matcher(text);
      while (commands.find()) {
        String problem = problem(commands.group(1));
        if (problem != null) {
          problems.add(document + ": " + problem);
        }
        parsed++;
      }
    }
    assertThat(problems).isEmpty();
    assertThat(parsed).isGreaterThan(15);
    assertThat(problem("server --no-such-option")).as("a wrong command is found").contains("--no-such-option");
    assertThat(problem("serve")).as("a wrong command is found").contains("serve");
    assertThat(problem("jobs preview --cron \"0 2 * * *\"")).as("quoted words are one argument").isNull();
    assertThat(problem("jobs preview --cron 0 2")).as("words without quotes are several").contains("2");
  }
}
