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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BackupTest {
  @TempDir
  private Path folder = Path.of("");

  private static FoliotServer start(Path data) {
    return FoliotServer.start(FoliotConfig.load(Map.of("data", data.toString(), "port", "0", "log-level", "error"),
        Map.of(), null), new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static Outcome run(FoliotServer server, String... words) {
    return Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
  }

  private static void assertDone(Outcome outcome) {
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(Foliot.OK);
  }

  private void writeTaskAndJob(FoliotServer server) {
    assertDone(run(server, "queues", "put", "orders", "--pull"));
    assertDone(run(server, "submit", "orders", "--key", "order-7", "--delay", "1h"));
    JobAccount.put(server, "orders");
  }

  private void assertRestores(Path backup) {
    Path restored = folder.resolve("restored");
    assertDone(Outcome.of(Map.of(), "restore", "--from", backup.toString(), "--data", restored.toString()));
    try (FoliotServer server = start(restored)) {
      assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
      JobAccount.assertContinues(server);
    }
  }

  @Test
  void aBackupOfARunningServerCanBeRestored() {
    Path data = folder.resolve("data");
    Path backup = folder.resolve("backup");
    try (FoliotServer server = start(data)) {
      writeTaskAndJob(server);
      assertDone(run(server, "backup", "--to", backup.toString()));
    }
    assertRestores(backup);
  }

  @Test
  void aBackupOfAStoppedServerCanBeRestored() {
    Path data = folder.resolve("data");
    Path backup = folder.resolve("backup");
    try (FoliotServer server = start(data)) {
      writeTaskAndJob(server);
    }
    assertDone(Outcome.of(Map.of(), "backup", "--data", data.toString(), "--to", backup.toString()));
    assertRestores(backup);
  }

  @Test
  void aFolderThatIsNotEmptyIsRefused() throws IOException {
    Files.writeString(folder.resolve("letter.txt"), "mine");
    Outcome backup = Outcome.of(Map.of(), "backup", "--to", folder.toString());
    assertThat(backup.exitCode()).isEqualTo(Foliot.FAILURE);
    assertThat(backup.err()).contains("--to is not empty");
    Outcome restore = Outcome.of(Map.of(), "restore", "--from", folder.toString(), "--data", folder.toString());
    assertThat(restore.exitCode()).isEqualTo(Foliot.FAILURE);
    assertThat(restore.err()).contains("--data is not empty");
  }

  @Test
  void aFolderWithoutAStoreOrABackupIsRefused() throws IOException {
    Path empty = Files.createDirectory(folder.resolve("empty"));
    Outcome backup = Outcome.of(Map.of(), "backup", "--data", empty.toString(), "--to",
        folder.resolve("new").toString());
    assertThat(backup.exitCode()).isEqualTo(Foliot.FAILURE);
    assertThat(backup.err()).contains("there is no store in " + empty);
    Outcome restore = Outcome.of(Map.of(), "restore", "--from", empty.toString(), "--data",
        folder.resolve("data").toString());
    assertThat(restore.exitCode()).isEqualTo(Foliot.FAILURE);
    assertThat(restore.err()).contains("no backup");
  }
}
