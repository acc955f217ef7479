package io.foliot.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.io.StringWriter;
import java.util.List;
import org.slf4j.event.KeyValuePair;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * An encoder that writes a log event as one line of JSON: the time (RFC 3339), the level, the logger, the thread, the
 * message, and the key-value pairs of the event as one object. A stack trace is one string.
 */
final class JsonLines extends EncoderBase<ILoggingEvent> {
  private static final JsonFactory JSON = new JsonFactory();
  private static final byte[] NONE = {};

  @Override
  public byte[] headerBytes() {
    return NONE;
  }

  @Override
  public byte[] footerBytes() {
    return NONE;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    StringWriter line = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), line)) {
      json.writeStartObject();
      json.writeStringProperty("timestamp", event.getInstant().toString());
      json.writeStringProperty("level", event.getLevel().toString());
      json.writeStringProperty("logger", event.getLoggerName());
      json.writeStringProperty("thread", event.getThreadName());
      json.writeStringProperty("message", event.getFormattedMessage());
      List<KeyValuePair> fields = event.getKeyValuePairs();
      if (fields != null && !fields.isEmpty()) {
        json.writeObjectPropertyStart("fields");
        fields.forEach(field -> write(json, field));
        json.writeEndObject();
      }
      IThrowableProxy failure = event.getThrowableProxy();
      if (failure != null) {
        json.writeStringProperty("exception", ThrowableProxyUtil.asString(failure));
      }
      json.writeEndObject();
    }
    return line.append('\n').toString().getBytes(UTF_8);
  }

  private static void write(JsonGenerator json, KeyValuePair field) {
    switch (field.value) {
      case Integer number -> json.writeNumberProperty(field.key, number);
      case Long number -> json.writeNumberProperty(field.key, number);
      case Boolean truth -> json.writeBooleanProperty(field.key, truth);
      case null -> json.writeNullProperty(field.key);
      default -> json.writeStringProperty(field.key, field.value.toString());
    }
  }
}
