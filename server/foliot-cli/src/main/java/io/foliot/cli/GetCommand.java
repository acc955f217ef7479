package io.foliot.cli;

import io.foliot.api.DurationText;
import io.foliot.api.TaskNote;
import io.foliot.client.AttemptView;
import io.foliot.client.Payload;
import io.foliot.client.TaskView;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows a task. */
@Command(name = "get", description = "Shows a task with its last attempts.", footer = {"", "Examples",
    "  foliot get orders order-7", "  foliot get 0199f2a4-7c1e-7a53-8a3f-5f0d9c2b1e77 --why"})
final class GetCommand implements Callable<Integer> {
  /** Maximum number of characters of a payload that the output for people shows. */
  private static final int SHOWN_PAYLOAD = 2_000;

  private static final Pattern RESUME = Pattern.compile("POST /v1/queues/([^/]+)/resume");

  private final Shell shell;

  @Mixin
  private final TaskName task = new TaskName();

  @Option(names = "--why", description = "explain why the task has not fired")
  private boolean why;

  @Mixin
  private final JsonOption json = new JsonOption();

  @Mixin
  private final ServerOption server = new ServerOption();

  GetCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    try (ServerConnection remote = server.open(shell)) {
      if (why) {
        explain(remote);
      } else if (json.isSet()) {
        shell.line(remote.get(task.path()));
      } else {
        show(view(remote));
      }
    }
    return ExitCode.OK;
  }

  private TaskView view(ServerConnection remote) {
    return task.isId()
        ? remote.call(client -> client.getTask(task.id()))
        : remote.call(client -> client.getByKey(task.queue(), task.key()));
  }

  private void explain(ServerConnection remote) {
    String id = task.isId() ? task.id() : view(remote).id();
    String explanation = remote.call(client -> client.explain(id));
    if (json.isSet()) {
      shell.line(explanation);
      return;
    }
    JsonView view = JsonView.parse(explanation);
    new CommandOutput().add("id", view.at("id").text()).add("queue", view.at("queue").text())
        .add("key", view.at("key").exists() ? view.at("key").text() : null).add("state", view.at("state").text())
        .add("dueAt", view.at("dueAt").text()).add("owner", view.at("owner").text())
        .add("lane", view.at("lane", "waiting").text() + " waiting, " + view.at("lane", "running").text() + " running")
        .add("destination", destination(view.at("destination"))).print(shell, false);
    view.at("reasons").items().forEach(reason -> shell.line("- " + Shell.plain(command(reason.text()))));
  }

  /** Returns a destination in words; null for a task that workers claim, which has none. */
  private static @Nullable String destination(JsonView destination) {
    String name = destination.at("name").text("");
    return name.isEmpty()
        ? null
        : name + ", " + destination.at("running").text() + " of " + destination.at("limit").text() + " running";
  }

  /** Returns a reason that names calls of the API as the commands that make them. */
  private static String command(String reason) {
    return RESUME.matcher(reason).replaceAll("foliot queues resume $1").replace("POST .../redrive brings it back",
        "foliot queues redrive QUEUE brings it back");
  }

  private void show(TaskView view) {
    Integer maxAttempts = view.maxAttempts();
    new CommandOutput().add("id", view.id()).add("queue", view.queue()).add("key", view.key())
        .add("generation", view.generation()).add("state", view.state())
        .add("dueAt", view.dueAt() + distance(view.dueAt(), Instant.now()))
        .add("createdAt", view.createdAt()).add("leaseEnd", lease(view))
        .add("attempts", view.attempt() + (maxAttempts == null ? "" : " of " + maxAttempts))
        .add("reason", view.reason())
        .add("progress", progress(view.note())).add("checkpoint", view.note().checkpoint())
        .add("log", view.note().log().isEmpty() ? null : view.note().log())
        .add("headers", view.headers().isEmpty() ? null : view.headers())
        .add("payload", payload(view.payload())).print(shell, false);
    if (!view.attempts().isEmpty()) {
      shell.line("");
      Table table = new Table().right("attempt").left("begun").right("took").left("outcome")
          .left("worker").left("node").left("detail");
      view.attempts().forEach(attempt -> table.row(attempt.attempt(), attempt.begunAt(), took(attempt),
          attempt.outcome() == null ? "-" : attempt.outcome(), attempt.worker() == null ? "-" : attempt.worker(),
          attempt.node() == null ? "-" : attempt.node(), attempt.detail() == null ? "" : attempt.detail()));
      table.print(shell);
    }
  }

  private static @Nullable String lease(TaskView view) {
    Instant end = view.leaseEnd();
    if (end == null) {
      return null;
    }
    return end + distance(end, Instant.now()) + (view.leaseExpired() ? ", expired: the worker has not reported" : "");
  }

  private static @Nullable String progress(TaskNote note) {
    String part = note.progress() < 0 ? "" : Math.round(100 * note.progress()) + " %";
    String shown = part.isEmpty() || note.message().isEmpty()
        ? part + note.message()
        : part + ", " + note.message();
    return shown.isEmpty() ? null : shown;
  }

  /** Returns the distance of an instant from now in words, such as " (in 5 s)" or " (5 s ago)". */
  static String distance(Instant instant, Instant now) {
    Duration distance = Duration.between(now, instant);
    return distance.isNegative()
        ? " (" + DurationText.rough(distance.negated()) + " ago)"
        : " (in " + DurationText.rough(distance) + ")";
  }

  private static String took(AttemptView attempt) {
    Instant end = attempt.endedAt();
    return end == null ? "-" : Duration.between(attempt.begunAt(), end).toMillis() + " ms";
  }

  private static @Nullable String payload(@Nullable Payload payload) {
    if (payload == null || payload.toBytes().length == 0) {
      return null;
    }
    if (!payload.isJson() && !payload.contentType().startsWith("text/")) {
      return payload.toBytes().length + " bytes of " + payload.contentType() + " (--json shows them)";
    }
    String text = payload.toText();
    return text.length() <= SHOWN_PAYLOAD ? text : text.substring(0, SHOWN_PAYLOAD) + "... (--json shows all)";
  }
}
