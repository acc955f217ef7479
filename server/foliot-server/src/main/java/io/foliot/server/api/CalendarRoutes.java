package io.foliot.server.api;

import io.foliot.jobs.Jobs;
import io.foliot.schedule.Calendar;
import io.foliot.schedule.ScheduleException;
import io.foliot.server.security.AuditLog;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import tools.jackson.core.JsonGenerator;

/** The calls about calendars. */
final class CalendarRoutes {
  private final Jobs jobs;
  private final ApiLimits limits;
  private final SchedulerBridge calls;

  CalendarRoutes(Jobs jobs, ApiLimits limits, SchedulerBridge calls) {
    this.jobs = jobs;
    this.limits = limits;
    this.calls = calls;
  }

  Reply put(Request request) {
    List<List<String>> days = new ArrayList<>();
    try (JsonIn in = new JsonIn(request.json(limits.bodyBytes()))) {
      in.only(List.of("days"), field -> {
        if (!field.equals("days")) {
          return false;
        }
        List<String> read = in.texts(field, Calendar.MAX_ENTRIES);
        days.add(read == null ? List.of() : read);
        return true;
      });
    }
    if (days.isEmpty()) {
      throw new Problem(ProblemKind.MISSING_FIELD, "a calendar lists days on which nothing is scheduled: \"days\":"
          + " [\"SAT\", \"SUN\", \"12-25\", \"2027-03-26\"]").with("field", "days");
    }
    Calendar calendar;
    try {
      calendar = Calendar.parse(days.getLast());
    } catch (ScheduleException e) {
      throw ScheduleJson.refused(e, "");
    }
    request.audit(AuditLog.BEFORE, JobRoutes.call(calls, () -> jobs.calendar(request.variable("name")))
        .map(before -> before.entries().toString()).orElse("none"));
    request.audit(AuditLog.AFTER, calendar.entries().toString());
    boolean existed = JobRoutes.call(calls, () -> jobs.putCalendar(request.variable("name"), calendar));
    return reply(existed ? 200 : 201, request.variable("name"), calendar);
  }

  Reply get(Request request) {
    String name = request.variable("name");
    return reply(200, name, JobRoutes.call(calls, () -> jobs.calendar(name)).orElseThrow(() -> unknown(name)));
  }

  Reply list(Request request) {
    TreeMap<String, Calendar> all = new TreeMap<>(JobRoutes.call(calls, jobs::calendars));
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeArrayPropertyStart("calendars");
      all.forEach((name, calendar) -> write(json, name, calendar));
      json.writeEndArray();
      json.writeEndObject();
    });
  }

  Reply delete(Request request) {
    String name = request.variable("name");
    if (!JobRoutes.call(calls, () -> jobs.deleteCalendar(name))) {
      throw unknown(name);
    }
    return Reply.json(200, json -> {
      json.writeStartObject();
      json.writeStringProperty("result", "DELETED");
      json.writeEndObject();
    });
  }

  private static Reply reply(int status, String name, Calendar calendar) {
    return Reply.json(status, json -> write(json, name, calendar));
  }

  private static void write(JsonGenerator json, String name, Calendar calendar) {
    json.writeStartObject();
    TaskJson.text(json, "calendar", name);
    json.writeArrayPropertyStart("days");
    calendar.entries().forEach(json::writeString);
    json.writeEndArray();
    json.writeEndObject();
  }

  private static Problem unknown(String name) {
    String shown = JsonIn.shown(name);
    return new Problem(ProblemKind.UNKNOWN_CALENDAR, "there is no calendar " + shown
        + "; create it first: PUT /v1/calendars/" + shown + " {\"days\": [\"SAT\", \"SUN\"]}").with("calendar", shown);
  }
}
