package io.foliot.cli;

import io.foliot.api.InvalidSettingException;
import io.foliot.load.BenchCommand;
import io.foliot.server.config.Defaults;
import io.foliot.server.text.Nearest;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.MutuallyExclusiveArgsException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The foliot command. */
@Command(name = "foliot", synopsisSubcommandLabel = "COMMAND", description = {
    "Schedules work for later, durably and on time.", ""}, commandListHeading = "%nCommands:%n", footer = {"",
        "Begin with", "  foliot demo              a demonstration of half a minute, without setup",
        "  foliot server            the server, on " + Defaults.URL,
        "  foliot COMMAND --help    what a command does, with examples"})
public final class FoliotCommand {
  /** Words that users of other tools try, and the commands that do what they mean. */
  private static final Map<String, String> ELSEWHERE = Map.of(
      "explain", "foliot get ID --why explains why a task waits",
      "pause", "foliot queues pause QUEUE, foliot jobs pause JOB",
      "resume", "foliot queues resume QUEUE, foliot jobs resume JOB",
      "logs", "the log of a task is in foliot get ID",
      "log", "the log of a task is in foliot get ID",
      "apply", "foliot jobs apply -f FILE creates or replaces jobs",
      "export", "foliot jobs export prints jobs as a file",
      "start", "foliot server starts a server",
      "status", "foliot cluster and foliot doctor show the state of a server");
  /** Messages of picocli about an unknown choice, and about a value without an equals sign. */
  private static final Pattern CHOICE = Pattern.compile(
      "Invalid value for option ('[^']+').*: expected one of \\[(.*)] \\(case-insensitive\\) but was '(.*)'");
  private static final Pattern PAIR = Pattern.compile(
      "Value for option option ('[^']+') \\((.*)\\) should be in KEY=VALUE format but was (.*)");
  private static final Pattern OPTION = Pattern.compile("--[a-z-]+");

  private FoliotCommand() {}

  /** Runs the command and ends the process. */
  public static void main(String[] args) {
    Shell shell = Shell.ofProcess();
    int exitCode = run(shell, args);
    shell.out().flush();
    shell.err().flush();
    // Commands have cleaned up by now. Runtime.exit would load all logging classes only to log the exit.
    Runtime.getRuntime().halt(exitCode);
  }

  /** Runs the command, and returns its exit code. */
  static int run(Shell shell, String... args) {
    return commandLine(shell).execute(args);
  }

