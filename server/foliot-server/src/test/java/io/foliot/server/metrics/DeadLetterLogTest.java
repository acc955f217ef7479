package io.foliot.server.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class DeadLetterLogTest {
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final Logger logger = new LoggerContext().getLogger("dead");

  private List<String> lines() {
    return lines.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void deadLettersHaveOneLineInTenSeconds() {
    lines.start();
    logger.addAppender(lines);
    DeadLetterLog log = new DeadLetterLog(logger, 0);
    for (int i = 0; i < 100; i++) {
      log.failed("orders", () -> "task=1, job=report, shard=3", i);
    }
    log.failed("mails", () -> "task=2", TimeUnit.SECONDS.toNanos(10));
    assertThat(lines()).hasSize(2);
    assertThat(lines().getFirst()).contains("foliot tasks orders --state failed")
        .endsWith("queue=orders, task=1, job=report, shard=3");
    assertThat(lines().getLast()).endsWith("queue=mails, task=2, deadLettersNotLogged=99");
  }
}
