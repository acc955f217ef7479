package io.foliot.client;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.JsonGenerator;

/**
 * Where and how a queue's tasks are delivered.
 *
 * @param type {@code http}, {@code pull}, {@code kafka}, ...
 * @param settings what else that type needs, each value as JSON
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

  /** Signed callbacks to an address. */
  public static Delivery http(URI url) {
    return of("http").with("url", url.toString());
  }

  /** Workers claim the tasks. */
  public static Delivery pull() {
    return of("pull");
  }

  /** Any type, with no settings yet. */
  public static Delivery of(String type) {
    return new Delivery(type, Map.of());
  }

  public Delivery with(String name, String value) {
    return withJson(name, Json.text(value));
  }

  public Delivery with(String name, Duration value) {
    return with(name, value.toString());
  }

  /** Adds a setting that is not a string. */
  public Delivery withJson(String name, String json) {
    Map<String, String> newSettings = new LinkedHashMap<>(settings);
    newSettings.put(name, json);
    return new Delivery(type, newSettings);
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

  /** Not the values, for a secret may be among them. */
  @Override
  public String toString() {
    return "Delivery[type=" + type + ", settings=" + settings.keySet() + "]";
  }
}
