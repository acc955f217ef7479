package io.foliot.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Walks schedules in new processes with the default flags of the JVM. Whether C2 translates a loop wrongly depends on
 * the profile that the JVM has collected before, so each process is another try.
 */
@Tag("long")
final class CompiledWalkTest {
  private static final int PROCESSES = 8;
  private static final int TIMEOUT_SECONDS = 60;
  private static final List<String> CRONS = List.of("* * * * *", "* 9-17 * * MON-FRI", "0/10 * * * * ?");

  @Test
  void compiledCodeWalksASchedule() throws IOException, InterruptedException {
    for (String cron : CRONS) {
      for (int i = 0; i < PROCESSES; i++) {
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
            System.getProperty("java.class.path"), WalkingProcess.class.getName(), cron, "Europe/Berlin")
            .redirectErrorStream(true).start();
        try {
          String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
          assertThat(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).isTrue();
          assertThat(process.exitValue()).as("%s, process %d: %s", cron, i, output).isZero();
        } finally {
          process.destroyForcibly();
        }
      }
    }
  }
}
