package io.foliot.server.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Retry;
import io.foliot.server.config.Defaults;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** Tests that the defaults in the description of the API are the defaults of the code. */
final class DefaultsTest {
  private static JsonNode description() throws IOException {
    try (InputStream in = ServerRoutes.class.getResourceAsStream("openapi.yaml")) {
      return new YAMLMapper().readTree(in);
    }
  }

  @Test
  void theDescribedRetryDefaultsAreThoseOfTheCode() throws IOException {
    JsonNode retry = description().at("/components/schemas/QueueSettings/properties/retry/properties");
    assertThat(retry.at("/maxAttempts/default").intValue()).isEqualTo(Retry.DEFAULT.maxAttempts());
    assertThat(retry.at("/multiplier/default").doubleValue()).isEqualTo(Retry.DEFAULT.multiplier());
    assertThat(retry.at("/jitter/default").doubleValue()).isEqualTo(Retry.DEFAULT.jitter());
  }

  @Test
  void theDescribedLimitsOfCallsAreThoseOfTheCode() throws IOException {
    JsonNode document = description();
    JsonNode redrive = document.path("paths").path("/v1/queues/{queue}/redrive").path("post");
    assertThat(redrive.findValue("limit").path("default").intValue()).isEqualTo(Defaults.REDRIVE);
    JsonNode cancel = document.path("paths").path("/v1/queues/{queue}/tasks:cancel").path("post");
    assertThat(cancel.findValue("limit").path("default").intValue()).isEqualTo(Defaults.CANCEL);
    JsonNode list = document.path("paths").path("/v1/queues/{queue}/tasks").path("get").path("parameters");
    assertThat(list.valueStream().filter(parameter -> parameter.path("name").asString("").equals("limit")).toList())
        .singleElement().satisfies(limit -> assertThat(limit.at("/schema/default").intValue())
            .isEqualTo(Defaults.PAGE));
  }
}
