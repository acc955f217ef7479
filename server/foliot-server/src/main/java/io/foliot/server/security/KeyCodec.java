package io.foliot.server.security;

import java.time.Instant;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The stored form of an API key in JSON, with a version: the hash, the actions, the queues, the note and the times. */
final class KeyCodec {
  private static final String VERSION = "1";
  private static final JsonMapper MAPPER = new JsonMapper();

  private KeyCodec() {}

  static byte[] encode(ApiKey key) {
    Instant expiresAt = key.expiresAt();
    ObjectNode json = MAPPER.createObjectNode().put("version", VERSION)
        .put("sha256", HexFormat.of().formatHex(key.hash())).put("note", key.note())
        .put("createdAt", key.createdAt().toString()).put("expiresAt", expiresAt == null ? "" : expiresAt.toString());
    ArrayNode actions = json.putArray("actions");
    key.actions().forEach(action -> actions.add(action.name()));
    ArrayNode queues = json.putArray("queues");
    key.queues().forEach(pattern -> queues.add(pattern.text()));
    return MAPPER.writeValueAsBytes(json);
  }

  static ApiKey decode(String id, byte[] content) {
    JsonNode json = MAPPER.readTree(content);
    if (!VERSION.equals(text(json, "version"))) {
      throw new IllegalStateException("the API key " + id + " was written by a newer Foliot; start that version again");
    }
    Set<Action> actions = EnumSet.noneOf(Action.class);
    json.path("actions").forEach(word -> actions.add(Action.valueOf(word.asString())));
    String expiresAt = text(json, "expiresAt");
    return new ApiKey(id, HexFormat.of().parseHex(text(json, "sha256")), actions,
        json.path("queues").valueStream().map(pattern -> new QueuePattern(pattern.asString())).toList(),
        text(json, "note"), Instant.parse(text(json, "createdAt")),
        expiresAt.isEmpty() ? null : Instant.parse(expiresAt));
  }

  private static String text(JsonNode json, String name) {
    return json.path(name).asString("");
  }
}
