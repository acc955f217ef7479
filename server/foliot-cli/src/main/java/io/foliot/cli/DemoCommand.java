package io.foliot.cli;

import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.client.BatchResult;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskView;
import io.foliot.client.TouchedKey;
import io.foliot.server.config.Defaults;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A demonstration for people who have never seen Foliot. */
@Command(name = "demo", description = {
    "Shows in about half a minute what Foliot does: tasks on time, a heartbeat, retries, a kill -9 that loses nothing.",
    "The demo uses a temporary folder. Afterwards its server keeps running, so that you can try it."})
final class DemoCommand implements Callable<Integer> {
  private static final String HELLO = "hello";
  private static final String TICKS = "ticks";
  private static final String SESSIONS = "sessions";
  private static final String PAYMENTS = "payments";
  private static final String RUSH = "rush";

  private static final int MAX_PORT = 65_535;
  private static final int TICKS_SHOWN = 5;
  private static final int TOUCHES = 8;
  private static final Duration TOUCH_EVERY = Duration.ofMillis(400);
  private static final Duration SILENCE = Duration.ofSeconds(2);
  private static final int PAYMENT_ATTEMPTS = 3;
  private static final int RUSH_TASKS = 500;
  private static final Duration RUSH_BEGINS = Duration.ofSeconds(1);
  private static final Duration RUSH_LASTS = Duration.ofSeconds(9);
  private static final Duration KILL_AFTER = Duration.ofSeconds(3);
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(
      ZoneId.systemDefault());

  private final Shell shell;
  private final DemoLedger ledger = new DemoLedger();

  @Option(names = "--exit", description = "end after the demonstration")
  private boolean exit;

  @Option(names = "--port", paramLabel = "PORT", description = "the server's port; default: " + Defaults.PORT
      + ", or any free one")
  private @Nullable Integer port;

  // written by the thread of the command and by the shutdown hook
  private volatile boolean closing;

