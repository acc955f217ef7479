package io.foliot.core.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class FailureLogTest {
  private static final class RecordingLogger implements System.Logger {
    final List<String> lines = new ArrayList<>();
    final List<Throwable> failures = new ArrayList<>();

    @Override
    public String getName() {
      return "lines";
    }

    @Override
    public boolean isLoggable(Level level) {
      return true;
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String message, Throwable thrown) {
      lines.add(level + " " + message);
      failures.add(thrown);
    }

    @Override
    public void log(Level level, @Nullable ResourceBundle bundle, String format, Object... parameters) {
      throw new AssertionError("expected a call of the method that also logs a stack trace");
    }
  }

  @Test
  void aFailureIsLoggedWithItsStackAtMostOnceASecond() {
    RecordingLogger logger = new RecordingLogger();
    FailureLog log = new FailureLog(logger, "q", 0);
    IllegalStateException failure = new IllegalStateException("broken");
    for (int i = 0; i < 100; i++) {
      log.failed("task-" + i, null, 1, failure, i);
    }
    log.failed("task-100", "order-7", 2, failure, TimeUnit.SECONDS.toNanos(1));
    assertThat(logger.failures).containsExactly(failure, failure);
    assertThat(logger.lines.getFirst()).startsWith("WARNING a handler failed;")
        .endsWith("queue=q, task=task-0, attempt=1");
    assertThat(logger.lines.getLast()).endsWith("queue=q, task=task-100, key=order-7, attempt=2, failuresNotLogged=99");
  }
}
