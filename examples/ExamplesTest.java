import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.client.FoliotClient;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.WorkerView;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Runs the commands of the examples' README files, and compares their output with the output in these files. */
@Execution(ExecutionMode.CONCURRENT)
final class ExamplesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Duration BOUND = Duration.ofSeconds(90);

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** A program that was started, and the files for its standard output and its standard error. */
  private record Program(Process process, Path out, Path err) implements AutoCloseable {
    List<String> lines() {
      return ExamplesTest.lines(out);
    }

    List<String> linesAtTheEnd() throws InterruptedException {
      assertThat(process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).as("it ends: %s", lines()).isTrue();
      assertThat(process.exitValue()).as("%s\n%s", lines(), ExamplesTest.lines(err)).isZero();
      return lines();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** The database server, which the first test that needs a database starts. */
  private static PostgresServer postgres;

  @TempDir
  private Path folder;

  private static synchronized String databaseUrl() {
    PostgresServer server = postgres == null ? PostgresServer.start() : postgres;
    postgres = server;
    Database database = server.createDatabase();
    return database.jdbcUrl() + "?user=" + database.user() + "&password=" + database.password();
  }

  @AfterAll
  static synchronized void stopDatabase() {
    if (postgres != null) {
      postgres.close();
    }
  }

  private static List<String> readme(String example) {
    return lines(ROOT.resolve("examples").resolve(example).resolve("README.md"));
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the block after the line that begins with "It prints", "The program prints" or "The worker prints". */
  private static List<String> promised(String example) {
    List<String> lines = readme(example).stream()
        .dropWhile(line -> !line.matches("(It|The program|The worker) prints.*"))
        .dropWhile(line -> !line.equals("```")).skip(1).takeWhile(line -> !line.equals("```")).toList();
    assertThat(lines).as("what %s prints", example).isNotEmpty();
    return lines;
  }

  /** Returns the lines of a README that contain a word, each joined with its continuation lines. */
  private static List<String> commands(String example, String word) {
    return String.join("\n", readme(example)).replaceAll("\\\\\n *", "").lines()
        .filter(line -> Arrays.asList(line.split(" ")).contains(word)).toList();
  }

  private Program start(String example, String file, Map<String, String> environment) throws IOException {
    return start(example, file, "", environment);
  }

  /**
   * Starts one of the commands in a README: the one that names the file, and ends with the argument if one is given.
   */
  private Program start(String example, String file, String argument, Map<String, String> environment)
      throws IOException {
    List<String> commands = commands(example, "examples/" + example + "/" + file).stream()
        .filter(command -> command.endsWith(argument)).toList();
    assertThat(commands).as("commands with %s %s", file, argument).hasSize(1);
    Path out = Files.createTempFile(folder, example, ".out");
    Path err = Files.createTempFile(folder, example, ".err");
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", "exec " + commands.getFirst()).directory(ROOT.toFile())
        .redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("FOLIOT_") || name.equals("CLASSPATH"));
    builder.environment().put("PATH",
        Path.of(System.getProperty("java.home"), "bin") + File.pathSeparator + System.getenv("PATH"));
    // Many short-lived JVMs run concurrently.
    builder.environment().put("JDK_JAVA_OPTIONS",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir=" + folder);
    builder.environment().putAll(environment);
    return new Program(builder.start(), out, err);
  }

  private FoliotServer server() throws IOException {
    Path data = Files.createTempDirectory(folder, "data");
    return FoliotServer.start(FoliotConfig.load(Map.of("data", data.toString(), "port", "0", "log-level", "error"),
        Map.of(), null), new PrintStream(OutputStream.nullOutputStream(), true, UTF_8));
  }

  private static void curl(String command, FoliotServer server) throws IOException, InterruptedException {
    Process process = new ProcessBuilder("sh", "-c",
        command.replace("http://127.0.0.1:7400", server.url()).replaceFirst("^curl ", "curl -sSf "))
        .redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
  }

  /** Returns the only command of a README that begins with the given words. */
  private static String command(String example, String begin) {
    List<String> commands = commands(example, begin.split(" ")[0]).stream().filter(line -> line.startsWith(begin))
        .toList();
    assertThat(commands).as("commands of %s: %s", example, begin).hasSize(1);
    return commands.getFirst();
  }

  /** Runs a command of ./foliot against a server, with the jar that this build has made. */
  private void foliot(String command, FoliotServer server) throws IOException, InterruptedException {
    Path java = Path.of(System.getProperty("java.home"), "bin", "java");
    Path jar = ROOT.resolve("server/foliot-cli/target/foliot.jar");
    String line = command.replaceFirst("^\\./foliot ",
        Matcher.quoteReplacement("'" + java + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -jar '" + jar + "' "));
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", "exec " + line).redirectErrorStream(true);
    builder.environment().put("FOLIOT_URL", server.url());
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
  }

  /** Returns the number of shards of the latest run that succeeded, or 0 if no run has succeeded. */
  private static int shardsOfTheLastRun(String job, FoliotServer server) {
    try {
      String runs = HTTP.send(HttpRequest.newBuilder(URI.create(server.url() + "/v1/jobs/" + job + "/runs")).build(),
          HttpResponse.BodyHandlers.ofString()).body();
      Matcher ended = Pattern.compile("\"result\":\"SUCCEEDED\",\"shards\":(\\d+)").matcher(runs);
      return ended.find() ? Integer.parseInt(ended.group(1)) : 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }

  /** Waits until a program has printed a matching line after the given number of lines, and returns this line. */
  private static String awaitMatch(String pattern, Map<Program, Integer> printed) {
    Pattern line = Pattern.compile(pattern);
    AtomicReference<String> found = new AtomicReference<>();
    try {
      Await.until(pattern, BOUND, () -> {
        printed.forEach((program, before) -> {
          assertThat(program.process().isAlive()).as("it runs: %s", lines(program.err())).isTrue();
          program.lines().stream().skip(before).filter(line.asPredicate()).findFirst().ifPresent(found::set);
        });
        return found.get() != null;
      });
    } catch (IllegalStateException e) {
      throw new AssertionError(pattern + ": " + printed.keySet().stream().map(Program::lines).toList(), e);
    }
    return found.get();
  }

  private static String awaitMatch(String pattern, Program... programs) {
    return awaitMatch(pattern, Arrays.stream(programs).collect(Collectors.toMap(program -> program, program -> 0)));
  }

  private static void awaitLine(Program program, String line) {
    Await.until(line, BOUND, () -> {
      assertThat(program.process().isAlive()).as("it runs: %s", lines(program.err())).isTrue();
      return program.lines().contains(line);
    });
  }

  @Test
  void theEmbeddedExampleRuns() throws Exception {
    try (Program program = start("embedded", "Embedded.java", Map.of())) {
      assertThat(program.linesAtTheEnd()).isEqualTo(promised("embedded"));
    }
  }

  @Test
  void theTransactionExampleRuns() throws Exception {
    try (Program program = start("transaction", "Transaction.java", Map.of("DATABASE_URL", databaseUrl()))) {
      assertThat(program.linesAtTheEnd()).isEqualTo(promised("transaction"));
    }
  }

  @Test
  void theHeartbeatExampleRuns() throws Exception {
    try (Program program = start("heartbeat", "Heartbeat.java", Map.of())) {
      assertThat(program.linesAtTheEnd()).containsSubsequence(promised("heartbeat"))
          .doesNotContain("device-1 is silent");
    }
  }

  @Test
  void theRecurringJobExampleRuns() throws Exception {
    try (Program program = start("recurring-job", "RecurringJob.java", Map.of())) {
      assertThat(program.linesAtTheEnd()).containsExactlyInAnyOrderElementsOf(promised("recurring-job"));
    }
  }

  @Test
  void theRateLimitExampleRuns() throws Exception {
    try (Program program = start("rate-limit", "RateLimit.java", Map.of())) {
      List<String> lines = program.linesAtTheEnd();
      List<String> messages = lines.stream().filter(line -> line.contains("s  message ")).toList();
      assertThat(messages).hasSize(10);
      // From the first to the tenth attempt, at five a second, at least 1.8 s pass.
      assertThat(Double.parseDouble(messages.getLast().split(" ")[0])).as("%s", lines).isBetween(1.8, 20.0);
      assertThat(lines).contains(promised("rate-limit").getFirst());
      assertThat(lines.indexOf(promised("rate-limit").getFirst())).as("%s", lines).isLessThan(5);
    }
  }

  /** Runs a worker of any language against a server of its own, with the commands of the README. */
  private void pullWorker(String file) throws Exception {
    try (FoliotServer server = server();
        FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      List<String> calls = commands("pull-worker", "curl");
      assertThat(calls).hasSize(4);
      curl(calls.getFirst(), server);
      try (Program program = start("pull-worker", file, Map.of("FOLIOT_URL", server.url()))) {
        curl(calls.get(1), server);
        curl(calls.get(2), server);
        awaitLine(program, "converting video-2");
        assertThat(client.getByKey("videos", "video-1").attempt())
            .as("the lease was extended beyond its three seconds").isOne();
        curl(calls.get(3).replaceFirst("^sleep 7; ", ""), server);
        awaitLine(program, "lost the lease of video-2");
        assertThat(program.lines()).isEqualTo(promised("pull-worker"));

        client.submit("videos", NewTask.builder().delay(Duration.ZERO).key("video-3")
            .payload(Payload.json("\"no number\"")).maxAttempts(1).build());
        Await.until("the failure is reported", BOUND,
            () -> client.getByKey("videos", "video-3").state() == TaskState.FAILED);
        assertThat(program.lines()).doesNotContain("converted video-3");
      }
    }
  }

  @Test
  void thePullWorkerInJavaRuns() throws Exception {
    pullWorker("PullWorker.java");
  }

  @Test
  void thePullWorkerInPythonRuns() throws Exception {
    pullWorker("worker.py");
  }

  @Test
  void thePullWorkerInTheShellRuns() throws Exception {
    pullWorker("worker.sh");
  }

  @Test
  @Tag("long")
  void theJobsExampleRuns() throws Exception {
    try (FoliotServer server = server();
        FoliotClient client = FoliotClient.builder(URI.create(server.url())).build()) {
      foliot(command("jobs", "./foliot queues put"), server);
      List<String> puts = commands("jobs", "put").stream().filter(line -> line.startsWith("./foliot jobs")).toList();
      assertThat(puts).hasSize(4);
      for (String put : puts) {
        foliot(put, server);
      }
      Await.until("a run waits for a worker", BOUND,
          () -> client.getJob("report").json().contains("waits for a worker of queue fleet"));
      Await.until("a job of zones has none", BOUND, () -> client.getJob("rates").totals().get("noTargets") > 0);

      Map<String, String> environment = Map.of("FOLIOT_URL", server.url());
      try (Program alice = start("jobs", "FleetWorker.java", "alice fra1", environment);
          Program bob = start("jobs", "FleetWorker.java", "bob fra1", environment);
          Program carol = start("jobs", "FleetWorker.java", "carol ams1", environment)) {
        for (Program each : List.of(alice, bob, carol)) {
          awaitMatch(" ends warm-cache 1/1: the cache is filled, as this worker starts$", each);
          awaitMatch(" ends warm-cache ./3: the cache is filled$", each);
          awaitMatch(" ends report ./4: 10 pages for ", each);
        }
        awaitMatch(" ends rates 1/1: rates are in zone fra1$", alice, bob);
        awaitMatch(" ends rates 1/1: rates are in zone ams1$", carol);
        awaitMatch(" ends orders 1/2: 5 items$", alice, bob, carol);
        awaitMatch(" ends orders 2/2: 5 items$", alice, bob, carol);
        awaitMatch(" ends disk 1/1: the disk is .* full$", alice, bob, carol);

        // The next run takes half a minute, so that it cannot end before the kill on a slow machine.
        client.pauseJob("report", null);
        Await.until("no run is active", BOUND, () -> client.getJob("report").json().contains("\"active\":[]"));
        int before = alice.lines().size();
        foliot(command("jobs", "./foliot jobs trigger").replace("--parameter 20", "--parameter 60"), server);
        String hit = awaitMatch(" begins report ./4$", Map.of(alice, before)).replaceFirst("^.* begins ", "");
        alice.process().destroyForcibly().waitFor();
        awaitMatch(" begins " + hit + ", attempt [2-9]", bob, carol);
        client.resumeJob("report");

        String name = client.workers().stream().map(WorkerView::worker).filter(worker -> worker.startsWith("carol-"))
            .findFirst().orElseThrow();
        foliot(command("jobs", "./foliot workers disable").replaceFirst("carol-[0-9a-f]+", name), server);
        Await.until("no zone but fra1", BOUND, () -> shardsOfTheLastRun("rates", server) == 1);

        try (Program dora = start("jobs", "worker.py", "dora ams1", environment)) {
          awaitMatch(" ends rates 1/1: rates are in zone ams1$", dora);
          awaitMatch(" ends warm-cache ./2: the cache is filled$", dora);
          Await.until("two zones", BOUND, () -> shardsOfTheLastRun("rates", server) == 2);

          int idle = carol.lines().size();
          foliot(command("jobs", "./foliot workers enable").replaceFirst("carol-[0-9a-f]+", name), server);
          awaitMatch(" ends warm-cache ./3: the cache is filled$", Map.of(carol, idle));
        }
      }
    }
  }

  @Test
  void theWebhookVerificationExampleRuns() throws Exception {
    try (FoliotServer server = server();
        Program program = start("webhook-verification", "WebhookVerification.java",
            Map.of("FOLIOT_URL", server.url()))) {
      assertThat(program.linesAtTheEnd()).isEqualTo(promised("webhook-verification"));
    }
  }

  @Test
  @Tag("long")
  void theClusterExampleRuns() throws Exception {
    Map<String, String> environment = Map.of("DATABASE_URL", databaseUrl());
    try (Program one = start("cluster", "Node.java", "one", environment)) {
      awaitLine(one, "one runs chore-10");
      try (Program two = start("cluster", "Node.java", "two", environment)) {
        awaitLine(two, "two is ready");
        // All ten tasks run at about the same moment of each second. The kill comes between two such moments: if it
        // interrupted an attempt, the task would run again only after the lease of 30 seconds.
        int ran = one.lines().size() + two.lines().size();
        Await.until("the nodes run all tasks again", BOUND,
            () -> one.lines().size() + two.lines().size() >= ran + 10);
        one.process().destroyForcibly().waitFor();
        int before = two.lines().size();
        Await.until("the second node runs all tasks", BOUND,
            () -> two.lines().stream().skip(before).distinct().count() == 10);
        assertThat(two.lines()).containsAll(promised("cluster"));
      }
    }
  }
}
