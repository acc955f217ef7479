package io.foliot.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.foliot.core.Scheduler;
import io.foliot.core.store.Backups;
import io.foliot.core.store.StoreException;
import io.foliot.server.store.PrivateFiles;
import io.foliot.server.text.WellFormed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.dataformat.yaml.YAMLFactory;

/** The calls about the server itself. */
final class ServerRoutes {
  private static final String PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
  private static final String PAGE = """
      <!doctype html>
      <html lang="en">
      <head><meta charset="utf-8"><title>Foliot</title></head>
      <body>
      <h1>Foliot VERSION</h1>
      <p>A durable task scheduler. <a href="/openapi.json">The API</a>, <a href="/metrics">metrics</a>,
      <a href="/health/ready">health</a>.</p>
      </body>
      </html>
      """;

  /** Longest name of a backup, in characters. File systems accept names of 255 bytes. */
  private static final int MAX_BACKUP_NAME = 80;

  private final Scheduler scheduler;
  private final ServerInfo info;
  private final ApiLimits limits;
  private final BooleanSupplier leaving;
  private final byte[] openApi;
  private final byte[] page;
  // written by any thread; null until the first check
  private volatile @Nullable Long checkedNanos;

  ServerRoutes(Scheduler scheduler, ServerInfo info, ApiLimits limits, BooleanSupplier leaving) {
    this.scheduler = scheduler;
    this.info = info;
    this.limits = limits;
    this.leaving = leaving;
    openApi = readOpenApi();
    page = PAGE.replace("VERSION", info.version()).getBytes(UTF_8);
  }

