package io.foliot.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.DurationText;
import io.foliot.api.OnConflict;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests JSON and payloads, the builders of tasks and queue settings, and the reading of answers. */
final class JsonTest {
  private static final List<String> SCALARS = List.of("null", "true", "0", "-0", "1.10", "1e-7",
      "12345678901234567890123",
      "\"\"", "\"a\\u0041\\n\\\"\"", "\"ключ 🔑\"", "\"\\ud83d\\udd11\"");

  private static String random(Random random, int depth) {
    int kind = random.nextInt(depth > 3 ? 1 : 3);
    String space = " ".repeat(random.nextInt(3));
    int size = random.nextInt(4);
    return switch (kind) {
      case 0 -> SCALARS.get(random.nextInt(SCALARS.size()));
      case 1 -> IntStream.range(0, size).mapToObj(i -> random(random, depth + 1))
          .collect(Collectors.joining(space + ",", "[" + space, "]"));
      default -> IntStream.range(0, size).mapToObj(i -> "\"k" + i + "é\"" + space + ":" + random(random, depth + 1))
          .collect(Collectors.joining("," + space, "{", space + "}"));
    };
  }

  @Test
  void aPayloadKeepsEachCharacter() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      String json = random(random, 0);
      for (String field : List.of("payload", "other")) {
        String answer = "{\"é\":\"🔑\", \"" + field + "\" : " + json + " ,\"z\":1}";
        JsonObject object = JsonObject.parse(answer.getBytes(UTF_8));
        assertThat(object.json(field)).as("seed=%s", seed).isEqualTo(json);
        assertThat(object.number("z")).isOne();
      }
      assertThat(Payload.json(json).toText()).isEqualTo(json);
    }
  }

  @Test
  void aPayloadIsExactlyOneValue() {
    for (String wrong : List.of("", " ", "{", "{}{}", "1 2", "1,\"maxAttempts\":9", "}", "{\"a\":1}}", "nul", "'a'",
        "\"a", "\"a\nb\"", "[1,]", "\"\ud800\"", "/* */ 1", "NaN", "01")) {
      assertThatThrownBy(() -> Payload.json(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> Json.requireOneValue("parameter", wrong)).as(wrong)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void aPayloadCannotBeChangedThroughItsBytes() {
    byte[] bytes = {1, 2};
    Payload payload = Payload.bytes(bytes, "a/b");
    bytes[0] = 9;
    payload.toBytes()[1] = 9;
    assertThat(payload).isEqualTo(Payload.bytes(new byte[]{1, 2}, "a/b"))
        .isNotEqualTo(Payload.bytes(new byte[]{1, 2}, "a/c")).isNotEqualTo(Payload.bytes(new byte[]{1}, "a/b"));
    assertThat(Payload.json("1")).isNotEqualTo(Payload.bytes("1".getBytes(UTF_8), "application/json"));
    assertThat(Payload.json("\"hunter2\"").toString()).doesNotContain("hunter2");
  }

  @Test
  void aContentTypeOtherThanJsonIsSentWithThePayload() {
    Payload event = Payload.json("{}").withContentType("application/cloudevents+json");
    assertThat(new String(Json.object(event::write), UTF_8))
        .isEqualTo("{\"payload\":{},\"contentType\":\"application/cloudevents+json\"}");
  }

  @Test
  void aBuilderKeepsTheSettingsThatAreNotChanged() {
    NewTask task = NewTask.builder().dueAt(Instant.EPOCH).key("k").payload(Payload.json("1")).header("a", "b")
        .maxAttempts(2).onConflict(OnConflict.KEEP).idempotencyKey("i").build();
    assertThat(task).isEqualTo(new NewTask(null, Instant.EPOCH, "k", Payload.json("1"), Map.of("a", "b"), 2,
        OnConflict.KEEP, "i"));
    assertThat(task.toBuilder().build()).isEqualTo(task);
    assertThat(task.toBuilder().delay(Duration.ZERO).headers(Map.of()).build()).isEqualTo(
        new NewTask(Duration.ZERO, null, "k", Payload.json("1"), Map.of(), 2, OnConflict.KEEP, "i"));
  }

  @Test
  void anInvalidTaskIsRefusedWhenItIsBuilt() {
    NewTask task = NewTask.after(Duration.ZERO);
    for (Runnable wrong : List.<Runnable>of(() -> NewTask.after(Duration.ofMillis(-1)),
        () -> task.toBuilder().maxAttempts(0).build(),
        () -> task.toBuilder().header("a b", "c").build(), () -> task.toBuilder().header("a", "\ud800").build(),
        () -> task.toBuilder().idempotencyKey("ключ").build(),
        () -> task.toBuilder().idempotencyKey("").build(),
        () -> new NewTask(null, null, null, null, Map.of(), null, null, null),
        () -> new NewTask(Duration.ZERO, Instant.EPOCH, null, null, Map.of(), null, null, null))) {
      assertThatThrownBy(wrong::run).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void durationsAreReadAsTheServerWritesThem() {
    Map<String, Duration> durations = Map.of("0s", Duration.ZERO, "2w", Duration.ofDays(14), "100d",
        Duration.ofDays(100), "30m", Duration.ofMinutes(30), "1h30m", Duration.ofMinutes(90), "1500ms",
        Duration.ofMillis(1_500), "1.000000001s", Duration.ofSeconds(1, 1), "0.1ms", Duration.ofNanos(100_000),
        "PT0.0005S", Duration.ofNanos(500_000), "5H", Duration.ofHours(5));
    durations.forEach((text, duration) -> assertThat(DurationText.parse(text)).as(text).isEqualTo(duration));
    for (String wrong : List.of("", "5", "m", "-5m", "5 m", "5m ", " 5m", "1h,30m", "1.m", "1M", "P", "PT",
        "9223372036854775807s", "999999999999999999d9", "999999999999999999d")) {
      JsonObject answer = JsonObject.parse(("{\"delay\":" + Json.text(wrong) + "}").getBytes(UTF_8));
      assertThatThrownBy(() -> answer.durationOrNull("delay")).as(wrong)
          .isInstanceOf(UnreadableAnswerException.class).hasMessageContaining("field=delay, value=" + wrong);
    }
  }

  @Test
  void aHeaderMayHaveTheNameOfThePayload() {
    ClaimedTask task = ClaimedTask.allOf(JsonObject.parse("""
        {"tasks":[{"id":"1","queue":"q","generation":1,"attempt":1,"token":"t","leaseEnd":"2026-11-21T14:00:00Z",
        "dueAt":"2026-11-21T14:00:00Z","firingId":"f","headers":{"payload":"v"},"payload":{"headers":{"payload":1}}}]}
        """.getBytes(UTF_8))).getFirst();
    assertThat(task.headers()).isEqualTo(Map.of("payload", "v"));
    assertThat(task.payload()).isEqualTo(Payload.json("{\"headers\":{\"payload\":1}}"));
  }

  @Test
  void aFieldOfAnotherTypeIsNamedInTheException() {
    JsonObject object = JsonObject
        .parse("{\"a\":1,\"b\":\"x\",\"c\":[1],\"d\":null,\"e\":1.5,\"f\":3000000000}".getBytes(UTF_8));
    for (Runnable wrong : List.<Runnable>of(() -> object.text("a"), () -> object.number("b"), () -> object.texts("c"),
        () -> object.objects("c"), () -> object.object("c"), () -> object.truthOrNull("a"), () -> object.text("d"),
        () -> object.number("e"), () -> object.integer("f"), () -> object.instant("b"), () -> object.text("none"),
        () -> object.decimalOrNull("b"), () -> object.textMap("b"))) {
      assertThatThrownBy(wrong::run).isInstanceOf(UnreadableAnswerException.class).hasMessageContaining("field=");
    }
    assertThat(object.has("d")).isFalse();
    assertThat(object.textOrNull("d")).isNull();
    assertThat(object.objects("none")).isEmpty();
  }
}
