package io.foliot.cli;

import io.foliot.core.store.StoreException;
import io.foliot.server.CoreThreads;
import io.foliot.server.FoliotServer;
import io.foliot.server.Logging;
import io.foliot.server.StartException;
import io.foliot.server.config.ConfigException;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.store.PrivateFiles;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParseResult;

/** Runs a server. The options of the command are those of the configuration. */
@Command(name = "server", description = "Runs a server until it is stopped (Ctrl-C).", footer = {"",
    "Each option has a key in foliot.yaml and an environment variable: --port is server.port and FOLIOT_SERVER_PORT."
        + " The command line overrides the environment, which overrides the file.",
    "", "A server that cannot continue ends, and prints the reason. Exit codes",
    "  1  the store has closed itself, or the server could not start",
    "  2  the options or the configuration cannot be used",
    "  3  the server ran out of memory, after the line \"Terminating due to java.lang.OutOfMemoryError\"",
    "  5  a thread that the server needs has ended, or the server noticed that its memory had run out",
    "", "Examples", "  foliot server --data /var/lib/foliot",
    "  foliot server --port 7401 --allow-network 10.0.0.0/8"})
final class ServerCommand implements Callable<Integer> {
  private static final Logger log = LoggerFactory.getLogger(ServerCommand.class);

  /** Beginning of the line that is printed when the server is ready. The server's address follows. */
  static final String READY = "Foliot is ready at ";

  /** System property with the id of a parent process. This process ends when the parent ends or is killed. */
  static final String PARENT = "foliot.parent";

  private static final String CONFIG_VARIABLE = "FOLIOT_CONFIG";
  private static final Path CONFIG_HERE = Path.of("foliot.yaml");

  private final Shell shell;
  private final CommandSpec spec;

  @Option(names = "--config", paramLabel = "FILE", description = "the file with the configuration; else "
      + CONFIG_VARIABLE + ", else foliot.yaml if there is one here")
  private @Nullable String config;

  ServerCommand(Shell shell) {
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
    CoreThreads.watch();
    endWithParent();
    FoliotConfig configuration = configuration(spec.commandLine().getParseResult());
    Logging.apply(configuration.log());
    warnOfOpenSecrets();
    FoliotServer server;
    try {
      // If the log is JSON, every line of the standard output must be JSON. Other text goes to the standard error.
      server = FoliotServer.start(configuration, configuration.log().isJson() ? shell.err() : shell.out());
    } catch (StartException e) {
      throw e.reason() == StartException.Reason.CONFIGURATION
          ? CommandException.usage(String.valueOf(e.getMessage()))
          : CommandException.failure(String.valueOf(e.getMessage()), e);
    }
    // On a signal, the JVM runs this hook first, and then ends with the signal's exit code.
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "foliot-stop"));
    if (configuration.log().isJson()) {
      log.atInfo().addKeyValue("url", server.url()).log("Foliot is ready");
    } else {
      shell.line(READY + server.url());
    }
    Throwable failure = server.failure().join();
    if (!(failure instanceof StoreException) || CoreThreads.isFatal(failure)) {
      CoreThreads.end("a part of the server has failed", failure);
    }
    throw CommandException.failure("the store has closed itself, and nothing more is accepted: " + failure.getMessage(),
        failure);
  }

  private void warnOfOpenSecrets() {
    Path file = file(config, shell);
    if (file != null && PrivateFiles.isReadableByOthers(file)) {
      List<String> secrets = FoliotConfig.secretsIn(file);
      if (!secrets.isEmpty()) {
        log.warn(
            "other users can read secrets in the configuration file; remove their permissions (chmod 600), or set the"
                + " secrets as environment variables: file={}, keys={}",
            file, secrets);
      }
    }
  }

  private static void endWithParent() {
    Long parent = Long.getLong(PARENT);
    if (parent != null) {
      CompletableFuture<?> unused = ProcessHandle.of(parent).map(ProcessHandle::onExit)
          .orElse(CompletableFuture.completedFuture(null))
          .thenRun(() -> Runtime.getRuntime().halt(ExitCode.FAILURE));
    }
  }

  private FoliotConfig configuration(ParseResult parsed) {
    try {
      return FoliotConfig.load(ServerFlags.of(parsed), shell.environment(), file(config, shell));
    } catch (ConfigException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns the configuration file that the user has named; else {@code foliot.yaml} if it exists here; else null.
   *
   * @param option the value of the option {@code --config}, or null
   */
  static @Nullable Path file(@Nullable String option, Shell shell) {
    String named = option != null ? option : shell.variable(CONFIG_VARIABLE);
    if (named.isEmpty()) {
      return Files.exists(CONFIG_HERE) ? CONFIG_HERE : null;
    }
    try {
      return Path.of(named);
    } catch (InvalidPathException e) {
      throw CommandException.usage("--config: expected the path of a file, but got \"" + named + "\"");
    }
  }
}
