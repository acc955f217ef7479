package io.foliot.worker.script;

import io.foliot.client.Fence;
import io.foliot.client.JobContext;
import io.foliot.client.Payload;
import java.io.ByteArrayOutputStream;
import java.io.StringWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The input of a script: its shard as JSON on standard input, and its environment variables. */
final class ScriptInput {
  private static final JsonFactory FACTORY = JsonFactory.builder().build();

  private ScriptInput() {}

  /**
   * The value of the field {@code script} in the parameter of a job.
   *
   * @param text the name of the script, or null if the value is not a string
   */
  record Choice(@Nullable String text) {}

  /**
   * Returns the field {@code script} of a parameter. Returns null if there is no parameter, or if the parameter is not
   * a JSON object with that field.
   *
   * @throws IllegalArgumentException if the parameter is marked as JSON and cannot be parsed
   */
  static @Nullable Choice choice(@Nullable Payload parameter) {
    if (parameter == null || !parameter.isJson()) {
      return null;
    }
    try (JsonParser json = FACTORY.createParser(ObjectReadContext.empty(), parameter.toText())) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      Choice choice = null;
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean isScript = json.currentName().equals("script");
        JsonToken value = json.nextToken();
        if (isScript) {
          // If the field occurs twice, the last value counts. The caller refuses a value that is not a string.
          choice = new Choice(value == JsonToken.VALUE_STRING ? json.getString() : null);
        }
        json.skipChildren();
      }
      return choice;
    } catch (JacksonException e) {
      throw new IllegalArgumentException("the parameter of a shard must be JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Returns the shard as a JSON object, in UTF-8, with a line break at the end. Absent values are null. */
  static byte[] json(JobContext job) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartObject();
      json.writeStringProperty("job", job.job());
      json.writeStringProperty("scheduledAt", job.scheduledAt().toString());
      json.writeNumberProperty("shard", job.shard());
      json.writeNumberProperty("shards", job.shards());
      text(json, "shardParameter", job.shardParameter());
      json.writeNumberProperty("missed", job.missed());
      Fence fence = job.fence();
      json.writeObjectPropertyStart("fence");
      json.writeNumberProperty("generation", fence.generation());
      json.writeNumberProperty("attempt", fence.attempt());
      json.writeEndObject();
      text(json, "checkpoint", job.checkpoint());
      json.writeName("parameter");
      Payload parameter = job.parameter();
      json.writeRawValue(parameter == null ? "null" : parameter.isJson() ? parameter.toText() : quoted(parameter));
      json.writeEndObject();
    }
    out.write('\n');
    return out.toByteArray();
  }

  private static void text(JsonGenerator json, String name, @Nullable String value) {
    json.writeName(name);
    if (value == null) {
      json.writeNull();
    } else {
      json.writeString(value);
    }
  }

  private static String quoted(Payload parameter) {
    StringWriter out = new StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeString(parameter.toText());
    }
    return out.toString();
  }

  /**
   * Returns all variables of a script's environment. A value with a NUL character cannot be in the environment; the
   * script finds it in the JSON.
   */
  static Map<String, String> environment(JobContext job) {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PATH", "/usr/local/bin:/usr/bin:/bin");
    variables.put("LANG", "C.UTF-8");
    variables.put("FOLIOT_JOB", job.job());
    variables.put("FOLIOT_SCHEDULED_AT", job.scheduledAt().toString());
    variables.put("FOLIOT_SHARD", Integer.toString(job.shard()));
    variables.put("FOLIOT_SHARDS", Integer.toString(job.shards()));
    variables.put("FOLIOT_FENCE", job.fence().toString());
    String zone = job.workerZone();
    if (zone != null) {
      variables.put("FOLIOT_ZONE", zone);
    }
    String parameter = job.shardParameter();
    if (parameter != null) {
      variables.put("FOLIOT_SHARD_PARAMETER", parameter);
    }
    variables.values().removeIf(text -> text.indexOf('\0') >= 0);
    return variables;
  }
}
