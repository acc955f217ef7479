package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.SystemClock;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that a server that cannot start prints one line with the reason, and that each line of a JSON log is JSON. */
final class ServerStartTest {
  @TempDir
  private Path folder = Path.of("");

  private static void assertRefused(Outcome outcome, int exitCode, String... words) {
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(exitCode);
    assertThat(outcome.err()).startsWith("foliot: ").contains(words).doesNotContain("\tat ");
    assertThat(outcome.err().lines()).hasSize(1);
  }

  private Outcome server(String... more) {
    String[] words = new String[more.length + 3];
    words[0] = "server";
    words[1] = "--log-level";
    words[2] = "error";
    System.arraycopy(more, 0, words, 3, more.length);
    return Outcome.of(Map.of(), words);
  }

  @Test
  void aPortInUseIsNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      assertRefused(server("--store", "memory", "--port", port), ExitCode.FAILURE, port, "in use", "--port");
    }
  }

  @Test
  void aFolderInUseIsNamed() {
    Path store = BackupCommand.storeFolder(folder);
    try (RocksDbStore open = RocksDbStore.open(store, RocksDbOptions.DEFAULT, new SystemClock())) {
      assertThat(open.slotCount()).isPositive();
      assertRefused(server("--data", folder.toString(), "--port", "0"), ExitCode.FAILURE, folder.toString());
    }
  }

  @Test
  void aFolderThatIsNoStoreIsNotTouched() throws IOException {
    Path store = BackupCommand.storeFolder(folder);
    Files.createDirectories(store);
    Files.writeString(store.resolve("letter.txt"), "mine");
    assertRefused(server("--data", folder.toString(), "--port", "0"), ExitCode.FAILURE, "letter.txt");
    assertThat(store.resolve("letter.txt")).hasContent("mine");
  }

  @Test
  void aFileWithAMistakeIsNamedWithItsLine() throws IOException {
    Path file = folder.resolve("foliot.yaml");
    Files.writeString(file, "server:\n  prot: 1\n");
    assertRefused(server("--config", file.toString()), ExitCode.USAGE, "server.prot", "line 2", "server.port");
    assertRefused(server("--config", folder.resolve("none.yaml").toString()), ExitCode.USAGE, "does not exist");
  }

  @Test
  void anAddressOfAnotherMachineIsNamed() {
    assertRefused(server("--store", "memory", "--port", "0", "--host", "192.0.2.1"), ExitCode.FAILURE, "192.0.2.1",
        "--host");
  }

  @Test
  void everyLineOfAJsonLogIsJson() throws Exception {
    Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), "-Dfoliot.parent=" + ProcessHandle.current().pid(),
        "-XX:TieredStopAtLevel=1", FoliotCommand.class.getName(), "server", "--port", "0", "--store", "memory",
        "--log-format",
        "json").directory(folder.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader out = process.inputReader(UTF_8)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        lines.add(line);
        if (line.contains("Foliot is ready")) {
          // Process.destroy would close the stream that the test reads, so the test uses the handle.
          assertThat(process.toHandle().destroy()).isTrue();
        }
      }
    }
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(lines).anyMatch(line -> line.contains("\"fields\":{\"url\":\"http://127.0.0.1:")).hasSizeGreaterThan(2);
    for (String line : lines) {
      JsonView event = JsonView.parse(line);
      assertThat(Instant.parse(event.at("timestamp").text())).as(line).isAfter(Instant.EPOCH);
      assertThat(event.at("message").text("")).as(line).isNotEmpty();
    }
  }
}
