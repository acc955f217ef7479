package io.foliot.cli;

import io.foliot.api.OnConflict;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.SubmittedTask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Submits a task. */
@Command(name = "submit", description = "Submits a task.", footer = {"", "Examples",
    "  foliot submit orders --delay 30m --key order-7 --payload '{\"order\": 7}'",
    "  foliot submit mails --at 2026-12-24T18:00:00Z --text 'Merry Christmas'",
    "  foliot submit images --file picture.png --content-type image/png"})
final class SubmitCommand implements Callable<Integer> {
  private final Shell shell;

  @Parameters(paramLabel = "QUEUE", description = "the queue that the task goes to")
  private String queue = "";

  @ArgGroup
  private @Nullable DueTime dueTime;

  /** The due time of the task. */
  private static final class DueTime {
    @Option(names = "--delay", paramLabel = "TIME", converter = DurationConverter.class, description = "due this long from now: 30m, 1500ms, PT30M; default: at once")
    private @Nullable Duration delay;

    @Option(names = "--at", paramLabel = "INSTANT", converter = InstantConverter.class, description = "due at this time: 2026-11-21T09:30:00Z")
    private @Nullable Instant at;
  }

  @Option(names = "--key", paramLabel = "KEY", description = "the task's name in the queue, by which it can be reset or cancelled")
  private @Nullable String key;

  @ArgGroup
  private @Nullable PayloadSource payloadSource;

  /** The source of the payload. */
  private static final class PayloadSource {
    @Option(names = "--payload", paramLabel = "JSON", description = "the payload as JSON")
    private @Nullable String json;

    @Option(names = "--text", paramLabel = "TEXT", description = "the payload as plain text")
    private @Nullable String text;

    @Option(names = "--file", paramLabel = "FILE", description = "the payload as the bytes of a file; - for the standard input")
    private @Nullable String file;
  }

  @Option(names = "--content-type", paramLabel = "TYPE", description = "the content type of the payload")
  private @Nullable String contentType;

  @Option(names = "--header", paramLabel = "NAME=VALUE", description = "a header of every callback; may be repeated")
  private Map<String, String> headers = new LinkedHashMap<>();

  @Option(names = "--max-attempts", paramLabel = "N", description = "maximum number of attempts;"
      + " default: the setting of the queue")
  private @Nullable Integer maxAttempts;

  @Option(names = "--on-conflict", paramLabel = "WHAT", description = "if the key has a live task: reset, keep or reject; default: reset")
  private @Nullable OnConflict onConflict;

  @Option(names = "--idempotency-key", paramLabel = "KEY", description = "makes it safe to repeat this submit: for 24 hours, a submit with the same key and task gets the same response")
  private @Nullable String idempotencyKey;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  SubmitCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    NewTask task;
    try {
      NewTask.Builder builder = NewTask.builder().delay(Duration.ZERO).key(key).payload(payload()).headers(headers)
          .maxAttempts(maxAttempts).onConflict(onConflict).idempotencyKey(idempotencyKey);
      if (dueTime != null && dueTime.at != null) {
        builder.dueAt(dueTime.at);
      } else if (dueTime != null && dueTime.delay != null) {
        builder.delay(dueTime.delay);
      }
      task = builder.build();
    } catch (IllegalArgumentException e) {
      throw CommandException.usage(String.valueOf(e.getMessage()));
    }
    try (ServerConnection remote = server.open(shell)) {
      SubmittedTask submitted = remote.call(client -> client.submit(queue, task));
      CommandOutput output = new CommandOutput().add("id", submitted.id()).add("queue", submitted.queue())
          .add("key", submitted.key()).add("generation", submitted.generation()).add("dueAt", submitted.dueAt())
          .add("state", submitted.state());
      output.print(shell, json.isSet());
    }
    return ExitCode.OK;
  }

  private @Nullable Payload payload() {
    Payload payload = payloadSource == null ? null : read(payloadSource);
    return payload == null || contentType == null ? payload : payload.withContentType(contentType);
  }

  private @Nullable Payload read(PayloadSource source) {
    if (source.json != null) {
      return Payload.json(source.json);
    }
    if (source.text != null) {
      return Payload.text(source.text);
    }
    String file = String.valueOf(source.file);
    try {
      byte[] bytes = file.equals("-") ? shell.in().readAllBytes() : Files.readAllBytes(Path.of(file));
      return Payload.bytes(bytes, "application/octet-stream");
    } catch (NoSuchFileException e) {
      throw CommandException.failure("there is no file " + file);
    } catch (IOException e) {
      throw CommandException.failure("the file cannot be read: " + e.getMessage());
    }
  }
}
