package io.foliot;

import java.io.IOException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A JSON codec by Jackson 3. It ignores unknown properties, so that an older version of the application can read
 * tasks of a newer version.
 */
final class Jackson3Codec<T> implements PayloadCodec<T> {
  private static final JsonMapper MAPPER = JsonMapper.builder().findAndAddModules()
      .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final Class<T> type;

  Jackson3Codec(Class<T> type) {
    this.type = type;
  }

  @Override
  public String contentType() {
    return "application/json";
  }

  @Override
  public byte[] encode(T payload) throws IOException {
    try {
      return MAPPER.writeValueAsBytes(payload);
    } catch (JacksonException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public T decode(byte[] bytes) throws IOException {
    try {
      return MAPPER.readValue(bytes, type);
    } catch (JacksonException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
