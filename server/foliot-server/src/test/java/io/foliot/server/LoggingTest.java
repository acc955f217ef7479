package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.foliot.server.config.FoliotConfig;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

final class LoggingTest {
  private static LoggerContext configured(String level) {
    LoggerContext context = new LoggerContext();
    Logging.configure(context, new FoliotConfig.Log("text", level));
    return context;
  }

  @Test
  void warningsAboutPooledConnectionsAreLoggedOnlyAtDebug() {
    String pool = "com.zaxxer.hikari.pool.ProxyConnection";
    assertThat(configured("info").getLogger(pool).isWarnEnabled()).isFalse();
    assertThat(configured("info").getLogger(pool).isErrorEnabled()).isTrue();
    assertThat(configured("debug").getLogger(pool).isWarnEnabled()).isTrue();
  }

  @Test
  void aServerStartsAndStopsWithoutAWarning(@TempDir Path folder) {
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    logged.setContext(root.getLoggerContext());
    logged.start();
    root.addAppender(logged);
    try (FoliotServer server = FoliotServer.start(
        FoliotConfig.load(Map.of("port", "0", "data", folder.toString()), Map.of(), null),
        new PrintStream(OutputStream.nullOutputStream(), true, UTF_8))) {
      assertThat(server.port()).isPositive();
    } finally {
      root.detachAppender(logged);
    }
    assertThat(logged.list).filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.WARN)).isEmpty();
    assertThat(logged.list).isNotEmpty();
  }

  @Test
  void theAuditLogIsWrittenEvenAtLevelError() {
    assertThat(configured("error").getLogger("foliot.audit").isInfoEnabled()).isTrue();
    assertThat(configured("error").getLogger("io.foliot.engine.Engine").isWarnEnabled()).isFalse();
  }
}
