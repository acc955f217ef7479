package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.server.FoliotServer;
import io.foliot.server.StartException;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class MigrateTest {
  @TempDir
  private Path folder = Path.of("");

  private FoliotServer start(String data) {
    return FoliotServer.start(FoliotConfig.load(Map.of("data", folder.resolve(data).toString(), "port", "0",
        "log-level", "error"), Map.of(), null), new PrintStream(new ByteArrayOutputStream(), true, UTF_8));
  }

  private static Outcome run(FoliotServer server, String... words) {
    Outcome outcome = Outcome.of(Map.of("FOLIOT_URL", server.url()), words);
    assertThat(outcome.exitCode()).as(outcome.err()).isEqualTo(ExitCode.OK);
    return outcome;
  }

  private String rocks(String data) {
    return "rocksdb:" + folder.resolve(data);
  }

  @Test
  void tasksMoveToTheNewStoreAndReleaseReopensTheOld() {
    try (FoliotServer server = start("old")) {
      run(server, "queues", "put", "orders", "--pull");
      run(server, "submit", "orders", "--key", "order-7", "--delay", "1h");
      Outcome inUse = Outcome.of(Map.of(), "migrate", "--from", rocks("old"), "--to", rocks("new"));
      assertThat(inUse.exitCode()).isEqualTo(ExitCode.FAILURE);
      assertThat(inUse.err()).contains("in use by another process");
    }
    Outcome moved = Outcome.of(Map.of(), "migrate", "--from", rocks("old"), "--to", rocks("new"));
    assertThat(moved.exitCode()).as(moved.err()).isEqualTo(ExitCode.OK);
    assertThat(moved.out()).contains("moved 1 task ", "1 setting ");
    try (FoliotServer server = start("new")) {
      assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
    }
    assertThatThrownBy(() -> start("old")).isInstanceOf(StartException.class).hasMessageContaining("were moved to")
        .hasMessageContaining("--release");
    assertThat(Outcome.of(Map.of(), "migrate", "--release", rocks("old"), "--to", rocks("new")).exitCode())
        .isEqualTo(ExitCode.USAGE);
    assertThat(Outcome.of(Map.of(), "migrate", "--release", rocks("old"), "--json").out())
        .contains("\"released\":true");
    assertThat(Outcome.of(Map.of(), "migrate", "--release", rocks("old")).out()).contains("was not sealed");
    try (FoliotServer server = start("old")) {
      assertThat(run(server, "get", "orders", "order-7").out()).contains("DELAYED");
    }
  }

  @Test
  void aMissingSourceFailsAndCreatesNothing() {
    Outcome outcome = Outcome.of(Map.of(), "migrate", "--from", rocks("nope"), "--to", rocks("new"));
    assertThat(outcome.exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(outcome.err()).contains("there is no store at rocksdb:" + folder.resolve("nope"), "nothing was created");
    assertThat(Outcome.of(Map.of(), "migrate", "--release", rocks("nope")).exitCode()).isEqualTo(ExitCode.FAILURE);
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void theOutputCountsDeadLettersAndNamesTheReleaseCommand() {
    try (FoliotServer server = start("old")) {
      run(server, "queues", "put", "orders", "--to", "http://127.0.0.1:1/x", "--max-attempts", "1");
      run(server, "submit", "orders", "--delay", "0s");
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!run(server, "queues", "get", "orders", "--json").out().replace(" ", "").contains("\"failed\":1")) {
        assertThat(System.nanoTime() - end).as("the task becomes a dead letter").isNegative();
      }
    }
    Outcome moved = Outcome.of(Map.of(), "migrate", "--from", rocks("old"), "--to", rocks("new"));
    assertThat(moved.exitCode()).as(moved.err()).isEqualTo(ExitCode.OK);
    assertThat(moved.out()).contains("start servers with --store rocksdb --data " + folder.resolve("new"),
        "dead letters left in " + rocks("old") + ": 1. ", "--release " + rocks("old"),
        "foliot server --store rocksdb --data " + folder.resolve("old"));
  }

  @Test
  void mistakesAreReported() {
    assertThat(Outcome.of(Map.of(), "migrate").err()).contains("--from STORE");
    assertThat(Outcome.of(Map.of(), "migrate", "--from", rocks("a"), "--to", rocks("a")).err()).contains("same store");
    assertThat(Outcome.of(Map.of(), "migrate", "--from", "memory", "--to", rocks("a")).err()).contains("rocksdb:DIR");
    assertThat(Outcome.of(Map.of(), "migrate", "--from", "mongo:x", "--to", rocks("a")).err())
        .contains("jdbc:postgresql://HOST/DATABASE");
  }
}
