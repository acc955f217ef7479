package io.foliot.cli;

import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** Checks the environment of a server. */
@Command(name = "doctor", description = "Checks Java, disk, clock, store and port, and says what to do.", footer = {"",
    "This command has the options of the server command: give it the same values as the server.",
    "The exit code is 1 if a check fails.", "",
    "Examples", "  foliot doctor --data /var/lib/foliot --port 7400",
    "  foliot doctor --store jdbc:postgresql://db.example/foliot", "  foliot doctor --url http://127.0.0.1:7400"})
final class DoctorCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Shell shell;
  private final CommandSpec spec;

  @Option(names = "--config", paramLabel = "FILE", description = "the file with the server's configuration")
  private @Nullable String config;

  @Option(names = "--url", paramLabel = "URL", description = "checks only the server at this address, and nothing on this machine; a server in FOLIOT_URL is checked as well as this machine")
  private @Nullable String url;

  @Mixin
  private final JsonOption json = new JsonOption();

  DoctorCommand(Shell shell) {
    this.shell = shell;
    spec = CommandSpec.forAnnotatedObject(this);
    ServerFlags.addTo(spec);
  }

  /** Returns the command, including the options that {@link ServerFlags} adds. */
  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    List<Finding> findings = new ArrayList<>();
    for (Checks.Check check : checks()) {
      Finding finding = check.find();
      findings.add(finding);
      if (!json.isSet()) {
        print(finding);
      }
    }
    boolean failed = findings.stream().anyMatch(finding -> finding.verdict() == Finding.Verdict.FAIL);
    if (json.isSet()) {
      shell.line(
          new CommandOutput().add("ok", !failed).add("checks", findings.stream().map(DoctorCommand::output).toList())
              .json());
    }
    return failed ? ExitCode.FAILURE : ExitCode.OK;
  }

  private List<Checks.Check> checks() {
    if (url != null) {
      return List.of(this::server);
    }
    List<Checks.Check> checks = new ArrayList<>(new Checks(configuration()).all());
    if (!shell.variable(ServerConnection.URL_VARIABLE).isEmpty()) {
      checks.add(this::server);
    }
    return checks;
  }

  private FoliotConfig configuration() {
    try {
      return FoliotConfig.load(ServerFlags.of(spec.commandLine().getParseResult()), shell.environment(),
          ServerCommand.file(config, shell));
    } catch (ConfigException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  private Finding server() {
    try (ServerConnection remote = ServerConnection.of(url, shell)) {
      HttpResponse<String> answer = remote.send(HttpRequest.newBuilder(URI.create(remote.url() + "/health/ready")),
          PATIENCE);
      if (answer.statusCode() == 200 && !Checks.isUp(answer)) {
        return Finding.fail("server", remote.url() + " answers, but not as a Foliot server does",
            "another program listens there: check the address (--url, FOLIOT_URL)");
      }
      return answer.statusCode() == 200
          ? warned(answer.body(), clocks(remote))
          : Finding.fail("server", remote.url() + " is not ready: status=" + answer.statusCode() + ", answer="
              + Shell.plain(answer.body()), "see the server's log");
    } catch (IOException e) {
      return Finding.fail("server", address() + " does not answer: " + (e.getMessage() == null ? e : e.getMessage()),
          "check that the server runs, and that the address is right");
    }
  }

  /** Returns a finding, or the warnings of a ready server if the finding has nothing to report. */
  private static Finding warned(String health, Finding finding) {
    List<String> warnings = JsonView.parse(health).at("warnings").items().stream().map(JsonView::text).toList();
    return warnings.isEmpty() || finding.verdict() != Finding.Verdict.OK
        ? finding
        : Finding.warn("server", finding.seen() + ", but " + String.join("; ", warnings),
            "give jobs longer intervals, or start more nodes");
  }

  /** Checks a ready server for clocks that disagree. Without a key that may read the cluster, this is not checked. */
  private Finding clocks(ServerConnection remote) throws IOException {
    HttpResponse<String> answer = remote.send(HttpRequest.newBuilder(URI.create(remote.url() + "/v1/cluster")),
        PATIENCE);
    if (answer.statusCode() == 401 && !shell.variable(ServerConnection.KEY_VARIABLE).isEmpty()) {
      return Finding.warn("server", remote.url() + " is ready, but refuses the key in " + ServerConnection.KEY_VARIABLE,
          "set " + ServerConnection.KEY_VARIABLE
              + " to a key of this server: its administrator lists them with foliot keys");
    }
    if (answer.statusCode() != 200) {
      return Finding.ok("server", remote.url() + " is ready; the clocks are not checked: status="
          + answer.statusCode());
    }
    List<String> off = JsonView.parse(answer.body()).at("nodes").items().stream()
        .filter(node -> node.at("takesSlots").text().equals("false"))
        .map(node -> node.at("node").text() + " by " + node.at("clockOffsetMillis").text() + " ms").toList();
    return off.isEmpty()
        ? Finding.ok("server", remote.url() + " is ready")
        : Finding.fail("server", remote.url() + " is ready, but clocks differ from the store's, so these nodes own no"
            + " slots and plan no jobs: " + String.join(", ", off),
            "set the clocks of these nodes (NTP); if all nodes are listed, set the clock of the store");
  }

  private String address() {
    return url == null ? shell.variable(ServerConnection.URL_VARIABLE) : url;
  }

  private void print(Finding finding) {
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

  private static CommandOutput output(Finding finding) {
    return new CommandOutput().add("check", finding.what())
        .add("verdict", finding.verdict().name().toLowerCase(Locale.ROOT))
        .add("seen", finding.seen())
        .add("advice", finding.advice().isEmpty() ? null : finding.advice());
  }
}
