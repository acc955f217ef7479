package io.foliot.server.api;

import io.foliot.jobs.schedule.CronDialect;
import io.foliot.jobs.schedule.DstGap;
import io.foliot.jobs.schedule.DstOverlap;
import io.foliot.jobs.schedule.ScheduleException;
import io.foliot.jobs.schedule.ScheduleSettings;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Reads and writes the schedules of jobs. */
final class ScheduleJson {
  private static final String SCHEDULE = "schedule";
  private static final JsonMapper TREES = new JsonMapper();

  private ScheduleJson() {}

  /** Reads the schedule at the reader's position. */
  static ScheduleSettings read(JsonIn in, String prefix) {
    ScheduleSettings.Builder builder = ScheduleSettings.builder();
    try {
      in.object(prefix.isEmpty() ? "the schedule" : "schedule", ScheduleSettings.NAMES,
          field -> in.isNull() ? ScheduleSettings.NAMES.contains(field) : set(builder, in, prefix + field, field));
      return builder.build();
    } catch (ScheduleException e) {
      throw refused(e, prefix);
    }
  }

  private static boolean set(ScheduleSettings.Builder builder, JsonIn in, String path, String field) {
    switch (field) {
      case "cron" -> builder.cron(String.valueOf(in.text(path)));
      case "dialect" -> builder.dialect(JobJson.or(in.choice(path, CronDialect.class), CronDialect.UNIX));
      case "every" -> builder.every(JobJson.or(in.signedDuration(path), Duration.ZERO));
      case "offset" -> builder.offset(JobJson.or(in.signedDuration(path), Duration.ZERO));
      case "after" -> builder.after(JobJson.or(in.signedDuration(path), Duration.ZERO));
      case "at" -> builder.at(JobJson.or(in.instant(path), Instant.EPOCH));
      case "zone" -> builder.zone(String.valueOf(in.text(path)));
      case "dstGap" -> builder.dstGap(JobJson.or(in.choice(path, DstGap.class), DstGap.SHIFT));
      case "dstOverlap" -> builder.dstOverlap(JobJson.or(in.choice(path, DstOverlap.class), DstOverlap.AUTO));
      case "from" -> builder.from(JobJson.or(in.instant(path), Instant.EPOCH));
      case "to" -> builder.to(JobJson.or(in.instant(path), Instant.EPOCH));
      case "exclude" -> builder.exclude(JobJson.or(in.texts(path, ScheduleSettings.MAX_CALENDARS), List.of()));
      case "jitter" -> builder.jitter(JobJson.or(in.signedDuration(path), Duration.ZERO));
      default -> {
        return false;
      }
    }
    return true;
  }

  static Problem refused(ScheduleException e, String prefix) {
    // If the schedule as a whole is wrong, the problem names the schedule itself, not a field in it. A field of a cron
    // expression, such as "day of week", is not a field of the request.
    boolean isWhole = e.setting().equals(SCHEDULE);
    boolean isInCron = !isWhole && !ScheduleSettings.NAMES.contains(e.setting());
    String path = isWhole ? "" : prefix;
    Problem problem = new Problem(ProblemKind.INVALID_FIELD, path + (isInCron ? "cron: " : "") + e.getMessage())
        .with("field", path + (isInCron ? "cron" : e.setting())).with("expected", e.expected())
        .with("found", JsonIn.shown(e.found()));
    return e.choices().isEmpty() ? problem : problem.with("known", e.choices());
  }

  /**
   * Returns the schedule with the changes of a JSON merge patch at the reader's position: a field that is null gets its
   * default.
   */
  static ScheduleSettings patched(ScheduleSettings existing, JsonIn in) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(out)) {
      write(json, existing);
    }
    ObjectNode merged = (ObjectNode) TREES.readTree(out.toByteArray());
    JsonNode changes = TREES.readTree(in.raw());
    if (!changes.isObject()) {
      throw JsonIn.invalid("schedule", "an object", changes.toString());
    }
    if (changes.has("cron") && !changes.has("dialect")) {
      // The dialect belongs to the expression that is replaced.
      merged.remove("dialect");
    }
    changes.properties().forEach(change -> merged.set(change.getKey(), change.getValue()));
    try (JsonIn schedules = new JsonIn(TREES.writeValueAsBytes(merged))) {
      schedules.next();
      return read(schedules, "schedule.");
    }
  }

  /** Writes the schedule as an object. */
  static void write(JsonGenerator json, ScheduleSettings schedule) {
    json.writeStartObject();
    if (schedule.cron() != null && schedule.dialect() != null) {
      json.writeStringProperty("cron", schedule.cron());
      json.writeStringProperty("dialect", JsonIn.word(schedule.dialect()));
    }
    JobJson.duration(json, "every", schedule.every());
    JobJson.duration(json, "offset", schedule.offset());
    JobJson.duration(json, "after", schedule.after());
    if (schedule.at() != null) {
      JobJson.instant(json, "at", schedule.at());
    }
    json.writeStringProperty("zone", schedule.zone().equals(ZoneOffset.UTC) ? "UTC" : schedule.zone().getId());
    if (schedule.dstGap() != DstGap.SHIFT) {
      json.writeStringProperty("dstGap", JsonIn.word(schedule.dstGap()));
    }
    if (schedule.dstOverlap() != DstOverlap.AUTO) {
      json.writeStringProperty("dstOverlap", JsonIn.word(schedule.dstOverlap()));
    }
    if (schedule.from() != null) {
      JobJson.instant(json, "from", schedule.from());
    }
    if (schedule.to() != null) {
      JobJson.instant(json, "to", schedule.to());
    }
    if (!schedule.exclude().isEmpty()) {
      json.writeArrayPropertyStart("exclude");
      schedule.exclude().forEach(json::writeString);
      json.writeEndArray();
    }
    if (!schedule.jitter().isZero()) {
      JobJson.duration(json, "jitter", schedule.jitter());
    }
    json.writeEndObject();
  }
}
