package io.foliot.cli;

import io.foliot.api.ScheduleFields;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Shows the next times of a schedule. */
@Command(name = "preview", description = "Shows the next times of a schedule, and changes nothing.", footer = {
    "", "Example", "  foliot jobs preview --cron \"0 2 * * MON-FRI\" --zone Europe/Berlin --count 10"})
final class JobPreviewCommand implements Callable<Integer> {
  private static final Duration TIMEOUT = Duration.ofSeconds(35);

  private final Shell shell;

  private final FieldOptions schedule = new FieldOptions(ScheduleFields.TABLE);

  @Option(names = "--count", paramLabel = "COUNT", description = "number of times to show; 5 unless given")
  private int count = 5;

  @Mixin
  private final ServerOption server = new ServerOption();

  JobPreviewCommand(Shell shell) {
    this.shell = shell;
  }

  CommandSpec spec() {
    return schedule.addTo(CommandSpec.forAnnotatedObject(this));
  }

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      JobActCommand.times(shell, JsonView.parse(remote.post("/v1/schedules:preview?count=" + count,
          schedule.json().toString(), TIMEOUT)).at("times").items());
    }
    return ExitCode.OK;
  }
}
