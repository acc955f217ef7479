package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VerifyTest {
  @TempDir
  private Path folder = Path.of("");

  private Path data = Path.of("");

  @BeforeEach
  void submitTask() {
    data = folder.resolve("data");
    try (FoliotServer server = start()) {
      Map<String, String> environment = Map.of("FOLIOT_URL", server.url());
      assertThat(Outcome.of(environment, "queues", "put", "orders", "--pull").exitCode()).isZero();
      assertThat(Outcome.of(environment, "submit", "orders", "--key", "order-7", "--delay", "1h").exitCode()).isZero();
    }
  }

  private FoliotServer start() {
    return FoliotServer.start(FoliotConfig.load(Map.of("data", data.toString(), "port", "0", "log-level", "error"),
        Map.of(), null), new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static Outcome verify(Path data, String... more) {
    String[] words = new String[3 + more.length];
    words[0] = "verify";
    words[1] = "--data";
    words[2] = data.toString();
    System.arraycopy(more, 0, words, 3, more.length);
    return Outcome.of(Map.of(), words);
  }

  /** Returns the first of the store's table files in the order of their names. */
  private Path table() throws IOException {
    try (Stream<Path> files = Files.list(data.resolve("store").resolve("rocks"))) {
      return files.filter(file -> file.toString().endsWith(".sst")).sorted().findFirst().orElseThrow();
    }
  }

  @Test
  void anUndamagedFolderIsReportedAsSuch() {
    Outcome outcome = verify(data);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    assertThat(outcome.out()).contains("nothing is damaged", "1 records", "1 index", "1 keys");
    assertThat(verify(data, "--json").out()).contains("\"ok\":true", "\"records\":1", "\"damageCount\":0");
  }

  @Test
  void damageIsReportedWithItsFile() throws IOException {
    Path table = table();
    byte[] bytes = Files.readAllBytes(table);
    bytes[3] ^= 1;
    Files.write(table, bytes);
    Outcome outcome = verify(data);
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.out()).contains("damaged", table.getFileName().toString(), "restore the newest backup");
    Outcome json = verify(data, "--json");
    assertThat(json.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(json.out()).contains("\"ok\":false", "\"where\":\"files\"", table.getFileName().toString());
  }

  @Test
  void aFolderInUseOrWithoutAStoreIsRefused() {
    try (FoliotServer server = start()) {
      Outcome outcome = verify(data);
      assertThat(outcome.exitCode()).as(server.url()).isEqualTo(ExitCode.FAILURE);
      assertThat(outcome.err()).contains("in use");
    }
    Outcome outcome = verify(folder.resolve("none"));
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.err()).contains("there is no store in");
    assertThat(folder.resolve("none")).doesNotExist();
  }
}
