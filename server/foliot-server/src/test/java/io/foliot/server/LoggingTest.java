package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import io.foliot.server.config.FoliotConfig;
import org.junit.jupiter.api.Test;

final class LoggingTest {
  private static LoggerContext configured(String level) {
    LoggerContext context = new LoggerContext();
    Logging.configure(context, new FoliotConfig.Log("text", level));
    return context;
  }

  @Test
  void aBrokenPooledConnectionHasNoLineOfItsOwn() {
    String pool = "com.zaxxer.hikari.pool.ProxyConnection";
    assertThat(configured("info").getLogger(pool).isWarnEnabled()).isFalse();
    assertThat(configured("info").getLogger(pool).isErrorEnabled()).isTrue();
    assertThat(configured("debug").getLogger(pool).isWarnEnabled()).isTrue();
  }

  @Test
  void theAuditLogIsWrittenAtEveryLevel() {
    assertThat(configured("error").getLogger("foliot.audit").isInfoEnabled()).isTrue();
    assertThat(configured("error").getLogger("io.foliot.engine.Engine").isWarnEnabled()).isFalse();
  }
}
