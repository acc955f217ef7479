package io.foliot.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests changes of a queue's settings by a JSON merge patch (RFC 7396). */
class QueuePatchTest {
  private static final String SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  private static Rig rig;

  @BeforeAll
  static void start() {
    rig = Rig.start();
  }

  @AfterAll
  static void stop() {
    rig.close();
  }

  private static void put(String queue) {
    assertThat(rig
        .put("/v1/queues/" + queue,
            """
                {"delivery": {"type": "http", "url": "http://127.0.0.1:9/x", "timeout": "10s", "secret": "%s"},
                 "retry": {"maxAttempts": 7, "backoff": "3s"}, "priority": 2, "rate": 10, "concurrency": 5, "maxWait": "1h",
                 "maxRun": "2h", "maxJobs": 8, "maxShards": 9, "retention": {"finished": "5h", "failed": "3d"}, "paused": true}"""
                .formatted(SECRET))
        .status()).isEqualTo(201);
  }

  private static Rig.Answer patch(String queue, String json) {
    return rig.call("PATCH", "/v1/queues/" + queue, json, Map.of("Content-Type", "application/merge-patch+json"));
  }

  private static QueueConfig queue(String name) {
    return rig.server.scheduler().queue(name).orElseThrow();
  }

  @Test
  void settingsThatThePatchOmitsDoNotChange() {
    put("stays");
    QueueConfig before = queue("stays");

    Rig.Answer answer = patch("stays", "{\"concurrency\": 9, \"retry\": {\"backoff\": \"1m\"}}");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.at("concurrency")).isEqualTo(new BigDecimal(9));
    QueueConfig after = queue("stays");
    assertThat(after.target()).isEqualTo(before.target());
    assertThat(after.target().settings()).containsEntry("secret", SECRET);
    assertThat(after.retry().backoff()).isEqualTo(Duration.ofMinutes(1));
    assertThat(after.retry().maxAttempts()).isEqualTo(7);
    assertThat(after).isEqualTo(before.toBuilder().concurrency(9).retry(after.retry()).build());
    assertThat(answer.body()).doesNotContain(SECRET);
    assertThat(patch("stays", "{}").status()).isEqualTo(200);
    assertThat(queue("stays")).isEqualTo(after);
  }

  @Test
  void nullResetsASettingToItsDefault() {
    put("resets");
    Rig.Answer answer = patch("resets",
        """
            {"delivery": {"secret": null, "timeout": null}, "retry": {"maxAttempts": null}, "priority": null, "rate": null,
             "concurrency": null, "maxWait": null, "maxRun": null, "maxJobs": null, "maxShards": null, "retention": null, "paused": null}""");

    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    QueueConfig after = queue("resets");
    QueueConfig fresh = QueueConfig.of("resets", after.target());
    assertThat(after).isEqualTo(fresh.toBuilder().retry(after.retry()).build());
    assertThat(after.retry().maxAttempts()).isEqualTo(5);
    assertThat(after.retry().backoff()).isEqualTo(Duration.ofSeconds(3));
    assertThat(after.target().settings()).containsOnlyKeys("url");
    assertThat(patch("resets", "{\"retry\": null}").status()).isEqualTo(200);
    assertThat(queue("resets")).isEqualTo(fresh);
  }

  @Test
  void aPatchOfTheUrlKeepsTheSecretAndTheTimeout() {
    put("delivered");
    assertThat(patch("delivered", "{\"delivery\": {\"url\": \"http://127.0.0.1:9/y\", \"secret\": \"***\"}}").status())
        .isEqualTo(200);
    assertThat(queue("delivered").target().settings()).containsEntry("url", "http://127.0.0.1:9/y")
        .containsEntry("secret", SECRET);
    assertThat(queue("delivered").target().timeout()).isEqualTo(Duration.ofSeconds(10));
  }

  @Test
  void aRefusedPatchChangesNothing() {
    put("refused");
    QueueConfig before = queue("refused");
    for (String json : new String[]{"{\"concurrency\": 0}", "{\"delivery\": {\"type\": null}}", "{\"delivery\": null}",
        "{\"delivery\": {\"type\": \"pull\"}}", "{\"delivery\": {\"url\": \"gopher://x\"}}", "{\"concurency\": 1}",
        "{\"rate\": -1}", "{\"maxJobs\": -1}", "{\"maxShards\": 0}", "[]", ""}) {
      assertThat(patch("refused", json).status()).as(json).isEqualTo(400);
    }
    assertThat(rig.call("PATCH", "/v1/queues/refused", "{}", Map.of("Content-Type", "text/plain")).status())
        .isEqualTo(415);
    assertThat(queue("refused")).isEqualTo(before);
    assertThat(patch("nowhere", "{\"rate\": 1}").problem()).isEqualTo("unknown-queue");
  }

  @Test
  void aPatchMayHaveTheContentTypeOfJson() {
    put("plain");
    Rig.Answer answer = rig.call("PATCH", "/v1/queues/plain", "{\"rate\": null}",
        Map.of("Content-Type", "application/json"));
    assertThat(answer.status()).isEqualTo(200);
    assertThat(queue("plain").rate()).isNull();
  }
}
