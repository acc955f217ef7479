package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.DurationText;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the lag of a queue after a restart. */
final class LagTest {
  private static final Pattern LAG = Pattern.compile("foliot_queue_lag_seconds\\{queue=\"q\"} ([0-9.E]+)");
  private static final Duration LONG_AGO = Duration.ofMinutes(30);
  private static final Duration BOUND = Duration.ofSeconds(20);

  private static Duration apiLag(Rig rig) {
    String text = rig.get("/v1/queues/q").text("stats", "lag");
    assertThat(text).as("at most two units").matches("(\\d+[dhm])?\\d+(\\.\\d)?(ms|[hms])");
    return DurationText.parse(text);
  }

  private static double metricSeconds(Rig rig) {
    Matcher found = LAG.matcher(rig.get("/metrics").body());
    return found.find() ? Double.parseDouble(found.group(1)) : 0;
  }

  /** Waits until the API and the metrics report a lag of at least {@link #LONG_AGO}; fails after {@link #BOUND}. */
  private static void awaitLag(Rig rig) {
    long deadline = System.nanoTime() + BOUND.toNanos();
    Duration apiLag = apiLag(rig);
    double metricSeconds = metricSeconds(rig);
    while (apiLag.compareTo(LONG_AGO) < 0 || metricSeconds < LONG_AGO.toSeconds()) {
      assertThat(System.nanoTime() - deadline).as("apiLag=%s, metricSeconds=%s", apiLag, metricSeconds).isNegative();
      apiLag = apiLag(rig);
      metricSeconds = metricSeconds(rig);
    }
    assertThat(apiLag).isBetween(LONG_AGO, LONG_AGO.plusMinutes(2));
    assertThat(metricSeconds).isBetween((double) LONG_AGO.toSeconds(), LONG_AGO.toSeconds() + 120.0);
  }

  @Test
  void theLagIsRightWithinSecondsOfARestart(@TempDir Path folder) {
    Map<String, String> settings = Map.of("store", "rocksdb", "data", folder.toString());
    try (Rig rig = Rig.start(settings)) {
      rig.withQueue("q").call("POST", "/v1/queues/q/pause", null, Map.of());
      StringBuilder batch = new StringBuilder();
      for (int i = 0; i < 2_000; i++) {
        batch.append(batch.isEmpty() ? "[" : ", ").append("{\"dueAt\": \"")
            .append(Instant.now().minus(LONG_AGO)).append("\"}");
      }
      Rig.Answer answer = rig.post("/v1/queues/q/tasks:batch", batch.append("]").toString());
      assertThat(answer.status()).as(answer.body()).isLessThan(300);
      awaitLag(rig);
    }
    try (Rig rig = Rig.start(settings)) {
      awaitLag(rig);
    }
  }
}
