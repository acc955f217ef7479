package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Await;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the packaged command. The class path of the process has only copies of the jar and of the jars in the
 * {@code lib} folder. The test runs in the build's integration-test phase, after the jars were built.
 */
final class PackagedCommandTest {
  private static final Path TARGET = Path.of("target").toAbsolutePath();
  private static final Duration BOUND = Duration.ofSeconds(60);

  @TempDir
  private Path folder = Path.of("");
  private Path jar = Path.of("");

  @BeforeEach
  void copyJars() throws IOException {
    assertThat(TARGET.resolve("foliot.jar")).as("made by mvn package").isRegularFile();
    assertThat(TARGET.resolve("lib")).as("made by mvn package").isNotEmptyDirectory();
    jar = folder.resolve("foliot.jar");
    Files.copy(TARGET.resolve("foliot.jar"), jar);
    Files.createDirectory(folder.resolve("lib"));
    for (String name : manifest().getValue(Attributes.Name.CLASS_PATH).split(" ", -1)) {
      assertThat(name).as("no folder of classes").matches("lib/[^/]+\\.jar");
      Files.copy(TARGET.resolve(name), folder.resolve(name));
    }
  }

  private Attributes manifest() throws IOException {
    try (JarFile file = new JarFile(jar.toFile())) {
      return file.getManifest().getMainAttributes();
    }
  }

  private ProcessBuilder command(String... words) {
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m",
        "-D" + ServerCommand.PARENT + "=" + ProcessHandle.current().pid(), "-jar", jar.toString()));
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("FOLIOT_") || name.equals("CLASSPATH")
        || name.equals("JDK_JAVA_OPTIONS") || name.equals("JAVA_TOOL_OPTIONS"));
    return builder;
  }

  /** Runs a command to its end, and returns its exit code and output. */
  private Outcome run(String... words) throws IOException, InterruptedException {
    File out = folder.resolve("out").toFile();
    File err = folder.resolve("err").toFile();
    Process process = command(words).redirectOutput(out).redirectError(err).start();
    try {
      assertThat(process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).as("%s ends", List.of(words)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Outcome(process.exitValue(), Files.readString(out.toPath(), UTF_8),
        Files.readString(err.toPath(), UTF_8));
  }

  private String output(String... words) throws IOException, InterruptedException {
    Outcome outcome = run(words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome.out();
  }

  @Test
  void theCommandPrintsItsVersionAndItsCommands() throws Exception {
    assertThat(output("--version"))
        .startsWith("foliot " + manifest().getValue(Attributes.Name.IMPLEMENTATION_VERSION) + "\n");
    assertThat(output("--help")).contains("Commands:", "server", "submit", "migrate");
    assertThat(output("server", "--help")).contains("--store", "--port");
  }

  @Test
  void theServerRunsUntilSigterm() throws Exception {
    Path log = folder.resolve("server.log");
    Process server = command("server", "--port", "0", "--data", folder.resolve("data").toString())
        .redirectErrorStream(true).redirectOutput(Redirect.to(log.toFile())).start();
    try {
      Await.until("the server is ready", BOUND, () -> {
        assertThat(server.isAlive()).as(text(log)).isTrue();
        return text(log).lines().anyMatch(line -> line.startsWith(ServerCommand.READY));
      });
      String url = text(log).lines().filter(line -> line.startsWith(ServerCommand.READY)).findFirst().orElseThrow()
          .substring(ServerCommand.READY.length()).split(" ", 2)[0];
      output("queues", "put", "orders", "--pull", "--url", url);
      output("submit", "orders", "--delay", "30m", "--key", "order-7", "--payload", "{\"order\": 7}", "--url", url);
      assertThat(output("tasks", "orders", "--url", url)).contains("order-7");
      assertThat(output("cluster", "--url", url)).contains("rocksdb");
      server.destroy();
      assertThat(server.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).as(text(log)).isTrue();
      assertThat(server.exitValue()).as("ended by SIGTERM").isEqualTo(143);
      assertThat(text(log)).doesNotContain("\tat ");
    } finally {
      server.destroyForcibly().waitFor();
    }
  }

  private static String text(Path log) {
    try (Stream<String> lines = Files.lines(log)) {
      return String.join("\n", lines.toList());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
