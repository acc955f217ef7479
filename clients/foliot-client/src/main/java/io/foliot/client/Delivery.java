package io.foliot.client;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/**
 * The way in which a queue's tasks are delivered.
 *
 * @param type the type, such as {@code http} or {@code pull}
 * @param settings the settings of the type by name; each value is the text of a JSON value
 */
public record Delivery(String type, Map<String, String> settings) {
  public Delivery {
    Names.requireName("type", type);
    settings = Map.copyOf(settings);
    settings.forEach((name, json) -> {
      Names.requireName("the name of a setting", name);
      Json.requireOneValue("the setting " + name, json);
    });
  }

  /** Returns a delivery by callbacks to a URL, without a signature. The setting {@code secret} adds a signature. */
  public static Delivery http(URI url) {
    return builder("http").setting("url", url.toString()).build();
  }

  /** Returns the delivery of a pull queue, whose tasks workers claim. */
  public static Delivery pull() {
    return of("pull");
  }

  /** Returns a delivery of the given type without settings. Use {@link #builder} for a delivery with settings. */
  public static Delivery of(String type) {
    return new Delivery(type, Map.of());
  }

  /** Returns a builder of a delivery of the given type, without settings. */
  public static Builder builder(String type) {
    return new Builder(type);
  }

  /** Returns a builder with the type and the settings of this delivery. */
  public Builder toBuilder() {
    Builder builder = new Builder(type);
    builder.settings.putAll(settings);
    return builder;
  }

  /** Builds a {@link Delivery}. Not safe for use by several threads. */
  public static final class Builder {
    private final String type;
    private final Map<String, String> settings = new LinkedHashMap<>();

    private Builder(String type) {
      this.type = type;
    }

    /** Sets a setting to a text, and replaces an earlier value of the setting. */
    public Builder setting(String name, String value) {
      return jsonSetting(name, Json.text(value));
    }

    /** Sets a setting to a duration, and replaces an earlier value of the setting. */
    public Builder setting(String name, Duration value) {
      return setting(name, value.toString());
    }

    /** Sets a setting to the text of exactly one JSON value, and replaces an earlier value of the setting. */
    public Builder jsonSetting(String name, String json) {
      settings.put(name, json);
      return this;
    }

    /**
     * Returns the delivery.
     *
     * @throws IllegalArgumentException if a name is empty, or a setting is not exactly one JSON value
     */
    public Delivery build() {
      return new Delivery(type, settings);
    }
  }

  static Delivery of(JsonObject json) {
    Map<String, String> settings = new LinkedHashMap<>();
    json.names().stream().filter(name -> !name.equals("type")).forEach(name -> settings.put(name, json.json(name)));
    return new Delivery(json.text("type"), settings);
  }

  void write(JsonGenerator generator) {
    generator.writeStringProperty("type", type);
    settings.forEach((name, json) -> Json.writeJson(generator, name, json));
  }

  /** Returns a text with the names of the settings, but without their values, which may contain a secret. */
  @Override
  public String toString() {
    return "Delivery[type=" + type + ", settings=" + settings.keySet() + "]";
  }
}
