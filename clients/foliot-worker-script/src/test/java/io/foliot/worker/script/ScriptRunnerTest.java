package io.foliot.worker.script;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.client.JobHandler;
import io.foliot.client.JobResult;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ScriptRunnerTest {
  private static final long BOUND_SECONDS = 30;

  @TempDir
  private Path root;

  private Path folder = Path.of("");

  @BeforeEach
  void createFolder() throws IOException {
    folder = Files.createDirectory(root.resolve("jobs"));
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Path write(Path file, String text, String permissions) throws IOException {
    Files.writeString(file, text);
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
  }

  private Path script(String name, String... lines) throws IOException {
    return write(folder.resolve(name), "#!/bin/sh\n" + String.join("\n", lines) + "\n", "rwxr-xr-x");
  }

  private ScriptRunner runner() {
    return ScriptRunner.in(folder);
  }

  private JobResult run(String name) throws Exception {
    return runner().script(name).handle(new FakeJob(null));
  }

  private static void awaitTrue(BooleanSupplier condition) {
    long begunNanos = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begunNanos)).isLessThan(BOUND_SECONDS);
      LockSupport.parkNanos(1_000_000);
    }
  }

  /** Returns whether a process exists and is not a zombie. */
  private static boolean runs(long pid) {
    Path state = Path.of("/proc", Long.toString(pid), "stat");
    try {
      return Files.exists(Path.of("/proc"))
          ? Files.exists(state) && !Pattern.compile("\\) Z ").matcher(Files.readString(state)).find()
          : ProcessHandle.of(pid).isPresent();
    } catch (IOException e) {
      return Files.exists(state);
    }
  }

  @Test
  void aScriptIsChosenByTheParameterAlone() throws Exception {
    script("backup.sh", "echo saved");
    FakeJob job = new FakeJob("{\"args\": {\"script\": \"other\"}, \"script\": \"backup.sh\"}");
    JobHandler handler = requireNonNull(runner().find(job));
    assertThat(handler.handle(job)).isEqualTo(JobResult.done("saved"));
    for (@Nullable
    String parameter : new String[]{null, "{}", "[\"script\"]", "\"backup.sh\"",
        "{\"args\": {\"script\": \"backup.sh\"}}"}) {
      assertThat(runner().find(new FakeJob(parameter))).as("parameter %s", parameter).isNull();
    }
  }

  @Test
  void aScriptFieldThatIsNotATextIsRefused() throws Exception {
    for (String parameter : List.of("{\"script\": 5}", "{\"script\": null}", "{\"script\": [\"a\"]}",
        "{\"script\": \"a\", \"script\": {}}")) {
      FakeJob job = new FakeJob(parameter);
      JobHandler handler = requireNonNull(runner().find(job));
      assertThat(handler.handle(job)).isInstanceOf(JobResult.GivenUp.class);
    }
  }

  @Test
  void theShardIsJsonOnTheStandardInput() throws Exception {
    script("show", "cat");
    FakeJob job = new FakeJob("{\"script\": \"show\", \"args\": {\"days\": 7}}");
    JobHandler handler = requireNonNull(runner().find(job));
    JobResult unused = handler.handle(job);
    assertThat(job.log()).isEqualTo("{\"job\":\"back up \\\"all\\\"\",\"scheduledAt\":\"2026-11-21T02:00:00Z\","
        + "\"shard\":1,\"shards\":4,\"shardParameter\":\"us; rm -rf /\",\"missed\":2,"
        + "\"fence\":{\"generation\":7,\"attempt\":3},\"checkpoint\":null,"
        + "\"parameter\":{\"script\": \"show\", \"args\": {\"days\": 7}}}");
  }

  @Test
  void theEnvironmentHasNothingOfTheWorker() throws Exception {
    script("show", "env", "echo \"arguments $#\"", "pwd", "ls -A | wc -l | tr -d ' '");
    FakeJob job = new FakeJob(null);
    JobResult unused = runner().script("show").handle(job);
    List<String> lines = job.log().lines().toList();
    assertThat(lines).contains("PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "FOLIOT_JOB=back up \"all\"",
        "FOLIOT_SCHEDULED_AT=2026-11-21T02:00:00Z", "FOLIOT_SHARD=1", "FOLIOT_SHARDS=4", "FOLIOT_FENCE=7-3",
        "FOLIOT_SHARD_PARAMETER=us; rm -rf /", "FOLIOT_ZONE=fra1", "arguments 0");
    assertThat(lines.stream().filter(line -> line.contains("=")).map(line -> line.replaceFirst("=.*", "")))
        .as("all variables, with those that the shell sets").isSubsetOf("PATH", "LANG", "FOLIOT_JOB",
            "FOLIOT_SCHEDULED_AT", "FOLIOT_SHARD", "FOLIOT_SHARDS", "FOLIOT_FENCE", "FOLIOT_SHARD_PARAMETER",
            "FOLIOT_ZONE", "PWD", "OLDPWD", "SHLVL", "_");
    Path work = Path.of(lines.get(lines.size() - 2));
    assertThat(work.getFileName()).hasToString("work");
    assertThat(lines.getLast()).as("files in the working folder").isEqualTo("0");
    assertThat(work).doesNotExist();
    assertThat(work.getParent()).doesNotExist();
  }

  @Test
  void exitCodesDecideTheResult() throws Exception {
    script("fine", "echo one", "echo", "echo 'two rows '", "echo");
    script("busy", "echo locked >&2", "exit 75");
    script("broken", "echo no table", "exit 3");
    script("killed", "kill -KILL $$");
    assertThat(run("fine")).isEqualTo(JobResult.done("two rows"));
    assertThat(run("busy")).isEqualTo(JobResult.failed("the script ended with exit code 75: locked"));
    assertThat(run("broken")).isEqualTo(JobResult.giveUp("the script ended with exit code 3: no table"));
    assertThat(run("killed")).isEqualTo(JobResult.failed("the script ended with exit code 137: "));
  }

  @Test
  void aPathIsNotAValidName() throws Exception {
    write(root.resolve("x"), "#!/bin/sh\necho outside\n", "rwxr-xr-x");
    Files.createDirectory(folder.resolve("sub"));
    write(folder.resolve("sub").resolve("x"), "#!/bin/sh\n", "rwxr-xr-x");
    for (String name : List.of("../x", "..", ".", "", "/bin/sh", "sub/x", "./x", "-rf", ".hidden", "a b", "a\nb", "a;b",
        "a\0", "$(x)", "ü", "x".repeat(129), root.resolve("x").toString())) {
      assertThat(run(name)).as("name %s", name).isInstanceOfSatisfying(JobResult.GivenUp.class,
          refused -> assertThat(refused.reason()).startsWith("script: expected the name of a file")
              .doesNotContain("\n"));
    }
  }

  @Test
  void aLinkOutOfTheFolderIsRefused() throws Exception {
    Path outside = write(root.resolve("outside"), "#!/bin/sh\necho outside\n", "rwxr-xr-x");
    Files.createSymbolicLink(folder.resolve("out"), outside);
    Files.createSymbolicLink(folder.resolve("up"), Path.of("../outside"));
    script("inside", "echo inside");
    Files.createSymbolicLink(folder.resolve("alias"), Path.of("inside"));
    assertThat(run("out")).isEqualTo(
        JobResult.failed("script: it is a link out of the folder of scripts: script=out"));
    assertThat(run("up")).isInstanceOf(JobResult.Failed.class);
    assertThat(run("alias")).isEqualTo(JobResult.done("inside"));
  }

  @Test
  void aLinkInPlaceOfTheFolderIsFollowed() throws Exception {
    script("inside", "echo inside");
    Path link = Files.createSymbolicLink(root.resolve("current"), folder);
    assertThat(ScriptRunner.in(link).script("inside").handle(new FakeJob(null))).isEqualTo(JobResult.done("inside"));
  }

  @Test
  void onlySafeExecutableFilesAreRun() throws Exception {
    write(folder.resolve("text"), "#!/bin/sh\n", "rw-r--r--");
    write(folder.resolve("open"), "#!/bin/sh\n", "rwxr-xrwx");
    Files.createDirectory(folder.resolve("directory"));
    assertThat(run("text")).isEqualTo(JobResult.failed("script: it is not executable: script=text"));
    assertThat(run("open")).isEqualTo(JobResult.failed("script: every user can write to it: script=open"));
    assertThat(run("directory")).isEqualTo(JobResult.failed("script: it is not a regular file: script=directory"));
    assertThat(run("absent")).isEqualTo(JobResult.notHere("script: no such file: script=absent"));
    assertThat(ScriptFolder.isTrusted(0, 1000)).isTrue();
    assertThat(ScriptFolder.isTrusted(1000, 1000)).isTrue();
    assertThat(ScriptFolder.isTrusted(1001, 1000)).isFalse();
  }

  @Test
  void aFolderThatEveryUserCanWriteToIsRefused() throws Exception {
    script("fine", "echo fine");
    ScriptRunner runner = runner();
    Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    assertThatThrownBy(() -> ScriptRunner.in(folder)).isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("every user can write");
    assertThat(runner.script("fine").handle(new FakeJob(null))).as("the folder is checked before each run")
        .isEqualTo(
            JobResult.failed("script: every user can write to the folder of scripts: folder=" + folder.toRealPath()));
    assertThatThrownBy(() -> ScriptRunner.in(root.resolve("absent"))).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> ScriptRunner.in(folder.resolve("fine"))).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theEndOfHugeOutputIsKept() throws Exception {
    script("huge", "head -c 20000000 /dev/zero | tr '\\0' x", "echo", "echo the end");
    FakeJob job = new FakeJob(null);
    assertThat(runner().script("huge").handle(job)).isEqualTo(JobResult.done("the end"));
    assertThat(job.logged).allMatch(text -> text.length() <= 4096);
    assertThat(job.log()).endsWith("the end");

    OutputTail tail = new OutputTail(text -> {});
    byte[] bytes = "0123456789\n".repeat(100_000).getBytes(UTF_8);
    tail.readAll(new ByteArrayInputStream(bytes), nanos -> true);
    assertThat(tail.total()).isEqualTo(bytes.length);
    assertThat(tail.tail()).hasSize(OutputTail.MAX_BYTES).isEqualTo(
        "0123456789\n".repeat(100_000).substring(bytes.length - OutputTail.MAX_BYTES));
  }

  /** Reads an output whose parts arrive one after the other. */
  private static void readParts(OutputTail tail, byte[]... parts) throws Exception {
    Deque<byte[]> left = new ArrayDeque<>(List.of(parts));
    PipedOutputStream writer = new PipedOutputStream();
    tail.readAll(new PipedInputStream(writer), nanos -> {
      byte[] part = left.poll();
      if (part != null) {
        writeTo(writer, part);
      }
      return part == null;
    });
  }

  private static void writeTo(PipedOutputStream writer, byte[] part) {
    try {
      writer.write(part);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void wholeLinesAreLoggedAsTheyArrive() throws Exception {
    FakeJob job = new FakeJob(null);
    OutputTail tail = new OutputTail(job::log);
    readParts(tail, "one\ntw".getBytes(UTF_8), "o\n\nthr\0ee".getBytes(UTF_8));
    assertThat(job.logged).containsExactly("one", "two\n", "thr\ufffdee");
  }

  @Test
  void aCharacterInTwoReadsIsLoggedWhole() throws Exception {
    FakeJob job = new FakeJob(null);
    byte[] euro = "5 \u20ac\n".getBytes(UTF_8);
    readParts(new OutputTail(job::log), Arrays.copyOf(euro, 3), Arrays.copyOfRange(euro, 3, euro.length));
    assertThat(job.logged).containsExactly("5 \u20ac");
    FakeJob cut = new FakeJob(null);
    readParts(new OutputTail(cut::log), Arrays.copyOf(euro, 3));
    assertThat(cut.logged).containsExactly("5 \ufffd");
  }

  @Test
  void aScriptThatIgnoresItsInputRuns() throws Exception {
    script("deaf", "exec <&-", "echo fine");
    assertThat(run("deaf")).isEqualTo(JobResult.done("fine"));
  }

  @Test
  void aScriptWithoutItsInterpreterFails() throws Exception {
    write(folder.resolve("odd"), "#!/no/such/program\n", "rwxr-xr-x");
    assertThat(run("odd")).isInstanceOf(JobResult.GivenUp.class);
  }

  /** Starts a script, and interrupts its handler once the script has printed {@code begun}. */
  private static void interrupt(ScriptRunner runner, String name, FakeJob job) {
    CompletableFuture<JobResult> ended = new CompletableFuture<>();
    Thread handler = Thread.ofVirtual().start(() -> {
      try {
        ended.complete(runner.script(name).handle(job));
      } catch (Exception e) {
        ended.completeExceptionally(e);
      }
    });
    awaitTrue(() -> job.log().contains("begun"));
    handler.interrupt();
    assertThatThrownBy(() -> ended.get(BOUND_SECONDS, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
  }

  private static List<Long> numbers(FakeJob job) {
    return job.log().lines().filter(line -> line.matches("\\d+")).map(Long::valueOf).toList();
  }

  @Test
  void theTimeoutEndsAScript() throws Exception {
    script("long", "sleep 1000");
    ScriptRunner runner = ScriptRunner.builder(folder).timeout(Duration.ofMillis(50)).build();
    assertThat(runner.script("long").handle(new FakeJob(null)))
        .isEqualTo(JobResult.failed("the script was killed: timeout=PT0.05S"));
  }

  @Test
  void aScriptThatIgnoresSigtermIsKilled() throws Exception {
    script("stubborn", "trap '' TERM", "echo $$", "echo begun", "while :; do :; done");
    FakeJob job = new FakeJob(null);
    interrupt(ScriptRunner.builder(folder).termination(Duration.ofMillis(50)).build(), "stubborn", job);
    assertThat(numbers(job)).hasSize(1).noneMatch(ScriptRunnerTest::runs);
  }

  @Test
  void sigtermLetsAScriptCleanUp() throws Exception {
    script("tidy", "trap 'echo cleaned > \"" + root + "/cleaned\"; exit 0' TERM", "echo begun",
        "while :; do sleep 0.05; done");
    interrupt(ScriptRunner.builder(folder).termination(Duration.ofSeconds(BOUND_SECONDS)).build(), "tidy",
        new FakeJob(null));
    assertThat(root.resolve("cleaned")).exists();
  }

  @Test
  void anInterruptKillsGrandchildrenToo() throws Exception {
    // The parent of the first grandchild waits for it; the parent of the second grandchild ends at once. The named pipe
    // delays the start of the second grandchild until the id of the first has been printed.
    script("family", "trap '' TERM", "mkfifo named", "sh -c 'sleep 1000 & echo $!; echo > named; wait' &",
        "read x < named",
        "sh -c 'sleep 1000 & echo $!'", "echo begun", "wait", "sleep 1000");
    FakeJob job = new FakeJob(null);
    interrupt(ScriptRunner.builder(folder).termination(Duration.ofMillis(50)).build(), "family", job);
    List<Long> sleepers = numbers(job);
    assertThat(sleepers).hasSize(2);
    awaitTrue(() -> sleepers.stream().noneMatch(ScriptRunnerTest::runs));
  }

  @Test
  void processesThatAScriptLeavesRunningAreKilled() throws Exception {
    script("lazy", "sleep 1000 &", "echo $!");
    JobResult result = run("lazy");
    assertThat(result).isInstanceOf(JobResult.Done.class);
    long sleeper = Long.parseLong(((JobResult.Done) result).text());
    awaitTrue(() -> !runs(sleeper));
  }

  @Test
  void descendantsAreKilledEvenWithoutGroups() throws Exception {
    Path file = script("family", "sh -c 'sleep 1000 & echo $!; wait' &", "wait");
    ProcessGroup group = ProcessGroup.start(file, Path.of("/dev/null"), new ProcessBuilder(), false);
    long sleeper;
    try (var reader = group.process().inputReader()) {
      sleeper = Long.parseLong(reader.readLine());
      assertThat(runs(sleeper)).isTrue();
      group.kill();
    }
    awaitTrue(() -> !runs(sleeper));
    assertThat(group.process().isAlive()).isFalse();
  }

  /** SIGKILL leaves the worker no time to kill its scripts. */
  @Test
  void aScriptDiesWithItsWorker() throws Exception {
    script("endless", "echo $$ > " + root.resolve("leader"), "sleep 600 &", "echo $! > " + root.resolve("child"),
        "wait");
    Process worker = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), KilledWorker.class.getName(), folder.toString(), "endless")
        .inheritIO().start();
    try {
      awaitTrue(() -> written("child"));
      assertThat(runs(pid("leader"))).isTrue();
      assertThat(worker.destroyForcibly().waitFor(BOUND_SECONDS, TimeUnit.SECONDS)).isTrue();
    } finally {
      worker.destroyForcibly();
    }
    long leader = pid("leader");
    long child = pid("child");
    awaitTrue(() -> !runs(leader) && !runs(child));
  }

  private boolean written(String file) {
    try {
      return Files.exists(root.resolve(file)) && Files.size(root.resolve(file)) > 1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private long pid(String file) throws IOException {
    return Long.parseLong(Files.readString(root.resolve(file)).strip());
  }

  @Test
  void aDaemonThatKeepsTheOutputOpenKeepsNoThread() throws Exception {
    script("daemon", "setsid sh -c 'echo $$ > " + root.resolve("child") + "; exec sleep 600' &", "while [ ! -s "
        + root.resolve("child") + " ]; do sleep 0.01; done", "echo done");
    try {
      assertThat(run("daemon")).isEqualTo(JobResult.done("done"));
      assertThat(runs(pid("child"))).as("the daemon has left the group").isTrue();
      assertThat(Thread.getAllStackTraces().keySet()).noneMatch(each -> each.getName().equals("foliot-script-output"));
    } finally {
      ProcessHandle.of(pid("child")).ifPresent(ProcessHandle::destroyForcibly);
    }
  }
}
