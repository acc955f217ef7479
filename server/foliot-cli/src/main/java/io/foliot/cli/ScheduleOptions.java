package io.foliot.cli;

import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The schedule of a job on the command line. The server checks it, and reports mistakes. */
final class ScheduleOptions {
  @Option(names = "--cron", paramLabel = "EXPRESSION", description = "times of a cron expression, such as \"0 2 * * MON-FRI\"")
  private @Nullable String cron;

  @Option(names = "--dialect", paramLabel = "DIALECT", description = "dialect of the cron expression: unix, spring or quartz; needed only if its fields are ambiguous")
  private @Nullable String dialect;

  @Option(names = "--every", paramLabel = "DURATION", description = "a fixed rate: the time between two scheduled times")
  private @Nullable String every;

  @Option(names = "--offset", paramLabel = "DURATION", description = "the offset of a fixed rate from the epoch; derived from the job's name unless given")
  private @Nullable String offset;

  @Option(names = "--dst-gap", paramLabel = "RULE", description = "for local times that a clock change skips: shift or skip")
  private @Nullable String dstGap;

  @Option(names = "--dst-overlap", paramLabel = "RULE", description = "for local times that a clock change repeats: auto, first or both")
  private @Nullable String dstOverlap;

  @Option(names = "--after", paramLabel = "DURATION", description = "a fixed delay after the end of the previous run")
  private @Nullable String after;

  @Option(names = "--at", paramLabel = "INSTANT", description = "a single scheduled time")
  private @Nullable String at;

  @Option(names = "--zone", paramLabel = "ZONE", description = "the zone of local times, such as Europe/Berlin; UTC unless given")
  private @Nullable String zone;

  @Option(names = "--from", paramLabel = "INSTANT", description = "the first instant that may be scheduled")
  private @Nullable String from;

  @Option(names = "--to", paramLabel = "INSTANT", description = "the end of the schedule: nothing is scheduled at this instant or later")
  private @Nullable String to;

  @Option(names = "--exclude", paramLabel = "CALENDAR", split = ",", description = "calendars whose days are excluded")
  private List<String> exclude = List.of();

  @Option(names = "--jitter", paramLabel = "DURATION", description = "delays each time by up to this long")
  private @Nullable String jitter;

  /** Returns the schedule as the API expects it; fields that are not given are absent. */
  ObjectNode json() {
    ObjectNode schedule = JsonNodeFactory.instance.objectNode();
    put(schedule, "cron", cron);
    put(schedule, "dialect", dialect);
    put(schedule, "every", every);
    put(schedule, "offset", offset);
    put(schedule, "dstGap", dstGap);
    put(schedule, "dstOverlap", dstOverlap);
    put(schedule, "after", after);
    put(schedule, "at", at);
    put(schedule, "zone", zone);
    put(schedule, "from", from);
    put(schedule, "to", to);
    put(schedule, "jitter", jitter);
    if (!exclude.isEmpty()) {
      exclude.forEach(schedule.putArray("exclude")::add);
    }
    return schedule;
  }

  private static void put(ObjectNode schedule, String name, @Nullable String value) {
    if (value != null) {
      schedule.put(name, value);
    }
  }
}
