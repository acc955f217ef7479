package io.foliot.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.jobs.Allocators.UnallocatedException;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A job that waits for its allocator is logged once, however many of them there are. */
final class WaitLogTest {
  private final IllegalStateException failure = new IllegalStateException("boom");
  private final UnallocatedException waits = new UnallocatedException("waits for its allocator", failure);

  private final Lines lines = new Lines();
  private final WaitLog log = new WaitLog(lines);

  private static final class Lines implements System.Logger {
    final List<String> texts = new ArrayList<>();
    final List<@Nullable Throwable> failures = new ArrayList<>();

    @Override
    public String getName() {
      return "lines";
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
      throw new AssertionError("a failure is logged with its stack");
    }
  }

  @Test
  void aJobIsLoggedOnceUntilItHasNotWaited() {
    for (int pass = 0; pass < 100; pass++) {
      log.planned("report", waits, 2_000L * pass);
    }
    assertThat(lines.texts).containsExactly("WARNING a run does not begin, and is tried again every two seconds:"
        + " job=report, reason=it waits for its allocator");
    assertThat(lines.failures).containsExactly(failure);
    log.planned("report", null, 200_000);
    log.planned("report", waits, 200_001);
    assertThat(lines.texts).hasSize(2);
  }

  @Test
  void manyJobsAreLoggedUpToABoundUntilSomeAreForgotten() {
    for (int pass = 0; pass < 3; pass++) {
      for (int job = 0; job < 2 * WaitLog.MAX_JOBS; job++) {
        log.planned("job-" + job, waits, 2_000L * pass);
      }
    }
    assertThat(lines.texts).hasSize(WaitLog.MAX_JOBS);
    log.planned("another", waits, 1_000_000);
    assertThat(lines.texts).hasSize(WaitLog.MAX_JOBS + 1);
  }
}
