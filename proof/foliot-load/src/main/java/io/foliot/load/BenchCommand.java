package io.foliot.load;

import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The {@code bench} command: runs scenarios, and prints their figures and checks. */
@Command(name = "bench", description = {
    "Measures what this machine can do with Foliot, and proves that the work was done.",
    "Without scenarios: a summary in two to three minutes, on a server of its own in a temporary folder."}, footer = {
        "",
        "The exit code is 1 if work was lost, repeated or early, or if a scenario could not be run. A missed target is"
            + " shown with --targets, and does not change the exit code.",
        "", "Examples", "  foliot bench", "  foliot bench lateness --seconds 60",
        "  foliot bench pending --out /tmp/curve",
        "  foliot bench submit batch-http --url http://127.0.0.1:7400"})
public final class BenchCommand implements Callable<Integer> {
  private static final int MAX_CONNECTIONS = 10_000;

  private final PrintStream out;
  private final PrintStream err;
  private final Map<String, String> environment;
  private final Class<?> server;

  @Spec
  private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "SCENARIO", description = "scenario to run; --list lists them", arity = "0..*")
  private List<String> names = new ArrayList<>();

  @Option(names = "--list", description = "list the scenarios")
  private boolean list;

  @Option(names = "--json", description = "print JSON, for scripts")
  private boolean json;

  @Option(names = "--targets", description = "compare the figures with the targets of this project, which assume a machine without other load")
  private boolean targets;

  @Option(names = "--url", paramLabel = "URL", description = "measure this server; its API key, if it needs one, comes from FOLIOT_API_KEY")
  private @Nullable URI url;

  @Option(names = "--tasks", paramLabel = "N", description = "number of tasks, keys, jobs or workers; else the default of each scenario")
  private int tasks;

  @Option(names = "--seconds", paramLabel = "S", description = "duration of a measurement; else the default of each scenario")
  private double seconds;

  @Option(names = "--connections", paramLabel = "C", description = "connections that submit (64)")
  private int connections = 64;

  @Option(names = "--data", paramLabel = "DIR", description = "the folder, on the disk to measure, in which the store's folder is created; else the system's temporary folder")
  private @Nullable Path data;

  @Option(names = "--out", paramLabel = "DIR", description = "where pending writes its curve (the current folder)")
  private Path outFolder = Path.of("");

  @Option(names = "--server-jvm", paramLabel = "OPTION", arity = "1", description = "an option for the JVM of the server that is started, such as -Xmx2g; may be repeated")
  private List<String> serverJvm = new ArrayList<>();

  /**
   * Creates the command.
   *
   * @param out the stream for results
   * @param err the stream for progress and errors
   * @param environment the environment variables of the process
   * @param server the class whose command {@code server} starts a server
   */
  public BenchCommand(PrintStream out, PrintStream err, Map<String, String> environment, Class<?> server) {
    this.server = server;
    this.out = out;
    this.err = err;
    this.environment = Map.copyOf(environment);
  }

  @Override
  public Integer call() {
    if (list) {
      Scenario.all().forEach(scenario -> out.printf("%-16s %s%n", scenario.name(), scenario.about()));
      return 0;
    }
    List<Scenario> scenarios = scenarios();
    Bench.Plan plan = plan();
    List<String> conditions = conditions(plan);
    PrintStream progress = json ? new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8) : err;
    if (!json) {
      conditions.forEach(out::println);
      if (names.isEmpty()) {
        out.println(scenarios.size() + " scenarios, which take two to three minutes; --list lists them");
      }
    }
    ReportJson all = new ReportJson(conditions);
    boolean proven = true;
    try (Bench bench = new Bench(plan, progress)) {
      for (Scenario scenario : scenarios) {
        proven &= run(scenario, bench, all);
      }
    } catch (BenchException e) {
      err.println("foliot: " + e.getMessage());
      proven = false;
    }
    if (json) {
      out.println(all.finish());
    }
    return proven ? 0 : 1;
  }

  private List<Scenario> scenarios() {
    if (names.isEmpty()) {
      return Scenario.summary().stream().filter(scenario -> url == null || !scenario.isEmbedded()).toList();
    }
    List<Scenario> chosen = new ArrayList<>();
    for (String name : names) {
      Scenario found = Scenario.all().stream().filter(scenario -> scenario.name().equals(name)).findFirst()
          .orElseThrow(() -> misused("there is no scenario " + name + "; the scenarios are "
              + String.join(", ", Scenario.all().stream().map(Scenario::name).toList())));
      if (url != null && (found.isEmbedded() || found.killsItsServer())) {
        throw misused(name + " needs a folder of its own and cannot use a running server; leave out --url");
      }
      chosen.add(found);
    }
    return chosen;
  }

  private Bench.Plan plan() {
    if (tasks < 0 || seconds < 0 || connections < 1 || connections > MAX_CONNECTIONS) {
      throw misused("--tasks and --seconds must not be negative, --connections must be from 1 to " + MAX_CONNECTIONS);
    }
    if (url != null && (!"http".equals(url.getScheme()) || url.getHost() == null)) {
      throw misused("--url: expected http:// with a host (TLS is not measured), but got \"" + url + "\"");
    }
    return new Bench.Plan(url, environment.getOrDefault("FOLIOT_API_KEY", ""), tasks, seconds, connections, data,
        outFolder, server, serverJvm, Bench.Plan.PATIENCE);
  }

  private ParameterException misused(String message) {
    if (spec == null) {
      throw new IllegalStateException(message);
    }
    return new ParameterException(spec.commandLine(), message);
  }

  private static List<String> conditions(Bench.Plan plan) {
    String shared = plan.url() == null
        ? "the server (a JVM of its own, synced writes), the load generator and the receiver share the processors"
        : "the load generator and the receiver run here, the server at " + plan.url()
            + "; lateness compares both clocks";
    return List.of(Machine.describe() + "; load average before " + Machine.loadText(), shared);
  }

  private boolean run(Scenario scenario, Bench bench, ReportJson all) {
    Report report = null;
    String failure = null;
    double loadAverage = Machine.loadAverage();
    try {
      report = scenario.run(bench);
    } catch (RuntimeException e) {
      failure = e instanceof BenchException ? String.valueOf(e.getMessage()) : e.toString();
    }
    all.add(scenario, report, failure, loadAverage);
    if (!json) {
      out.println();
      ReportText.lines(scenario, report, failure, loadAverage, targets).forEach(out::println);
      out.flush();
    }
    return failure == null && report != null && report.isProven();
  }
}
