package io.foliot.schedule;

import java.time.Instant;
import java.time.ZoneId;

/** A process that walks a schedule long enough for the C2 compiler to translate the loop ({@link CompiledWalkTest}). */
final class WalkingProcess {
  private static final int STEPS = 3_000_000;

  private WalkingProcess() {}

  /**
   * Walks a schedule.
   *
   * @param args the expression and the zone
   */
  public static void main(String[] args) {
    CronSchedule schedule = CronSchedule.parse(args[0], ZoneId.of(args[1]));
    Instant time = Instant.parse("2024-03-01T00:00:00Z");
    for (int n = 0; n < STEPS; n++) {
      Instant next = schedule.next(time);
      if (next == null || !next.isAfter(time)) {
        throw new AssertionError("the schedule stopped: time=" + time + " next=" + next);
      }
      time = next;
    }
  }
}
