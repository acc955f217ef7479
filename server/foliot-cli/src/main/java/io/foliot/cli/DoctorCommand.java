package io.foliot.cli;

import io.foliot.server.config.ConfigException;
import io.foliot.server.config.Defaults;
import io.foliot.server.config.FoliotConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks what a server stands on. */
@Command(name = "doctor", description = "Checks Java, disk, clock, store and port, and says what to do.", footer = {"",
    "Give it what you give the server. Exit code 1 if a check fails.", "", "Example",
    "  foliot doctor --data /var/lib/foliot --port 7400"})
final class DoctorCommand implements Callable<Integer> {
  private final Shell shell;

  @Option(names = "--data", paramLabel = "DIR", description = "the data folder; " + Defaults.DATA + " unless set")
  private @Nullable String data;

  @Option(names = "--host", paramLabel = "HOST", description = "the address; " + Defaults.HOST + " unless set")
  private @Nullable String host;

  @Option(names = "--port", paramLabel = "PORT", description = "the port; " + Defaults.PORT + " unless set")
  private @Nullable String port;

  @Option(names = "--config", paramLabel = "FILE", description = "the file with the server's configuration")
  private @Nullable String config;

  @Mixin
  private final JsonOption json = new JsonOption();

  DoctorCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    FoliotConfig configuration = configuration();
    List<Finding> findings = new ArrayList<>();
    for (Checks.Check check : new Checks(configuration).all()) {
      Finding finding = check.find();
      findings.add(finding);
      if (!json.isSet()) {
        tell(finding);
      }
    }
    boolean failed = findings.stream().anyMatch(finding -> finding.verdict() == Finding.Verdict.FAIL);
    if (json.isSet()) {
      shell.line(new Answer().add("ok", !failed).add("checks", findings.stream().map(DoctorCommand::answer).toList())
          .json());
    }
    return failed ? Foliot.FAILURE : Foliot.OK;
  }

  private FoliotConfig configuration() {
    Map<String, String> flags = new LinkedHashMap<>();
    put(flags, "data", data);
    put(flags, "host", host);
    put(flags, "port", port);
    try {
      return FoliotConfig.load(flags, shell.environment(), ServerCommand.file(config, shell));
    } catch (ConfigException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private static void put(Map<String, String> flags, String flag, @Nullable String value) {
    if (value != null) {
      flags.put(flag, value);
    }
  }

  private void tell(Finding finding) {
    String verdict = switch (finding.verdict()) {
      case OK -> shell.in(Colour.GREEN, "ok  ");
      case WARN -> shell.in(Colour.YELLOW, "warn");
      case FAIL -> shell.in(Colour.RED, "fail");
    };
    shell.line(verdict + "  " + finding.what() + ": " + finding.seen());
    if (!finding.advice().isEmpty()) {
      shell.line("      " + finding.advice());
    }
  }

  private static Answer answer(Finding finding) {
    return new Answer().add("check", finding.what()).add("verdict", finding.verdict().name().toLowerCase(Locale.ROOT))
        .add("seen", finding.seen())
        .add("advice", finding.advice().isEmpty() ? null : finding.advice());
  }
}
