package io.foliot.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Lists the calendars that schedules of jobs can exclude. */
@Command(name = "calendars", description = "Lists calendars. A job that excludes a calendar is not scheduled on the calendar's days.", synopsisSubcommandLabel = "[COMMAND]", commandListHeading = "%nCommands:%n", footer = {
    "", "Examples", "  foliot calendars",
    "  foliot calendars put holidays SAT SUN 12-25 2027-03-26"})
final class CalendarsCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(35);

  private final Shell shell;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  private CalendarsCommand(Shell shell) {
    this.shell = shell;
  }

  static CommandLine withSubcommands(Shell shell) {
    return new CommandLine(new CalendarsCommand(shell)).addSubcommand(new Put(shell)).addSubcommand(new Delete(shell));
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.get("/v1/calendars");
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    Table table = new Table().left("calendar").left("days");
    JsonView.parse(answer).at("calendars").items().forEach(calendar -> table.row(calendar.at("calendar").text(),
        calendar.at("days").items().stream().map(JsonView::text).collect(Collectors.joining(" "))));
    if (table.isEmpty()) {
      shell.line("there are no calendars; ./foliot calendars put holidays SAT SUN 12-25 creates one");
    } else {
      table.print(shell);
    }
    return ExitCode.OK;
  }

  private static String path(String calendar) {
    return "/v1/calendars/" + ServerConnection.segment(calendar);
  }

  /** Creates or replaces a calendar. */
  @Command(name = "put", description = "Creates or replaces a calendar.")
  static final class Put implements Callable<Integer> {
    private final Shell shell;

    @Parameters(index = "0", paramLabel = "CALENDAR", description = "the calendar's name")
    private String calendar = "";

    @Parameters(index = "1..*", arity = "1..*", paramLabel = "DAY", description = "a date (2027-03-26), a day of every year (12-25) or a weekday (SUN)")
    private List<String> days = List.of();

    @Mixin
    private final ServerOption server = new ServerOption();

    Put(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      ObjectNode body = JsonNodeFactory.instance.objectNode();
      days.forEach(body.putArray("days")::add);
      try (ServerConnection remote = server.open(shell)) {
        remote.put(path(calendar), body.toString(), TIMEOUT);
      }
      shell.line(calendar + " is in place; jobs that exclude it apply it from their next planning pass on");
      return ExitCode.OK;
    }
  }

  /** Deletes a calendar. */
  @Command(name = "delete", description = "Deletes a calendar; jobs that exclude it are in error until they are changed or the calendar is put again.")
  static final class Delete implements Callable<Integer> {
    private final Shell shell;

    @Parameters(paramLabel = "CALENDAR", description = "the calendar's name")
    private String calendar = "";

    @Mixin
    private final ServerOption server = new ServerOption();

    Delete(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      try (ServerConnection remote = server.open(shell)) {
        remote.delete(path(calendar));
      }
      shell.line(calendar + " is deleted");
      return ExitCode.OK;
    }
  }
}
