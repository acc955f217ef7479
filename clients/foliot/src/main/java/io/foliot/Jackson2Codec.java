package io.foliot;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;

/**
 * A JSON codec by Jackson 2. It ignores unknown properties, so that an older version of the application can read
 * tasks of a newer version.
 */
final class Jackson2Codec<T> implements PayloadCodec<T> {
  private static final JsonMapper MAPPER = JsonMapper.builder().findAndAddModules()
      .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final Class<T> type;

  Jackson2Codec(Class<T> type) {
    this.type = type;
  }

  @Override
  public String contentType() {
    return "application/json";
  }

  @Override
  public byte[] encode(T payload) throws IOException {
    return MAPPER.writeValueAsBytes(payload);
  }

  @Override
  public T decode(byte[] bytes) throws IOException {
    return MAPPER.readValue(bytes, type);
  }
}
