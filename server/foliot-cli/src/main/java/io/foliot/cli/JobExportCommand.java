package io.foliot.cli;

import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Writes the definitions of jobs as a file for {@link JobApplyCommand}. */
@Command(name = "export", description = "Prints the definitions of jobs as YAML, for foliot jobs apply.", footer = {"",
    "Example", "  foliot jobs export --queue billing > jobs.yaml"})
final class JobExportCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--queue", paramLabel = "QUEUE", description = "only jobs of this queue")
  private @Nullable String queue;

  @Mixin
  private final ServerOption server = new ServerOption();

  JobExportCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    List<JsonView> jobs;
    try (ServerConnection remote = server.open(shell)) {
      jobs = JobsCommand.read(remote, queue, null, null);
    }
    ObjectNode file = JsonNodeFactory.instance.objectNode();
    ArrayNode definitions = file.putArray("jobs");
    for (JsonView job : jobs) {
      if (!job.at("queue").exists()) {
        throw CommandException.failure("the record of the job " + Shell.plain(job.at("job").text())
            + " cannot be read; put the job again");
      }
      ObjectNode definition = definitions.addObject();
      definition.put("job", job.at("job").text());
      job.names().stream().filter(name -> !SettingsDifference.STATE_OF_JOB.contains(name))
          .forEach(name -> definition.set(name, job.at(name).node()));
    }
    shell.out().print(JobApplyCommand.YAML.writeValueAsString(file));
    return ExitCode.OK;
  }
}