  /** Returns the parser of the command line, ready to execute it. */
  static CommandLine commandLine(Shell shell) {
    CommandLine foliot = new CommandLine(new FoliotCommand())
        .addSubcommand(new ServerCommand(shell).spec())
        .addSubcommand(new DemoCommand(shell))
        .addSubcommand(new SubmitCommand(shell))
        .addSubcommand(new GetCommand(shell))
        .addSubcommand(new CancelCommand(shell))
        .addSubcommand(new TouchCommand(shell))
        .addSubcommand(new RunCommand(shell))
        .addSubcommand(QueuesCommand.withSubcommands(shell))
        .addSubcommand(new TasksCommand(shell))
        .addSubcommand(JobsCommand.withSubcommands(shell))
        .addSubcommand(CalendarsCommand.withSubcommands(shell))
        .addSubcommand(WorkersCommand.withSubcommands(shell))
        .addSubcommand(new ClusterCommand(shell))
        .addSubcommand(KeysCommand.withSubcommands(shell))
        .addSubcommand(new TopCommand(shell))
        .addSubcommand(new BenchCommand(shell.out(), shell.err(), shell.environment(), FoliotCommand.class))
        .addSubcommand(new DoctorCommand(shell).spec())
        .addSubcommand(new BackupCommand(shell))
        .addSubcommand(new RestoreCommand(shell))
        .addSubcommand(new VerifyCommand(shell))
        .addSubcommand(new MigrateCommand(shell))
        .addSubcommand(SlotsCommand.withSubcommands(shell))
        .addSubcommand(new HelpCommand());
    prepare(foliot.getCommandSpec());
    return foliot.setOut(HelpWriter.to(shell.out())).setErr(HelpWriter.to(shell.err()))
        .setColorScheme(CommandLine.Help.defaultColorScheme(
            shell.colours() ? CommandLine.Help.Ansi.ON : CommandLine.Help.Ansi.OFF))
        .setUsageHelpAutoWidth(shell.terminal())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Double.class, text -> number(text, Double::valueOf, "a number such as 2.5"))
        .registerConverter(Integer.class, text -> number(text, Integer::valueOf, "a whole number such as 2"))
        .registerConverter(int.class, text -> number(text, Integer::valueOf, "a whole number such as 2"))
        .setExecutionExceptionHandler((failure, line, result) -> failed(shell, failure))
        .setParameterExceptionHandler((failure, args) -> misused(shell, failure));
  }

  private static <T> T number(String text, Function<String, T> reader, String expected) {
    try {
      return reader.apply(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException("expected " + expected + ", but got \"" + text + "\"");
    }
  }

  private static void prepare(CommandSpec spec) {
    UsageMessageSpec usage = spec.usageMessage();
    usage.description(HelpWriter.glued(usage.description())).footer(HelpWriter.glued(usage.footer()));
    if (!(spec.userObject() instanceof HelpCommand)) {
      spec.mixinStandardHelpOptions(true).versionProvider(new Version());
      spec.usageMessage().sortOptions(false).sortSynopsis(false);
    }
    spec.subcommands().values().forEach(each -> prepare(each.getCommandSpec()));
  }

  private static int failed(Shell shell, Exception failure) {
    if (failure instanceof CommandException expected) {
      report(shell, String.valueOf(expected.getMessage()));
      return expected.exitCode();
    }
    if (failure instanceof InvalidSettingException wrong) {
      report(shell, String.valueOf(wrong.getMessage()));
      return ExitCode.USAGE;
    }
    report(shell, "this is a bug, please report it with the lines that follow: " + failure);
    failure.printStackTrace(shell.err());
    return ExitCode.FAILURE;
  }

  private static int misused(Shell shell, ParameterException failure) {
    CommandLine line = failure.getCommandLine();
    if (line.getParent() == null && line.getParseResult().originalArgs().isEmpty()) {
      line.usage(line.getErr());
      return ExitCode.USAGE;
    }
    if (failure instanceof UnmatchedArgumentException unmatched) {
      report(shell, unknown(line.getCommandSpec(), unmatched.getUnmatched().getFirst()));
    } else if (failure instanceof MutuallyExclusiveArgsException) {
      report(shell, "give only one of these: " + exclusive(String.valueOf(failure.getMessage())));
    } else {
      String message = ofThisProject(String.valueOf(failure.getMessage()));
      // All messages of Foliot begin in lower case, but picocli's do not.
      report(shell, message.isEmpty()
          ? "the arguments cannot be used"
          : message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1));
    }
    report(shell, "see '" + line.getCommandSpec().qualifiedName() + " --help'");
    return ExitCode.USAGE;
  }

  /** Returns a message of picocli about a value in the form of the other messages. */
  private static String ofThisProject(String message) {
    Matcher choice = CHOICE.matcher(message);
    if (choice.matches()) {
      return "invalid value for option " + choice.group(1) + ": expected one of "
          + choice.group(2).toLowerCase(Locale.ROOT) + ", but got \"" + choice.group(3) + '"';
    }
    Matcher pair = PAIR.matcher(message);
    return pair.matches()
        ? "invalid value for option " + pair.group(1) + ": expected " + pair.group(2) + ", but got \"" + pair.group(3)
            + '"'
        : message;
  }

  /** Returns the options that the message of picocli names, such as {@code "--to, --pull"}. */
  private static String exclusive(String message) {
    return OPTION.matcher(message).results().map(MatchResult::group).distinct().collect(Collectors.joining(", "));
  }

  private static String unknown(CommandSpec spec, String word) {
    if (word.startsWith("-")) {
      String name = word.contains("=") ? word.substring(0, word.indexOf('=')) : word;
      if (spec.subcommands().values().stream().anyMatch(each -> each.getCommandSpec().findOption(name) != null)) {
        return "the option " + name + " belongs to a command, so write it after the command: " + spec.qualifiedName()
            + " COMMAND " + name;
      }
      String nearest = Nearest.of(name, spec.optionsMap().keySet());
      return spec.name() + " has no option " + name + (nearest == null ? "" : ": did you mean " + nearest + "?");
    }
    return spec.subcommands().isEmpty()
        ? spec.name() + " does not take the argument \"" + word + "\""
        : "there is no command " + word + ": " + (ELSEWHERE.containsKey(word)
            ? ELSEWHERE.get(word)
            : Nearest.hint(word, spec.subcommands().keySet()));
  }

  private static void report(Shell shell, String message) {
    shell.error(shell.in(Colour.RED, "foliot:") + " " + message);
  }

  /** The versions of Foliot and Java. */
  static final class Version implements IVersionProvider {
    /** Returns the version in the jar's manifest; "development" if there is none. */
    static String ofFoliot() {
      String version = FoliotCommand.class.getPackage().getImplementationVersion();
      return version == null ? "development" : version;
    }

    @Override
    public String[] getVersion() {
      return new String[]{"foliot " + ofFoliot(),
          "Java " + Runtime.version() + ", " + System.getProperty("java.vendor", "")};
    }
  }
}
