package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.coordination.Fleet;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests the metrics in the format of Prometheus. */
class MetricsTest {
  @Test
  void eachEventIsCounted() {
    try (Rig rig = Rig.start().withQueue("counted")) {
      rig.post("/v1/queues/counted/tasks", "{\"delay\": \"0s\"}");
      Rig.Answer claim = rig.post("/v1/queues/counted/claims", "{\"wait\": \"10s\"}");
      rig.post("/v1/tasks/" + claim.text("tasks", 0, "id") + "/ack",
          "{\"token\": \"" + claim.text("tasks", 0, "token") + "\"}");

      String figures = rig.get("/metrics").body();

      for (String figure : List.of("foliot_accepted_total{queue=\"counted\",result=\"created\"} 1.0",
          "foliot_lateness_seconds_bucket{queue=\"counted\",le=\"60.0\"} 1",
          "foliot_attempts_seconds_count{outcome=\"finished\",queue=\"counted\"} 1",
          "foliot_store_calls_seconds_count{call=\"submit\"", "foliot_store_items_bucket",
          "foliot_loop_turns_seconds_count",
          "foliot_wheel_entries", "foliot_lag_seconds", "foliot_tasks{queue=\"counted\",state=\"delayed\"}",
          "foliot_clock_offset_seconds", "foliot_build_info{java=",
          "foliot_queue_lag_seconds{queue=\"counted\"}", "foliot_ready 1.0", "foliot_store_failed 0.0",
          "jvm_memory_used_bytes", "process_uptime_seconds", "process_cpu_seconds_total", "system_cpus",
          "foliot_http_requests_seconds_count{method=\"POST\",path=\"/v1/queues/{queue}/tasks\",status=\"201\"} 1")) {
        assertThat(figures).contains(figure);
      }
      assertThat(figures).as("names have base units, and no gauge has the name of a count")
          .doesNotContain("_ns_total", "cpu_count");
    }
  }

  /** Prometheus sees no increase in a counter that appears with its first event. */
  @Test
  void aCounterThatAnAlertWatchesExistsBeforeItsFirstEvent() {
    try (Rig rig = Rig.start().withQueue("lone")) {
      assertThat(rig.get("/metrics").body()).contains("foliot_dead_letters_total{queue=\"lone\"} 0.0",
          "foliot_job_times_total{queue=\"lone\",result=\"missed\"} 0.0",
          "foliot_leases_ended_total{queue=\"lone\"} 0.0", "foliot_quarantined_total{queue=\"lone\"} 0.0",
          "foliot_attempts_seconds_count{outcome=\"retried\",queue=\"foliot.jobs\"} 0");
      rig.post("/v1/queues/lone/tasks", "{\"delay\": \"0s\", \"maxAttempts\": 1}");
      Rig.Answer claim = rig.post("/v1/queues/lone/claims", "{\"wait\": \"10s\"}");
      rig.post("/v1/tasks/" + claim.text("tasks", 0, "id") + "/nack",
          "{\"token\": \"" + claim.text("tasks", 0, "token") + "\"}");
      assertThat(rig.get("/metrics").body()).contains("foliot_dead_letters_total{queue=\"lone\"} 1.0");
    }
  }

  @Test
  void workersAreCountedByTheNodeThatTheyCall() {
    try (Rig rig = Rig.start().withQueue("pulled").withQueue("lonely")) {
      rig.put("/v1/queues/pushed", "{\"delivery\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:9/\"}}");
      assertThat(rig.get("/metrics").body()).contains("foliot_workers{state=\"live\"} 0.0",
          "foliot_workers{state=\"disabled\"} 0.0", "foliot_queue_workers{queue=\"pulled\"} 0.0");
      Set<String> pulled = Set.of("pulled");
      rig.fleet = new Fleet(List.of(new Fleet.Seat(0, "a", "", pulled, "test", true, true),
          new Fleet.Seat(1, "b", "", pulled, "test", true, false),
          new Fleet.Seat(2, "c", "", pulled, "test", true, true),
          new Fleet.Seat(3, "gone", "", Set.of(), "", false, true),
          new Fleet.Seat(4, "elsewhere", "", pulled, "other", true, true)), List.of(""));
      assertThat(rig.get("/metrics").body()).contains("foliot_workers{state=\"live\"} 2.0",
          "foliot_workers{state=\"disabled\"} 1.0", "foliot_queue_workers{queue=\"pulled\"} 2.0",
          "foliot_queue_workers{queue=\"lonely\"} 0.0").doesNotContain("foliot_queue_workers{queue=\"pushed\"}");
    }
  }

  @Test
  void aParkedTaskIsCountedOnce() {
    try (Rig rig = Rig.start()) {
      rig.put("/v1/queues/parking", "{\"delivery\": {\"type\": \"pull\"}, \"paused\": true}");
      rig.post("/v1/queues/parking/tasks", "{\"delay\": \"0s\"}");
      Instant end = Instant.now().plusSeconds(30);
      String figures = rig.get("/metrics").body();
      while (!figures.contains("foliot_tasks{queue=\"parking\",state=\"parked\"} 1.0")) {
        assertThat(Instant.now()).as(figures).isBefore(end);
        figures = rig.get("/metrics").body();
      }
      assertThat(figures).contains("foliot_tasks{queue=\"parking\",state=\"delayed\"} 0.0");
    }
  }

  @Test
  void queuesBeyondTheLimitShareALabel() {
    try (Rig rig = Rig.start(Map.of("limit-metric-queues", "2"))) {
      for (String queue : List.of("q1", "q2", "q3", "q4")) {
        rig.withQueue(queue).post("/v1/queues/" + queue + "/tasks", "{\"delay\": \"1h\"}");
      }
      String figures = rig.get("/metrics").body();
      assertThat(figures).contains("foliot_accepted_total{queue=\"other\",result=\"created\"} 2.0")
          .contains("foliot_accepted_total{queue=\"q2\",result=\"created\"} 1.0").doesNotContain("\"q3\"");
      assertThat(figures).contains("foliot_tasks{queue=\"other\",state=\"delayed\"}");
    }
  }
}
