import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Runs the commands that the README files of the examples show, and compares what they print with what these say. */
@Execution(ExecutionMode.CONCURRENT)
final class ExamplesTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Duration BOUND = Duration.ofSeconds(90);

  /** A program that was started, and the files that get its output. */
  private record Program(Process process, Path out, Path err) implements AutoCloseable {
    List<String> lines() throws IOException {
      return Files.readAllLines(out, UTF_8);
    }

    List<String> linesAtTheEnd() throws IOException, InterruptedException {
      assertThat(process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).as("it ends: %s", lines()).isTrue();
      assertThat(process.exitValue()).as("%s\n%s", lines(), Files.readString(err, UTF_8)).isZero();
      return lines();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  private static PostgresServer postgres;

  @TempDir
  private Path folder;

  @BeforeAll
  static void startDatabase() {
    postgres = PostgresServer.start();
  }

  @AfterAll
  static void stopDatabase() {
    postgres.close();
  }

  private static String databaseUrl() {
    Database database = postgres.createDatabase();
    return database.jdbcUrl() + "?user=" + database.user() + "&password=" + database.password();
  }

  private static List<String> readme(String example) throws IOException {
    return Files.readAllLines(ROOT.resolve("examples").resolve(example).resolve("README.md"));
  }

  /** Returns the block after the line that begins with "It prints". */
  private static List<String> promised(String example) throws IOException {
    List<String> lines = readme(example).stream().dropWhile(line -> !line.startsWith("It prints"))
        .dropWhile(line -> !line.equals("```")).skip(1).takeWhile(line -> !line.equals("```")).toList();
    assertThat(lines).as("what %s prints", example).isNotEmpty();
    return lines;
  }

  /** Starts the command of a README that names a file of the example. */
  private Program start(String example, String file, Map<String, String> environment) throws IOException {
    String path = "examples/" + example + "/" + file;
    List<String> commands = readme(example).stream().filter(line -> Arrays.asList(line.split(" ")).contains(path))
        .toList();
    assertThat(commands).as("commands with " + path).hasSize(1);
    Path out = Files.createTempFile(folder, example, ".out");
    Path err = Files.createTempFile(folder, example, ".err");
    ProcessBuilder builder = new ProcessBuilder("sh", "-c", "exec " + commands.getFirst()).directory(ROOT.toFile())
        .redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("FOLIOT_") || name.equals("CLASSPATH"));
    builder.environment().put("PATH",
        Path.of(System.getProperty("java.home"), "bin") + File.pathSeparator + System.getenv("PATH"));
    // Many short lives at once.
    builder.environment().put("JDK_JAVA_OPTIONS",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir=" + folder);
    builder.environment().putAll(environment);
    return new Program(builder.start(), out, err);
  }

  @Test
  void embedded() throws Exception {
    try (Program program = start("embedded", "Embedded.java", Map.of())) {
      assertThat(program.linesAtTheEnd()).isEqualTo(promised("embedded"));
    }
  }

  @Test
  void transaction() throws Exception {
    try (Program program = start("transaction", "Transaction.java", Map.of("DATABASE_URL", databaseUrl()))) {
      assertThat(program.linesAtTheEnd()).isEqualTo(promised("transaction"));
    }
  }

  @Test
  void heartbeat() throws Exception {
    try (Program program = start("heartbeat", "Heartbeat.java", Map.of())) {
      assertThat(program.linesAtTheEnd()).containsSubsequence(promised("heartbeat"))
          .doesNotContain("device-1 is silent");
    }
  }

  @Test
  void rateLimit() throws Exception {
    try (Program program = start("rate-limit", "RateLimit.java", Map.of())) {
      List<String> lines = program.linesAtTheEnd();
      List<String> messages = lines.stream().filter(line -> line.contains("s  message ")).toList();
      assertThat(messages).hasSize(10);
      // Ten attempts at five a second take at least nine fifths of a second.
      assertThat(Double.parseDouble(messages.getLast().split(" ")[0])).as("%s", lines).isBetween(1.8, 20.0);
      assertThat(lines).contains(promised("rate-limit").getFirst());
      assertThat(lines.indexOf(promised("rate-limit").getFirst())).as("%s", lines).isLessThan(5);
    }
  }
}
