package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Job;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.JobWorker;
import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import io.foliot.worker.script.ScriptRunner;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests jobs that no worker can run: no script is executed, and the commands show the reason. */
final class WrongJobsTest {
  private static final Duration BOUND = Duration.ofSeconds(30);

  @TempDir
  private Path folder;

  private Path scripts;
  private FoliotServer server;
  private FoliotClient client;
  private JobWorker worker;

  @BeforeEach
  void start() throws IOException {
    server = FoliotServer.start(FoliotConfig.load(Map.of("store", "memory", "port", "0"), Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
    client = FoliotClient.builder(URI.create(server.url())).build();
    client.putQueue(QueueConfig.builder("work", Target.pull())
        .retry(new Retry(5, Duration.ofMinutes(10), 1.0, Duration.ofMinutes(10), 0.0)).build());
    scripts = Files.createDirectory(folder.resolve("scripts"));
    worker = JobWorker.builder(client, "work").name("a").pollWait(Duration.ofSeconds(1))
        .scripts(ScriptRunner.in(scripts)).onError((what, failure) -> {
          // Expected: each attempt fails or is given back.
        }).start();
  }

  @AfterEach
  void stop() {
    worker.close();
    client.close();
    server.close();
  }

  /** Writes a script that creates the file {@code mark} when it runs. */
  private Path script(Path file, String permissions) throws IOException {
    Files.writeString(file, "#!/bin/sh\ntouch '" + folder.resolve("mark") + "'\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private void trigger(Job.Builder job) {
    Job built = job.queue("work").every(Duration.ofDays(1)).build();
    client.putJob(built);
    client.triggerJob(built.name(), null);
  }

  private String output(String... words) {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  private void awaitOutput(String expected, String... words) {
    Await.until(expected, BOUND, () -> output(words).contains(expected));
    assertThat(folder.resolve("mark")).as("nothing was run").doesNotExist();
  }

  private void awaitRefusal(String script, String reason) {
    trigger(Job.named("job").parameter("{\"script\": \"" + script + "\"}"));
    Pattern explained = Pattern.compile("^job is ACTIVE: a run is active; shard 0 of the run of \\S+ failed at attempt"
        + " \\d and begins again at \\S+: " + Pattern.quote(reason));
    Await.until(reason, BOUND, () -> explained.matcher(output("jobs", "get", "job")).find());
    assertThat(folder.resolve("mark")).as("nothing was run").doesNotExist();
  }

  @Test
  void aPathIsRefusedAsAScript() throws IOException {
    script(folder.resolve("x"), "rwxr-xr-x");
    trigger(Job.named("job").parameter("{\"script\": \"../x\"}"));
    awaitOutput("script: expected the name of a file", "tasks", "work", "--state", "failed");
    Await.until("the run has failed", BOUND, () -> output("jobs", "runs", "job").contains("FAILED"));
    assertThat(output("jobs", "get", "job")).contains("1 failed");
  }

  @Test
  void aLinkOutOfTheFolderIsNotRun() throws IOException {
    Files.createSymbolicLink(scripts.resolve("out"), script(folder.resolve("x"), "rwxr-xr-x"));
    awaitRefusal("out", "script: it is a link out of the folder of scripts: script=out");
  }

  @Test
  void aFileThatIsNotExecutableIsNotRun() throws IOException {
    script(scripts.resolve("notes"), "rw-r--r--");
    awaitRefusal("notes", "script: it is not executable: script=notes");
  }

  @Test
  void aShardWithAMissingScriptIsGivenBack() {
    awaitRefusal("nothing", "script: no such file: script=nothing on the worker a");
  }

  @Test
  void aShardWithoutAHandlerIsGivenBack() {
    trigger(Job.named("job"));
    awaitOutput("no handler for the job job on the worker a", "jobs", "get", "job");
  }
}
