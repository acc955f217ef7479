package io.foliot.client;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/**
 * A change of some settings of a queue. Settings that the change does not name keep their values, secrets included.
 * Settings that the change sets to null get the server's defaults.
 */
public final class QueuePatch {
  private final Map<String, Consumer<JsonGenerator>> fields;

  private QueuePatch(Builder builder) {
    fields = new LinkedHashMap<>(builder.fields);
    if (!builder.delivery.isEmpty()) {
      Map<String, @Nullable String> delivery = new LinkedHashMap<>(builder.delivery);
      fields.put("delivery", json -> {
        json.writeObjectPropertyStart("delivery");
        delivery.forEach((name, value) -> write(json, name, value));
        json.writeEndObject();
      });
    }
  }

  /** Returns a builder of a change, without any settings yet. */
  public static Builder builder() {
    return new Builder();
  }

  private static void write(JsonGenerator json, String name, @Nullable String value) {
    if (value == null) {
      json.writeNullProperty(name);
    } else {
      json.writeStringProperty(name, value);
    }
  }

  void write(JsonGenerator json) {
    fields.values().forEach(field -> field.accept(json));
  }

  /** Returns a text with the names of the settings, but without their values, which may contain a secret. */
  @Override
  public String toString() {
    return "QueuePatch" + fields.keySet();
  }

  /** Builds a {@link QueuePatch}. Not safe for use by several threads. */
  public static final class Builder {
    private final Map<String, Consumer<JsonGenerator>> fields = new LinkedHashMap<>();
    private final Map<String, @Nullable String> delivery = new LinkedHashMap<>();

    private Builder() {}

    /** Sets a setting of the delivery, such as {@code url}; null removes the setting. */
    public Builder delivery(String setting, @Nullable String value) {
      delivery.put(Names.requireName("the name of a setting", setting), value);
      return this;
    }

    /** Sets how long an attempt may take; null for the server's default. */
    public Builder timeout(@Nullable Duration value) {
      return delivery("timeout", text(value));
    }

    /** Sets the rules of retries. A null part keeps its value; a null argument resets all parts to the defaults. */
    public Builder retry(QueueSettings.@Nullable Retry value) {
      return object("retry", value == null ? null : value::write);
    }

    /** Sets the priority; null for the server's default. */
    public Builder priority(@Nullable Integer value) {
      return number("priority", value);
    }

    /** Sets how many attempts per second may begin in the whole cluster; null for no limit. */
    public Builder rate(@Nullable Double value) {
      return number("rate", value);
    }

    /** Sets how many attempts may run at a time in the whole cluster; null for no limit. */
    public Builder concurrency(@Nullable Integer value) {
      return number("concurrency", value);
    }

    /** Sets how far resets may move a task beyond its first due time; null for no limit. */
    public Builder maxWait(@Nullable Duration value) {
      return text("maxWait", text(value));
    }

    /** Sets how long one attempt may run, however often its lease is extended; null for the server's default. */
    public Builder maxRun(@Nullable Duration value) {
      return text("maxRun", text(value));
    }

    /** Sets the maximum number of recurring jobs of the queue; null for the server's default. */
    public Builder maxJobs(@Nullable Integer value) {
      return number("maxJobs", value);
    }

    /**
     * Sets the number of unfinished shards of the queue's jobs at which no further run begins; null for the server's
     * default.
     */
    public Builder maxShards(@Nullable Integer value) {
      return number("maxShards", value);
    }

    /**
     * Sets how long tasks are stored after they have ended. A null part keeps its value; a null argument resets all
     * parts to the defaults.
     */
    public Builder retention(QueueSettings.@Nullable Retention value) {
      return object("retention", value == null ? null : value::write);
    }

    /** Sets whether the queue is paused, so that no new attempts begin. */
    public Builder paused(boolean value) {
      fields.put("paused", json -> json.writeBooleanProperty("paused", value));
      return this;
    }

    /** Returns the change. */
    public QueuePatch build() {
      return new QueuePatch(this);
    }

    private static @Nullable String text(@Nullable Duration value) {
      return value == null ? null : value.toString();
    }

    private Builder text(String name, @Nullable String value) {
      fields.put(name, json -> write(json, name, value));
      return this;
    }

    private Builder number(String name, @Nullable Number value) {
      fields.put(name, json -> {
        if (value == null) {
          json.writeNullProperty(name);
        } else if (value instanceof Integer whole) {
          json.writeNumberProperty(name, whole);
        } else {
          json.writeNumberProperty(name, value.doubleValue());
        }
      });
      return this;
    }

    private Builder object(String name, @Nullable Consumer<JsonGenerator> members) {
      fields.put(name, json -> {
        if (members == null) {
          json.writeNullProperty(name);
          return;
        }
        json.writeObjectPropertyStart(name);
        members.accept(json);
        json.writeEndObject();
      });
      return this;
    }
  }
}
