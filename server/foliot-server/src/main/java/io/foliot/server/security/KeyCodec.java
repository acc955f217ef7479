package io.foliot.server.security;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** How a key is kept: its hash and what it allows, in JSON with a version. */
final class KeyCodec {
  private static final int VERSION = 1;
  private static final JsonFactory JSON = new JsonFactory();

  private KeyCodec() {}

  static byte[] encode(ApiKey key) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = JSON.createGenerator(ObjectWriteContext.empty(), out)) {
      json.writeStartObject();
      json.writeStringProperty("version", Integer.toString(VERSION));
      json.writeStringProperty("sha256", HexFormat.of().formatHex(key.hash()));
      json.writeStringProperty("note", key.note());
      json.writeStringProperty("createdAt", key.createdAt().toString());
      json.writeStringProperty("expiresAt", key.expiresAt() == null ? "" : key.expiresAt().toString());
      json.writeArrayPropertyStart("actions");
      key.actions().forEach(action -> json.writeString(action.name()));
      json.writeEndArray();
      json.writeArrayPropertyStart("queues");
      key.queues().forEach(pattern -> json.writeString(pattern.text()));
      json.writeEndArray();
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  static ApiKey decode(String id, byte[] content) {
    Map<String, String> texts = new HashMap<>();
    Map<String, List<String>> lists = new HashMap<>();
    try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), content)) {
      json.nextToken();
      for (String name = json.nextName(); name != null; name = json.nextName()) {
        if (json.nextToken() == JsonToken.START_ARRAY) {
          List<String> list = new ArrayList<>();
          while (json.nextToken() != JsonToken.END_ARRAY) {
            list.add(json.getString());
          }
          lists.put(name, list);
        } else {
          texts.put(name, json.getString());
        }
      }
    }
    if (!Integer.toString(VERSION).equals(texts.get("version"))) {
      throw new IllegalStateException("the API key " + id + " was written by a newer Foliot; start that one again");
    }
    Set<Action> actions = EnumSet.noneOf(Action.class);
    lists.getOrDefault("actions", List.of()).forEach(word -> actions.add(Action.valueOf(word)));
    String expiresAt = texts.getOrDefault("expiresAt", "");
    return new ApiKey(id, HexFormat.of().parseHex(texts.getOrDefault("sha256", "")), actions,
        lists.getOrDefault("queues", List.of()).stream().map(QueuePattern::new).toList(),
        texts.getOrDefault("note", ""), Instant.parse(texts.getOrDefault("createdAt", "")),
        expiresAt.isEmpty() ? null : Instant.parse(expiresAt));
  }
}
