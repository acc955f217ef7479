package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

final class JsonLinesTest {
  private final Logger logger = new LoggerContext().getLogger("io.foliot.X");

  private String line(String message, @Nullable Throwable failure, KeyValuePair... fields) {
    LoggingEvent event = new LoggingEvent("x", logger, Level.WARN, message, failure, new Object[0]);
    event.setThreadName("main");
    event.setInstant(Instant.parse("2026-11-23T01:02:03.456Z"));
    List.of(fields).forEach(event::addKeyValuePair);
    return new String(new JsonLines().encode(event), UTF_8);
  }

  @Test
  void anEventIsOneLineWithAnInstantAndItsFieldsInOneObject() {
    assertThat(line("Foliot \"serves\"\nnow", null, new KeyValuePair("port", 7400), new KeyValuePair("access", "open"),
        new KeyValuePair("none", null))).isEqualTo("{\"timestamp\":\"2026-11-23T01:02:03.456Z\",\"level\":\"WARN\","
            + "\"logger\":\"io.foliot.X\",\"thread\":\"main\",\"message\":\"Foliot \\\"serves\\\"\\nnow\","
            + "\"fields\":{\"port\":7400,\"access\":\"open\",\"none\":null}}\n");
  }

  @Test
  void aStackTraceIsOneField() {
    String line = line("it failed", new IllegalStateException("why"));
    assertThat(line.lines()).hasSize(1);
    assertThat(line).contains("\"exception\":\"java.lang.IllegalStateException: why");
  }
}
