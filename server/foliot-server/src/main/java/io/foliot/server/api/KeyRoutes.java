package io.foliot.server.api;

import io.foliot.api.FieldType;
import io.foliot.core.TimeSource;
import io.foliot.server.security.Action;
import io.foliot.server.security.ApiKey;
import io.foliot.server.security.Gate;
import io.foliot.server.security.KeyRing;
import io.foliot.server.security.QueuePattern;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;

/** The calls about API keys. */
final class KeyRoutes {
  /** Maximum number of patterns of queues in one key. */
  private static final int MAX_PATTERNS = 100;
  /** Longest note, in characters. */
  private static final int MAX_NOTE = 256;

  private final KeyRing keys;
  private final Gate gate;
  private final TimeSource clock;
  private final RandomGenerator random;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  KeyRoutes(KeyRing keys, Gate gate, TimeSource clock, RandomGenerator random, ApiLimits limits,
      SchedulerBridge calls) {
    this.calls = calls;
    this.keys = keys;
    this.gate = gate;
    this.clock = clock;
    this.random = random;
    this.limits = limits;
  }

  private Instant now() {
    return Instant.ofEpochMilli(clock.wallMillis());
  }

  /** The body of a request for a new key. */
  private static final class KeyFields {
    static final List<String> FIELDS = List.of("actions", "queues", "note", "expiresAt", "expiresIn");

    Set<Action> actions = EnumSet.noneOf(Action.class);
    @Nullable
    List<QueuePattern> queues;
    String note = "";
    @Nullable
    Instant expiresAt;
    @Nullable
    Duration expiresIn;

    boolean read(JsonIn in, String name) {
      switch (name) {
        case "actions" -> actions = actions(in.texts(name, Action.values().length));
        case "queues" -> queues = patterns(in.texts(name, MAX_PATTERNS));
        case "note" -> note = note(in.text(name));
        case "expiresAt" -> expiresAt = in.instant(name);
        case "expiresIn" -> expiresIn = in.duration(name);
        default -> {
          return false;
        }
      }
      return true;
    }

    private static Set<Action> actions(@Nullable List<String> words) {
      Set<Action> actions = EnumSet.noneOf(Action.class);
      for (String word : words == null ? List.<String>of() : words) {
        try {
          actions.add(Action.valueOf(word.toUpperCase(Locale.ROOT)));
        } catch (IllegalArgumentException e) {
          throw JsonIn.invalidText("actions", "some of read, submit, consume, admin", word);
        }
      }
      return actions;
    }

    // An empty list is refused: a script that computes the list and finds nothing must not get a key for all queues.
    private static @Nullable List<QueuePattern> patterns(@Nullable List<String> texts) {
      if (texts == null) {
        return null;
      }
      if (texts.isEmpty()) {
        throw JsonIn.invalid("queues", "at least one queue, or \"*\" for all", "an empty array");
      }
      try {
        return texts.stream().map(QueuePattern::new).toList();
      } catch (IllegalArgumentException e) {
        throw new Problem(ProblemKind.INVALID_FIELD, "queues: " + e.getMessage()).with("field", "queues");
      }
    }

    private static String note(@Nullable String text) {
      if (text != null && text.length() > MAX_NOTE) {
        throw JsonIn.invalid("note", "at most " + MAX_NOTE + " characters", text.length() + " characters");
      }
      return text == null ? "" : text;
    }

    @Nullable
    Instant end(Instant now) {
      if (expiresIn != null && expiresAt != null) {
        throw JsonIn.conflicting("expiresAt", "expiresIn");
      }
      if (expiresIn != null) {
        TaskFields.checkDelay("expiresIn", expiresIn);
        return now.plus(expiresIn);
      }
      return expiresAt;
    }
  }

  Reply create(Request request) {
    KeyFields fields = new KeyFields();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(KeyFields.FIELDS, name -> fields.read(in, name));
    }
    if (fields.actions.isEmpty()) {
      throw TaskRoutes.missing("actions",
          "\"actions\": [\"submit\", \"read\"]; the actions are read, submit, consume and admin");
    }
    List<QueuePattern> queues = fields.queues;
    if (queues == null) {
      throw TaskRoutes.missing("queues", "\"queues\": [\"orders\", \"shop.*\"], or [\"*\"] for all queues");
    }
    Instant now = now();
    ApiKey.Issued issued = ApiKey.issue(random, fields.actions, queues, fields.note, now, fields.end(now));
    try {
      keys.add(issued.key(), now);
      calls.checkCallers();
      request.audit("id", issued.key().id());
      request.audit("actions", issued.key().actions().toString());
      request.audit("queues", issued.key().queues().stream().map(QueuePattern::text).toList().toString());
    } catch (KeyRing.LockedOutException e) {
      throw new Problem(ProblemKind.LAST_KEY, String.valueOf(e.getMessage()));
    }
    return Reply.json(201, json -> write(json, issued.key(), issued.text())).with("Cache-Control", "no-store");
  }

  Reply list(Request request) {
    List<ApiKey> all = keys.all();
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("keys");
      all.forEach(key -> write(json, key, null));
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  private static void write(JsonGenerator json, ApiKey key, @Nullable String text) {
    json.writeStartObject();
    json.writeStringProperty("id", key.id());
    if (text != null) {
      json.writeStringProperty("key", text);
    }
    json.writeArrayPropertyStart("actions");
    key.actions().forEach(action -> json.writeString(FieldType.word(action)));
    json.writeEndArray();
    json.writeArrayPropertyStart("queues");
    key.queues().forEach(pattern -> json.writeString(pattern.text()));
    json.writeEndArray();
    json.writeStringProperty("note", key.note());
    TaskJson.instant(json, "createdAt", key.createdAt().toEpochMilli());
    if (key.expiresAt() != null) {
      json.writeStringProperty("expiresAt", key.expiresAt().toString());
    }
    json.writeEndObject();
  }

  Reply delete(Request request) {
    String id = request.variable("id");
    boolean removed;
    try {
      removed = keys.remove(id, now(), gate.mayOpen());
    } catch (KeyRing.LockedOutException e) {
      throw new Problem(ProblemKind.LAST_KEY, String.valueOf(e.getMessage()));
    }
    if (!removed) {
      throw new Problem(ProblemKind.UNKNOWN_KEY, "there is no API key with this id; GET /v1/keys lists all keys: id="
          + JsonIn.shown(id));
    }
    calls.checkCallers();
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("result", "DELETED");
      json.writeEndObject();
    });
  }
}