  // The description is kept in YAML, which is easier to read, and served in JSON.
  private static byte[] readOpenApi() {
    ByteArrayOutputStream out = new ByteArrayOutputStream(64 << 10);
    try (InputStream in = ServerRoutes.class.getResourceAsStream("openapi.yaml")) {
      if (in == null) {
        throw new IllegalStateException("the jar lacks the description of the API: resource=openapi.yaml");
      }
      try (JsonParser yaml = new YAMLFactory().createParser(ObjectReadContext.empty(), in);
          JsonGenerator json = Json.generator(out)) {
        yaml.nextToken();
        json.copyCurrentStructure(yaml);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  Reply home(Request request) {
    return Reply.of(200, "text/html; charset=utf-8", page)
        .with("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  }

  Reply openApi(Request request) {
    return Reply.of(200, "application/json", openApi);
  }

  Reply live(Request request) {
    return health(List.of(), List.of());
  }

  /** Returns whether {@code /health/ready} was called within this time. */
  boolean isChecked(Duration within) {
    Long checked = checkedNanos;
    return checked != null && System.nanoTime() - checked <= within.toNanos();
  }

  Reply ready(Request request) {
    checkedNanos = System.nanoTime();
    return health(unready(), info.warnings().get());
  }

  /** Returns the reasons why the server is not ready; an empty list if it is. */
  List<String> unready() {
    if (leaving.getAsBoolean()) {
      return List.of("the server is stopping");
    }
    List<String> reasons = new ArrayList<>(scheduler.status().unready().stream().map(EngineWords::of).toList());
    reasons.addAll(info.troubles().get());
    return reasons;
  }

  private static Reply health(List<String> reasons, List<String> warnings) {
    return Reply.json(reasons.isEmpty() ? 200 : 503, json -> {
      json.writeStartObject();
      json.writeStringProperty("status", reasons.isEmpty() ? "UP" : "DOWN");
      if (!reasons.isEmpty()) {
        json.writeArrayPropertyStart("reasons");
        reasons.forEach(reason -> json.writeString(WellFormed.of(reason)));
        json.writeEndArray();
      }
      if (!warnings.isEmpty()) {
        json.writeArrayPropertyStart("warnings");
        warnings.forEach(warning -> json.writeString(WellFormed.of(warning)));
        json.writeEndArray();
      }
      json.writeEndObject();
    }).with("Cache-Control", "no-store");
  }

  Reply metrics(Request request) {
    return Reply.text(200, PROMETHEUS_TYPE, info.metrics().get());
  }

  Reply cluster(Request request) {
    Scheduler.ClusterStatus cluster = scheduler.cluster();
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("version", info.version());
      TaskJson.text(json, "node", cluster.node());
      TaskJson.text(json, "zone", cluster.zone());
      TaskJson.text(json, "leader", cluster.leader());
      json.writeArrayPropertyStart("nodes");
      for (Scheduler.ClusterNode node : cluster.nodes()) {
        json.writeStartObject();
        TaskJson.text(json, "node", node.node());
        TaskJson.text(json, "zone", node.zone());
        json.writeNumberProperty("slots", node.ownedSlots());
        json.writeBooleanProperty("takesSlots", node.takesSlots());
        json.writeNumberProperty("clockOffsetMillis", node.clockOffsetMillis());
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeObjectPropertyStart("slots");
      json.writeNumberProperty("count", cluster.slotCount());
      json.writeNumberProperty("owned", cluster.ownedSlots());
      json.writeEndObject();
      json.writeObjectPropertyStart("store");
      TaskJson.text(json, "kind", cluster.storeKind());
      TaskJson.text(json, "durability", cluster.durability().durabilityClass());
      json.writeNumberProperty("windowMillis", cluster.durability().windowMillis());
      TaskJson.text(json, "detail", cluster.durability().detail());
      json.writeEndObject();
      TaskJson.text(json, "coordinator", cluster.coordinator());
      json.writeNumberProperty("clockOffsetMicros", cluster.clockOffsetMicros());
      json.writeEndObject();
    });
  }

  /** The body of a request for a backup. */
  private static final class BackupFields {
    static final List<String> FIELDS = List.of("directory");

    @Nullable
    String directory;

    boolean read(JsonIn in, String name) {
      directory = name.equals("directory") ? in.text(name) : directory;
      return name.equals("directory");
    }
  }

  Reply backup(Request request) {
    BackupFields fields = new BackupFields();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(BackupFields.FIELDS, name -> fields.read(in, name));
    }
    if (fields.directory == null) {
      throw TaskRoutes.missing("directory", "\"directory\": \"before-upgrade\"");
    }
    Backups backups = info.backups();
    if (backups == null) {
      throw new Problem(ProblemKind.NOT_CONFIGURED,
          "this store has no backup of its own; use the backup tools of its database");
    }
    Path directory = inside(info.backupFolder(), fields.directory);
    Backups.Backup written;
    try {
      PrivateFiles.ensureFolder(info.backupFolder());
      written = backups.backup(directory);
    } catch (IOException | StoreException e) {
      throw new Problem(ProblemKind.STORE_UNAVAILABLE, "the backup was not written: " + e.getMessage());
    }
    return Reply.json(201, json -> {
      json.writeStartObject();
      TaskJson.text(json, "directory", directory.toString());
      json.writeNumberProperty("number", written.number());
      json.writeNumberProperty("bytes", written.bytes());
      json.writeEndObject();
    });
  }

  /** Returns the folder with this name directly below another folder, or refuses a name that leads elsewhere. */
  private static Path inside(Path folder, String name) {
    boolean isLong = name.length() > MAX_BACKUP_NAME;
    try {
      Path root = folder.toAbsolutePath().normalize();
      Path path = root.resolve(name).normalize();
      if (!isLong && path.getParent() != null && path.getParent().equals(root)) {
        return path;
      }
    } catch (InvalidPathException e) {
      // Refused below, like a name that leads elsewhere.
    }
    throw JsonIn.invalidText("directory", "the name of a folder in the server's folder for backups (backup.directory),"
        + " of at most " + MAX_BACKUP_NAME + " characters", name);
  }
}
