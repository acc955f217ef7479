package io.foliot.cli;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists API keys. */
@Command(name = "keys", description = "Lists API keys; creates and deletes them.", synopsisSubcommandLabel = "[COMMAND]", commandListHeading = "%nCommands:%n", footer = {
    "", "Once the server has keys, FOLIOT_API_KEY must be a key with the action admin.", "", "Examples",
    "  foliot keys", "  foliot keys create --allow submit,read --queues orders --note shop",
    "  foliot keys delete k1a2b3"})
final class KeysCommand implements Callable<Integer> {
  private static final String PATH = "/v1/keys";
  private static final Duration PATIENCE = Duration.ofSeconds(35);

  private final Shell shell;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  private KeysCommand(Shell shell) {
    this.shell = shell;
  }

  static CommandLine withSubcommands(Shell shell) {
    return new CommandLine(new KeysCommand(shell)).addSubcommand(new Create(shell)).addSubcommand(new Delete(shell));
  }

  @Override
  public Integer call() {
    String answer;
    try (ServerConnection remote = server.open(shell)) {
      answer = remote.get(PATH);
    }
    if (json.isSet()) {
      shell.line(answer);
      return ExitCode.OK;
    }
    List<JsonView> keys = JsonView.parse(answer).at("keys").items();
    if (keys.isEmpty()) {
      shell.line(
          "there are no API keys. To create one, run \"./foliot keys create --allow admin --queues '*'\". After that, every call needs a key");
      return ExitCode.OK;
    }
    Table table = new Table().left("ID").left("ALLOWS").left("QUEUES").left("CREATED").left("EXPIRES").left("NOTE");
    keys.forEach(key -> table.row(key.at("id").text(), joined(key.at("actions")), joined(key.at("queues")),
        key.at("createdAt").text(), key.at("expiresAt").text(), key.at("note").text("")));
    table.print(shell);
    return ExitCode.OK;
  }

  private static String joined(JsonView texts) {
    return texts.items().stream().map(JsonView::text).collect(Collectors.joining(","));
  }

  /** Creates an API key. */
  @Command(name = "create", description = "Creates an API key, and prints it; it cannot be shown again.")
  static final class Create implements Callable<Integer> {
    private final Shell shell;

    @Option(names = "--allow", paramLabel = "ACTION", required = true, split = ",", description = "what the key permits: read, submit, consume, admin; separated by commas")
    private List<String> actions = List.of();

    @Option(names = "--queues", paramLabel = "PATTERN", required = true, split = ",", description = "the queues that the key is for, such as orders.*; '*' for all")
    private List<String> queues = List.of();

    @Option(names = "--note", paramLabel = "TEXT", description = "what the key is for")
    private @Nullable String note;

    @Option(names = "--expires-in", paramLabel = "TIME", description = "the key stops working after this time, such as 365d")
    private @Nullable String expiresIn;

    @Mixin
    private final JsonOption json = new JsonOption();

    @Mixin
    private final ServerOption server = new ServerOption();

    Create(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      String body = new CommandOutput().add("actions", actions).add("queues", queues)
          .add("note", note).add("expiresIn", expiresIn).json();
      String answer;
      try (ServerConnection remote = server.open(shell)) {
        answer = remote.post(PATH, body, PATIENCE);
      }
      if (json.isSet()) {
        shell.line(answer);
        return ExitCode.OK;
      }
      JsonView key = JsonView.parse(answer);
      // Only the key goes to the standard output, so that it can be piped into a file of secrets.
      shell.line(key.at("key").text());
      shell.error("created " + key.at("id").text() + "; keep the key, it cannot be shown again. Commands read it from "
          + ServerConnection.KEY_VARIABLE);
      return ExitCode.OK;
    }
  }

  /** Deletes an API key. */
  @Command(name = "delete", description = "Deletes an API key; it stops working within a second.")
  static final class Delete implements Callable<Integer> {
    private final Shell shell;

    @Parameters(paramLabel = "ID", description = "the id of the key, as foliot keys lists it")
    private String id = "";

    @Mixin
    private final ServerOption server = new ServerOption();

    Delete(Shell shell) {
      this.shell = shell;
    }

    @Override
    public Integer call() {
      try (ServerConnection remote = server.open(shell)) {
        remote.delete(PATH + "/" + ServerConnection.segment(id));
      }
      shell.line(id + " is deleted");
      return ExitCode.OK;
    }
  }
}
