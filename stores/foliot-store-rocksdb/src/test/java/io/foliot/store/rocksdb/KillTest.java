package io.foliot.store.rocksdb;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.junit.jupiter.api.io.TempDir;

/**
 * After a kill at a random moment, the store holds every task that was acknowledged to the killed process. A failure
 * message contains the seed of the random moments. {@code -Dfoliot.seed=N} runs seed N.
 */
@Tag("long")
final class KillTest {
  private static final int KILLS = 4;

  private final long seed = Long.getLong("foliot.seed", new Random().nextLong());

  @RegisterExtension
  final TestExecutionExceptionHandler failures = (test, failure) -> {
    throw new AssertionError("seed " + seed + ": " + failure.getMessage(), failure);
  };

  @TempDir
  Path temporary;

  @Test
  void everyAcknowledgedTaskIsThereAfterAKill() throws Exception {
    Path folder = temporary.resolve("store");
    Set<TaskId> acknowledged = new HashSet<>();
    Random random = new Random(seed);
    for (int kill = 0; kill < KILLS; kill++) {
      // A kill through a ProcessHandle leaves the pipe readable. The ids still in the pipe were acknowledged too.
      acknowledged.addAll(
          SubmittingProcess.run(folder, 500 + random.nextInt(3_000), process -> process.destroyForcibly()));
      SubmittingProcess.check(folder, acknowledged);
    }
    assertThat(acknowledged).hasSizeGreaterThan(KILLS * 500);
  }
}