  DemoCommand(Shell shell) {
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (port != null && (port < 1 || port > MAX_PORT)) {
      throw CommandException
          .usage("--port: expected a whole number from 1 to " + MAX_PORT + ", but got \"" + port + '"');
    }
    Path folder;
    try {
      folder = Files.createTempDirectory("foliot-demo-");
    } catch (IOException e) {
      throw CommandException.failure("the folder for temporary files cannot be written: " + e.getMessage(), e);
    }
    DemoServer server = new DemoServer(folder, port == null ? freePort() : port);
    try (DemoReceiver receiver = new DemoReceiver(this::receive)) {
      Thread hook = new Thread(() -> cleanUp(server, folder), "foliot-demo-end");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        int exitCode = play(server, receiver);
        if (!exit) {
          stayOpen(server);
        }
        return exitCode;
      } catch (CommandException e) {
        if (closing) {
          // The command failed because the shutdown hook closes the server; the process ends when the hook is done.
          awaitForever();
        }
        throw e;
      } finally {
        cleanUp(server, folder);
      }
    }
  }

  private void cleanUp(DemoServer server, Path folder) {
    closing = true;
    server.close();
    try {
      if (Files.exists(folder)) {
        Folders.delete(folder);
      }
    } catch (IOException e) {
      shell.error("the folder " + folder + " could not be deleted: " + e.getMessage());
    }
  }

  private static int freePort() {
    try (ServerSocket usual = new ServerSocket()) {
      usual.setReuseAddress(true);
      usual.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), Defaults.PORT));
      return Defaults.PORT;
    } catch (IOException inUse) {
      try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        return any.getLocalPort();
      } catch (IOException e) {
        throw CommandException.failure("no port is free: " + e.getMessage(), e);
      }
    }
  }

  private int play(DemoServer server, DemoReceiver receiver) {
    say("");
    say("Foliot keeps work for later on disk, and calls you back on time. This takes about half a minute.");
    say("");
    say("Starting a server in a folder that is deleted afterwards ...");
    server.start();
    Instant killed;
    Instant back;
    try (ServerConnection remote = ServerConnection.at(server.url())) {
      greet(remote, receiver);
      ticks(remote);
      heartbeat(remote);
      failures(remote);
      submitRush(remote);
      killed = kill(server);
    }
    server.start();
    back = Instant.now();
    detail("a new process with the same folder is ready");
    awaitRush();
    return tally(killed, back);
  }

  private void greet(ServerConnection remote, DemoReceiver receiver) {
    URI callbacks = URI.create(receiver.url());
    Target target = Target.http(callbacks).with(Duration.ofSeconds(1));
    for (String queue : List.of(HELLO, TICKS, SESSIONS, RUSH)) {
      remote.run(client -> client.putQueue(QueueConfig.of(queue, target)));
    }
    remote.run(client -> client.putQueue(QueueConfig.builder(PAYMENTS, target)
        .retry(new Retry(PAYMENT_ATTEMPTS, Duration.ofSeconds(1), 2.0, Retry.DEFAULT.maxBackoff(), 0.0)).build()));
    detail("server at " + remote.url() + ", callbacks go to " + callbacks);
    SubmittedTask first = submit(remote, HELLO,
        NewTask.builder().delay(Duration.ZERO).payload(Payload.text("hello")).build());
    await(first.id(), 1);
  }

  private SubmittedTask submit(ServerConnection remote, String queue, NewTask task) {
    SubmittedTask submitted = remote.call(client -> client.submit(queue, task));
    ledger.recordAcknowledged(submitted.id());
    return submitted;
  }

  private void await(String task, int callbacks) {
    if (ledger.await(task, callbacks, PATIENCE) < callbacks) {
      throw CommandException.failure("a callback did not come within " + PATIENCE.toSeconds() + " s; ./foliot doctor"
          + " checks this machine for problems");
    }
  }

  /** Shows a callback, and returns the status of the response. Called by many threads. */
  private int receive(DemoReceiver.Callback callback) {
    show(callback);
    // The demo waits for this record, so it continues only after the callback has been shown.
    ledger.recordCallback(callback);
    return callback.queue().equals(PAYMENTS) ? 500 : 200;
  }

  private void show(DemoReceiver.Callback callback) {
    String when = TIME.format(callback.arrivedAt());
    String late = Words.seconds(callback.late().toNanos() / 1e9);
    switch (callback.queue()) {
      case TICKS -> detail(when + "  " + callback.key() + " arrived, due " + TIME.format(callback.dueAt()) + ": "
          + shell.in(Colour.GREEN, late + " late"));
      case SESSIONS -> detail(when + "  " + shell.in(Colour.GREEN, callback.key() + " timed out, " + late
          + " after its time was up"));
      case PAYMENTS -> detail(when + "  attempt " + callback.attempt() + " of " + PAYMENT_ATTEMPTS + ": "
          + shell.in(Colour.RED, "the receiver answers 500"));
      case RUSH -> {
        // Too many to show one by one.
      }
      default -> {
        if (!callback.body().equals(HELLO)) {
          detail(when + "  callback of queue " + callback.queue() + ", " + late + " late: "
              + Shell.plain(callback.body()));
        }
      }
    }
  }

  private void ticks(ServerConnection remote) {
    title("Tasks fire on time");
    Instant second = Instant.now().truncatedTo(ChronoUnit.SECONDS).plusSeconds(2);
    String last = "";
    for (int i = 1; i <= TICKS_SHOWN; i++) {
      last = submit(remote, TICKS, NewTask.builder().dueAt(second.plusSeconds(i - 1)).key("tick-" + i).build()).id();
    }
    detail(TICKS_SHOWN + " tasks are on disk, one for each of the next seconds");
    await(last, 1);
  }

  private void heartbeat(ServerConnection remote) {
    title("A heartbeat: a task that is touched again and again does not fire until the touches stop");
    String alice = submit(remote, SESSIONS, NewTask.builder().delay(SILENCE).key("alice").build()).id();
    detail("session alice ends after " + SILENCE.toSeconds() + " s without a touch; now it is touched often");
    for (int i = 1; i <= TOUCHES; i++) {
      pause(TOUCH_EVERY);
      List<TouchedKey> touched = remote.call(client -> client.touchKeys(SESSIONS, List.of("alice"), SILENCE));
      Instant due = touched.getFirst().dueAt();
      if (i % 2 == 0 && due != null) {
        detail(TIME.format(Instant.now()) + "  touched " + i + " times, due " + TIME.format(due) + " now");
      }
    }
    if (ledger.await(alice, 1, Duration.ZERO) > 0) {
      throw CommandException.failure("the session timed out although it was touched: this machine was paused for "
          + SILENCE.toSeconds() + " s, or this is a bug");
    }
    detail("no callback so far; now the touches stop");
    await(alice, 1);
  }

  private void failures(ServerConnection remote) {
    title("A callback that fails is repeated, then kept as a dead letter");
    String payment = submit(remote, PAYMENTS, NewTask.builder().delay(Duration.ZERO).key("payment-7").build()).id();
    await(payment, PAYMENT_ATTEMPTS);
    TaskView view = remote.call(client -> client.getTask(payment));
    for (long end = System.nanoTime() + PATIENCE.toNanos(); view.state() != TaskState.FAILED
        && System.nanoTime() < end;) {
      pause(Duration.ofMillis(20));
      view = remote.call(client -> client.getTask(payment));
    }
    detail("its state is " + view.state() + " (" + Shell.plain(String.valueOf(view.reason()))
        + "); it can be read, and redriven");
  }

  private void submitRush(ServerConnection remote) {
    title("kill -9 in the middle, and nothing is lost");
    Instant begin = Instant.now().plus(RUSH_BEGINS);
    List<NewTask> tasks = new ArrayList<>();
    for (int i = 0; i < RUSH_TASKS; i++) {
      tasks.add(NewTask.at(begin.plus(RUSH_LASTS.multipliedBy(i).dividedBy(RUSH_TASKS))));
    }
    for (BatchResult result : remote.call(client -> client.submitBatch(RUSH, tasks))) {
      if (!(result instanceof SubmittedTask task)) {
        throw CommandException.failure("the server refused a task of the demo: " + result);
      }
      ledger.recordAcknowledged(task.id());
    }
    detail(RUSH_TASKS + " tasks are on disk, due over the next " + RUSH_LASTS.plus(RUSH_BEGINS).toSeconds() + " s");
    pause(RUSH_BEGINS.plus(KILL_AFTER));
  }

  private Instant kill(DemoServer server) {
    Instant killed = Instant.now();
    long pid = server.kill();
    detail(TIME.format(killed) + "  " + shell.in(Colour.RED, "kill -9 " + pid) + ", with " + ledger.pending()
        + " tasks still to come");
    return killed;
  }

  private void awaitRush() {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (ledger.pending() > 0 && System.nanoTime() < end) {
      if (shell.terminal()) {
        shell.out().print("\r  " + ledger.delivered() + " of " + ledger.acknowledged() + " delivered ");
        shell.out().flush();
      }
      pause(Duration.ofMillis(100));
    }
    if (shell.terminal()) {
      shell.out().print("\r" + " ".repeat(60) + "\r");
    }
  }

  private int tally(Instant killed, Instant back) {
    title("The tally");
    int lost = ledger.pending();
    int early = ledger.early();
    // The payment is delivered PAYMENT_ATTEMPTS times on purpose, so its repeated deliveries are subtracted.
    int again = ledger.repeated() - (PAYMENT_ATTEMPTS - 1);
    row(ledger.acknowledged(), "acknowledged by the server", "");
    row(ledger.delivered(), "delivered", lost == 0 ? good("nothing is lost") : bad(lost + " are lost"));
    row(early, "before their time", early == 0 ? good("nothing is early") : bad("some are early"));
    row(again, "delivered again", again == 0
        ? ""
        : "the server was killed before it recorded these deliveries; delivery is at least once");
    Histogram lateMicros = ledger.latenessMicros(killed, back.plusSeconds(2));
    if (lateMicros.getTotalCount() > 0) {
      detail(String.format(Locale.ROOT,
          "lateness: half within %s, 99 of 100 within %s (without the tasks due while the server was down)",
          Words.seconds(lateMicros.getValueAtPercentile(50) / 1e6),
          Words.seconds(lateMicros.getValueAtPercentile(99) / 1e6)));
    }
    say("");
    return lost == 0 && early == 0 ? ExitCode.OK : ExitCode.FAILURE;
  }

  private void row(int count, String what, String comment) {
    detail(String.format(Locale.ROOT, "%4d  %-28s%s", count, what, comment).stripTrailing());
  }

  private String good(String text) {
    return shell.in(Colour.GREEN, text);
  }

  private String bad(String text) {
    return shell.in(Colour.RED, text);
  }

  private void stayOpen(DemoServer server) {
    String url = server.url();
    say("The server stays open at " + url + ". In another terminal, see it live with");
    say("");
    say("  ./foliot top" + (url.endsWith(":" + Defaults.PORT) ? "" : " --url " + url));
    say("");
    say("or send a task, and watch it come back here five seconds later:");
    say("");
    say("  curl -H 'Content-Type: application/json' " + url + "/v1/queues/" + HELLO + "/tasks \\");
    say("    -d '{\"delay\": \"5s\", \"payload\": {\"from\": \"me\"}}'");
    say("");
    say("Ctrl-C ends the server and deletes its folder.");
    say("");
    awaitForever();
  }

  private static void awaitForever() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void pause(Duration duration) {
    try {
      TimeUnit.NANOSECONDS.sleep(duration.toNanos());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void title(String text) {
    say("");
    say(shell.in(Colour.BOLD, text));
  }

  private void detail(String text) {
    say("  " + text);
  }

  private void say(String text) {
    synchronized (ledger) {
      shell.line(text);
    }
  }
}
