package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.DurationText;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.server.config.Defaults;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Tests that the defaults and the fields of requests in the description of the API are those of the code. */
final class DefaultsTest {
  private static JsonNode description() throws IOException {
    try (InputStream in = ServerRoutes.class.getResourceAsStream("openapi.yaml")) {
      return new YAMLMapper().readTree(in);
    }
  }

  private static JsonNode properties(String schema) throws IOException {
    return description().path("components").path("schemas").path(schema).path("properties");
  }

  private static Duration duration(JsonNode properties, String name) {
    return DurationText.parse(properties.path(name).path("default").asString(""));
  }

  @Test
  void theDescribedRetryDefaultsAreThoseOfTheCode() throws IOException {
    JsonNode retry = properties("RetrySettings");
    assertThat(retry.at("/maxAttempts/default").intValue()).isEqualTo(Retry.DEFAULT.maxAttempts());
    assertThat(retry.at("/multiplier/default").doubleValue()).isEqualTo(Retry.DEFAULT.multiplier());
    assertThat(retry.at("/jitter/default").doubleValue()).isEqualTo(Retry.DEFAULT.jitter());
    assertThat(duration(retry, "backoff")).isEqualTo(Retry.DEFAULT.backoff());
    assertThat(duration(retry, "maxBackoff")).isEqualTo(Retry.DEFAULT.maxBackoff());
  }

  @Test
  void theDescribedDefaultsOfQueuesAreThoseOfTheCode() throws IOException {
    QueueConfig defaults = QueueConfig.of("defaults", Target.pull());
    JsonNode queue = properties("QueueSettings");
    assertThat(queue.at("/priority/default").intValue()).isEqualTo(defaults.priority());
    assertThat(duration(queue, "maxRun")).isEqualTo(defaults.maxRun());
    assertThat(queue.at("/maxJobs/default").intValue()).isEqualTo(defaults.maxJobs());
    assertThat(queue.at("/maxShards/default").intValue()).isEqualTo(defaults.maxShards());
    assertThat(duration(properties("RetentionSettings"), "finished")).isEqualTo(defaults.retention().finished());
    assertThat(duration(properties("RetentionSettings"), "failed")).isEqualTo(defaults.retention().failed());
    assertThat(duration(properties("HttpDelivery"), "timeout")).isEqualTo(Target.DEFAULT_TIMEOUT);
    assertThat(duration(properties("PullDelivery"), "timeout")).isEqualTo(Target.DEFAULT_TIMEOUT);
  }

  /** The three schemas of a task are written out, because generators make other names of a schema made of schemas. */
  @Test
  void theDescribedFieldsOfRequestsAreThoseOfTheCode() throws IOException {
    assertThat(properties("KeyTask").propertyNames()).containsExactlyElementsOf(TaskFields.OF_KEY);
    assertThat(properties("TaskSubmission").propertyNames()).containsExactlyElementsOf(TaskFields.OF_TASK);
    assertThat(properties("BatchTask").propertyNames()).containsExactlyElementsOf(TaskFields.OF_ITEM);
    assertThat(properties("HttpDelivery").propertyNames()).contains("type", "timeout")
        .containsAll(HttpDelivery.SETTINGS).hasSize(2 + HttpDelivery.SETTINGS.size());
    assertThat(properties("DeliveryPatch").propertyNames())
        .containsExactlyInAnyOrderElementsOf(properties("HttpDelivery").propertyNames());
    assertThat(properties("QueuePatch").propertyNames())
        .containsExactlyElementsOf(properties("QueueSettings").propertyNames());
    assertThat(properties("RetryPatch").propertyNames())
        .containsExactlyElementsOf(properties("RetrySettings").propertyNames());
    assertThat(properties("RetentionPatch").propertyNames())
        .containsExactlyElementsOf(properties("RetentionSettings").propertyNames());
  }

  @Test
  void theDescribedLimitsOfCallsAreThoseOfTheCode() throws IOException {
    JsonNode document = description();
    assertThat(properties("RedriveFilter").at("/limit/default").intValue()).isEqualTo(Defaults.REDRIVE);
    assertThat(properties("CancelFilter").at("/limit/default").intValue()).isEqualTo(Defaults.CANCEL);
    JsonNode list = document.path("paths").path("/v1/queues/{queue}/tasks").path("get").path("parameters");
    assertThat(list.valueStream().filter(parameter -> parameter.path("name").asString("").equals("limit")).toList())
        .singleElement().satisfies(limit -> assertThat(limit.at("/schema/default").intValue())
            .isEqualTo(Defaults.PAGE));
  }
}
