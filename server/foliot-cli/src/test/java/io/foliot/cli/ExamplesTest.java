package io.foliot.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.server.FoliotServer;
import io.foliot.server.config.FoliotConfig;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs an example against a real server and checks its output. */
final class ExamplesTest {
  @TempDir
  private Path folder = Path.of("");

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  @Test
  void onlySilentDevicesRaiseAnAlarm() throws IOException, InterruptedException {
    Path example = Path.of("..", "..", "examples", "device-monitor", "Devices.java");
    try (FoliotServer server = FoliotServer.start(FoliotConfig.load(Map.of("data", folder.resolve("data").toString(),
        "port", "0", "log-level", "error"), Map.of(), null),
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8))) {
      Process process = new ProcessBuilder(java(), example.toString(), "--url", server.url(), "--devices", "500",
          "--every", "500ms", "--silence", "2s", "--silent", "5", "--for", "9s").redirectErrorStream(true).start();
      String output = new String(process.getInputStream().readAllBytes(), UTF_8);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).as(output).isZero();
      assertThat(output).contains("5 of 5 silent devices reported", "0 false alarms");
    }
  }
}
