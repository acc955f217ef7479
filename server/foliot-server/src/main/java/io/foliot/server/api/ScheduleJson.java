package io.foliot.server.api;

import io.foliot.api.InvalidSettingException;
import io.foliot.api.ScheduleFields;
import io.foliot.schedule.ScheduleException;
import io.foliot.schedule.ScheduleSettings;
import tools.jackson.core.JsonGenerator;

/** The JSON of schedules alone, and the problems of refused ones. */
final class ScheduleJson {
  private static final String SCHEDULE = "schedule";

  private ScheduleJson() {}

  /** Reads the schedule at the reader's position. */
  static ScheduleSettings read(JsonIn in) {
    FieldsJson fields = FieldsJson.reader(ScheduleFields.TABLE);
    try {
      in.object(ScheduleFields.TABLE.object(), ScheduleFields.TABLE.names(), field -> fields.read(in, "", field));
      return ScheduleFields.settings(fields.values());
    } catch (ScheduleException e) {
      throw refused(e, "");
    } catch (InvalidSettingException e) {
      throw FieldsJson.refused(e);
    }
  }

  static Problem refused(ScheduleException e, String prefix) {
    // If the schedule as a whole is wrong, the problem names the schedule itself, not a field in it. A field of a cron
    // expression, such as "day of week", is not a field of the request.
    String path = e.setting().equals(SCHEDULE) ? "" : prefix;
    Problem problem = new Problem(ProblemKind.INVALID_FIELD,
        path + (e.field() == null ? "" : e.setting() + ": ") + e.getMessage())
        .with("field", path + e.setting()).with("expected", e.expected()).with("found", JsonIn.shown(e.found()));
    return e.choices().isEmpty() ? problem : problem.with("known", e.choices());
  }

  /** Writes the schedule as an object. */
  static void write(JsonGenerator json, ScheduleSettings schedule) {
    json.writeStartObject();
    FieldsJson.write(json, ScheduleFields.values(schedule), false);
    json.writeEndObject();
  }
}
