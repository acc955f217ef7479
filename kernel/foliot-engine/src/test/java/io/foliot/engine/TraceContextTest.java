package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.core.TaskId;
import io.foliot.core.store.TaskRecord;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests the trace context of attempts. */
final class TraceContextTest {
  private static final String CALLER = "4bf92f3577b34da6a3ce929d0e0e4736";

  private static String of(Map<String, String> headers, long random) {
    Body body = new Body(new byte[0], "application/json", headers);
    return TraceContext.of(TaskRecord.edit(TaskId.of(1_000, 7, 42), "q", null).generation(5).body(body).done(), random);
  }

  @Test
  void aFiringHasATraceAndEachAttemptASpan() {
    assertThat(of(Map.of(), 0x10)).matches("00-[0-9a-f]{32}-0000000000000011-01");
    assertThat(of(Map.of(), -1)).endsWith("-ffffffffffffffff-01");
    assertThat(of(Map.of(), 2).substring(0, 35)).isEqualTo(of(Map.of(), 4).substring(0, 35));
  }

  @Test
  void theTraceOfTheCallerIsContinued() {
    assertThat(of(Map.of("TraceParent", "00-" + CALLER + "-00f067aa0ba902b7-00"), 0x10))
        .isEqualTo("00-" + CALLER + "-0000000000000011-00");
  }

  @Test
  void anInvalidTraceparentIsIgnored() {
    for (String header : new String[]{"", "x", "00-" + CALLER + "-00f067aa0ba902b7", "00-" + "0".repeat(32)
        + "-00f067aa0ba902b7-01", "00-" + CALLER + "-" + "0".repeat(16) + "-01",
        "00-" + CALLER.toUpperCase(java.util.Locale.ROOT) + "-00f067aa0ba902b7-01"}) {
      assertThat(of(Map.of("traceparent", header), 0x10)).as(header).isEqualTo(of(Map.of(), 0x10));
    }
  }
}
