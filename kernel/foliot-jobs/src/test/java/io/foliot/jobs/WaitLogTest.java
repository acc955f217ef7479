package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.jobs.Allocators.UnallocatedException;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that each wait of a job for its allocator is logged once, and that a bounded number of jobs is logged. */
final class WaitLogTest {
  private final IllegalStateException failure = new IllegalStateException("boom");
  private final UnallocatedException waits = new UnallocatedException("waits for its allocator", failure);

  private final RecordingLogger logger = new RecordingLogger();
  private final WaitLog log = new WaitLog(logger);

  private static final class RecordingLogger implements System.Logger {
    final List<String> texts = new ArrayList<>();
    final List<@Nullable Throwable> failures = new ArrayList<>();

    @Override
    public String getName() {
      return "recording";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String message, @Nullable Throwable thrown) {
      texts.add(level + " " + message);
      failures.add(thrown);
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String format, Object @Nullable... parameters) {
      throw new AssertionError("expected a call of the method that also logs a stack trace");
    }
  }

  @Test
  void aWaitingJobIsLoggedOncePerWait() {
    for (int pass = 0; pass < 100; pass++) {
      log.planned("report", waits, 2_000L * pass);
    }
    assertThat(logger.texts).containsExactly("WARNING a run does not begin, and is tried again every two seconds:"
        + " job=report, reason=it waits for its allocator");
    assertThat(logger.failures).containsExactly(failure);
    log.planned("report", null, 200_000);
    log.planned("report", waits, 200_001);
    assertThat(logger.texts).hasSize(2);
  }

  @Test
  void noMoreThanMaxJobsAreLoggedUntilSomeExpire() {
    for (int pass = 0; pass < 3; pass++) {
      for (int job = 0; job < 2 * WaitLog.MAX_JOBS; job++) {
        log.planned("job-" + job, waits, 2_000L * pass);
      }
    }
    assertThat(logger.texts).hasSize(WaitLog.MAX_JOBS);
    log.planned("another", waits, 1_000_000);
    assertThat(logger.texts).hasSize(WaitLog.MAX_JOBS + 1);
  }
}
